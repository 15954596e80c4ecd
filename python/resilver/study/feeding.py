"""Feeding an executor with runs: what is begun, what is pending, and how it stops."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Any, Protocol

from resilver.errors import Interrupted
from resilver.study.executors import ClusterLost, StudyExecutor
from resilver.study.interrupt import InterruptWatch
from resilver.study.perform import Delivery
from resilver.study.pool import WorkerDied
from resilver.study.progress import RunState
from resilver.study.split import SplitRun, WholeRun

if TYPE_CHECKING:
    from resilver.spec import Run

# How often the loop looks at its workers and tells its caller: often enough for a smooth progress
# bar and a prompt Ctrl-C, seldom enough to cost nothing.
_SECONDS_BETWEEN_LOOKS = 0.1

# A worker looks at the stop request at every progress report of the core, many times a second.
_SECONDS_TO_STOP = 10.0

# A few tasks wait in the executor so that no worker idles; the rest are cheap to drop.
_TASKS_PER_WORKER = 2

Course = WholeRun | SplitRun


class Listener(Protocol):
    """Who is told what comes of the runs."""

    def delivered(self, course: Course, delivery: Delivery) -> bool:
        """A run is finished; False if the others cannot be stored."""

    def failed(self, course: Course, error: BaseException) -> bool:
        """A run failed; False if the others would fail as it did."""

    def look(self, under_way: Mapping[str, RunState]) -> None:
        """How far the runs under way are, by their keys."""


class Feed:
    """Runs on their way through an executor.

    Args:
        executor: what performs them.
        left: the runs, in order.
        course_of: says how to perform a run, given how many runs share the workers with it and how
            many workers there are.
        interrupt: the user's wish to stop.
        listener: told what comes of the runs.
    """

    def __init__(
        self,
        executor: StudyExecutor,
        left: deque[Run],
        course_of: Callable[[Run, int, int], Course],
        interrupt: InterruptWatch,
        listener: Listener,
    ) -> None:
        self._executor = executor
        self._left = left
        self._course_of = course_of
        self._interrupt = interrupt
        self._listener = listener
        self._pending: dict[Future[Any], Course] = {}
        self._deadline: float | None = None
        self._given_up: set[str] = set()

    def run(self) -> None:
        """Perform everything, or stop when asked to."""
        try:
            while self._left or self._pending:
                self._step()
        finally:
            # Something is pending only if the caller's progress function raised.
            if self._pending:
                self._executor.kill()
            self._executor.shutdown(cancel_futures=True)

    def _step(self) -> None:
        room = max(1, self._executor.workers) * _TASKS_PER_WORKER
        while self._left and len(self._pending) < room:
            others = len({id(course) for course in self._pending.values()})
            sharing = len(self._left) + others
            course = self._course_of(self._left.popleft(), sharing, self._executor.workers)
            self._submit(course, course.begin())
        done, _ = wait(self._pending, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        for future in done:
            course = self._pending.pop(future)
            if not self._collect(future, course):
                self._stop()
        if self._interrupt.requested:
            self._stop()
        late = self._deadline is not None and time.monotonic() > self._deadline
        if self._deadline is not None and (self._interrupt.insisted or late):
            self._executor.kill()
        self._look()

    def _submit(self, course: Course, calls: list[Any]) -> None:
        for function, arguments in calls:
            self._pending[self._executor.submit(function, *arguments)] = course

    def _stop(self) -> None:
        """Begin nothing more, and give the workers some seconds to stop."""
        if self._deadline is not None:
            return
        self._left.clear()
        for future in self._pending:
            future.cancel()
        self._executor.stop()
        self._deadline = time.monotonic() + _SECONDS_TO_STOP

    def _collect(self, future: Future[Any], course: Course) -> bool:
        """Note what came of a call; False if the others would fail as it did."""
        if future.cancelled() or course.run.key in self._given_up:
            return True
        stopping = self._deadline is not None
        error = future.exception()
        if error is None:
            calls = course.go_on(future.result())
            if not stopping:
                self._submit(course, calls)
            if course.delivery is not None:
                return self._listener.delivered(course, course.delivery)
            return True
        if isinstance(error, Interrupted) or (
            stopping and isinstance(error, (WorkerDied, ClusterLost))
        ):
            return True
        self._give_up(course)
        return self._listener.failed(course, error)

    def _give_up(self, course: Course) -> None:
        """Drop what else a run has pending."""
        self._given_up.add(course.run.key)
        for future, other in self._pending.items():
            if other is course:
                future.cancel()

    def _look(self) -> None:
        under_way = self._executor.under_way()
        states: dict[str, list[RunState]] = {}
        courses = {}
        for future, course in self._pending.items():
            courses[course.run.key] = course
            found = states.setdefault(course.run.key, [])
            if (state := under_way.get(future)) is not None:
                found.append(state)
        looks = {key: courses[key].state(found) for key, found in states.items()}
        self._listener.look({key: state for key, state in looks.items() if state is not None})
