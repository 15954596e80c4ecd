"""Runs on the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import itertools
import logging
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any

from resilver.study.executors.build import own_build
from resilver.study.executors.interface import ClusterLost, tell_of_cancelling
from resilver.study.executors.remote import perform_remotely
from resilver.study.pool import WorkerDied, rebuilt
from resilver.study.progress import RunState

_SECONDS_BETWEEN_COUNTS = 1.0


# A task that waits on a worker is blamed for the worker's death as the one is that caused it. One
# that has never begun gets so many more chances: a few, since it may end workers as it is unpacked.
_CHANCES = 5


@dataclass
class _Task:
    payload: bytes
    future: Future[Any] = field(default_factory=Future)
    remote: Any = None
    chances: int = _CHANCES


class DaskExecutor:
    """The workers of a Dask scheduler as an executor of runs.

    Dask runs a task again when its worker dies, and gives up on one that ended several workers.

    Args:
        client: a connected `distributed.Client`.
        where: the cluster in words, for messages.
        first_wait_seconds: how long to wait for a first worker; None for any time.
        lost_wait_seconds: how long to wait when there were workers and none is left.
        close: gives back the client and what else belongs to the executor.
    """

    shares_folder = False

    def __init__(
        self,
        client: Any,
        where: str,
        *,
        first_wait_seconds: float | None,
        lost_wait_seconds: float,
        close: Callable[[], None],
    ) -> None:
        self._client = client
        self._where = where
        self._waits = {False: first_wait_seconds, True: lost_wait_seconds}
        self._close = close
        self._session = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._running: dict[str, _Task] = {}
        self._states: dict[str, RunState] = {}
        self._threads = 0
        self._ended = threading.Event()
        self._topic = f"resilver-{self._session}"
        client.subscribe_topic(self._topic, self._note_state)
        self._threads = self._count()
        self._watch = threading.Thread(target=self._watch_workers, daemon=True)
        self._watch.start()

    @property
    def workers(self) -> int:
        """How many threads the cluster's workers have now, each of which performs one task."""
        return self._threads

    def submit(self, function: str, /, *arguments: Any) -> Future[Any]:
        """Have a worker call a function.

        Args:
            function: "package.module:function".
            arguments: picklable arguments.
        """
        task = _Task(pickle.dumps((function, arguments)))
        tell_of_cancelling(task.future, lambda: _cancel(task.remote))
        self._begin(task)
        return task.future

    def _begin(self, task: _Task) -> None:
        # A key of this driver alone: a task that an earlier driver left behind is another task.
        key = f"{self._topic}-{next(self._numbers)}"
        try:
            task.remote = self._client.submit(
                perform_remotely, own_build(), task.payload, self._topic, key=key, pure=False
            )
        except Exception as error:
            _settle(task.future, None, ClusterLost(f"{self._where} takes no more runs: {error}"))
            return
        with self._lock:
            self._running[key] = task
        task.remote.add_done_callback(lambda done: self._finish(key, done))

    def under_way(self) -> Mapping[Future[Any], RunState]:
        """What the tasks that are being performed reported last."""
        with self._lock:
            return {
                task.future: self._states[key]
                for key, task in self._running.items()
                if key in self._states and not task.future.done()
            }

    def stop(self) -> None:
        """Let go of every task; those being performed end at their next report."""
        with self._lock:
            running = list(self._running.values())
        with contextlib.suppress(Exception):
            self._client.cancel([task.remote for task in running])
        for task in running:
            task.future.cancel()

    def kill(self) -> None:
        """The same as `stop`: nobody waits for a task that nobody holds."""
        self.stop()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect, and end the cluster if it belongs to this executor.

        Args:
            wait: return only when that is done; it always is.
            cancel_futures: let go of tasks that are not finished.
        """
        if cancel_futures:
            self.stop()
        self._ended.set()
        if wait:
            # The watch may be waiting for an answer that no longer comes.
            self._watch.join(_SECONDS_BETWEEN_COUNTS)
        self._close()

    def _note_state(self, event: Any) -> None:
        _, message = event
        with self._lock:
            if message["key"] in self._running:
                self._states[message["key"]] = RunState(*message["state"])

    def _finish(self, key: str, remote: Any) -> None:
        """Hand on what Dask says of a task; called in a thread of Dask's."""
        if remote.status in ("pending", "lost"):
            # The worker died with the result before anybody had it, and the task is done again.
            remote.add_done_callback(lambda done: self._finish(key, done))
            return
        try:
            value, error = self._outcome(remote)
        except Exception as unexpected:
            value, error = None, ClusterLost(f"{self._where} lost a run's result: {unexpected}")
        with self._lock:
            task = self._running.pop(key, None)
            has_begun = self._states.pop(key, None) is not None
        if task is None:
            return
        if isinstance(error, WorkerDied) and not has_begun and task.chances > 0:
            task.chances -= 1
            self._begin(task)
        else:
            _settle(task.future, value, error)

    def _outcome(self, remote: Any) -> tuple[Any, Exception | None]:
        if remote.status == "finished":
            kind, content = remote.result()
            if kind == "done":
                return content, None
            if kind == "other build":
                return None, ClusterLost(f"a worker of {self._where} {content}; {REMEDY}")
            return None, rebuilt(*content)
        if remote.status == "error":
            return None, self._failure(remote.exception())
        return None, ClusterLost(f"the connection to {self._where} was lost")

    def _failure(self, error: BaseException) -> Exception:
        """What a failure of Dask itself means: a task of ours returns its own as a value."""
        from distributed.scheduler import KilledWorker

        if isinstance(error, KilledWorker):
            return WorkerDied(
                "every worker process that performed it was killed, and Dask gave it up (workers "
                "are killed so when memory runs out)"
            )
        if isinstance(error, ModuleNotFoundError):
            return ClusterLost(
                f"a worker of {self._where} has no Python package '{error.name}'; {REMEDY}"
            )
        return ClusterLost(f"{self._where} failed: {type(error).__name__}: {error}")

    def _count(self) -> int:
        return sum(self._client.nthreads().values())

    def _watch_workers(self) -> None:
        seen = self._threads > 0
        since = time.monotonic()
        while not self._ended.wait(_SECONDS_BETWEEN_COUNTS):
            try:
                self._threads = self._count()
            except Exception:
                # The connection is lost or about to be found lost, which the futures then say.
                self._threads = 0
            moment = time.monotonic()
            if self._threads > 0:
                seen, since = True, moment
                continue
            limit = self._waits[seen]
            if limit is not None and moment - since > limit:
                self._give_up(seen, limit)

    def _give_up(self, seen: bool, seconds: float) -> None:
        if seen:
            rule = f"{self._where} has had no worker for {seconds:g} s"
        else:
            rule = f"no worker has come to {self._where} in {seconds:g} s"
        with self._lock:
            running = list(self._running.values())
            self._running.clear()
        for task in running:
            _settle(task.future, None, ClusterLost(f"{rule}; start workers and run again"))
            _cancel(task.remote)


REMEDY = "install the same resilver for the workers as here"


def _settle(future: Future[Any], value: Any, error: Exception | None) -> None:
    # A future that the sweep has cancelled in the meantime takes no more.
    with contextlib.suppress(InvalidStateError):
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)


def _cancel(remote: Any) -> None:
    # Where the connection is gone, the scheduler lets go by itself.
    with contextlib.suppress(Exception):
        remote.cancel()


def quiet_dask() -> None:
    """Leave it to resilver to say what becomes of a cluster: Dask's log would tear the display."""
    for name in ("distributed", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
