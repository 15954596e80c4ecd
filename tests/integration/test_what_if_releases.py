"""`resilver what-if` of another release, or of a fuller cluster, than the dumps say."""

import functools
from pathlib import Path
from typing import Any

import pytest

from tests.terminal import answered


def test_an_operator_of_jewel_changes_pg_num_himself(report: Path) -> None:
    """4,096 PGs become 8,192: 88 OSDs may split off 32 each, 2,816, so that two commands do it."""
    asked = (report, "--pg-num", "cephstor3=8192", "--horizon", "1 h")
    found = answered(*asked, code=None)
    words = "ceph osd pool set cephstor3"
    steps = [f"{words} pg_num {4096 + 2816}", f"{words} pg_num 8192", f"{words} pgp_num 8192"]
    assert found["commands"] == steps
    # All placements change at once, while the manager of later releases lets 5 % be misplaced.
    rows = found["tables"]["timeline"]
    most = max(row["misplaced_objects"] for row in rows)
    assert most > 0.3 * found["cluster"]["objects"] * 3
    option = ("--set-option", "mon_max_pg_per_osd=300")
    managed = answered(*asked, "--release", "14.2.22", *option, code=None)
    most = max(row["misplaced_objects"] for row in managed["tables"]["timeline"])
    assert 0 < most < 0.06 * managed["cluster"]["objects"] * 3


def test_space_for_backfill_is_what_the_release_calls_it(report: Path) -> None:
    """At 72 % the loss of this host leaves PGs without a place, at a ratio of 0.85 and of 0.9."""
    words = [report, "--fill", "72%", "--fail", "host=cloud3-1456", "--counterfactuals"]
    for release, name in (
        ("10.2.7", "osd_backfill_full_ratio"),
        ("12.2.13", "set-backfillfull-ratio"),
    ):
        found = answered(*words, "--release", release, code=1)
        rows = {row["relaxed"]: row["setting"] for row in found["tables"]["counterfactuals"]}
        assert rows["space for backfill"] == name


filled = functools.partial(answered, "--horizon", "10 s", code=None)


def used(found: dict[str, Any]) -> dict[int, int]:
    return {osd["osd"]: osd["used_start_bytes"] for osd in found["tables"]["osds"]}


def test_a_filled_cluster_holds_that_share_and_keeps_who_is_fuller(
    report: Path, small: Path
) -> None:
    for bundle in (report, small):
        found = filled(bundle, "--fill", "75%")
        capacity = sum(osd["capacity_bytes"] for osd in found["tables"]["osds"])
        # Each group's objects are a whole number, which is worth 1 part in its 5,000 at the most.
        assert sum(used(found).values()) / capacity == pytest.approx(0.75, rel=2e-4)
        (said,) = [one for one in found["assumptions"] if one["name"] == "fill"]
        assert said["origin"] == "stated" and said["value"].startswith("75 %")
    # Filling keeps who is fuller than whom.
    before, after = used(filled(small)), used(filled(small, "--fill", "75%"))
    factors = [after[osd] / before[osd] for osd in before]
    assert max(factors) == pytest.approx(min(factors), rel=1e-3)


# Three copies of what was stored more, whole 4 MiB objects each, and 4+2 shards of the coded pool.
@pytest.mark.parametrize(("pool", "copies"), [("vms=+30%", 3), ("archive=+10%", 1.5)])
def test_a_grown_pool_adds_its_copies_where_its_groups_are(
    small: Path, pool: str, copies: float
) -> None:
    found, before = filled(small, "--grow", pool), filled(small)
    start = used(before)
    added = {osd: amount - start[osd] for osd, amount in used(found).items()}
    stored = found["cluster"]["stored_bytes"] - before["cluster"]["stored_bytes"]
    assert sum(added.values()) == pytest.approx(copies * stored, rel=1e-3)
    # None on the flash of pool `fast`, the last 12 OSDs.
    assert all((added[osd] > 0) == (osd < 24) for osd in range(36))
    if copies == 3:
        # `vms` takes 0.3 of the disks' 0.5 x 24 x 16 TB.
        assert sum(added.values()) == pytest.approx(0.3 * 0.3 * 0.5 * 24 * 16e12, rel=0.01)


def test_a_pool_may_grow_before_the_cluster_is_filled(small: Path) -> None:
    found = filled(small, "--fill", "60%", "--grow", "fast=+20%")
    plain = filled(small, "--fill", "60%")
    # The same bytes in all, more of them on flash, which has a tenth of them: 1.2 / (0.9 + 0.12).
    assert sum(used(found).values()) == pytest.approx(sum(used(plain).values()), rel=1e-3)
    assert used(found)[30] / used(plain)[30] == pytest.approx(1.18, abs=0.02)
