"""A `ceph report` is read as Ceph writes it, old and new, or refused with the place."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.importers import ClusterReport, read_report
from tests.build import refused
from tests.scale import times
from tests.unit.small_reports import CRUSH_TYPES, ONE, bucket, pool, put

REPORT: dict[str, Any] = {
    "version": "17.2.0",
    "osdmap": {
        "pools": [
            pool(7, 4, 4, 2, 4)
            | {"pool_name": "rbd", "flags": 1, "flags_names": "hashpspool,selfmanaged_snaps"}
        ],
        "osds": [
            {"osd": 0, "up": 1, "in": 1, "weight": 1.0},
            {"osd": 1, "up": 1, "in": 1, "weight": 0.950012},
            {"osd": 2, "up": 0, "in": 0, "weight": 0.0},
        ],
    },
    "crushmap": {
        "devices": [{"id": 0, "name": "osd.0"}, {"id": 1, "name": "disk-b"}],
        "types": CRUSH_TYPES,
        "buckets": [
            bucket(-1, "default", "root", {-2: ONE, -3: ONE}),
            bucket(-2, "alpha", "host", {0: ONE, 1: ONE}),
            bucket(-3, "beta", "host", {2: ONE, 3: ONE}),
            bucket(-4, "alpha~hdd", "host", {0: ONE}),
        ],
        "rules": [
            {"rule_id": 4, "ruleset": 9, "min_size": 3, "max_size": 9, "steps": []},
            {"rule_id": 5, "ruleset": 9, "min_size": 1, "max_size": 2, "steps": []},
        ],
    },
    "pgmap": {
        "pg_stats_sum": {"stat_sum": {"num_bytes": 1000, "num_objects": 10}},
        "pg_stats": [
            {
                "pgid": f"7.{number:x}",
                "up": [0, 2],
                "acting": [0],
                "stat_sum": {"num_bytes": 100 + number, "num_objects": 1 + number},
            }
            for number in range(4)
        ],
    },
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The report with one member replaced, or removed for None."""
    report: dict[str, Any] = put(copy.deepcopy(REPORT), path, value)
    return report


def read(tmp_path: Path, report: Any) -> ClusterReport:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    return read_report(file)


def test_pools_osds_and_groups_are_what_the_report_says(tmp_path: Path) -> None:
    report = read(tmp_path, REPORT)
    (pool,) = report.pools
    assert (pool.id, pool.name, pool.pg_num, pool.pgp_num, pool.size) == (7, "rbd", 4, 4, 2)
    assert (pool.rule_id, pool.hashpspool, pool.kind) == (4, True, "replicated")
    zero, one, two, three = report.osds
    assert (zero.name, zero.host, zero.reweight) == ("osd.0", "alpha", 0x10000)
    assert zero.up and zero.in_cluster
    # 0.950012 is 62,260 / 65,536 to six digits.
    assert (one.name, one.reweight) == ("disk-b", 62_260)
    assert (two.up, two.in_cluster, two.reweight, two.host) == (False, False, 0, "beta")
    # The osdmap omits device 3, which stands in a bucket.
    assert (three.listed, three.in_cluster, three.reweight) == (False, True, 0x10000)
    assert report.osd_states.reweights == [0x10000, 62_260, 0, 0x10000]
    assert report.osd_ids == {"osd.0": 0, "osd.1": 1, "osd.2": 2, "osd.3": 3, "disk-b": 1}
    assert [group.pgid for group in report.groups] == ["7.0", "7.1", "7.2", "7.3"]
    assert (report.groups[3].up, report.groups[3].acting) == ((0, 2), (0,))
    assert json.loads(report.crushmap)["buckets"][2]["name"] == "beta"


def test_rulesets_classes_and_rings_are_read_as_ceph_means_them(tmp_path: Path) -> None:
    tree = read(tmp_path, REPORT).buckets
    assert [bucket.name for bucket in tree.of_kind("host")] == ["alpha", "beta"]
    assert tree.below(tree.of_kind("root")[0].name) == [0, 1, 2, 3]
    ring = bucket(-2, "alpha", "host", {-1: ONE, 0: ONE})["items"]
    with pytest.raises(ConfigError, match=r"crushmap: .*bucket"):
        read(tmp_path, changed("crushmap.buckets.1.items", ring))
    old = changed("osdmap.pools.0.crush_rule", None)
    old["osdmap"]["pools"][0]["crush_ruleset"] = 9
    assert read(tmp_path, old).pools[0].rule_id == 5
    # No rule of the set admits ten copies: the first of the set stands.
    old["osdmap"]["pools"][0]["size"] = 10
    assert read(tmp_path, old).pools[0].rule_id == 4


def test_groups_hold_what_they_state_or_share_the_rest_to_the_byte(tmp_path: Path) -> None:
    loads = read(tmp_path, REPORT).loads
    stated = [(100 + number, 1 + number, True) for number in range(4)]
    assert [(load.bytes, load.objects, load.measured) for load in loads] == stated
    report = changed("pgmap.pg_stats.1.stat_sum", {})
    report["pgmap"]["pg_stats"][2].pop("stat_sum")
    loads = read(tmp_path, report).loads
    # 1000 bytes and 10 objects in all, of which groups 0 and 3 state 203 and 5: 797 = 399 + 398,
    # and 5 objects = 3 + 2.
    stated[1:3] = (399, 3, False), (398, 2, False)
    assert [(load.bytes, load.objects, load.measured) for load in loads] == stated
    report = changed("pgmap.pg_stats", [])
    report["pgmap"]["pool_stats"] = [{"poolid": 7, "stat_sum": {"num_bytes": 8, "num_objects": 4}}]
    loads = read(tmp_path, report).loads
    assert [(load.bytes, load.objects) for load in loads] == [(2, 1)] * 4
    report = changed("pgmap.pg_stats.0.stat_sum", {"num_bytes": 9 * 2**20})
    # 9 MiB fill two objects of 4 MiB and begin a third.
    assert read(tmp_path, report).loads[0].objects == 3


def test_pools_without_loads_of_their_own_are_not_guessed(tmp_path: Path) -> None:
    report = changed("pgmap.pg_stats", [])
    report["osdmap"]["pools"].append({**REPORT["osdmap"]["pools"][0], "pool": 8})
    with pytest.raises(ConfigError, match="states the bytes of 0 PGs of pool 7, and no sum"):
        _ = read(tmp_path, report).loads
    # With the sum of one pool, the other has the rest: 1000 - 400 bytes, 10 - 4 objects.
    report["pgmap"]["pool_stats"] = [
        {"poolid": 8, "stat_sum": {"num_bytes": 400, "num_objects": 4}}
    ]
    loads = read(tmp_path, report).loads
    assert sum(load.bytes for load in loads if load.pool == 7) == 600
    assert sum(load.objects for load in loads if load.pool == 7) == 6
    report = read(tmp_path, changed("pgmap", None))
    assert report.groups == ()
    with pytest.raises(ConfigError, match="add a `ceph pg dump -f json`"):
        _ = report.loads
    report = {("pg_map" if key == "pgmap" else key): value for key, value in REPORT.items()}
    assert read(tmp_path, report).loads == read(tmp_path, REPORT).loads
    assert "json: it is no JSON object; expected the one" in refused(read, tmp_path, [1])


def test_groups_beyond_the_sum_or_the_core_are_refused(tmp_path: Path) -> None:
    report = changed("pgmap.pg_stats.1", None)
    report["pgmap"]["pg_stats_sum"]["stat_sum"]["num_bytes"] = 100
    with pytest.raises(ConfigError, match="hold more than the report's sum"):
        _ = read(tmp_path, report).loads
    # Groups 1 to 3 hold 101 + 102 + 103 = 306 bytes, so that 2^62 - 306 in group 0 make 4 EiB.
    path = "pgmap.pg_stats.0.stat_sum.num_bytes"
    fitting = read(tmp_path, changed(path, 2**62 - 306))
    assert sum(load.bytes for load in fitting.loads) == 2**62
    with pytest.raises(ConfigError, match=r"hold 4611686018427387905 B, and at most 4.0 EiB can"):
        _ = read(tmp_path, changed(path, 2**62 - 305)).loads


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("osdmap", None, 'there is no "osdmap"'),
        ("crushmap", None, 'there is no "crushmap"'),
        ("osdmap.pools", 3, r"osdmap.pools = 3: expected an array"),
        ("osdmap.pools.0", 3, r"osdmap.pools\[0\] = 3: expected an object"),
        ("osdmap.pools.0.size", "3", r'pools\[0\].size = "3": expected an integer from 1 to 64'),
        ("osdmap.pools.0.size", True, r"expected an integer from 1 to 64"),
        ("osdmap.pools.0.pg_num", 0, r"pg_num = 0: expected an integer"),
        ("osdmap.pools.0.pg_num", None, r'expected a member named "pg_num"'),
        ("osdmap.pools.0.pg_placement_num", 9, r"expected an integer from 1 to 4"),
        ("osdmap.pools.0.crush_rule", 1, r"expected the id of a rule"),
        ("osdmap.pools.0.type", 2, r"expected 1 \(replicated\) or 3 \(erasure\)"),
        ("osdmap.osds.0.weight", 1.5, r"osds\[0\].weight = 1.5: expected a number from 0 to 1"),
        ("osdmap.osds.0.weight", "x", r"expected a number"),
        ("osdmap.osds.0.osd", -1, r"expected an integer from 0"),
        ("osdmap.osds.1.osd", 0, r"expected an OSD number that stands once"),
        ("pgmap.pg_stats.0.pgid", "7", r'pgid = "7": expected a PG such as "3.fff"'),
        ("pgmap.pg_stats.0.pgid", "8.0", r"expected a PG of a pool that osdmap.pools lists"),
        ("pgmap.pg_stats.0.pgid", "7.4", r"expected a PG number below pg_num, which is 4"),
        ("pgmap.pg_stats.0.pgid", "7.1", r"expected a PG that stands once"),
        ("pgmap.pg_stats.0.up", ["x"], r"up\[0\] = \"x\": expected an integer"),
        ("pgmap.pg_stats.0.stat_sum.num_bytes", -5, r"num_bytes = -5: expected an integer of at"),
        ("crushmap.buckets.0.id", 1, r"crushmap: buckets\[0\]: .*id = 1"),
        ("crushmap.buckets.0.id", -(2**20) - 1, r"buckets\[0\]: .*id = -1048577"),
        ("crushmap.buckets.1.items.0.id", 2**24, r"items\[0\]: .*device ids stay below 1048576"),
        ("crushmap.devices.0.id", 2**24, r"devices\[0\]: .*device ids stay below 1048576"),
        ("osdmap.osds.0.osd", 2**24, r"osd = 16777216: expected an integer from 0 to 1048575"),
        # A list with a reweight for each number up to this one would take 16 GiB.
        ("osdmap.osds.0.osd", 2**31 - 1, r"osd = 2147483647: expected an integer from 0 to"),
        ("crushmap.buckets.1.id", -1, r"buckets\[1\]: .*it must be unique in the map"),
        # The core counts lines in JSON of its own, which nobody has.
        ("crushmap.buckets.0.type_id", None, r"buckets\[0\]: missing field `type_id`$"),
        ("crushmap.types.1.type_id", None, r"types\[1\]: missing field `type_id`$"),
        ("crushmap.types.1.type_id", [[8]], r"types\[1\].type_id: invalid type: sequence"),
        ("crushmap.types.1.name", None, r"types\[1\]: missing field `name`$"),
        ("crushmap.rules.0.rule_id", None, r"rules\[0\]: missing field `rule_id`$"),
        ("crushmap.buckets.0.items.0.weight", {"a": 1}, r"items\[0\].weight: invalid type: map"),
        ("crushmap.buckets.0.items.0.id", None, r"items\[0\]: missing field `id`$"),
        ("crushmap.devices.0.name", None, r"devices\[0\]: missing field `name`$"),
        ("crushmap.devices.0.name", 5, r"devices\[0\].name: .* expected a string"),
    ],
)
def test_a_wrong_member_is_named_with_what_was_expected(
    tmp_path: Path, path: str, value: Any, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        read(tmp_path, changed(path, value))
    assert "report.json" in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=times(20))
@given(cut=st.integers(min_value=0, max_value=len(json.dumps(REPORT)) - 1))
def test_a_report_cut_off_anywhere_is_refused_with_its_position(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "cut.json"
    file.write_text(json.dumps(REPORT, indent=1)[:cut])
    with pytest.raises(ConfigError, match=r"cut\.json, line \d+, column \d+: not valid JSON"):
        read_report(file)


def test_the_real_cluster_is_read_whole(shared_data: Path) -> None:
    report = read_report(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    (pool,) = report.pools
    assert (pool.id, pool.pg_num, pool.size, pool.rule_id, pool.hashpspool) == (3, 4096, 3, 0, True)
    assert len(report.osds) == 88 and all(osd.listed and osd.up for osd in report.osds)
    assert len({osd.host for osd in report.osds}) == 10
    assert len(report.groups) == 4096 and all(len(group.up) == 3 for group in report.groups)
    # The public file states the bytes of two groups and the sum of all: 20,648,511,318,662 bytes
    # in 5,468,257 objects.
    assert sum(load.measured for load in report.loads) == 2
    assert sum(load.bytes for load in report.loads) == 20_648_511_318_662
    assert sum(load.objects for load in report.loads) == 5_468_257


@pytest.mark.parametrize(
    "name", ["ceph-report-small", "ceph-report-compat", "ceph-report-compat-two-pools"]
)
def test_the_cut_down_reports_are_read_but_state_no_bytes(shared_data: Path, name: str) -> None:
    report = read_report(shared_data / "ceph" / f"{name}.json")
    assert report.groups
    with pytest.raises(ConfigError, match="no sum for the others"):
        _ = report.loads
