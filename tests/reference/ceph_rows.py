"""The rows of a made-up Ceph cluster's dumps, with every member that Ceph prints of a group.

They follow what a 15.2.14 cluster printed.
"""

from dataclasses import dataclass
from typing import Any

KIB = 1024
HDD, SSD = "hdd", "ssd"
SSD_BYTES = 3840 * 10**9
TUNABLES = {
    "choose_local_tries": 0,
    "choose_local_fallback_tries": 0,
    "choose_total_tries": 50,
    "chooseleaf_descend_once": 1,
    "chooseleaf_vary_r": 1,
    "chooseleaf_stable": 1,
    "straw_calc_version": 1,
    "allowed_bucket_algs": 54,
}


@dataclass(frozen=True)
class Shape:
    """What the cluster is.

    Attributes:
        osds: How many OSDs.
        osds_per_host: How many of them a host has; the last host may have fewer.
        racks: Over how many racks the hosts are dealt.
        ssd_share: The share of hosts whose OSDs are flash.
        groups: How many groups all pools have.
        fill: Share of its OSDs' bytes that each class is to hold, on the average.
        hdd_bytes: What fits on a disk.
        balancer: Whether the manager's balancer is on.
        version: The release.
        epoch: The OSD map's.
    """

    osds: int = 2000
    osds_per_host: int = 20
    racks: int = 10
    ssd_share: float = 0.08
    groups: int = 100_000
    fill: float = 0.6
    hdd_bytes: int = 16 * 10**12
    balancer: bool = True
    version: str = "18.2.4"
    epoch: int = 5000

    @property
    def hosts(self) -> int:
        """How many hosts there are."""
        return -(-self.osds // self.osds_per_host)

    @property
    def ssd_hosts(self) -> int:
        """How many of them are flash: three at least, for three copies."""
        return max(3, round(self.ssd_share * self.hosts))

    def host_of(self, osd: int) -> int:
        """The host of an OSD."""
        return osd // self.osds_per_host

    def class_of(self, osd: int) -> str:
        """The class of an OSD: flash on the last hosts."""
        return SSD if self.host_of(osd) >= self.hosts - self.ssd_hosts else HDD

    def bytes_of(self, osd: int) -> int:
        """What fits on an OSD, in whole KiB."""
        size = SSD_BYTES if self.class_of(osd) == SSD else self.hdd_bytes
        return size // KIB * KIB


@dataclass(frozen=True)
class MadePool:
    id: int
    name: str
    size: int
    data: int
    rule: int
    of_class: str
    part: float
    """Of the bytes of its class."""
    object_bytes: int


POOLS = (
    MadePool(1, "vms", 3, 1, 0, HDD, 0.3, 4 * 2**20),
    MadePool(2, "archive", 6, 4, 1, HDD, 0.7, 16 * 2**20),
    MadePool(3, "fast", 3, 1, 2, SSD, 1.0, 2**20),
)


def crush_bucket(
    kind: str, name: str, number: int, items: list[str], alg: str = "straw2"
) -> list[str]:
    """A bucket of a map, as `crushtool -d` writes it."""
    return [f"{kind} {name} {{", f"id {number}", f"alg {alg}", "hash 0", *items, "}"]


def pool_row(number: int, name: str, groups: int, *, coded: bool) -> dict[str, Any]:
    """What all pools of an osdmap have alike."""
    return {
        "pool": number,
        "pool_name": name,
        "flags": 1,
        "flags_names": "hashpspool",
        "type": 3 if coded else 1,
        "object_hash": 2,
        **dict.fromkeys(
            ("pg_num", "pg_placement_num", "pg_placement_num_target", "pg_num_target"), groups
        ),
        "options": {},
        "application_metadata": {"rbd": {}},
    }


def osd_row(shape: Shape, osd: int, data: int, groups: int) -> dict[str, Any]:
    """A row of `ceph osd df`."""
    kb, kb_data = shape.bytes_of(osd) // KIB, int(data) // KIB
    # What an OSD takes for itself: a GiB, and half a percent of what it holds.
    kb_meta = 2**20 + kb_data // 200
    used = kb_data + kb_meta + 64
    return {
        "id": osd,
        "device_class": shape.class_of(osd),
        "name": f"osd.{osd}",
        "type": "osd",
        "type_id": 0,
        "crush_weight": shape.bytes_of(osd) / 2**40,
        "depth": 3,
        "reweight": 1,
        "kb": kb,
        "kb_used": used,
        "kb_used_data": kb_data,
        "kb_used_omap": 64,
        "kb_used_meta": kb_meta,
        "kb_avail": kb - used,
        "utilization": 100 * used / kb,
        "var": 1,
        "pgs": groups,
        "status": "up",
    }


def tree_row(shape: Shape) -> dict[str, Any]:
    """The root of `ceph osd df tree`."""
    children = [-2 - rack for rack in range(shape.racks)]
    row = {"id": -1, "name": "default", "type": "root", "type_id": 11, "reweight": -1}
    return {**row, "kb": 0, "kb_used": 0, "children": children}


def osd_stats(row: dict[str, Any]) -> dict[str, Any]:
    """A row of ``osd_stats``."""
    keys = ("kb", "kb_used", "kb_used_data", "kb_used_omap", "kb_used_meta", "kb_avail")
    delays = {"commit_latency_ms": 4, "apply_latency_ms": 4, "commit_latency_ns": 4_000_000}
    stats = {"osd": row["id"], "num_pgs": row["pgs"], **{key: row[key] for key in keys}}
    return {**stats, "perf_stat": {**delays, "apply_latency_ns": 4_000_000}}


def perf(osd: int) -> dict[str, Any]:
    """A row of `ceph osd perf`."""
    stats = {"commit_latency_ms": 4, "apply_latency_ms": 4}
    exact = {"commit_latency_ns": 4_000_000, "apply_latency_ns": 4_000_000}
    return {"id": osd, "perf_stats": {**stats, **exact}}


def metadata(shape: Shape, osd: int, version: str) -> dict[str, Any]:
    """A row of `ceph osd metadata`."""
    turns = "1" if shape.class_of(osd) == HDD else "0"
    return {
        "id": osd,
        "bluestore_bdev_rotational": turns,
        "bluestore_bdev_size": str(shape.bytes_of(osd)),
        "bluestore_min_alloc_size": "4096",
        "ceph_release": "reef",
        "ceph_version": version,
        "ceph_version_short": shape.version,
        "cpu": "some processor",
        "device_ids": f"sda=MAKER_MODEL_SERIAL{osd:05d}",
        "devices": "sda",
        "front_addr": f"[v2:10.0.{shape.host_of(osd) % 250}.{osd % 250}:6800/1113152]",
        "hostname": f"node-{shape.host_of(osd):03d}",
        "journal_rotational": "0",
        "osd_objectstore": "bluestore",
        "rotational": turns,
    }


_SUM_WORDS = (
    "num_object_clones num_objects_missing_on_primary num_objects_missing num_objects_degraded "
    "num_objects_misplaced num_objects_unfound num_whiteouts num_read num_read_kb num_write "
    "num_write_kb num_scrub_errors num_shallow_scrub_errors num_deep_scrub_errors "
    "num_objects_recovered num_bytes_recovered num_keys_recovered num_objects_omap "
    "num_objects_hit_set_archive num_bytes_hit_set_archive num_flush num_flush_kb num_evict "
    "num_evict_kb num_promote num_flush_mode_high num_flush_mode_low num_evict_mode_some "
    "num_evict_mode_full num_objects_pinned num_legacy_snapsets num_large_omap_objects "
    "num_objects_manifest num_omap_bytes num_omap_keys num_objects_repaired"
)
_SUM_KEYS = _SUM_WORDS.split()


def sums(size: int, objects: int) -> dict[str, Any]:
    """A ``stat_sum``."""
    return {"num_bytes": size, "num_objects": objects, **dict.fromkeys(_SUM_KEYS, 0)}


STAMP = "2026-01-01T00:00:00.000000+0000"
_STAMP_WORDS = (
    "last_fresh last_change last_active last_peered last_clean last_became_active "
    "last_became_peered last_unstale last_undegraded last_fullsized last_scrub_stamp "
    "last_deep_scrub_stamp last_clean_scrub_stamp"
)

_FLAG_WORDS = (
    "stats_invalid dirty_stats_invalid omap_stats_invalid hitset_stats_invalid "
    "hitset_bytes_stats_invalid pin_stats_invalid manifest_stats_invalid"
)


_STAMPS = dict.fromkeys(_STAMP_WORDS.split(), STAMP)
_FLAGS = dict.fromkeys(_FLAG_WORDS.split(), False)


def group(shape: Shape, pgid: str, size: int, objects: int, members: list[int]) -> dict[str, Any]:
    """A group that is whole, as `ceph pg dump` prints it."""
    primary = next((osd for osd in members if 0 <= osd < shape.osds), -1)
    return {
        "pgid": pgid,
        "version": "4000'123456",
        "reported_seq": 123456,
        "reported_epoch": shape.epoch,
        "state": "active+clean",
        **_STAMPS,
        "mapping_epoch": shape.epoch - 100,
        "log_start": "4000'120000",
        "ondisk_log_start": "4000'120000",
        "created": 20,
        "last_epoch_clean": shape.epoch - 99,
        "parent": "0.0",
        "log_size": 3456,
        "ondisk_log_size": 3456,
        **_FLAGS,
        "snaptrimq_len": 0,
        "stat_sum": sums(size, objects),
        "up": members,
        "acting": members,
        "avail_no_missing": [],
        "object_location_counts": [],
        "blocked_by": [],
        "up_primary": primary,
        "acting_primary": primary,
        "purged_snaps": [],
    }
