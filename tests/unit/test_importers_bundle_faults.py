"""Dumps of a cluster that contradict each other, lack something or are damaged are named."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.importers import read_cluster
from resilver.importers.ceph.anonymous import anonymous_files
from resilver.importers.ceph.cluster import cluster_of
from resilver.importers.ceph.dumps import Dumps
from tests.build import refused
from tests.mutants import mutant
from tests.reference.ceph_cluster import Shape, documents, edited
from tests.scale import numbers
from tests.unit.small_reports import put
from tests.unit.test_importers_bundle import folder

__all__ = ["folder"]


def changed(folder: Path, target: Path, name: str, change: Callable[[Any], Any]) -> Path:
    """A copy of a bundle with one dump changed."""
    shutil.copytree(folder, target)
    with edited(target / f"ceph_{name}.json") as dump:
        change(dump)
    return target


GROUP_3, OSD_2 = "pg_map.pg_stats.3.", "nodes.2."


@pytest.mark.parametrize(
    ("name", "path", "value", "says"),
    [
        ("pg_dump", "pg_map.pg_stats.7.mapping_epoch", 5001, r"\[7\].* up to 5000, .*older; fetch"),
        ("osd_dump", "epoch", 5501, r"reported_epoch = 5000: expected an epoch near 5501"),
        ("osd_dump", "fsid", "x", r"fsid = \"x\": expected 01234567.* the same cluster"),
        ("crush", "buckets.0.items.0.weight", 1, r"the buckets that .*ceph_report.json states too"),
        ("pg_dump", GROUP_3 + "pgid", "9.3", r"a PG of a pool that osdmap.pools lists"),
        ("pg_dump", GROUP_3 + "acting", [0, 40], r"PG 1.3 = 40: .* that the OSD map lists"),
        ("osd_df", OSD_2 + "kb", -1, r"nodes\[2\].kb = -1: expected an integer"),
        ("osd_df", OSD_2 + "kb_used", -5, r"kb_used = -5: expected an integer"),
        ("osd_df", OSD_2 + "kb_used", 2**45, r"at most kb, which is \d+: no more"),
        ("osd_df", OSD_2 + "kb_avail", 2**45, r"kb_avail = \d+: .* at most kb"),
        ("osd_df", OSD_2 + "kb", 2**40, r"expected 15625000000, its kb in the dump of the PGs"),
        ("osd_perf", "osdstats.osd_perf_infos.0.perf_stats", {}, "commit_latency"),
        ("config_dump", "0.name", 3, r"\[0\].name = 3: expected text"),
        ("osd_metadata", "0.bluestore_bdev_size", "x", r"bdev_size = \"x\": expected"),
        ("balancer_status", "active", 3, r"active = 3: expected true or false"),
        ("osd_dump", "nearfull_ratio", 0.92, r"backfillfull_ratio = .* at least 0.92"),
        ("osd_dump", "nearfull_ratio", -0.1, r"nearfull_ratio = -0.1: .* number from 0 to 1"),
        ("osd_dump", "full_ratio", 0.7, r"full_ratio = 0.7: expected at least .*, since"),
        ("osd_dump", "full_ratio", 1.5, r"full_ratio = 1.5: expected a number from 0 to 1"),
    ],
)
def test_dumps_that_contradict_each_other_are_refused(
    folder: Path, tmp_path: Path, name: str, path: str, value: Any, says: str
) -> None:
    bundle = changed(folder, tmp_path / "changed", name, lambda one: put(one, path, value))
    # One of the two maps is the newest; the older one in the report would hide it.
    if "ratio" in path:
        (bundle / "ceph_report.json").unlink()
    with pytest.raises(ConfigError, match=says):
        read_cluster(bundle)


def test_a_purged_osd_may_be_named_and_dumps_that_differ_or_are_cut_off_may_not(
    folder: Path, tmp_path: Path
) -> None:
    def change(document: Any) -> None:
        document["pg_map"]["pg_stats"][3] |= {"acting": [0, 40], "state": "stale+active+clean"}

    bundle = changed(folder, tmp_path / "changed", "pg_dump", change)
    assert read_cluster(bundle).groups[3].acting == (0, 40)
    twice = changed(folder, tmp_path / "twice", "osd_df", lambda one: put(one, "nodes.0.pgs", 1))
    shutil.copy(folder / "ceph_osd_df.json", twice / "later.json")
    assert "two of `ceph osd df`, ceph_osd_df.json and later.json" in refused(read_cluster, twice)
    shutil.copy(folder / "ceph_osd_df.json", twice / "ceph_osd_df.json")
    assert len(read_cluster(twice).usage) == 40
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    groups = cut / "ceph_pg_dump.json"
    groups.write_bytes(groups.read_bytes()[:50_000])
    with pytest.raises(ConfigError, match=r"ceph_pg_dump.json, line \d+.* cut off; fetch it again"):
        read_cluster(cut)


@pytest.mark.parametrize(
    ("left", "says"),
    [
        ([], "none of the files in it is a dump of a Ceph cluster; put in what `ceph osd dump`"),
        (["pg_dump", "osd_df"], "holds no OSD map, only `ceph osd df`, `ceph pg dump`; put in"),
        (["osd_dump", "pg_dump"], "holds no CRUSH map; put in a `ceph osd crush dump` too"),
    ],
)
def test_a_bundle_without_what_is_needed_says_what(
    folder: Path, tmp_path: Path, left: list[str], says: str
) -> None:
    for name in left:
        shutil.copy(folder / f"ceph_{name}.json", tmp_path)
    with pytest.raises(ConfigError, match=says):
        read_cluster(tmp_path)


SMALL = Shape(osds=12, osds_per_host=1, racks=2, groups=40, ssd_share=0.25, hdd_bytes=10**13)


def test_any_mutant_of_a_bundle_is_read_or_refused_as_input(tmp_path: Path) -> None:
    whole = documents(SMALL)
    whole["pg_dump"]["pg_stats"] = list(whole["pg_dump"]["pg_stats"])
    for number in numbers(100):
        draw = random.Random(number)
        # A report would be refused for each difference from the other dumps.
        left_out = draw.choice([["report"], ["osd_dump", "crush"]])
        kept = [name for name in whole if name not in left_out]
        found = {f"{name}.json": json.dumps(whole[name]).encode() for name in kept}
        changed = draw.choice(sorted(found))
        found[changed] = mutant(found[changed], changed, draw)
        dumps, again = Dumps(tmp_path), Dumps(tmp_path)
        try:
            for name, content in found.items():
                dumps.take(name, content)
            _ = cluster_of(dumps).loads
            files = anonymous_files(dumps)
        except ConfigError:
            continue
        for name, content in files.items():
            again.take(name, content)
        assert len(cluster_of(again).groups) == len(cluster_of(dumps).groups), number
