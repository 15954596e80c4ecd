"""Any `concurrent.futures` executor as an executor of runs."""

from __future__ import annotations

import contextlib
import os
import pickle
import threading
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from typing import Any

from resilver.study.executors.build import own_build
from resilver.study.executors.interface import ClusterLost, tell_of_cancelling
from resilver.study.executors.remote import perform_remotely
from resilver.study.pool import rebuilt
from resilver.study.progress import RunState


class AnyExecutor:
    """An executor of the caller's, which keeps it: processes, threads, or what MPI offers.

    It reports no progress inside a run, and a run that has begun cannot be stopped.
    """

    shares_folder = False

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._lock = threading.Lock()
        self._running: dict[Future[Any], Future[Any]] = {}

    @property
    def workers(self) -> int:
        """How many tasks it performs at once, as far as it says."""
        return int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1)

    def submit(self, function: str, /, *arguments: Any) -> Future[Any]:
        """Have the executor call a function.

        Args:
            function: "package.module:function".
            arguments: picklable arguments.
        """
        future: Future[Any] = Future()
        tell_of_cancelling(future, lambda: None)
        try:
            theirs = self._executor.submit(
                perform_remotely, own_build(), pickle.dumps((function, arguments)), None
            )
        except RuntimeError as error:
            # It is shut down, or one of its processes died.
            future.set_exception(ClusterLost(f"the executor takes no more runs: {error}"))
            return future
        with self._lock:
            self._running[future] = theirs
        theirs.add_done_callback(lambda done: self._finish(future, done))
        return future

    def under_way(self) -> Mapping[Future[Any], RunState]:
        """The tasks that have begun, all at their start: there are no reports."""
        with self._lock:
            return {
                future: RunState("starting")
                for future, theirs in self._running.items()
                if theirs.running()
            }

    def stop(self) -> None:
        """Drop the tasks that have not begun."""
        with self._lock:
            running = list(self._running.values())
        for theirs in running:
            theirs.cancel()

    def kill(self) -> None:
        """Wait no longer for tasks that have begun; the executor cannot end them."""
        with self._lock:
            running = list(self._running)
        for future in running:
            future.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the executor to its owner.

        Args:
            wait: not used: the sweep has waited for its tasks.
            cancel_futures: drop tasks that have not begun.
        """
        if cancel_futures:
            self.stop()

    def _finish(self, future: Future[Any], theirs: Future[Any]) -> None:
        with self._lock:
            self._running.pop(future, None)
        with contextlib.suppress(InvalidStateError):
            try:
                kind, content = theirs.result()
            except CancelledError:
                future.cancel()
            except BrokenExecutor as error:
                future.set_exception(ClusterLost(f"the executor broke: {error}"))
            except Exception as error:
                future.set_exception(ClusterLost(f"the executor failed: {error}"))
            else:
                if kind == "done":
                    future.set_result(content)
                elif kind == "other build":
                    future.set_exception(ClusterLost(f"a worker {content}"))
                else:
                    future.set_exception(rebuilt(*content))
