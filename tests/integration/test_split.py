"""A run whose scan is split into parts gives the bytes of the run that is not."""

from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError, Interrupted
from resilver.spec import Study
from resilver.study import StudyProgress, execute
from resilver.study.execution import SIMULATOR
from resilver.study.perform import Delivery, RunTask
from resilver.study.shards import Shards
from resilver.study.split import plan_ranges, reduce_parts, scan_range
from tests.unit.study_fakes import tables

RING = {"algorithm": "ring", "placement_groups": "none"}
GROUPS = {"algorithm": "crush", "bucket": "straw", "placement_groups": 128}
VOLUME = {"histogram": "genomes1000", "bytes_per_server": "1 TiB", "objects": {"chunk": "64 MiB"}}
COUNT = {"file_size": "100 MiB", "files": 20_001, "objects": {"chunk": "64 MiB"}}


def study(placement: dict[str, Any], population: dict[str, Any], **ensemble: Any) -> Study:
    return Study.from_dict(
        {
            "cluster": {"servers": 8},
            "population": population,
            "placement": placement,
            "faults": [{"fail": {"servers": 1}}],
            "study": {"seeds": 2, **ensemble},
        }
    )


@pytest.mark.parametrize(
    ("placement", "population"), [(RING, VOLUME), (GROUPS, COUNT)], ids=["volume", "count"]
)
def test_tables_are_the_same_with_and_without_splitting(
    tmp_path: Path, placement: dict[str, Any], population: dict[str, Any]
) -> None:
    whole = study(placement, population)
    fractions: list[float] = []

    def note(progress: StudyProgress) -> None:
        fractions.append(progress.fraction)

    execute(whole, tmp_path / "whole", workers=1)
    execute(whole, tmp_path / "split", workers=2, split=5, progress=note)
    assert tables(tmp_path / "split") == tables(tmp_path / "whole")
    # Progress of a split run never falls.
    assert fractions == sorted(fractions) and fractions[-1] == 1.0


def task_of(description: Study, folder: Path) -> RunTask:
    run = description.runs()[0]
    return RunTask(run.key, run.system, run.seed, folder, SIMULATOR)


def go_on(*_: Any) -> bool:
    return True


def test_ranges_join_and_a_population_that_ends_in_one_is_cut_there(tmp_path: Path) -> None:
    # 99 % of 20,001 files are 19,800: 7 ranges of 2,828 or 2,829.
    ranges = plan_ranges(task_of(study(RING, COUNT), tmp_path), 7, go_on)
    assert [first for first, _ in ranges] == [0, *(sum(r) for r in ranges[:-1])]
    assert sum(ranges[-1]) == 19_800
    assert {files for _, files in ranges} == {2_828, 2_829}
    # A scan stops when it is asked to.
    with pytest.raises(Interrupted):
        scan_range(task_of(study(RING, COUNT), tmp_path), 0, 100, lambda *_: False)
    # Ranges that reach far beyond the end, as where the expectation is far off: 30 % too many.
    description = study(RING, VOLUME)
    execute(description, tmp_path / "whole", workers=1)
    task = task_of(description, tmp_path)
    files = sum(plan_ranges(task, 1, go_on)[0]) * 13 // 10
    step = files // 6
    found = [scan_range(task, first, step, go_on)[0] for first in range(0, 6 * step, step)]
    assert reduce_parts(task, found, 0.0, go_on) == Delivery()
    whole = Shards(tmp_path / "whole" / "shards").table("runs", task.key)
    assert Shards(tmp_path).table("runs", task.key) == whole


@pytest.mark.parametrize("parts", [0, 257, True, "2"])
def test_a_number_of_parts_that_is_none_is_refused(tmp_path: Path, parts: Any) -> None:
    with pytest.raises(ConfigError, match=r"split = .*1 to 256 parts"):
        execute(study(RING, COUNT), tmp_path / "a", split=parts)
    assert not (tmp_path / "a").exists()
