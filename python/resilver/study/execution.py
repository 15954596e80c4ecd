"""Executing a study: every run that its folder does not have yet, in parallel processes."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import (
    ConfigError,
    Interrupted,
    PlacementError,
    ResilverError,
)
from resilver.study.folder import RunFolder, open_run_folder
from resilver.study.heartbeat import Heartbeat
from resilver.study.interrupt import InterruptWatch
from resilver.study.meter import Expected, Meter
from resilver.study.perform import PERFORM, RunTask, perform
from resilver.study.pool import LocalPool, UnexpectedFailure, WorkerDied
from resilver.study.progress import Counts, Incomplete, RunState, StudyProgress
from resilver.study.results import Results

if TYPE_CHECKING:
    from resilver.spec import Run, Study

SIMULATOR = "resilver.simulate:simulate"

# How often the loop looks at its workers and tells its caller: often enough for a smooth progress
# bar and a prompt Ctrl-C, seldom enough to cost nothing.
_SECONDS_BETWEEN_LOOKS = 0.1

# Placing as a share of what comes before the rebuilding, where there are groups.
_PLACING = 0.25

# A worker looks at the stop request at every progress report of the core, many times a second.
_SECONDS_TO_STOP = 10.0


def execute(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    progress: Callable[[StudyProgress], None] | None = None,
    command: Sequence[str] | None = None,
    simulator: str | None = None,
) -> Results:
    """Perform every run of a study that its folder does not have yet.

    The same study gives the same tables whatever the number of workers and however often the
    execution was interrupted.

    Args:
        study: the study.
        folder: where results go; runs that are there already are not done again.
        workers: parallel processes, by default one a processor; 0 performs the runs in this
            process, one after another.
        progress: told how far the study is, about ten times a second.
        command: the command line to record, by default this process's.
        simulator: the simulation as "package.module:function", by default the native core's.

    Returns:
        The results.

    Raises:
        ConfigError: the folder cannot take the results; nothing has been run.
        PlacementError: a real cluster's CRUSH map cannot be used; nothing has been run.
        Interrupted: Ctrl-C; finished runs are kept.
        Incomplete: some runs failed; the others are kept.

    Example:
        >>> study = Study.load("study.toml")  # doctest: +SKIP
        >>> execute(study, "runs/study").runs["rebuild_seconds"]  # doctest: +SKIP
    """
    if workers is not None and workers < 0:
        raise ConfigError(
            f"workers = {workers}: must be 0 or more; leave it out for one a processor"
        )
    runs = study.runs()
    if simulator is None:
        from resilver.simulate import validate

        validate(run.system for run in runs)
    path = Path(folder)
    line = list(command) if command is not None else [Path(sys.argv[0]).name, *sys.argv[1:]]
    with open_run_folder(path, study, runs, line) as run_folder:
        if not run_folder.is_current():
            keys = {label(run): run.key for run in runs}
            with Heartbeat(path, keys, progress) as heartbeat:
                execution = _Execution(run_folder, runs, heartbeat, simulator or SIMULATOR)
                execution.perform(_worker_count(workers))
    return Results.open(path)


def _worker_count(workers: int | None) -> int:
    if workers is not None:
        return workers
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def label(run: Run) -> str:
    """A run in a few words: its swept values and its seed.

    Args:
        run: the run.

    Returns:
        For example "cluster.servers=64 seed=3".
    """
    parts = [f"{key}={value}" for key, value in run.swept.items()]
    return " ".join([*parts, f"seed={run.seed}"])


@dataclass
class _Execution:
    """One call of `execute`: what is left to do, and what came of it."""

    folder: RunFolder
    runs: Sequence[Run]
    progress: Callable[[StudyProgress], None] | None
    simulator: str
    counts: Counts = field(init=False)
    finished: set[str] = field(init=False, default_factory=set)
    failures: list[dict[str, Any]] = field(init=False, default_factory=list)
    under_way: dict[str, RunState] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        # Two points of a sweep can resolve to one system; its run is done once.
        self.unique = {run.key: run for run in self.runs}
        self.counts = Counts(total=len(self.unique))
        self.meter = Meter(
            _expected_costs(self.unique.values(), self.simulator),
            {key: label(run) for key, run in self.unique.items()},
            time.monotonic(),
        )

    def perform(self, workers: int) -> None:
        self.finished = self.folder.shards.finished(self.unique)
        self.counts.reused = len(self.finished)
        self.meter.found(self.finished)
        for key in self.unique:
            if key not in self.finished:
                self.folder.shards.discard(key)
        left = deque(run for key, run in self.unique.items() if key not in self.finished)
        self._tell()
        with InterruptWatch() as interrupt:
            if left and workers == 0:
                self._perform_here(left, interrupt)
            elif left:
                self._perform_in_pool(left, min(workers, len(left)), interrupt)
            self._conclude(interrupt)

    def _task(self, run: Run) -> RunTask:
        return RunTask(run.key, run.system, run.seed, self.folder.shards.folder, self.simulator)

    def _perform_here(self, left: deque[Run], interrupt: InterruptWatch) -> None:
        for run in left:

            def report(state: RunState, key: str = run.key) -> bool:
                self.under_way = {key: state}
                self._tell()
                return not interrupt.requested

            if interrupt.requested:
                return
            try:
                perform(self._task(run), report)
            except Exception as error:
                if not self._note_failure(run, error):
                    return
            else:
                self._note_done(run)

    def _perform_in_pool(self, left: deque[Run], workers: int, interrupt: InterruptWatch) -> None:
        pool = LocalPool(workers, _worker_environment(workers))
        pending: dict[Future[Any], Run] = {}
        try:
            self._feed(pool, left, pending, interrupt)
        finally:
            # Something is pending only if the caller's progress function raised.
            if pending:
                pool.kill()
            pool.shutdown(cancel_futures=True)

    def _feed(
        self,
        pool: LocalPool,
        left: deque[Run],
        pending: dict[Future[Any], Run],
        interrupt: InterruptWatch,
    ) -> None:
        deadline: float | None = None
        while left or pending:
            # A few tasks wait in the pool so that no worker idles; the rest are cheap to drop.
            while left and len(pending) < 2 * pool.workers:
                run = left.popleft()
                pending[pool.submit(PERFORM, self._task(run))] = run
            done, _ = wait(pending, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
            for future in done:
                run = pending.pop(future)
                if not self._collect(future, run, stopping=deadline is not None):
                    deadline = deadline or self._stop(pool, left, pending)
            if interrupt.requested and deadline is None:
                deadline = self._stop(pool, left, pending)
            if deadline is not None and (interrupt.insisted or time.monotonic() > deadline):
                pool.kill()
            under_way = pool.under_way()
            self.under_way = {pending[f].key: s for f, s in under_way.items() if f in pending}
            self._tell()

    def _stop(self, pool: LocalPool, left: deque[Run], pending: dict[Future[Any], Run]) -> float:
        """Begin nothing more, and give the workers until the returned moment to stop."""
        left.clear()
        for future in pending:
            future.cancel()
        pool.stop()
        return time.monotonic() + _SECONDS_TO_STOP

    def _collect(self, future: Future[Any], run: Run, *, stopping: bool) -> bool:
        """Note what came of a run; False if the others would fail as it did."""
        error = None if future.cancelled() else future.exception()
        if future.cancelled() or (stopping and isinstance(error, WorkerDied)):
            return True
        if error is None:
            self._note_done(run)
            return True
        return self._note_failure(run, error)

    def _note_done(self, run: Run) -> None:
        self.finished.add(run.key)
        self.counts.done += 1
        self.meter.end(run.key)
        self.under_way.pop(run.key, None)
        self._tell(label(run))

    def _note_failure(self, run: Run, error: BaseException) -> bool:
        """Record a run that did not finish; False if the others would fail as it did."""
        if isinstance(error, Interrupted):
            return True
        message = str(error)
        if isinstance(error, OSError):
            message = f"its shard could not be written: {message}"
        elif not isinstance(error, ResilverError) or isinstance(error, UnexpectedFailure):
            message = f"unexpected error, please report it with this line: {message}"
        self.failures.append(
            {
                "run": run.key,
                "seed": run.seed,
                "swept": dict(run.swept),
                "message": message,
                "again": isinstance(error, (WorkerDied, OSError)),
                "bad_input": isinstance(error, (ConfigError, PlacementError)),
                "details": getattr(error, "details", ""),
            }
        )
        self.counts.failed += 1
        self.meter.end(run.key)
        self.under_way.pop(run.key, None)
        self._tell(label(run), message)
        return not isinstance(error, OSError)

    def _tell(self, finished_label: str | None = None, message: str | None = None) -> None:
        now = time.monotonic()
        state = self.meter.look(now, self.counts, self.under_way, finished_label, message)
        if self.progress is not None:
            self.progress(state)

    def _conclude(self, interrupt: InterruptWatch) -> None:
        order = {key: index for index, key in enumerate(self.unique)}
        self.failures.sort(key=lambda failure: order[failure["run"]])
        plain = [{k: v for k, v in f.items() if k != "details"} for f in self.failures]
        try:
            self.folder.finish(self.runs, self.finished, plain)
        except OSError as error:
            message = (
                f"the tables could not be put together: {error}; "
                "finished runs are kept: free some space and run the same command again"
            )
            failure = {"message": message, "again": True}
            raise Incomplete(message, [failure], self.counts) from error
        kept = self.counts.finished
        if interrupt.requested and kept < self.counts.total:
            raise Interrupted(
                f"interrupted with {kept} of {self.counts.total} runs finished and kept in "
                f"{str(self.folder.path)!r}; run the same command again to do the rest"
            )
        if self.failures:
            raise Incomplete(self._failure_message(kept), self.failures, self.counts)

    def _failure_message(self, kept: int) -> str:
        lines = [
            f"{self.counts.failed} of {self.counts.total} runs failed; "
            f"{kept} finished runs are kept in {str(self.folder.path)!r}"
        ]
        for failure in self.failures[:5]:
            lines.append(f"{label(self.unique[failure['run']])}: {failure['message']}")
        if len(self.failures) > 5:
            lines.append(f"and {len(self.failures) - 5} more")
        if any(failure["again"] for failure in self.failures):
            lines.append(
                "run the same command again to do the rest, with fewer --workers if memory ran out"
            )
        return "\n".join(lines)


def _expected_costs(runs: Iterable[Run], simulator: str) -> dict[str, Expected]:
    """What each run is expected to cost by its key; all alike for a simulation of another's."""
    if simulator != SIMULATOR:
        return {run.key: Expected() for run in runs}
    from resilver.estimate import estimate

    expected: dict[int, Expected] = {}
    costs = {}
    for run in runs:
        # The seeds of a point share its system, which one estimate covers.
        if id(run.system) not in expected:
            cost = estimate(run.system)
            share = cost["rebuilding_seconds"] / cost["seconds"]
            placing = 0.0 if run.system.placement_group_count is None else _PLACING * (1.0 - share)
            expected[id(run.system)] = Expected(cost["seconds"], placing, share)
        costs[run.key] = expected[id(run.system)]
    return costs


def _worker_environment(workers: int) -> dict[str, str]:
    # The core has threads of its own: together the workers get one thread a processor.
    if "RAYON_NUM_THREADS" in os.environ:
        return {}
    return {"RAYON_NUM_THREADS": str(max(1, _worker_count(None) // workers))}
