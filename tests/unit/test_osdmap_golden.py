"""The sets of every group of a recorded OSD map are those that `osdmaptool` gave."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from resilver.crush import Pool, object_group
from resilver.errors import PlacementError
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
            found[f"{pool.id}.{number:x}"] = [
                [osd for osd in up if osd != -1],
                int(sets.up_primary[number]),
                [osd for osd in acting if osd != -1],
                int(sets.acting_primary[number]),
            ]
    # 64 + 50 + 20 groups.
    assert len(found) == 134
    assert found == groups
    # The record is of a map in which the steps matter.
    assert any(up != acting for up, _, acting, _ in groups.values())
    assert any(primary != up[0] for up, primary, _, _ in groups.values() if up)


def test_the_stated_sets_are_compared_group_by_group(tmp_path: Path) -> None:
    report = recorded(tmp_path)
    assert compare_stated(report) == type(compare_stated(report))(134, (), ())
    pg = json.loads((tmp_path / "pg").read_text(encoding="utf-8"))
    pg["pg_stats"][0]["up"] = pg["pg_stats"][0]["up"][::-1]
    pg["pg_stats"][1]["acting"] = []
    (tmp_path / "pg").write_text(json.dumps(pg), encoding="utf-8")
    changed = read_cluster(tmp_path / "osd_dump", crush=tmp_path / "crush", pg_dump=tmp_path / "pg")
    stated = compare_stated(changed)
    assert (stated.up, stated.acting) == (("1.0",), ("1.1",))


def test_a_set_longer_than_the_pool_is_wide_is_whole(tmp_path: Path) -> None:
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
