"""Executing a study: every run that its folder does not have yet, wherever it is performed."""

from __future__ import annotations

import math
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.errors import ConfigError, Interrupted, PlacementError, ResilverError
from resilver.study.executors import ClusterLost, ExecutorChoice, choose
from resilver.study.feeding import Course, Feed
from resilver.study.folder import RunFolder, open_run_folder
from resilver.study.heartbeat import Heartbeat
from resilver.study.interrupt import InterruptWatch
from resilver.study.machine import refuse_too_large
from resilver.study.meter import Expected, Meter
from resilver.study.perform import Delivery, RunTask, perform
from resilver.study.pool import UnexpectedFailure, WorkerDied
from resilver.study.progress import Counts, Incomplete, RunState, StudyProgress
from resilver.study.results import Results
from resilver.study.split import SplitRun, WholeRun

if TYPE_CHECKING:
    from resilver.spec import Run, Study

SIMULATOR = "resilver.study.run:simulate"

# Splitting costs a second or two of tasks that wait for each other; a run that takes this long by
# itself gains.
_SECONDS_WORTH_SPLITTING = 30.0

# More parts than this make the ranges so short that starting them counts.
_PARTS_MAX = 256

# How long the driver looks for shards that workers say are stored. Network file systems remember
# for up to a minute that a file was absent.
_SECONDS_TO_SEE_SHARDS = 90.0

# Placing as a share of what comes before the rebuilding, where there are groups.
_PLACING = 0.25


def execute(
    study: Study,
    folder: str | Path,
    *,
    workers: int | None = None,
    progress: Callable[[StudyProgress], None] | None = None,
    command: Sequence[str] | None = None,
    simulator: str | None = None,
    executor: Any = None,
    split: int | None = None,
) -> Results:
    """Perform every run of a study that its folder does not have yet.

    The same study gives the same tables whatever performs it, with whatever number of workers, and
    however often the execution was interrupted.

    Args:
        folder: where results go; runs that are there already are not done again.
        workers: parallel processes, by default one a processor; 0 performs the runs in this
            process, one after another.
        progress: told how far the study is, about ten times a second.
        command: the command line to record, by default this process's.
        simulator: the simulation as "package.module:function", by default the native core's.
        executor: what performs the runs, by default processes of this machine: the address or the
            scheduler file of a running Dask scheduler, "allocation" in a task of `srun`,
            `BatchJobs`, a `distributed.Client`, or any `concurrent.futures.Executor`.
        split: into how many parts to split the scan of each run's population; 1 for none. By
            default long runs are split where a cluster has more workers than runs are left.

    Returns:
        The results.

    Raises:
        ConfigError: the folder cannot take the results, the executor cannot be had, or a run needs
            more memory than this machine, which is to perform it, has; nothing has been run.
        PlacementError: a real cluster's CRUSH map cannot be used; nothing has been run.
        Interrupted: Ctrl-C; finished runs are kept.
        Incomplete: some runs failed; the others are kept.

    Example:
        >>> study = Study.load("study.toml")  # doctest: +SKIP
        >>> execute(study, "runs/study").runs["rebuild_seconds"]  # doctest: +SKIP
    """
    _check_split(split)
    choice = None if executor is None and workers == 0 else choose(executor, workers=workers)
    runs = study.runs()
    if simulator is None:
        from resilver.study import validate_runs

        validate_runs(runs)
        if choice is None or not choice.several_machines:
            refuse_too_large(runs)
    path = Path(folder)
    line = list(command) if command is not None else [Path(sys.argv[0]).name, *sys.argv[1:]]
    with open_run_folder(path, study, runs, line) as run_folder:
        if not run_folder.is_current():
            keys = {label(run): run.key for run in runs}
            with Heartbeat(path, keys, progress) as heartbeat:
                execution = _Execution(run_folder, runs, heartbeat, simulator or SIMULATOR, split)
                execution.perform(choice)
    return Results.open(path)


def _check_split(split: int | None) -> None:
    is_number = isinstance(split, int) and not isinstance(split, bool)
    if split is not None and not (is_number and 1 <= split <= _PARTS_MAX):
        rule = f"a run is split into 1 to {_PARTS_MAX} parts"
        raise ConfigError(rule, "leave it out, or give 1 for none", "split", str(split))


def label(run: Run) -> str:
    """A run in a few words: its swept values and its seed.

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
    split: int | None = None
    counts: Counts = field(init=False)
    finished: set[str] = field(init=False, default_factory=set)
    failures: list[dict[str, Any]] = field(init=False, default_factory=list)
    mark: str | None = field(init=False, default=None)
    under_way: dict[str, RunState] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        # Two points of a sweep can resolve to one system; its run is done once.
        self.unique = {run.key: run for run in self.runs}
        self.counts = Counts(total=len(self.unique))
        self.costs = _expected_costs(self.unique.values(), self.simulator)
        self.meter = Meter(
            self.costs, {key: label(run) for key, run in self.unique.items()}, time.monotonic()
        )

    def perform(self, choice: ExecutorChoice | None) -> None:
        """Do what is left, in this process where there is no choice of another place."""
        self.finished = self.folder.shards.finished(self.unique)
        self.counts.reused = len(self.finished)
        self.meter.found(self.finished)
        for key in self.unique:
            if key not in self.finished:
                self.folder.shards.discard(key)
        # None of the long runs is left alone at the end.
        unfinished = (run for key, run in self.unique.items() if key not in self.finished)
        left = deque(sorted(unfinished, key=lambda run: -self.costs[run.key].seconds))
        self._tell()
        with InterruptWatch() as interrupt:
            if left and choice is None:
                self._perform_here(left, interrupt)
            elif left and choice is not None:
                self._perform_by(choice, left, interrupt)
            self._conclude(interrupt)

    def _task(self, run: Run) -> RunTask:
        shards = self.folder.shards.folder.absolute()
        return RunTask(run.key, run.system, run.seed, shards, self.simulator, self.mark)

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

    def _perform_by(
        self, choice: ExecutorChoice, left: deque[Run], interrupt: InterruptWatch
    ) -> None:
        def course_of(run: Run, sharing: int, workers: int) -> Course:
            parts = self._parts(run, sharing, workers if choice.several_machines else 1)
            task = self._task(run)
            return SplitRun(run, task, parts) if parts > 1 else WholeRun(run, task)

        tasks = len(left) * (self.split or 1)
        if choice.several_machines and self.split is None:
            tasks *= _PARTS_MAX if self._is_worth_splitting(left[0]) else 1
        executor = choice.open(tasks)
        token = uuid.uuid4().hex
        if not executor.shares_folder:
            self.mark = token
            self.folder.shards.mark(token)
        try:
            Feed(executor, left, course_of, interrupt, self).run()
        finally:
            self.folder.shards.unmark(token)

    def _is_worth_splitting(self, run: Run) -> bool:
        return (
            self.simulator == SIMULATOR and self.costs[run.key].seconds > _SECONDS_WORTH_SPLITTING
        )

    def _parts(self, run: Run, sharing: int, workers: int) -> int:
        """Into how many parts to split a run's scan."""
        # A real cluster has no population to look through.
        if self.simulator != SIMULATOR or run.system.report is not None:
            return 1
        if self.split is not None:
            return self.split
        if sharing >= workers or not self._is_worth_splitting(run):
            return 1
        return min(_PARTS_MAX, math.ceil(workers / sharing))

    def delivered(self, course: Course, delivery: Delivery) -> bool:
        """A run is finished; False if its shard cannot be stored."""
        if delivery.files is not None:
            try:
                self.folder.shards.receive(course.run.key, delivery.files)
            except OSError as error:
                return self._note_failure(course.run, error)
        self._note_done(course.run)
        return True

    def failed(self, course: Course, error: BaseException) -> bool:
        """A run failed; False if the others would fail as it did."""
        return self._note_failure(course.run, error)

    def look(self, under_way: Mapping[str, RunState]) -> None:
        """Tell the caller how far the runs are."""
        self.under_way = dict(under_way)
        self._tell()

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
                "again": isinstance(error, (ClusterLost, WorkerDied, OSError)),
                "bad_input": isinstance(error, (ConfigError, PlacementError)),
                "details": getattr(error, "details", ""),
            }
        )
        self.counts.failed += 1
        self.meter.end(run.key)
        self.under_way.pop(run.key, None)
        self._tell(label(run), message)
        return not isinstance(error, (ClusterLost, OSError))

    def _tell(self, finished_label: str | None = None, message: str | None = None) -> None:
        now = time.monotonic()
        state = self.meter.look(now, self.counts, self.under_way, finished_label, message)
        if self.progress is not None:
            self.progress(state)

    def _see_shards(self) -> None:
        """Look for the shards that workers elsewhere have stored in the folder they share."""
        if self.mark is None:
            return
        seen = self.folder.shards.wait_for(self.finished, _SECONDS_TO_SEE_SHARDS)
        for key in [key for key in self.unique if key in self.finished - seen]:
            self.finished.discard(key)
            self.counts.done -= 1
            self._note_failure(self.unique[key], ClusterLost("its shard has not appeared here"))

    def _conclude(self, interrupt: InterruptWatch) -> None:
        self._see_shards()
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
            moving = cost["rebuilding_seconds"] or cost["serving_seconds"] or 0.0
            share = moving / cost["seconds"]
            placing = 0.0 if run.system.placement_group_count is None else _PLACING * (1.0 - share)
            expected[id(run.system)] = Expected(cost["seconds"], placing, share)
        costs[run.key] = expected[id(run.system)]
    return costs
