"""How a run is performed: by one task, or its scan mapped over workers and reduced to the run.

A scan looks through every file of the population, which for the largest takes far longer than the
rebuild that follows. Ranges of files are independent of each other, so workers scan them at once.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from resilver.errors import Interrupted
from resilver.study.perform import PERFORM, Delivery, RunTask, perform_by
from resilver.study.phases import STORING
from resilver.study.progress import RunState
from resilver.study.worker import Report

if TYPE_CHECKING:
    from resilver.simulate.parts import PartOfPopulation, PopulationScan
    from resilver.spec import Run

_PLAN = "resilver.study.split:plan_ranges"
_SCAN = "resilver.study.split:scan_range"
_REDUCE = "resilver.study.split:reduce_parts"

# Where a population of a given volume ends is known only about, and the range in which it ends is
# scanned once more, so the parts cover a little less than what is expected and the rest is small.
_SURE_SHARE = 0.99

# The task that reduces scans the rest in ranges of this share of the whole: seldom more than one or
# two beyond the end.
_REST_SHARE = 0.005

# A worker looks at the stop request between ranges of this many files, about a tenth of a second.
_FILES_PER_LOOK = 1 << 25

Call = tuple[str, tuple[Any, ...]]


class WholeRun:
    """A run that one task performs.

    Args:
        run: the run.
        task: its task.
    """

    def __init__(self, run: Run, task: RunTask) -> None:
        self.run = run
        self.delivery: Delivery | None = None
        self._task = task

    def begin(self) -> list[Call]:
        """The calls to make first."""
        return [(PERFORM, (self._task,))]

    def go_on(self, value: Any) -> list[Call]:
        """Take a call's value.

        Args:
            value: what the call returned.

        Returns:
            The calls to make next. When there are none and none is pending, the run is finished
            and `delivery` is set.
        """
        self.delivery = value
        return []

    def state(self, states: Sequence[RunState]) -> RunState | None:
        """How far the run is.

        Args:
            states: the states of its calls under way.

        Returns:
            The state; None where it has not begun.
        """
        return states[0] if states else None


@dataclass
class SplitRun:
    """A run whose population is scanned by several tasks.

    Attributes:
        run: the run.
        task: its task.
        parts: how many ranges to scan at once.
    """

    run: Run
    task: RunTask
    parts: int
    delivery: Delivery | None = None
    _mapping: bool = False
    _ranges: int = 0
    _state: RunState = field(default_factory=lambda: RunState("starting"))
    _scanned: list[tuple[PartOfPopulation, float]] = field(default_factory=list)

    def begin(self) -> list[Call]:
        """The call to make first: it finds the ranges."""
        return [(_PLAN, (self.task, self.parts))]

    def go_on(self, value: Any) -> list[Call]:
        """Take a call's value; see `WholeRun.go_on`."""
        if isinstance(value, Delivery):
            self.delivery = value
            return []
        if isinstance(value, tuple):
            self._scanned.append(value)
            if len(self._scanned) < self._ranges:
                return []
            self._mapping = False
            scanned, self._scanned = self._scanned, []
            parts = sorted((part for part, _ in scanned), key=lambda part: part.first_file)
            return [(_REDUCE, (self.task, parts, sum(seconds for _, seconds in scanned)))]
        if not value:
            return [(PERFORM, (self.task,))]
        self._mapping = True
        self._ranges = len(value)
        return [(_SCAN, (self.task, first, files)) for first, files in value]

    def state(self, states: Sequence[RunState]) -> RunState:
        """How far the run is; see `WholeRun.state`. Between tasks it stays where it was."""
        if self._mapping:
            under_way = sum(state.fraction for state in states if state.phase == "scanning")
            share = min(1.0, (len(self._scanned) + under_way) / self._ranges)
            self._state = RunState("scanning", max(share, self._state.fraction))
        elif states and (states[0].moves or states[0].phase in ("done", STORING)):
            self._state = states[0]
        elif self._ranges:
            # The last task has the rest to scan, which is little, and its groups to place again.
            self._state = RunState("scanning", 1.0)
        return self._state


def plan_ranges(task: RunTask, parts: int, report: Report) -> list[tuple[int, int]]:
    """The ranges of files in which a population can be scanned at once.

    Args:
        parts: how many ranges.
        report: told how far the task is; answers whether to go on.

    Returns:
        First file and number of files of each range, in order, together less than the population;
        nothing where it cannot be scanned in ranges or is too small.
    """
    if task.system.is_traffic_only:
        # Clients alone: nothing is stored that a scan could look through.
        return []
    report(RunState("placing"))
    scan = _scan_of(task)
    files = int(scan.expected_files * _SURE_SHARE) if scan.can_split else 0
    if files < parts:
        return []
    edges = [files * index // parts for index in range(parts + 1)]
    return [(low, high - low) for low, high in itertools.pairwise(edges)]


def scan_range(
    task: RunTask, first_file: int, files: int, report: Report
) -> tuple[PartOfPopulation, float]:
    """Scan one range of files.

    Args:
        first_file: the range's first file.
        files: its number of files.
        report: told how far the task is; answers whether to go on.

    Returns:
        What the range holds, and the seconds that took.

    Raises:
        Interrupted: the report said not to go on.
    """
    start = time.perf_counter()
    scan = _scan_of(task)
    found: list[PartOfPopulation] = []
    for low in range(first_file, first_file + files, _FILES_PER_LOOK):
        if not report(RunState("scanning", (low - first_file) / files)):
            raise Interrupted("the run was stopped before its end")
        count = min(_FILES_PER_LOOK, first_file + files - low)
        found.append(scan.scan(low, count))
        if found[-1].is_last:
            break
    return _joined(found), time.perf_counter() - start


def reduce_parts(
    task: RunTask, parts: list[PartOfPopulation], seconds: float, report: Report
) -> Delivery:
    """Scan what is left, simulate, and store.

    It holds what the parts found to be affected and nothing else of the population, as a run does
    that scans by itself.

    Args:
        parts: what the ranges hold, in order from the first file.
        seconds: what their scans took.
        report: told how far the task is; answers whether to go on.

    Returns:
        As `perform` does.
    """
    from resilver.simulate.parts import simulate_found

    def simulate(progress: Any) -> Any:
        report(RunState("scanning", _SURE_SHARE))
        found = list(_to_the_end(_scan_of(task), task, parts, report))
        parts.clear()
        _latest.clear()
        return simulate_found(task.system, task.seed, found, progress)

    return perform_by(simulate, task, report, seconds)


def _to_the_end(
    scan: PopulationScan, task: RunTask, parts: list[PartOfPopulation], report: Report
) -> Iterator[PartOfPopulation]:
    """The parts up to the one in which the population ends, and what they do not cover."""
    target = task.system.population_target_bytes
    next_file, volume = 0, 0
    for part in parts:
        if target is not None and volume + part.bytes >= target:
            part = scan.scan_to_end(part.first_file, part.files, volume)
        yield part
        if part.is_last:
            return
        next_file += part.files
        volume += part.bytes
    step = max(1, int(scan.expected_files * _REST_SHARE))
    while True:
        if not report(RunState("scanning", 1.0)):
            raise Interrupted("the run was stopped before its end")
        part = scan.scan_to_end(next_file, step, volume)
        yield part
        if part.is_last:
            return
        next_file += part.files
        volume += part.bytes


def _joined(parts: list[PartOfPopulation]) -> PartOfPopulation:
    import numpy as np

    from resilver.simulate.parts import PartOfPopulation

    if len(parts) == 1:
        return parts[0]
    return PartOfPopulation(
        parts[0].first_file,
        sum(part.files for part in parts),
        sum(part.objects for part in parts),
        sum(part.bytes for part in parts),
        np.concatenate([part.affected_objects for part in parts]),
        np.concatenate([part.affected_bytes for part in parts]),
        parts[-1].is_last,
    )


# Placing a large system's groups takes longer than scanning a range, so a worker keeps its latest.
_latest: dict[str, PopulationScan] = {}


def _scan_of(task: RunTask) -> PopulationScan:
    from resilver.simulate.parts import PopulationScan

    scan = _latest.get(task.key)
    if scan is None:
        scan = PopulationScan(task.system, task.seed)
        _latest.clear()
        _latest[task.key] = scan
    return scan
