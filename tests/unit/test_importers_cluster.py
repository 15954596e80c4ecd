"""A cluster is read from its dumps, each told by its content and as Ceph means it, or refused."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from resilver import Study
from resilver.crush import PoolExceptions
from resilver.errors import ConfigError
from resilver.importers import ClusterReport, read_cluster, read_report
from resilver.importers.ceph import BalancerState, OsdMetadata, OsdPerf, Ratios
from resilver.importers.ceph.hardware import read_balancer, read_metadata, read_perf, read_versions
from resilver.importers.ceph.pg_dump import read_df_totals
from resilver.importers.jsonpath import Node
from tests.build import refused
from tests.unit.small_reports import ONE, flat, pool, rule

CRUSH = flat([ONE] * 4, [rule(0, "choose_firstn", "osd")])

OSD_DUMP: dict[str, Any] = {
    "max_osd": 4,
    "pools": [
        pool(1, 8, 8, 2, 0) | {"pool_name": "rbd", "object_hash": 2, "flags_names": "hashpspool"}
    ],
    "osds": [
        {"osd": 0, "up": 1, "in": 1, "weight": 1.0, "primary_affinity": 1.0},
        {"osd": 1, "up": 1, "in": 1, "weight": 1.0, "primary_affinity": 0.333328},
        {"osd": 2, "up": 0, "in": 1, "weight": 0.5, "primary_affinity": 0.0},
    ],
    "pg_upmap": [{"pgid": "1.0", "osds": [0, 1]}],
    "pg_upmap_items": [{"pgid": "1.1", "mappings": [{"from": 0, "to": 1}, {"from": 2, "to": 9}]}],
    "pg_upmap_primaries": [{"pgid": "1.2", "primary_osd": 1}],
    "pg_temp": [{"pgid": "1.3", "osds": [2, 0]}],
    "primary_temp": ["1.3", 0, "1.4", 1],
}

PG_DUMP: dict[str, Any] = {
    "pg_ready": True,
    "pg_map": {
        "pg_stats": [
            {
                "pgid": f"1.{number:x}",
                "up": [0, 1],
                "acting": [1, 0],
                "up_primary": 0,
                "acting_primary": 1,
                "stat_sum": {"num_bytes": 10 + number, "num_objects": 1},
            }
            for number in range(8)
        ]
    },
}

OSD_DF: dict[str, Any] = {
    "nodes": [
        {"id": 0, "name": "osd.0", "reweight": 1.0, "kb": 1000, "kb_used": 10, "pgs": 5},
        {"id": -1, "name": "default", "type": "root", "kb": 3000, "kb_used": 30},
        {"id": 2, "name": "osd.2", "reweight": 0.5, "kb": 2000, "kb_used": 20},
    ],
    "stray": [],
    "summary": {"total_kb": 3000},
}


def put(folder: Path, **documents: Any) -> dict[str, Path]:
    """Write documents as files, and return their paths."""
    paths = {}
    for name, document in documents.items():
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(json.dumps(document), encoding="utf-8")
    return paths


def read(folder: Path, osd_dump: Any = OSD_DUMP, **beside: Any) -> ClusterReport:
    paths = put(folder, osd_dump=osd_dump, crush=CRUSH, **beside)
    return read_cluster(paths.pop("osd_dump"), **paths)


def test_an_osd_dump_with_a_crush_map_beside_it_is_a_cluster(tmp_path: Path) -> None:
    report = read(tmp_path)
    (pool,) = report.pools
    assert (pool.name, pool.object_hash, pool.rule_id) == ("rbd", 2, 0)
    # OSD 9 lies beyond max_osd, so it is none, and no other such one either.
    assert pool.exceptions == PoolExceptions(
        upmap=((0, (0, 1)),),
        upmap_items=((1, ((0, 1), (2, -11))),),
        upmap_primaries=((2, 1),),
        pg_temp=((3, (2, 0)),),
        primary_temp=((3, 0), (4, 1)),
    )
    # 0.333328 is 21,845 / 65,536 to six digits.
    assert [osd.affinity for osd in report.osds] == [0x10000, 21_845, 0]
    assert report.osd_states.affinities == [0x10000, 21_845, 0, 0x10000]
    # Device 3 stands in a bucket; the dump, which says how many OSDs there may be, omits it.
    assert [osd.id for osd in report.osds] == [0, 1, 2]
    assert report.osd_states.reweights == [0x10000, 0x10000, 0x8000, 0]
    assert report.osd_states.up == [True, True, False, False]
    cut_down = {key: value for key, value in OSD_DUMP.items() if key != "max_osd"}
    assert read(tmp_path, cut_down).osd_states.reweights == [0x10000, 0x10000, 0x8000, 0x10000]
    listed = [{"pgid": "1.3", "osd": 0}, {"pgid": "1.4", "osd": 1}]
    found = read(tmp_path, OSD_DUMP | {"primary_temp": listed})
    assert found.pools == read(tmp_path).pools


def test_groups_come_from_a_pg_dump_in_any_of_its_forms(tmp_path: Path) -> None:
    nested = read(tmp_path, pg_dump=PG_DUMP)
    assert [load.bytes for load in nested.loads] == [10 + number for number in range(8)]
    assert (nested.groups[0].up_primary, nested.groups[0].acting_primary) == (0, 1)
    bare = PG_DUMP["pg_map"]
    for form in (bare, bare["pg_stats"], {"pgmap": bare}):
        assert read(tmp_path, pg_dump=form).groups == nested.groups
    usage = read(tmp_path, osd_df=OSD_DF).usage
    found = [(one.osd, one.capacity_bytes, one.used_bytes, one.groups) for one in usage]
    assert found == [(0, 1000 * 1024, 10 * 1024, 5), (2, 2000 * 1024, 20 * 1024, None)]
    plain = read(tmp_path, pg_dump=PG_DUMP).sha256
    assert read(tmp_path, pg_dump=PG_DUMP).sha256 == plain
    assert read(tmp_path, pg_dump=PG_DUMP["pg_map"]).sha256 != plain


def test_dumps_beside_a_map_are_of_its_state(tmp_path: Path) -> None:
    report = {"osdmap": OSD_DUMP, "crushmap": CRUSH, "pgmap": {"pg_stats": []}}
    paths = put(tmp_path, report=report, pg_dump=PG_DUMP)
    assert read_report(paths["report"]).groups == ()
    assert len(read_cluster(paths["report"], pg_dump=paths["pg_dump"]).groups) == 8
    other = json.loads(json.dumps(OSD_DF))
    other["nodes"][2]["reweight"] = 0.75
    with pytest.raises(ConfigError, match=r"nodes\[2\].reweight = 0.75: .* reweight of osd.2, 0.5"):
        read(tmp_path, osd_df=other)
    other["nodes"][2]["id"] = 3
    with pytest.raises(ConfigError, match=r"nodes\[2\].id = 3: expected an OSD that the osdmap"):
        read(tmp_path, osd_df=other)
    with pytest.raises(ConfigError, match=r"a PG of a pool that osdmap\.pools lists"):
        read(tmp_path, pg_dump={"pg_stats": [{"pgid": "2.0"}]})


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("pg_upmap", [{"pgid": "1.0"}], r'pg_upmap\[0\] = .*expected a member named "osds"'),
        ("pg_upmap", [{"pgid": "x", "osds": []}], r'pg_upmap\[0\].pgid = "x": expected a PG'),
        ("pg_upmap", [{"pgid": "1.0", "osds": ["a"]}], r"osds\[0\] = \"a\": expected an integer"),
        ("pg_upmap", OSD_DUMP["pg_upmap"] * 2, r"pg_upmap\[1\].pgid.* a PG that stands once"),
        ("pg_temp", [{"pgid": "1.0", "osds": [1] * 65}], r"pg_temp\[0\].osds = .* at most 64 OSDs"),
        ("pg_upmap_items", [{"pgid": "1.0", "mappings": [{"from": 1}]}], r'member named "to"'),
        ("pg_upmap_primaries", [{"pgid": "1.0"}], r'a member named "primary_osd"'),
        ("pg_temp", {"1.0": [1]}, r"pg_temp = .* expected an array"),
        ("primary_temp", ["1.0"], r"primary_temp\[0\] = .* with the OSD that is its primary"),
        ("primary_temp", ["1.0", "1.1"], r"primary_temp\[1\] = \"1.1\": expected an integer"),
        ("max_osd", -1, r"max_osd = -1: expected an integer from 0"),
    ],
)
def test_a_wrong_exception_is_named_with_what_was_expected(
    tmp_path: Path, key: str, value: Any, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        read(tmp_path, OSD_DUMP | {key: value})
    assert "osd_dump.json" in str(caught.value)


def test_each_file_is_told_by_its_content(tmp_path: Path) -> None:
    paths = put(tmp_path, osd=OSD_DUMP, crush=CRUSH, pg=PG_DUMP, df=OSD_DF)
    for name, says in {
        "osd": "this is a `ceph osd dump`, which has no CRUSH map; give one beside it",
        "pg": "this is a `ceph pg dump`, which has no OSD map; .* this file as pg_dump",
        "df": "this is a `ceph osd df`, which has no OSD map; .* this file as osd_df",
        "crush": "this is a `ceph osd crush dump`, which has no OSD map; .* this file as crush",
    }.items():
        with pytest.raises(ConfigError, match=says):
            read_cluster(paths[name])
    for argument, says in {
        "crush": "expected a CRUSH map",
        "pg_dump": "expected what `ceph pg dump",
        "osd_df": "expected what `ceph osd df",
    }.items():
        files = {"crush": paths["crush"], argument: paths["osd"]}
        with pytest.raises(ConfigError, match=says):
            read_cluster(paths["osd"], **files)


def test_a_binary_osd_map_needs_osdmaptool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "osdmap.bin"
    binary.write_bytes(b"\x08\x07\x00\x00\x00\x00" + bytes(64))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"`osdmaptool` .* not installed; install it \(Debian: c"):
        read_cluster(binary)
    # A tool that fails is reported with the last line it said.
    tool = tmp_path / "osdmaptool"
    tool.write_text("#!/bin/sh\necho first >&2\necho 'error decoding' >&2\nexit 255\n")
    os.chmod(tool, stat.S_IRWXU)
    assert "`osdmaptool` cannot read this OSD map: error decoding" in refused(read_cluster, binary)


def test_a_study_names_the_dumps_of_its_cluster(tmp_path: Path) -> None:
    put(tmp_path, osd_dump=OSD_DUMP, crush=CRUSH, pg_dump=PG_DUMP, osd_df=OSD_DF)
    files = {name: f"{name}.json" for name in ("osd_dump", "crush", "pg_dump", "osd_df")}
    table = {"cluster": {"ceph": files}, "faults": [{"fail": {"osds": ["osd.0"]}}]}
    study = Study.from_dict(table, base=tmp_path)
    (run,) = study.runs()
    assert run.system.report is not None and len(run.system.report.usage) == 2
    # The resolved study names the same files, absolutely.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "study.toml").write_text(study.to_toml(), encoding="utf-8")
    (again,) = Study.load(tmp_path / "elsewhere" / "study.toml").runs()
    assert again.key == run.key
    swept = {**table, "study": {"sweep": {"cluster.ceph.pg_dump": ["pg_dump.json"]}}}
    assert Study.from_dict(swept, base=tmp_path).runs()[0].system == run.system


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"crush": "crush.json"}, "exactly one of report, osd_dump, osdmap"),
        ({"report": "a", "osdmap": "b"}, "exactly one of report, osd_dump, osdmap"),
        ({"osd_dump": "a", "pg": "x"}, r"cluster.ceph.pg = \"x\": there is no such key"),
        ({"osd_dump": 3}, "a file is named by its path"),
    ],
)
def test_a_wrong_table_of_dumps_is_refused(tmp_path: Path, files: Any, says: str) -> None:
    put(tmp_path, osd_dump=OSD_DUMP, crush=CRUSH)
    with pytest.raises(ConfigError, match=says):
        Study.from_dict({"cluster": {"ceph": files}}, base=tmp_path)


def test_shared_maps_of_all_ages_state_rules_ratios_and_what_pools_need(shared_data: Path) -> None:
    folder = shared_data / "ceph"
    crush = folder / "ceph-crushmap-rules-order.json"
    report = read_cluster(folder / "osdmap.json", crush=crush)
    # Its pools name rulesets 0 and 2; this map, of another cluster, has rules of both.
    found = [(pool.id, pool.rule_id, pool.kind, pool.pg_num) for pool in report.pools]
    assert found == [(0, 0, "replicated", 64), (1, 2, "erasure", 512)]
    modern = shared_data / "ceph" / "modern"
    report = read_cluster(modern / "ceph_osd_dump.json", crush=modern / "ceph_osd_crush_dump.json")
    # The map prints floats of 32 bits: 0.94999998807907104 is the nearest to 0.95.
    assert report.ratios == Ratios(0.85, 0.9, 0.95)
    assert (report.epoch, report.require_osd_release) == (49, "octopus")
    assert "pglog_hardlimit" in report.flags
    found = {(pool.size, pool.min_size, pool.recovery_priority) for pool in report.pools}
    assert found == {(3, 2, 0)}
    assert report.pools[1].applications == ("rbd",)
    report = read_report(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    assert report.ratios == Ratios(nearfull=0.92, backfillfull=None, full=0.94)
    assert report.pools[0].min_size == 1
    assert {group.state for group in report.groups} >= {"active+clean"}
    assert sum(group.degraded or 0 for group in report.groups) == 0


def test_a_pool_without_min_size_has_what_ceph_gives_a_new_one(tmp_path: Path) -> None:
    # size - size / 2 of 2 copies is 1; k + min(1, m - 1) of 4+2 is 5.
    assert read(tmp_path).pools[0].min_size == 1
    dump = json.loads(json.dumps(OSD_DUMP))
    dump["pools"][0] |= {"type": 3, "size": 6, "erasure_code_profile": "ec"}
    dump["erasure_code_profiles"] = {"ec": {"k": "4", "m": "2", "plugin": "isa"}}
    assert read(tmp_path, dump).pools[0].min_size == 5
    dump["pools"][0]["min_size"] = 4
    dump["pools"][0]["options"] = {"recovery_priority": 3}
    pool = read(tmp_path, dump).pools[0]
    assert (pool.min_size, pool.recovery_priority) == (4, 3)


def node(value: Any) -> Node:
    return Node(value, "", "dump.json")


def test_sums_and_delays_are_read_in_all_their_forms() -> None:
    exact = {"commit_latency_ms": 3, "apply_latency_ms": 1, "commit_latency_ns": 3_400_000}
    old = {"osd_perf_infos": [{"id": 2, "perf_stats": exact}]}
    # Nanoseconds say more than milliseconds, which stand alone before Nautilus.
    assert read_perf(node(old), None) == (OsdPerf(2, 0.0034, 0.001),)
    assert read_perf(node({"osdstats": old}), None) == read_perf(node(old), None)
    pgmap = {"osd_stats": [{"osd": 2, "perf_stat": exact}, {"osd": 3}]}
    assert read_perf(None, node(pgmap)) == (OsdPerf(2, 0.0034, 0.001),)
    assert read_perf(None, None) == ()
    old = {"pools": [{"id": 2, "stats": {"bytes_used": 7, "objects": 1}}]}
    new = {"pools": [{"id": 2, "stats": {"stored": 7, "bytes_used": 21, "objects": 1}}]}
    assert read_df_totals(node(old)) == read_df_totals(node(new)) == ((2, 7, 1),)


def test_releases_and_balancers_are_what_is_stated_lowest() -> None:
    def config(**values: str) -> Node:
        entries = [
            {"section": "mgr", "name": f"mgr/balancer/{name}", "value": value}
            for name, value in values.items()
        ]
        return node([*entries, {"section": "osd", "name": "osd_max_backfills", "value": "2"}])

    assert read_balancer(None, config()) is None
    # On by upmap is Ceph's default since Octopus.
    assert read_balancer(None, config(mode="crush-compat")) == BalancerState(True, "crush-compat")
    assert read_balancer(None, config(active="False")) == BalancerState(False, "upmap")
    status = node({"active": False, "mode": "none", "plans": []})
    assert read_balancer(status, config(active="true")) == BalancerState(False, "none")
    versions = {
        "mon": {"ceph version 19.2.1 (a) squid (stable)": 3},
        "osd": {"ceph version 18.2.10 (b) reef": 5, "ceph version 18.2.4 (c) reef": 1},
    }
    assert read_versions(node(versions), ()) == (18, 2, 4)
    metadata = read_metadata(
        node([{"id": 1, "ceph_version": "ceph version 17.2.6 (d)"}, {"id": 0}])
    )
    # An OSD that never booted has a number and nothing else.
    assert metadata == (OsdMetadata(0), OsdMetadata(1, release=(17, 2, 6)))
    assert read_versions(None, metadata) == (17, 2, 6)
    assert read_versions(None, ()) is None
