"""Plans of block benchmarks: the OLCF's published grids, and fewer tests that tell as much.

A plan is a list of tests in a random order of a fixed seed, so that what drifts while it runs does
not look like an effect of size or pattern.

Source: the scripts of the OLCF-3 block I/O benchmark, S. Oral and D. Dillow, Oak Ridge National
Laboratory: 4 patterns, queues of 4, 8 and 16, and on a single host 12 sizes by 5 runs, on a
building block 4 sizes by 3, each of 30 s and 15 s of pause.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resilver.calibration.block_rates import QUEUE
from resilver.calibration.design import Cell, choose
from resilver.calibration.fio_run import REQUEST_SIZES
from resilver.errors import ConfigError, show
from resilver.importers.fio import MODES
from resilver.importers.jsonpath import Node
from resilver.text import parse_json, read_text, refuse

PLAN_FILE = "plan.json"
"""The file of a plan in its folder."""

_TESTS_MOST = 100_000
_SECONDS_MOST = 86_400.0
_SIZE_MOST = 2**30
_QUEUE_MOST = 1024


@dataclass(frozen=True)
class Test:
    """One test.

    Attributes:
        mode: ``read``, ``write``, ``randread`` or ``randwrite``.
        request_bytes: The size of a request.
        queue: How many are outstanding.
        run: Which of the runs of this pattern, size and queue it is, from 1.
    """

    mode: str
    request_bytes: int
    queue: int
    run: int

    @property
    def name(self) -> str:
        """A name that no other test of a plan has."""
        return f"{self.mode}-{self.request_bytes}-q{self.queue}-run{self.run}"


@dataclass(frozen=True)
class Plan:
    """Tests in the order in which they run.

    Attributes:
        name: What the plan is for.
        tests: The tests.
        seconds: How long each takes.
        pause_seconds: How long the disk rests after each.
        seed: What the order was drawn from.
    """

    name: str
    tests: tuple[Test, ...]
    seconds: float
    pause_seconds: float
    seed: int

    @property
    def total_seconds(self) -> float:
        """How long all of it takes, the pauses too."""
        return len(self.tests) * (self.seconds + self.pause_seconds)

    def to_dict(self) -> dict[str, Any]:
        """The plan, JSON-able."""
        return asdict(self) | {"total_seconds": self.total_seconds}


@dataclass(frozen=True)
class Grid:
    """All combinations of what is varied.

    Attributes:
        name: What is tested by it.
        queues: The queue depths.
        sizes: The sizes of requests.
        runs: How often each is run.
        seed: What the order is drawn from.
    """

    name: str
    queues: tuple[int, ...]
    sizes: tuple[int, ...]
    runs: int
    seed: int

    def plan(self, seconds: float, pause_seconds: float, seed: int | None = None) -> Plan:
        """The grid as a plan.

        Args:
            seconds: How long each test takes.
            pause_seconds: The pause after each.
            seed: What the order is drawn from; by default the grid's own.
        """
        tests = [
            Test(mode, size, queue, run)
            for mode in MODES
            for queue in self.queues
            for size in self.sizes
            for run in range(1, self.runs + 1)
        ]
        return _shuffled(
            self.name, tests, seconds, pause_seconds, self.seed if seed is None else seed
        )


SINGLE_HOST = Grid("single-host", (4, 8, 16), REQUEST_SIZES, 5, 8023)
BUILDING_BLOCK = Grid("building-block", (4, 8, 16), (4096, 8192, 2**19, 2**20), 3, 11372)
GRIDS = {"olcf3": (SINGLE_HOST, BUILDING_BLOCK)}
"""The published plans, by name; seeds are those of the scripts, whose order is their shell's."""


def reduced(
    grid: Grid, budget_seconds: float, seconds: float, pause_seconds: float, seed: int | None = None
) -> Plan:
    """The tests that tell most of a disk's table within a time.

    The table knows no queue, so that all are at one: the recipe's.

    Args:
        grid: What the tests are chosen from.
        budget_seconds: How long all of it may take.
        seconds: How long each test takes.
        pause_seconds: The pause after each.
        seed: What the order is drawn from; by default the grid's own.

    Raises:
        ConfigError: The time is too short for a table.
    """
    cells = [Cell(mode, size) for mode in MODES for size in grid.sizes]
    most = len(cells) * grid.runs
    tests = min(int(budget_seconds / (seconds + pause_seconds) + 1e-9), most)
    queue = QUEUE if QUEUE in grid.queues else grid.queues[0]
    chosen = [
        Test(cell.mode, cell.request_bytes, queue, run)
        for cell, count in zip(cells, choose(cells, tests), strict=True)
        for run in range(1, count + 1)
    ]
    name = f"{grid.name}-reduced"
    return _shuffled(name, chosen, seconds, pause_seconds, grid.seed if seed is None else seed)


def _shuffled(
    name: str, tests: Sequence[Test], seconds: float, pause_seconds: float, seed: int
) -> Plan:
    order = list(tests)
    random.Random(seed).shuffle(order)
    return Plan(name, tuple(order), seconds, pause_seconds, seed)


def write_plan(plan: Plan) -> str:
    """The plan as its file has it."""
    return json.dumps(plan.to_dict(), indent=1) + "\n"


def read_plan(path: Path) -> Plan:
    """Read a plan.

    Args:
        path: Its file, or the folder that it is in.

    Raises:
        ConfigError: It cannot be read, or is no plan.
    """
    file = path / PLAN_FILE if path.is_dir() else path
    root = Node(parse_json(read_text(file), file), "", str(file))
    tests = []
    for node in root.at("tests").items():
        mode = node.at("mode").text()
        if mode not in MODES:
            node.at("mode").fail(f"one of {', '.join(MODES)}")
        tests.append(
            Test(
                mode,
                node.at("request_bytes").integer(512, _SIZE_MOST),
                node.at("queue").integer(1, _QUEUE_MOST),
                node.at("run").integer(1, _TESTS_MOST),
            )
        )
        if len(tests) > _TESTS_MOST:
            refuse(file, f"it has more than {_TESTS_MOST:,} tests", "split it")
    if not tests:
        refuse(file, "it has no test", "make it by `resilver bench plan`")
    names = [test.name for test in tests]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        rule = f"the test {show(twice)} stands twice"
        raise ConfigError(rule, "number its runs", place=str(file))
    return Plan(
        root.at("name").text()[:80],
        tuple(tests),
        root.at("seconds").number(0.01, _SECONDS_MOST),
        root.at("pause_seconds").number(0.0, _SECONDS_MOST),
        root.at("seed").integer(0),
    )
