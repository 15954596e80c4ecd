"""How much more fits: Ceph's own figure to the byte, and ours by filling a cluster up."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from resilver.crush import CrushMap, Pool, object_group, rule_shares
from resilver.errors import ConfigError, PlacementError
from resilver.importers.ceph import ClusterReport, OsdUsage, PoolInfo, read_cluster
from resilver.simulate import Fits, Reached, group_sets, room
from resilver.simulate.room_left import group_shares
from resilver.whatif.options import Request
from resilver.whatif.perform import answer_of
from resilver.whatif.plan import plan_of_options
from tests.reference.ceph_cluster import edited, write_cluster
from tests.terminal import Terminal
from tests.unit.what_if_clusters import SMALL, small_report


def test_max_avail_is_ceph_s_and_shared_by_weight(shared_data: Path) -> None:
    modern = shared_data / "ceph" / "modern"
    stated = json.loads((modern / "ceph_df_detail.json").read_text(encoding="utf-8"))["pools"]
    found = room(read_cluster(modern))
    assert [one.pool.name for one in found.pools] == [one["name"] for one in stated]
    assert [one.max_avail_bytes for one in found.pools] == [
        one["stats"]["max_avail"] for one in stated
    ]
    # By hand: 3 and 1 of one root, so three quarters and one; what weighs nothing has no share.
    crush = CrushMap.flat(3).reweighted("server.0", 3.0).reweighted("server.2", 0.0)
    assert rule_shares(crush, 0) == {0: 0.75, 1: 0.25, 2: 0.0}
    with pytest.raises(PlacementError, match=r"no rule 7; its rules are \[0\]"):
        rule_shares(crush, 7)


@pytest.mark.parametrize("pg_num", [1, 12, 64, 100])
def test_groups_hold_what_names_are_hashed_to(pg_num: int) -> None:
    pool, names = Pool(1, "rbd", pg_num, pg_num, 3, 0), 20_000
    counts = np.bincount(
        [object_group(pool, f"object.{name}") for name in range(names)], minlength=pg_num
    )
    expected = names * group_shares(pg_num)
    # Each count is binomial: six standard deviations are a false alarm in 10^8.
    assert (np.abs(counts - expected) <= 6 * np.sqrt(expected)).all()


def filled(report: ClusterReport, pool: PoolInfo, grown: float) -> np.ndarray:
    """How full each OSD is once a pool holds so much more: group by group, piece by piece."""
    used = {one.osd: float(one.used_bytes) for one in report.usage}
    sets, data = group_sets(report, pool.id).up.tolist(), pool.profile.data if pool.profile else 1
    for members, share in zip(sets, group_shares(pool.pg_num).tolist(), strict=True):
        for osd in members:
            if osd in used:
                used[osd] += grown * share / data
    return np.array([used[one.osd] / one.capacity_bytes for one in report.usage])


def test_filled_by_so_much_the_first_osd_is_just_so_full() -> None:
    report = small_report()
    found = room(report).pools
    assert {one.pool.kind for one in found} == {"replicated", "erasure"}
    for one in found:
        for fits, share in ((one.nearfull, 0.85), (one.backfillfull, 0.9), (one.full, 0.95)):
            assert fits is not None and fits.bytes > 0
            full = filled(report, one.pool, fits.bytes)
            assert full.max() == pytest.approx(share, rel=1e-9)
            assert report.usage[int(full.argmax())].osd == fits.osd


def test_growing_together_pools_bring_the_first_osd_just_to_a_ratio() -> None:
    report = small_report()
    plain = {one.pool.name: one for one in room(report).pools}
    vms, archive = plain["vms"], plain["archive"]
    grown = room(report, grow=["archive=1.1 TiB/d", "2%/week", "fast=0 B/d"])
    rates = {"vms": vms.stored_bytes / 50 / 604_800, "archive": 1.1 * 2**40 / 86_400, "fast": 0.0}
    assert grown.growth == pytest.approx(rates)
    before = filled(report, vms.pool, 0)
    for state, share in (("nearfull", 0.85), ("backfillfull", 0.9), ("full", 0.95)):
        one = grown.reached[state]
        full = before.copy()
        for pool in (vms, archive):
            full += filled(report, pool.pool, rates[pool.pool.name] * one.seconds) - before
        assert full.max() == pytest.approx(share, rel=1e-9)
        assert report.usage[int(full.argmax())].osd == one.osd
    alone = room(report, grow=["vms=1 MiB/hour"]).reached["full"]
    assert vms.full is not None and alone.osd == vms.full.osd
    assert alone.seconds == pytest.approx(vms.full.bytes / 2**20 * 3600, rel=1e-6)
    assert not room(report, grow=["vms=0%/d"]).reached and not room(report).reached


def earlier(small: Path, folder: Path, days: float, share: float, fsid: str = "") -> Path:
    """The same cluster so many days before, when every PG held that share of its bytes."""
    shutil.copytree(small, folder)
    (folder / "ceph_report.json").unlink()
    stamp = datetime(2026, 3, 11, tzinfo=UTC) - timedelta(days=days)
    with edited(folder / "ceph_pg_dump.json") as dump:
        dump["pg_map"]["stamp"] = stamp.strftime("%Y-%m-%dT%H:%M:%S.%f%z")
        for group in dump["pg_map"]["pg_stats"]:
            held = group["stat_sum"]
            held["num_bytes"] = round(held["num_bytes"] * share)
    for name in ("ceph_osd_dump.json",) * bool(fsid):
        osds = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(osds.replace("01234567", fsid), encoding="utf-8")
    return folder


def test_pools_grow_as_since_an_older_dump(terminal: Terminal, tmp_path: Path) -> None:
    small = write_cluster(tmp_path / "small", SMALL)
    now, older = (
        earlier(small, tmp_path / name, *at) for name, *at in (("a", 0, 1), ("b", 10, 0.9))
    )
    found = terminal.json_output("place", now, "--room", "--grow-from", older)
    for pool in found["pools"]:
        lost = pool["stored_bytes"] * 0.1 / 864_000
        assert found["growth_bytes_per_second"][pool["name"]] == pytest.approx(lost, rel=1e-6)
    stated = terminal.json_output("place", now, "--room", "--grow", "1%/d")
    assert found["reached"]["full"]["seconds"] == pytest.approx(
        stated["reached"]["full"]["seconds"], rel=1e-6
    )
    # One pool alone is shown, and full when all of them have made it so.
    one = terminal.json_output("place", now, "--room", "--pool", "fast", "--grow-from", older)
    assert [pool["name"] for pool in one["pools"]] == ["fast"]
    assert one["reached"] == found["reached"]
    words = ("place", older, "--room", "--grow-from")
    assert '--grow-from = "a": it was taken 10 d after b' in terminal.refusal(*words, now)
    assert "at the same time as b" in terminal.refusal(*words, older)
    said = terminal.output("place", now, *words[2:], older, "--grow", "vms=1 TiB/d")
    assert "as in the last 10 d: archive by" in " ".join(said.split())
    assert "; but vms=1 TiB/d), the first OSD" in " ".join(said.split())
    other = earlier(small, tmp_path / "c", 20, 0.5, fsid="76543210")
    assert "it is of another cluster: 76543210-" in terminal.refusal(*words, other)
    assert "no dump of small says when it was taken" in terminal.refusal(*words, small)
    # What has shrunk does not go on shrinking, and makes no room for what grows.
    shrunk = earlier(small, tmp_path / "d", 20, 1.2)
    assert not terminal.json_output(*words, shrunk)["reached"]
    mixed = terminal.json_output(*words, shrunk, "--grow", "vms=1%/d")
    assert mixed["growth_bytes_per_second"]["archive"] < 0
    assert mixed["reached"] == terminal.json_output(*words[:3], "--grow", "vms=1%/d")["reached"]


def test_an_osd_that_is_full_leaves_no_room_and_one_out_counts_for_nothing() -> None:
    report = small_report()
    whole = report.usage[3]
    full = OsdUsage(whole.osd, whole.capacity_bytes, whole.capacity_bytes, whole.groups)
    report = replace(report, usage=(*report.usage[:3], full, *report.usage[4:]))
    vms, archive, fast = room(report).pools
    for one in (vms, archive):
        assert one.max_avail_bytes == 0 and one.full == Fits(0, whole.osd)
    # Its OSDs are others, of another class; grown alone, it finds that one full all the same.
    assert fast.max_avail_bytes and fast.full and fast.full.bytes
    assert room(report, grow=["fast=1%/d"]).reached["full"] == Reached(0.0, whole.osd)
    # A pool that does not grow need not say how it is coded.
    unknown = tuple(replace(pool, profile=None) if pool.profile else pool for pool in report.pools)
    some = room(replace(report, pools=unknown), [vms.pool.id], ["vms=1 GiB/d"])
    assert some.pools[0].full == vms.full and some.growth == {"vms": 2**30 / 86_400}
    report = small_report()
    out = tuple(replace(one, in_cluster=False, reweight=0) for one in report.osds)
    for one in room(replace(report, osds=out)).pools:
        assert (one.full, one.max_avail_bytes) == (None, None)
    nothing = {"groups": (), "pool_totals": (), "total": None}
    used = room(replace(report, **nothing)).pools
    assert [one.full for one in used] == [one.full for one in room(report).pools]
    assert {one.stored_bytes for one in used} == {None}
    with pytest.raises(ConfigError, match="does not state what OSDs hold; add `ceph osd df`"):
        room(replace(report, usage=(), **nothing))


@pytest.mark.parametrize("bundle", ["ceph-report-jewel-88osd.json", "modern", "small"])
def test_a_what_if_has_the_same_room_before_a_change_and_after_it(
    bundle: str, shared_data: Path, tmp_path: Path
) -> None:
    report = small_report() if bundle == "small" else read_cluster(shared_data / "ceph" / bundle)
    first = report.osds[0].id
    plan = plan_of_options({"out": [f"osd.{first}"]})
    answer = answer_of(report, plan, Request(anyway=True))
    rows = {(row["name"], row["state"]): row for row in answer.tables["room"].to_pylist()}
    out = tuple(replace(one, reweight=0) if one.id == first else one for one in report.osds)
    for state, osds in (("start", report.osds), ("end", out)):
        usage = tuple(
            OsdUsage(row["osd"], row["capacity_bytes"], row[f"used_{state}_bytes"], None)
            for row in answer.tables["osds"].to_pylist()
        )
        for pool in room(replace(report, osds=osds, usage=usage)).pools:
            for ratio in ("nearfull", "full"):
                fits, row = getattr(pool, ratio), rows[pool.pool.name, ratio]
                # Both sum the same shares, in another order.
                assert row[f"{state}_bytes"] == pytest.approx(fits.bytes, rel=1e-9, abs=2)
                assert row[f"{state}_osd"] == fits.osd
            assert rows[pool.pool.name, "max_avail"][f"{state}_bytes"] == pool.max_avail_bytes
    changed = any(row["end_bytes"] != row["start_bytes"] for row in rows.values())
    # Three OSDs on three hosts have nowhere to move their data.
    assert changed == (bundle != "modern")


def test_the_command_says_it_and_refuses_what_is_no_cluster(
    terminal: Terminal, shared_data: Path
) -> None:
    report = shared_data / "ceph" / "ceph-report-jewel-88osd.json"
    text = " ".join(terminal.output("place", report, "--room").split())
    assert "3.1 TiB more fits until osd.47 is full (94%), 2.6 TiB until the first OSD is" in text
    assert "Ceph's MAX AVAIL is 3.4 TiB." in text
    (pool,) = terminal.json_output("place", report, "--room")["pools"]
    assert pool["full_osd"] == pool["nearfull_osd"] == 47
    assert pool["nearfull_bytes"] < pool["full_bytes"] < pool["max_avail_bytes"]
    said = " ".join(terminal.output("place", report, "--room", "--grow", "1%/week").split())
    assert "Growing at a constant rate (1%/week), the first OSD is nearfull (92%) after" in said
    assert "days (osd.47) and full (94%) after" in said
    near = terminal.json_output("what-if", report)["cluster"]["ratios"]
    assert (near["nearfull"], near["backfillfull"]) == (0.92, 0.85)
    assert "only with --room" in terminal.refusal("place", report, "--quality", "--grow", "1%/week")
    assert "no such pool" in terminal.refusal("place", report, "--room", "--pool", "none")
    crush = shared_data / "ceph" / "sample-ceph-crushmap.crush"
    assert "--room" in terminal.refusal("place", crush, "--room")
