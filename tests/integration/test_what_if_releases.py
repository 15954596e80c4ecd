"""What a cluster's release lacks, and what its monitors refuse, as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.front_door import command
from tests.reference.ceph_cluster import write_cluster
from tests.unit.what_if_clusters import SMALL


@pytest.fixture(scope="module")
def jewel(shared_data: Path) -> Path:
    """A real cluster of 10.2.7: 88 OSDs on 10 hosts, one pool of three copies in 4,096 PGs."""
    return shared_data / "ceph" / "ceph-report-jewel-88osd.json"


@pytest.fixture(scope="module")
def reef(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dumps of 36 OSDs that run 18.2.4: 24 disks on 6 hosts, 12 flash OSDs on 3."""
    return write_cluster(tmp_path_factory.mktemp("cluster") / "small", SMALL)


def refused(*words: object) -> str:
    done = command("what-if", *words)
    assert done.returncode == 2 and not done.stdout, done.stdout + done.stderr
    return " ".join(done.stderr.split())


def answered(*words: object, code: int = 0) -> dict[str, Any]:
    done = command("what-if", *words, "--json")
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set-option", "osd_mclock_profile=balanced"], "osd_mclock_profile since 16.2.0"),
        (["--set-option", "osd_op_queue=mclock_scheduler"], "since 15.2.0"),
        (["--balance", "bytes"], "`ceph osd pg-upmap-items` since 12.2.0"),
        (["--balance", "ceph"], "a balancer since 12.2.0"),
        (["--upmap", "3.1a 5 17"], "`ceph osd pg-upmap-items` since 12.2.0"),
        (["--pg-num", "cephstor3=1024"], "merging of PGs (a smaller pg_num) since 14.2.0"),
        (["--force", "cephstor3"], "`ceph osd pool force-recovery` since 14.2.0"),
        (["--flag", "noautoscale"], "the flag since 17.2.0"),
    ],
)
def test_jewel_is_told_which_release_has_it(jewel: Path, words: list[str], says: str) -> None:
    said = refused(jewel, "--fail", "osd.12", *words)
    assert says in said and "this cluster runs 10.2.7" in said
    assert words[0] in said


def test_an_operator_of_jewel_changes_pg_num_himself(jewel: Path) -> None:
    """4,096 PGs become 8,192: 88 OSDs may split off 32 each, 2,816, so that two commands do it."""
    found = answered(jewel, "--pg-num", "cephstor3=8192", "--horizon", "100 d")
    words = "ceph osd pool set cephstor3"
    steps = [f"{words} pg_num {4096 + 2816}", f"{words} pg_num 8192", f"{words} pgp_num 8192"]
    assert found["commands"] == steps
    # All placements change at once, while the manager of later releases lets 5 % be misplaced.
    rows = found["tables"]["timeline"]
    most = max(row["misplaced_objects"] for row in rows)
    assert most > 0.3 * found["cluster"]["objects"] * 3
    managed = answered(
        jewel, "--pg-num", "cephstor3=8192", "--release", "14.2.22", "--horizon", "100 d",
        "--set-option", "mon_max_pg_per_osd=300",
    )  # fmt: skip
    rows = managed["tables"]["timeline"]
    assert max(row["misplaced_objects"] for row in rows) < 0.06 * managed["cluster"]["objects"] * 3


def test_the_monitors_refuse_too_many_pgs_an_osd(reef: Path) -> None:
    """16,384 PGs of three copies on the 24 disks below the rule's root: 2,048 each, 250 allowed."""
    said = refused(reef, "--pg-num", "vms=16384")
    assert "--pg-num" in said and "ERANGE" in said
    assert "would mean 2,048 PGs an OSD" in said and "mon_max_pg_per_osd, 250" in said
    # 250 and what whole numbers leave: 3 n / 24 < 251.
    largest = (251 * 24 - 1) // 3
    assert f"a pg_num of up to {largest}" in said
    remedy = re.search(r"--set-option (mon_max_pg_per_osd=\d+)", said)
    assert remedy is not None and remedy[1] == "mon_max_pg_per_osd=2048"
    words = ["--pg-num", f"vms={largest}", "--horizon", "2 h", "--balance", "off"]
    found = answered(reef, *words, code=1)
    assert found["commands"][0] == f"ceph osd pool set vms pg_num {largest}"
    assert any(one["name"] == "mon_max_pg_per_osd" for one in found["assumptions"])
    # Three copies become five: 64 x 5 / 24 are 13, and of 1,400 PGs 291.
    split = ["--pg-num", "vms=1400", "--horizon", "2 h"]
    assert "291 PGs an OSD" in refused(reef, *split, "--pool-size", "vms=5 @ 1 h")
