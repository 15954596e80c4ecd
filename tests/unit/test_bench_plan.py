"""Plans of block benchmarks: the published grids, and fewer tests that give the same curves."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from resilver import cli
from resilver.calibration.bench_plan import (
    BUILDING_BLOCK,
    GRIDS,
    SINGLE_HOST,
    Plan,
    read_plan,
    reduced,
    write_plan,
)
from resilver.calibration.design import Cell, _rows, choose
from resilver.calibration.disk import calibrate_report, service_seconds
from resilver.calibration.errors import ModelError
from resilver.calibration.fio_run import REQUEST_SIZES
from resilver.errors import ConfigError
from resilver.importers.fio import MODES, FioJob, FioReport
from resilver.spec.device import DeviceTable
from tests.scale import numbers

CELLS = [Cell(mode, size) for mode in MODES for size in REQUEST_SIZES]


def test_the_published_plans_have_their_tests_and_hours(capsys: pytest.CaptureFixture[str]) -> None:
    """4 x 3 x 12 x 5 = 720 and 4 x 3 x 4 x 3 = 144 tests of 45 s: 9.0 h and 1.8 h."""
    assert cli.run(["bench", "plan", "--like", "olcf3", "--json"]) == 0
    single, block = json.loads(capsys.readouterr().out)["plans"]
    assert (len(single["tests"]), single["total_seconds"]) == (720, 9.0 * 3600)
    assert (len(block["tests"]), block["total_seconds"]) == (144, 1.8 * 3600)
    assert Counter(one["queue"] for one in single["tests"]) == {4: 240, 8: 240, 16: 240}
    assert {one["request_bytes"] for one in single["tests"]} == set(REQUEST_SIZES)
    counts = dict.fromkeys((4096, 8192, 524288, 1048576), 36)
    assert Counter(one["request_bytes"] for one in block["tests"]) == counts


def test_the_order_is_random_and_the_seeds() -> None:
    """The same seed gives the same order; sizes and places in it do not hang together."""
    first, again = SINGLE_HOST.plan(30, 15), SINGLE_HOST.plan(30, 15)
    assert first == again and first.tests != SINGLE_HOST.plan(30, 15, seed=1).tests
    sizes = [math.log2(test.request_bytes) for test in first.tests]
    # Of 720 independent pairs |r| is above 0.15 in 6 of 100,000 draws; the seed is fixed.
    assert abs(np.corrcoef(sizes, range(len(sizes)))[0, 1]) < 0.15


@pytest.mark.parametrize("tests", [10, 16, 24, 40, 48, 72, 100])
def test_a_reduced_plan_fits_its_time_and_covers_before_it_repeats(tests: int) -> None:
    plan = reduced(SINGLE_HOST, tests * 45.0 + 44.0, 30, 15)
    assert len(plan.tests) == tests and plan.total_seconds <= tests * 45.0 + 44.0
    counts = Counter((test.mode, test.request_bytes) for test in plan.tests)
    assert max(counts.values()) == math.ceil(tests / len(CELLS))
    assert tests < len(CELLS) or len(counts) == len(CELLS)
    assert {test.queue for test in plan.tests} == {4}
    # Every pattern has what a line needs.
    assert min(Counter(mode for mode, _ in counts).values()) >= 2


@pytest.mark.parametrize("tests", [10, 24, 40])
def test_no_exchange_of_two_tests_tells_more(tests: int) -> None:
    """The determinant of what is chosen, against that with each one test exchanged for another."""
    rows = _rows(CELLS, tests)
    counts = np.array(choose(CELLS, tests))

    def logarithm(chosen: np.ndarray) -> float:
        sign, value = np.linalg.slogdet(rows.T @ (rows * chosen[:, None]))
        return float(value) if sign > 0 else -math.inf

    best = logarithm(counts)
    assert best > -math.inf
    for source in np.flatnonzero(counts):
        for target in np.flatnonzero(counts < counts.max()):
            other = counts.copy()
            other[source] -= 1
            other[target] += 1
            assert logarithm(other) <= best + 1e-6


DISKS = {
    "7,200 turns": (1.2e-4, 1.8e8, lambda x: 6e-3 + 5e-4 * x),
    "solid state": (4e-5, 2e9, lambda x: 6e-5 + 1e-5 * x),
    "set of ten": (3e-4, 9e8, lambda x: 9e-3 - 3e-4 * x),
}
"""Overhead, rate, and the seek by the number of doublings above 4 KiB."""


def measured(plan: Plan, disk: str, seed: int) -> FioReport:
    """What a disk would measure of a plan: its service times, each 1 % off."""
    overhead, rate, seek = DISKS[disk]
    draw = np.random.default_rng(seed)
    cells: dict[tuple[str, int], list[float]] = {}
    for test in plan.tests:
        if test.queue != 4:
            continue
        service = overhead + test.request_bytes / rate
        if test.mode.startswith("rand"):
            service += seek(math.log2(test.request_bytes / 4096))
        found = test.request_bytes / (service * draw.normal(1.0, 0.01))
        cells.setdefault((test.mode, test.request_bytes), []).append(found)
    jobs = []
    for (mode, size), rates in cells.items():
        middle = float(np.median(rates))
        jobs.append(FioJob(mode, "", mode, size, 4, True, middle, 4 * size / middle))
    return FioReport("synthetic", ("fio-3",), tuple(jobs))


def curves(table: DeviceTable) -> dict[str, list[float]]:
    return {
        mode: [size / service_seconds(table, mode, size) for size in REQUEST_SIZES]
        for mode in MODES
    }


@pytest.mark.parametrize("disk", DISKS)
@pytest.mark.parametrize("minutes", [24, 30, 54])
def test_a_tenth_of_the_time_gives_the_full_plans_curves(disk: str, minutes: int) -> None:
    """Within 5 % of the mean bandwidth, root mean square; 54 minutes are a tenth of nine hours.

    A test is 1 % off, so a random cell that is measured once is 1 % x sqrt(1 + 1.57 / 5) = 1.15 %
    off the median of five. Were all bandwidth at one of twelve sizes, that would be 1.15 % x
    sqrt(12) = 4.0 % of the mean; it is at three or more, which makes 2.3 %, and 5 % twice that.
    One curve of 100 may be off by more where many are drawn; of the 40 of each here none.
    """
    beyond, count = 0, 0
    for seed in numbers(10):
        full = curves(
            calibrate_report(measured(SINGLE_HOST.plan(30, 15), disk, seed), "line").table
        )
        plan = reduced(SINGLE_HOST, minutes * 60.0, 30, 15)
        assert plan.total_seconds <= 0.1 * SINGLE_HOST.plan(30, 15).total_seconds
        few = curves(calibrate_report(measured(plan, disk, seed + 1_000_000), "line").table)
        off = [ModelError.of(full[mode], few[mode]).fraction for mode in MODES]
        beyond, count = beyond + sum(one > 0.05 for one in off), count + len(off)
    assert beyond <= 0.01 * count


def test_a_plan_comes_back_from_its_file_and_others_are_refused(tmp_path: Path) -> None:
    plan = BUILDING_BLOCK.plan(30, 15)
    (tmp_path / "plan.json").write_text(write_plan(plan), encoding="utf-8")
    assert read_plan(tmp_path) == plan == read_plan(tmp_path / "plan.json")
    text = write_plan(reduced(SINGLE_HOST, 3600, 30, 15))
    for wrong, right, message in (
        ('"randread"', '"trim"', "one of read, write"),
        ('"queue": 4', '"queue": 0', "expected an integer"),
        ('"run": 2', '"run": 1', "stands twice"),
        ('"seconds": 30', '"seconds": -1', "expected a number"),
        (text[:200], "", "JSON"),
    ):
        (tmp_path / "plan.json").write_text(text.replace(wrong, right), encoding="utf-8")
        with pytest.raises(ConfigError, match=message):
            read_plan(tmp_path)
    assert set(GRIDS) == {"olcf3"}
