"""The catalog's file systems, part by part, and the incident of 2010 as a study."""

from pathlib import Path
from typing import Any

import pytest

from resilver import Results, Study, catalog, cli
from resilver.catalog.entries import STUDY_FILE
from resilver.reproduce.evidence import shipped_study
from tests.terminal import json_output


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        # 36 x 560 disks, 56 groups of ten and 8 servers each: 7 groups a server, 56 a leaf.
        ("center-spider-2", {"controller": 72, "drive": 20_160, "ost": 2_016, "server": 288}),
        ("center-spider-2-unit", {"controller": 2, "drive": 560, "ost": 56, "server": 8}),
        # 48 x 280 disks, 28 groups of ten and 4 servers each: 7 groups a server.
        ("center-spider-1", {"controller": 96, "drive": 13_440, "ost": 1_344, "server": 192}),
    ],
)
def test_there_is_as_much_of_each_part_as_the_source_says(
    name: str, counts: dict[str, int]
) -> None:
    root = Path(catalog.__file__).parent
    study = Study.load(root / "studies" / name / STUDY_FILE)
    tree = study.runs()[0].system.cluster.tree
    assert tree is not None and {level: tree.count(level) for level in counts} == counts
    assert counts["ost"] == 7 * counts["server"]


def test_a_study_of_the_catalog_runs_by_its_name_and_one_controller_passes_half(
    tmp_path: Path,
) -> None:
    # 2 x 17.7 GB/s with parity, of which eight in ten are the clients': 28.32 GB/s.
    (row,) = json_output("run", "center-spider-2-unit", "-o", "out", cwd=tmp_path)
    assert row["throughput_bytes_per_second"] == pytest.approx(28.32e9, rel=1e-6)
    gone = 'faults=[{ at = "0 s", part = { controllers = ["controller.1"] } }]'
    (row,) = json_output("run", "center-spider-2-unit", "--set", gone, "-o", "one", cwd=tmp_path)
    # Half of the servers' groups had nothing in their way at the other: all pass the one left.
    assert row["throughput_bytes_per_second"] == pytest.approx(28.32e9 / 2, rel=1e-6)


def test_a_mix_on_a_disk_keeps_to_its_law_and_flows_to_events(tmp_path: Path) -> None:
    answer = json_output("reproduce", "center-mixed", "-o", "out", cwd=tmp_path)
    found = {one["key"]: one for one in answer["comparisons"]}
    assert [found[key]["verdict"] for key in ("law", "flows_law", "flows")] == ["passes"] * 3
    # 5 % of the bytes in 16 KiB: r is 16 KiB / 13.387 ms against 1 MiB / 21.388 ms, 60 % written.
    slower = (13.26e-3 + 16 * 2**10 / 129e6) / 2**14 / ((13.26e-3 + 2**20 / 129e6) / 2**20)
    assert found["small_5"]["ours"] == pytest.approx(1 / (0.95 + 0.05 * slower), rel=1e-3)


def test_the_size_of_a_transfer_follows_its_closed_form(tmp_path: Path) -> None:
    # At 1 MiB a set moves what its disks' seeks leave: 56 / (13.66 ms + 1.016 ms) MiB a second.
    size, disk = 'traffic.request_size="1 MiB"', 'cluster.parts.4.device="hdd-7k2-2tb"'
    given = ("--set", size, "--set", disk, "--set", "study.sweep={}")
    (row,) = json_output("run", "center-transfer", *given, "-o", "out", cwd=tmp_path)
    each = 2**20 / (13.66e-3 + 2**20 / (8 * 129e6))
    assert row["throughput_bytes_per_second"] == pytest.approx(56 * each, rel=1e-4)


SLOW, FAST = 10e6, 30e6


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, root: Path) -> list[dict[str, Any]]:
    """The study that ships, through the command, with the seeds 1 and 2."""
    folder = tmp_path_factory.mktemp("incident")
    study = root / "studies" / "center-enclosures" / "study.toml"
    words = ["run", str(study), "--set", "study.seeds=2", "-o", str(folder), "-q"]
    assert cli.run(words) == 0
    found: list[dict[str, Any]] = Results.open(folder).runs.to_pylist()
    return found


def of(rows: list[dict[str, Any]], enclosures: int, rate: float, lost: str) -> list[dict[str, Any]]:
    return [
        row
        for row in rows
        if row["cluster.parts.2.count"] == enclosures
        and row["recovery.bandwidth"] == 8 * rate
        and ("enclosure." in row["faults"]) == bool(lost)
        and lost in row["faults"]
    ]


def test_a_lost_enclosure_kills_the_set_in_four_cases_of_five(rows: list[dict[str, Any]]) -> None:
    """Two of ten disks in each of five: with the one rebuilt elsewhere three are missing."""
    assert len(shipped_study("center-enclosures").runs()) == 15 * 24
    for number in range(5):
        for row in of(rows, 5, SLOW, f"enclosure.{number}"):
            assert (row["unrecoverable_objects"] > 0) == (number != 0)
            # What was made anew in 18 h at 10 MB/s survives: 648 GB of a disk's 1 TB, in whole
            # pieces of 2 GB; the rest of the set's objects of 16 GB is gone.
            anew = int(18 * 3600 * SLOW // 2e9)
            assert row["rebuilt_pieces"] in (anew - 1, anew)
            assert row["unrecoverable_bytes"] == 16e9 * row["unrecoverable_objects"]
    # Over ten enclosures nothing is lost.
    ten = [row["unrecoverable_objects"] for row in rows if row["cluster.parts.2.count"] == 10]
    assert ten == [0] * 2 * 12


def test_what_is_rebuilt_by_then_or_fails_over_loses_nothing(rows: list[dict[str, Any]]) -> None:
    """A disk's pieces at 30 MB/s: about 1 TB in nine hours; at 10 MB/s in 27, beyond the 18."""
    for enclosures in (5, 10):
        for rate in (SLOW, FAST):
            for row in of(rows, enclosures, rate, ""):
                bytes_rebuilt = row["rebuilt_bytes"]
                assert row["rebuild_seconds"] == pytest.approx(bytes_rebuilt / rate, rel=0.01)
                assert (row["rebuild_seconds"] > 18 * 3600) == (rate == SLOW)
    assert not any(row["unrecoverable_objects"] for row in rows if row["recovery.bandwidth"] > 1e8)
    # The controller that fails over loses nothing.
    alone = [row for row in rows if "enclosure." not in row["faults"]]
    assert alone and all("controller.0" in row["failed_parts"] for row in alone)
    assert not any(row["unrecoverable_objects"] for row in alone)
    assert {row["affected_objects"] for row in alone} == {row["rebuilt_objects"] for row in alone}
