"""What runs in a worker of a cluster: one task, its reports, and the question whether to go on."""

from __future__ import annotations

import os
import pickle
from typing import Any

from resilver.study.executors.build import Build, own_build
from resilver.study.progress import RunState
from resilver.study.worker import Seldom, answer

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
    return answer(function, arguments, (lambda _: True) if topic is None else _of_dask(topic))


def build_of_worker() -> Build:
    """The build that a worker runs, asked before anything is given to it."""
    return own_build()


def _of_dask(topic: str) -> Seldom:
    """Tells the driver through Dask how far a task is, and the task whether it is still wanted.

    A task is wanted while a client holds its future. A driver that cancels it, ends or is killed
    lets go, the scheduler tells the worker, and the worker finds the task's state changed: so
    nothing is left running for a driver that is gone.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    # The core's own threads, which it makes at its first run: what Dask gives this worker.
    os.environ.setdefault("RAYON_NUM_THREADS", str(worker.state.nthreads))

    def send(state: RunState) -> None:
        worker.log_event(topic, {"key": key, "state": list(state)})

    def goes_on() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state in _WANTED_STATES

    return Seldom(_SECONDS_BETWEEN_REPORTS, send, goes_on)
