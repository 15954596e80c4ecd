"""What a cluster's release lacks, and what its monitors refuse, as a user meets it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.front_door import answered, command
from tests.reference.ceph_bundles import Bundle, write_bundle


@pytest.fixture(scope="module")
def jewel(shared_data: Path) -> Path:
    """A real cluster of 10.2.7: 88 OSDs on 10 hosts, one pool of three copies in 4,096 PGs."""
    return shared_data / "ceph" / "ceph-report-jewel-88osd.json"


def refused(*words: object) -> str:
    done = command("what-if", *words)
    assert done.returncode == 2 and not done.stdout, done.stdout + done.stderr
    return " ".join(done.stderr.split())


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


def test_space_for_backfill_is_what_the_release_calls_it(jewel: Path) -> None:
    """At 72 % the loss of this host leaves PGs without a place, at a ratio of 0.85 and of 0.9."""
    words = [jewel, "--fill", "72%", "--fail", "host=cloud3-1456", "--counterfactuals"]
    for release, name in (
        ("10.2.7", "osd_backfill_full_ratio"),
        ("12.2.13", "set-backfillfull-ratio"),
    ):
        found = answered(*words, "--release", release, code=1)
        rows = {row["relaxed"]: row["setting"] for row in found["tables"]["counterfactuals"]}
        assert rows["space for backfill"] == name


OUTCW = Bundle(
    hosts={f"h{at}": [4.0] * 8 for at in range(6)},
    steps=("take default", "chooseleaf firstn 0 type host", "emit"),
    pool={"size": 3, "min_size": 2},
    pg_num=1024,
)
"""6 hosts of 8 OSDs of 4 TiB: 250 PGs an OSD are 12,000 copies, and what whole numbers leave."""


def test_the_monitors_refuse_too_many_pgs_an_osd(tmp_path: Path) -> None:
    dumps = write_bundle(tmp_path / "outcw", OUTCW)
    said = refused(dumps, "--pg-num", "rbd=16384")
    assert "--pg-num" in said and "ERANGE" in said
    # 16,384 x 3 / 48, and the largest n with 3 n / 48 below 251.
    assert f"would mean {16384 * 3 // 48:,} PGs an OSD" in said
    assert "mon_max_pg_per_osd, 250" in said
    largest = (251 * 48 - 1) // 3
    assert f"a pg_num of up to {largest}" in said
    (option,) = re.findall(r"--set-option (mon_max_pg_per_osd=\d+)", said)
    assert option == "mon_max_pg_per_osd=1024"
    for words in (
        ["--pg-num", f"rbd={largest}"],
        ["--set-option", option, "--pg-num", "rbd=16384"],
    ):
        found = answered(dumps, *words, "--horizon", "1 min", code=1)
        assert found["commands"][-1] == f"ceph osd pool set rbd pg_num {words[-1][4:]}"
        assert any(one["name"] == "mon_max_pg_per_osd" for one in found["assumptions"])
    config = replace(OUTCW, config=(("global", "mon_max_pg_per_osd", "1024"),))
    free = write_bundle(tmp_path / "free", config)
    assert answered(free, "--pg-num", "rbd=16384", "--horizon", "1 min", code=1)["steps"]
    # A host more has room for more.
    more = ["--add", "1 host like h0", "--pg-num", f"rbd={largest + 100}", "--horizon", "1 min"]
    assert answered(dumps, *more, code=1)["steps"]
    # Of 3,000 PGs three copies are 187 an OSD, and five 312.
    split = ["--pg-num", "rbd=3000", "--pool-size", "rbd=5 @ 30 s", "--horizon", "1 min"]
    assert "--pool-size" in refused(dumps, *split) and "312 PGs an OSD" in refused(dumps, *split)
