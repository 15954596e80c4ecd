"""What runs in a worker of a cluster: one task, its reports, and the question whether to go on."""

from __future__ import annotations

import os
import pickle
import time
from typing import Any

from resilver.study.executors.build import Build, own_build
from resilver.study.progress import RunState
from resilver.study.worker import answer

# Each report passes through the one scheduler of the cluster: seldom enough for a thousand workers.
_SECONDS_BETWEEN_REPORTS = 0.5

_WANTED_STATES = ("executing", "long-running")


def perform_remotely(build: Build, payload: bytes, topic: str | None) -> tuple[str, Any]:
    """Call a function in this process.

    The arguments stay pickled until the builds are compared, since what another version makes of
    them could be anything.

    Args:
        build: the driver's build.
        payload: the pickled name of the function and its arguments.
        topic: the Dask topic that takes reports; None outside Dask, where nobody listens.

    Returns:
        ("done", value), ("error", (kind, message, details)), or ("other build", the difference).
    """
    difference = build.difference(own_build())
    if difference is not None:
        return ("other build", difference)
    function, arguments = pickle.loads(payload)
    return answer(function, arguments, _always if topic is None else DaskReporter(topic))


def build_of_worker() -> Build:
    """The build that a worker runs, asked before anything is given to it.

    Returns:
        Its build.
    """
    return own_build()


def _always(_: RunState) -> bool:
    return True


class DaskReporter:
    """Tells the driver through Dask how far a task is, and the task whether it is still wanted.

    A task is wanted while a client holds its future. A driver that cancels it, ends or is killed
    lets go, the scheduler tells the worker, and the worker finds the task's state changed: so
    nothing is left running for a driver that is gone.

    Args:
        topic: the topic that the driver listens to.
    """

    def __init__(self, topic: str) -> None:
        from distributed import get_worker

        self._worker = get_worker()
        self._topic = topic
        self._key = self._worker.get_current_task()
        self._phase: Any = None
        self._next = 0.0
        # The core's own threads, which it makes at its first run: what Dask gives this worker.
        os.environ.setdefault("RAYON_NUM_THREADS", str(self._worker.state.nthreads))

    def __call__(self, state: RunState) -> bool:
        """Report progress.

        Args:
            state: how far the task is.

        Returns:
            False if the task is to stop.
        """
        moment = time.monotonic()
        if state.phase != self._phase or moment >= self._next:
            self._phase = state.phase
            self._next = moment + _SECONDS_BETWEEN_REPORTS
            self._worker.log_event(self._topic, {"key": self._key, "state": list(state)})
        task = self._worker.state.tasks.get(self._key)
        return task is not None and task.state in _WANTED_STATES
