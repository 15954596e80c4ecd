"""The sets of every group of a recorded OSD map are those that `osdmaptool` gave."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from resilver.crush import CrushMap, Osds, Pool, object_group, upmaps_by_bytes, upmaps_by_groups
from resilver.crush import group_sets as map_sets
from resilver.errors import ConfigError, PlacementError, ResilverError
from resilver.importers import ClusterReport, read_cluster
from resilver.simulate import compare_stated, group_sets

RECORD = Path(__file__).resolve().parents[1] / "golden" / "osdmap.json"
"""Written by `python -m tests.oracle.record_osdmap`, where the map is described."""


def recorded(tmp_path: Path) -> ClusterReport:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for name in ("osd_dump", "crush"):
        (tmp_path / name).write_text(json.dumps(record[name]), encoding="utf-8")
    stats = [
        {"pgid": pgid, "up": sets[0], "acting": sets[2]} for pgid, sets in record["groups"].items()
    ]
    (tmp_path / "pg").write_text(json.dumps({"pg_stats": stats}), encoding="utf-8")
    return read_cluster(tmp_path / "osd_dump", crush=tmp_path / "crush", pg_dump=tmp_path / "pg")


def test_every_group_is_where_osdmaptool_said(tmp_path: Path) -> None:
    groups = json.loads(RECORD.read_text(encoding="utf-8"))["groups"]
    report = recorded(tmp_path)
    found = {}
    for pool in report.pools:
        sets = group_sets(report, pool.id)
        for number in range(pool.pg_num):
            up, acting = sets.up[number].tolist(), sets.acting[number].tolist()
            primaries = int(sets.up_primary[number]), int(sets.acting_primary[number])
            members = ([osd for osd in row if osd != -1] for row in (up, acting))
            pairs = zip(members, primaries, strict=True)
            found[f"{pool.id}.{number:x}"] = [one for pair in pairs for one in pair]
    # 64 + 50 + 20 groups.
    assert len(found) == 134
    assert found == groups
    # The record is of a map in which the steps matter.
    assert any(up != acting for up, _, acting, _ in groups.values())
    assert any(primary != up[0] for up, primary, _, _ in groups.values() if up)


def test_the_stated_sets_are_compared_and_may_be_longer_than_a_pool(tmp_path: Path) -> None:
    report = recorded(tmp_path)
    assert compare_stated(report) == type(compare_stated(report))(134, (), ())
    pg = json.loads((tmp_path / "pg").read_text(encoding="utf-8"))
    pg["pg_stats"][0]["up"] = pg["pg_stats"][0]["up"][::-1]
    pg["pg_stats"][1]["acting"] = []
    (tmp_path / "pg").write_text(json.dumps(pg), encoding="utf-8")
    changed = read_cluster(tmp_path / "osd_dump", crush=tmp_path / "crush", pg_dump=tmp_path / "pg")
    stated = compare_stated(changed)
    assert (stated.up, stated.acting) == (("1.0",), ("1.1",))
    report = recorded(tmp_path)
    # Pool 6 has two copies; its longest temporary set has two, pool 1's entries have three.
    assert group_sets(report, 6).acting.shape == (20, 2)
    record = json.loads((tmp_path / "osd_dump").read_text(encoding="utf-8"))
    record["pg_temp"] = [{"pgid": "6.1", "osds": [0, 1, 2, 4, 5]}]
    (tmp_path / "osd_dump").write_text(json.dumps(record), encoding="utf-8")
    sets = group_sets(read_cluster(tmp_path / "osd_dump", crush=tmp_path / "crush"), 6)
    assert (sets.up.shape, sets.acting.shape) == ((20, 2), (20, 5))
    assert sets.acting[1].tolist() == [0, 1, 2, 4, 5]


def test_pools_that_are_none_or_too_large_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        PlacementError, match=r"no pool 2; the pools are 1 \(pool-1\), 4 \(pool-4\)"
    ):
        group_sets(recorded(tmp_path), 2)
    report = recorded(tmp_path)
    # 2^24 groups of 64 are 2^30 places, four times what is answered.
    pool = replace(report.pools[0], pg_num=2**24, pgp_num=2**24, size=64)
    with pytest.raises(PlacementError, match=r"pool 1: pg_num = 16777216: .* 1073741824 places"):
        group_sets(replace(report, pools=(pool,)), 1)


def test_namespaces_and_keys_decide_an_objects_group() -> None:
    pool = Pool(1, "rbd", 4096, 4096, 3, 0)
    # An object's key stands for its name; a namespace goes before it, with the byte 0x1f between.
    assert object_group(pool, "name", key="foo") == object_group(pool, "foo") == 0x406
    assert object_group(pool, "foo", namespace="a") == object_group(pool, "a\x1ffoo") != 0x406
    old = Pool(1, "rbd", 4096, 4096, 3, 0, object_hash=3)
    with pytest.raises(PlacementError, match=r"object_hash = 3: 1 \(linux\) and 2 \(rjenkins\)"):
        object_group(old, "foo")


# Mapping many inputs at once: nothing depends on which inputs are mapped together.


DEVICES = 48


@pytest.mark.parametrize("for_codes", [False, True])
def test_rows_do_not_depend_on_their_neighbours(for_codes: bool) -> None:
    # Rule: 20,000 inputs, which several tasks share, map as each of them alone; with a device out
    # and one that turns half its inputs away, so that some take further attempts. Devices are equal
    # but osd.3, so that some buckets have equal weights and some not.
    crush = CrushMap.build(DEVICES, [("host", "straw2", 4), ("root", "straw2", 0)])
    crush = crush.reweighted("osd.3", 0.25)
    crush = crush.for_codes() if for_codes else crush
    inputs = np.arange(20_000, dtype=np.uint32)
    reweight = np.full(DEVICES, 0x10000, dtype=np.uint32)
    reweight[[7, 20]] = [0, 0x8000]
    together = crush.map_rule(0, inputs, 3, reweight)
    for x in range(0, 20_000, 97):
        alone = crush.map_rule(0, inputs[x : x + 1], 3, reweight)
        assert together[x].tolist() == alone[0].tolist()
    assert not np.any(together == 7)
    # osd.20 keeps half of an even share, 20,000 x 3 / 48 / 2 = 625; standard deviation 25.
    assert abs(int(np.count_nonzero(together == 20)) - 625) < 150
    # Rule: an empty list of inputs gives an array of no rows, and no copies an array of no columns.
    assert crush.map_rule(0, np.empty(0, dtype=np.uint32), 3).shape == (0, 3)
    assert crush.map_rule(0, np.arange(5, dtype=np.uint32), 0).shape == (5, 0)


@pytest.mark.parametrize(
    ("inputs", "copies", "reweight", "words"),
    [
        ([-1], 3, None, "inputs: they are a row of whole numbers"),
        ([2**32], 3, None, "inputs: they are a row of whole numbers"),
        ([0.5], 3, None, "inputs: they are a row of whole numbers"),
        ([[1]], 3, None, "inputs: they are a row of whole numbers"),
        ([1], -1, None, "copies = -1: use a number from 0 to 1024"),
        ([1], 10**9, None, "copies = 1000000000: use a number from 0 to 1024"),
        ([1], 3, [0.5], "reweight: they are a row of whole numbers"),
    ],
)
def test_numbers_that_no_input_can_be_are_named(
    inputs: object, copies: int, reweight: object, words: str
) -> None:
    """Rule: what cannot be 32 bits is an error of ours; any other whole numbers are as good."""
    cluster = CrushMap.flat(8)
    with pytest.raises(ConfigError, match=re.escape(words)):
        cluster.map_rule(0, inputs, copies, reweight)
    expected = cluster.map_rule(0, np.array([1, 5], dtype=np.uint32), 3)
    assert (cluster.map_rule(0, [1, 5], 3) == expected).all()
    assert (cluster.map_rule(0, np.array([1, 5]), 3, [0x10000] * 8) == expected).all()


_POOL = Pool(1, "rbd", pg_num=64, pgp_num=64, size=3, rule_id=0)
_IN, _FEW = Osds.all_in(8), Osds.all_in(3)
_FULL = {"capacities": [1000] * 8, "used_bytes": [240] * 8}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda _: replace(_POOL, size=10**6), "pool rbd: size = 1000000: use a whole number"),
        (lambda one: map_sets(one, _POOL, Osds([1.5] * 8, [True] * 8)), "reweights: they are"),
        (lambda one: map_sets(one, replace(_POOL, rule_id=9), _IN), "pool 1: rule = 9"),
        (lambda one: upmaps_by_groups(one, [_POOL], _IN, entries=-1), "entries = -1: use"),
        (lambda one: upmaps_by_bytes(one, [_POOL], _IN, piece_bytes=[[1] * 6], **_FULL), "as many"),
        (lambda one: upmaps_by_bytes(one, [_POOL], _FEW, piece_bytes=[[1] * 64], **_FULL), "OSD"),
    ],
)
def test_a_script_is_told_what_cannot_be(asked: Callable[[CrushMap], Any], said: str) -> None:
    with pytest.raises(ResilverError, match=re.escape(said)):
        asked(CrushMap.flat(8))
