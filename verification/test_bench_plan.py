"""A reduced plan of a tenth of the time gives the whole one's curves, on a file of this machine.

The tests hold it to drawn disks (tests/unit/test_bench_plan.py). Here fio measures the whole grid
at the table's queue depth, five runs of each of 48 cells, and then 72 tests of the reduced plan,
10 % of the 720 of all queues; and of the whole plan's measurements those that a plan of 40 tests
has are fitted alone, which shows what its gaps cost without what chance adds. How far the whole
plan is from itself, its odd runs from its even ones, is what no plan can go below; a machine that
is busy with something else says so there, and is no evidence.
"""

import shutil
from pathlib import Path

import pytest

from resilver.calibration.bench_plan import SINGLE_HOST, Plan, reduced
from resilver.calibration.bench_run import BenchRun, run_plan
from resilver.calibration.disk import calibrate_disk, service_seconds
from resilver.calibration.errors import ModelError
from resilver.calibration.fio_run import REQUEST_SIZES
from resilver.importers.fio import MODES

SECONDS, SIZE = 1.0, 2**29
QUIET = 0.05


class Silent:
    def step(self, name: str, done: int, total: int) -> None:
        """Say nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""


def curves(files: list[Path]) -> list[float]:
    """The modelled bandwidths of all patterns and sizes."""
    table = calibrate_disk(files, "line").table
    return [size / service_seconds(table, mode, size) for mode in MODES for size in REQUEST_SIZES]


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_a_tenth_of_the_time_gives_the_curves_of_a_file(tmp_path: Path) -> None:
    """Within 5 % of the mean bandwidth, where the whole plan is within 5 % of itself."""

    def measured(plan: Plan, name: str) -> dict[int, list[Path]]:
        run = BenchRun(plan, tmp_path / name, tmp_path / "target", SIZE)
        run_plan(run, Silent())
        found: dict[int, list[Path]] = {}
        for test in plan.tests:
            found.setdefault(test.run, []).append(run.result_of(test))
        return found

    whole = SINGLE_HOST.plan(SECONDS, 0.0)
    at_queue = tuple(test for test in whole.tests if test.queue == 4)
    full = measured(Plan("whole", at_queue, SECONDS, 0.0, 1), "whole")
    plan = reduced(SINGLE_HOST, 0.1 * whole.total_seconds, SECONDS, 0.0)
    few = measured(plan, "reduced")
    every = curves([file for files in full.values() for file in files])
    halves = [
        curves([file for run, files in full.items() if run % 2 == rest for file in files])
        for rest in (0, 1)
    ]
    spread = ModelError.of(*halves).fraction
    off = ModelError.of(every, curves([file for files in few.values() for file in files])).fraction
    names = {test.name.rpartition("-")[0] for test in reduced(SINGLE_HOST, 40, 1.0, 0.0).tests}
    gaps = ModelError.of(
        every,
        curves(
            [
                file
                for files in full.values()
                for file in files
                if file.stem.rpartition("-")[0] in names
            ]
        ),
    ).fraction
    print(f"40 of 48 patterns and sizes against all {100 * gaps:.2g} %")
    print(f"reduced against whole {100 * off:.2g} %, whole against itself {100 * spread:.2g} %")
    if spread > QUIET:
        pytest.skip(f"this machine is not quiet: the whole plan is {100 * spread:.2g} % off itself")
    assert off <= 0.05 and gaps <= 0.05
