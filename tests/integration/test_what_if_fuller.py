"""`resilver what-if` of a cluster fuller than its dumps say: `--fill` and `--grow`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.front_door import command


def answered(*words: object) -> dict[str, Any]:
    done = command("what-if", *words, "--horizon", "10 s", "--json")
    assert done.stderr == "" and done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def used(found: dict[str, Any]) -> dict[int, int]:
    return {osd["osd"]: osd["used_start_bytes"] for osd in found["tables"]["osds"]}


def test_a_filled_cluster_holds_that_share_on_all_its_osds_together(
    report: Path, small: Path
) -> None:
    for bundle in (report, small):
        found = answered(bundle, "--fill", "75%")
        capacity = sum(osd["capacity_bytes"] for osd in found["tables"]["osds"])
        # Each group's objects are a whole number, which is worth 1 part in its 5,000 at the most.
        assert sum(used(found).values()) / capacity == pytest.approx(0.75, rel=2e-4)
        (said,) = [one for one in found["assumptions"] if one["name"] == "fill"]
        assert said["origin"] == "stated" and said["value"].startswith("75 %")


def test_filling_keeps_who_is_fuller_than_whom(small: Path) -> None:
    before, after = used(answered(small)), used(answered(small, "--fill", "75%"))
    factors = [after[osd] / before[osd] for osd in before]
    assert max(factors) == pytest.approx(min(factors), rel=1e-3)


def test_a_grown_pool_adds_its_copies_where_its_groups_are(small: Path) -> None:
    found, before = answered(small, "--grow", "vms=+30%"), answered(small)
    grown, start = used(found), used(before)
    added = {osd: grown[osd] - start[osd] for osd in start}
    stored = found["cluster"]["stored_bytes"] - before["cluster"]["stored_bytes"]
    # Three copies of what was stored more, whole 4 MiB objects each; none on the flash of pool
    # `fast`, the last 12 OSDs.
    assert sum(added.values()) == pytest.approx(3 * stored, rel=1e-3)
    assert all(added[osd] == 0 for osd in range(24, 36))
    assert all(added[osd] > 0 for osd in range(24))
    # `vms` takes 0.3 of the disks' 0.5 x 24 x 16 TB.
    assert sum(added.values()) == pytest.approx(0.3 * 0.3 * 0.5 * 24 * 16e12, rel=0.01)


def test_a_grown_coded_pool_adds_pieces(small: Path) -> None:
    found, before = answered(small, "--grow", "archive=+10%"), answered(small)
    stored = found["cluster"]["stored_bytes"] - before["cluster"]["stored_bytes"]
    added = sum(used(found).values()) - sum(used(before).values())
    # 4+2 pieces: 6/4 of the data.
    assert added == pytest.approx(1.5 * stored, rel=1e-3)


def test_a_pool_may_grow_before_the_cluster_is_filled(small: Path) -> None:
    found = answered(small, "--fill", "60%", "--grow", "fast=+20%")
    plain = answered(small, "--fill", "60%")
    # The same bytes in all, more of them on flash, which has a tenth of them: 1.2 / (0.9 + 0.12).
    assert sum(used(found).values()) == pytest.approx(sum(used(plain).values()), rel=1e-3)
    assert used(found)[30] / used(plain)[30] == pytest.approx(1.18, abs=0.02)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--fill", "80"], 'a percentage above 0 and up to 100; such as "80%"'),
        (["--fill", "0%"], "a percentage above 0 and up to 100"),
        (["--fill", "101%"], "a percentage above 0 and up to 100"),
        # Its fullest OSD is 12 % above the mean, so the mean may be 89 %.
        (["--fill", "99%"], "osd.47 would hold 111.1 % of what it can; fill it to 89% at the most"),
        (["--grow", "cephstor3=+50%"], "would hold 121.3 % of what it can"),
        (["--grow", "cephstor=+5%"], 'did you mean "cephstor3"?'),
        (["--grow", "cephstor3=5%"], 'such as "rbd=+30%"'),
        (["--grow", "cephstor3=-100%"], "a pool grows by a share of what it holds"),
    ],
)
def test_what_cannot_be_filled_is_told_in_a_line(report: Path, words: list[str], says: str) -> None:
    done = command("what-if", report, *words)
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
