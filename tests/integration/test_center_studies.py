"""The catalog's file systems, part by part: what there is of each, and what binds the small one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import Study, catalog
from resilver.catalog.entries import STUDY_FILE
from tests.integration.test_command import command


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


def test_a_study_of_the_catalog_runs_by_its_name_and_its_controllers_bind(tmp_path: Path) -> None:
    # 2 x 17.7 GB/s with parity, of which eight in ten are the clients': 28.32 GB/s.
    done = command("run", "center-spider-2-unit", "--json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert row["throughput_bytes_per_second"] == pytest.approx(28.32e9, rel=1e-6)


def test_one_controller_left_passes_half_of_a_unit(tmp_path: Path) -> None:
    gone = 'faults=[{ at = "0 s", part = { controllers = ["controller.1"] } }]'
    done = command(
        "run", "center-spider-2-unit", "--json", "--set", gone, "-o", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    # Half of the servers' groups had nothing in their way at the other: all pass the one left.
    assert row["throughput_bytes_per_second"] == pytest.approx(28.32e9 / 2, rel=1e-6)


def test_a_mix_on_a_disk_keeps_to_its_law_and_flows_to_events(tmp_path: Path) -> None:
    done = command("reproduce", "center-mixed", "--json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {one["key"]: one for one in json.loads(done.stdout)["comparisons"]}
    assert [found[key]["verdict"] for key in ("law", "flows_law", "flows")] == ["passes"] * 3
    # 5 % of the bytes in 16 KiB: r is 16 KiB / 13.387 ms against 1 MiB / 21.388 ms, 60 % written.
    slower = (13.26e-3 + 16 * 2**10 / 129e6) / 2**14 / ((13.26e-3 + 2**20 / 129e6) / 2**20)
    assert found["small_5"]["ours"] == pytest.approx(1 / (0.95 + 0.05 * slower), rel=1e-3)


def test_the_size_of_a_transfer_follows_its_closed_form(tmp_path: Path) -> None:
    # At 1 MiB a set moves what its disks' seeks leave: 56 / (13.66 ms + 1.016 ms) MiB a second.
    settings = (
        'traffic.request_size="1 MiB"',
        'cluster.parts.4.device="hdd-7k2-2tb"',
        "study.sweep={}",
    )
    given = [word for setting in settings for word in ("--set", setting)]
    done = command("run", "center-transfer", *given, "--json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    each = 2**20 / (13.66e-3 + 2**20 / (8 * 129e6))
    assert row["throughput_bytes_per_second"] == pytest.approx(56 * each, rel=1e-4)


def test_a_name_that_is_no_study_is_refused(tmp_path: Path) -> None:
    done = command("run", "center-spider-3", cwd=tmp_path)
    assert done.returncode == 2
    assert "center-spider-3" in done.stderr and "Traceback" not in done.stderr
