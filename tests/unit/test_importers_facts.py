"""What a cluster's dumps say beside map and groups is read as Ceph means it."""

import json
from pathlib import Path
from typing import Any

from resilver.importers import read_cluster, read_report
from resilver.importers.ceph import BalancerState, OsdMetadata, OsdPerf, Ratios
from resilver.importers.ceph.hardware import read_balancer, read_metadata, read_perf, read_versions
from resilver.importers.ceph.pg_dump import read_df_totals
from resilver.importers.jsonpath import Node
from tests.unit.test_importers_cluster import OSD_DUMP, read


def test_a_modern_map_states_ratios_flags_and_what_pools_need(shared_data: Path) -> None:
    modern = shared_data / "ceph" / "modern"
    report = read_cluster(modern / "ceph_osd_dump.json", crush=modern / "ceph_osd_crush_dump.json")
    # The map prints floats of 32 bits: 0.94999998807907104 is the nearest to 0.95.
    assert report.ratios == Ratios(0.85, 0.9, 0.95)
    assert (report.epoch, report.require_osd_release) == (49, "octopus")
    assert "pglog_hardlimit" in report.flags
    assert {(pool.size, pool.min_size, pool.recovery_priority) for pool in report.pools} == {
        (3, 2, 0)
    }
    assert report.pools[1].applications == ("rbd",)


def test_before_luminous_the_ratios_stand_with_the_groups(shared_data: Path) -> None:
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
