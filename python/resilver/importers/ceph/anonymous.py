"""A cluster's dumps without what names anybody: written anew from what was read of them.

What is not read cannot get in: addresses, serial numbers, paths, messages, keys of other settings.
What people named has another name (`resilver.importers.ceph.renaming`); numbers, classes, types
and the order of things stay.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from resilver.crush.model import HOLE, WEIGHT_ONE
from resilver.importers.ceph.cluster import cluster_of, parts_of
from resilver.importers.ceph.dumps import Dumps
from resilver.importers.ceph.facts import ConfigEntry
from resilver.importers.ceph.model import (
    MDS_PLUGINS,
    ClusterReport,
    GroupInfo,
    PoolInfo,
    StretchMode,
)
from resilver.importers.ceph.pg_dump import AMOUNTS
from resilver.importers.ceph.plugins import KEYS
from resilver.importers.ceph.renaming import PLAIN_TYPES, Renaming, renamed_crushmap

_KIB = 1024

_APPLICATIONS = frozenset(("cephfs", "mgr", "mgr_devicehealth", "nfs", "rbd", "rgw"))

_OPTIONS = ("pg_num_min", "pg_num_max", "target_size_bytes", "target_size_ratio")
"""Options of a pool that it may be without."""

_SETTINGS = re.compile(r"(?:osd_|mon_osd_|mon_max_|mon_target_|bluestore_|bdev_|filestore_)\w+")
"""Settings of how OSDs work and monitors judge them, whose values are numbers or words."""

_OF_MANAGER = re.compile(r"target_max_misplaced_ratio|mgr_tick_period|mgr/balancer/\w+")

_VALUES = (
    "true false yes no on off wpq mclock_scheduler debug_random high low balanced custom "
    "high_client_ops high_recovery_ops none upmap crush-compat read upmap-read bluestore "
    "filestore"
)
_WORDS = frozenset(_VALUES.split())
"""Values that are words, of the settings above."""

_FLAG = re.compile(r"[a-z][a-z_]{2,30}")

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)? ?[KMGTPE]?i?[bB]?")

_SECTION = re.compile(r"global|osd|osd\.[0-9]+|mon|mgr")


def anonymous_files(dumps: Dumps) -> dict[str, bytes]:
    """The dumps of a cluster under other names, as the files of a bundle.

    Returns:
        The bytes of each file, by name. Read again they are the same cluster but for names.

    Raises:
        ConfigError: They are no cluster.
    """
    cluster, parts = cluster_of(dumps), parts_of(dumps)
    names = Renaming(cluster, parts.crushmap)
    limit = parts.osdmap.get("max_osd")
    documents: dict[str, Any] = {
        "crush": renamed_crushmap(names),
        "osd_dump": _osd_dump(cluster, names, None if limit is None else limit.value),
    }
    if cluster.release is not None:
        release = ".".join(map(str, cluster.release))
        documents["versions"] = {"overall": {f"ceph version {release}": len(cluster.osds)}}
    if parts.pgmap is not None:
        documents["pg_dump"] = {"pg_ready": True, "pg_map": _pg_map(cluster)}
    elif cluster.pool_totals:
        documents["df"] = _df(cluster, names)
    if cluster.usage:
        documents["osd_df"] = _osd_df(cluster)
    if cluster.config is not None:
        entries = (_entry(entry, names) for entry in cluster.config)
        documents["config_dump"] = [entry for entry in entries if entry is not None]
    if cluster.metadata:
        documents["osd_metadata"] = _metadata(cluster, names)
    if cluster.perf:
        rows = [{"id": one.osd, "perf_stats": _delays(one)} for one in cluster.perf]
        documents["osd_perf"] = {"osdstats": {"osd_perf_infos": rows}}
    if cluster.balancer is not None:
        mode = cluster.balancer.mode if cluster.balancer.mode in _WORDS else "none"
        documents["balancer_status"] = {"active": cluster.balancer.active, "mode": mode}
    return {
        f"{kind}.json": (json.dumps(document, separators=(",", ":")) + "\n").encode()
        for kind, document in documents.items()
    }


def _osd_dump(cluster: ClusterReport, names: Renaming, limit: Any) -> dict[str, Any]:
    ratios: dict[str, Any] = {}
    if cluster.ratios is not None and cluster.ratios.backfillfull is not None:
        ratios = {
            "full_ratio": cluster.ratios.full,
            "backfillfull_ratio": cluster.ratios.backfillfull,
            "nearfull_ratio": cluster.ratios.nearfull,
        }
    profiles = {
        names.profiles[profile.name]: {
            **(dict(profile.values) or {"k": str(profile.data), "m": str(profile.parity)}),
            "plugin": profile.plugin if profile.plugin in (*MDS_PLUGINS, *KEYS) else "other",
        }
        for profile in (pool.profile for pool in cluster.pools)
        if profile is not None
    }
    return {
        **({} if cluster.epoch is None else {"epoch": cluster.epoch}),
        **({} if limit is None else {"max_osd": limit}),
        **ratios,
        "flags_set": [flag for flag in cluster.flags if _FLAG.fullmatch(flag)],
        **{
            name: "".join(re.findall(r"^[a-z]{1,12}$", getattr(cluster, name)))
            for name in ("require_osd_release", "require_min_compat_client")
        },
        "pools": [_pool(pool, names) for pool in cluster.pools],
        "osds": [
            {
                "osd": osd.id,
                "up": int(osd.up),
                "in": int(osd.in_cluster),
                "weight": osd.reweight / WEIGHT_ONE,
                "primary_affinity": osd.affinity / WEIGHT_ONE,
            }
            for osd in cluster.osds
            if osd.listed
        ],
        "erasure_code_profiles": profiles,
        **_stretch_mode(cluster.stretch_mode),
        **_exceptions(cluster),
    }


def _pool(pool: PoolInfo, names: Renaming) -> dict[str, Any]:
    profile = {"erasure_code_profile": names.profiles[pool.profile.name]} if pool.profile else {}
    limits = pool.limits
    return {
        "pool": pool.id,
        "pool_name": names.pools[pool.name],
        "type": 3 if pool.kind == "erasure" else 1,
        "size": pool.size,
        "min_size": pool.min_size,
        "crush_rule": pool.rule_id,
        "object_hash": pool.object_hash,
        "pg_num": pool.pg_num,
        "pg_num_target": pool.pg_num_target,
        "pg_placement_num": pool.pgp_num,
        "flags_names": ",".join(
            [*["hashpspool"] * pool.hashpspool, *filter(_FLAG.fullmatch, limits.flags)]
        ),
        "stripe_width": pool.stripe_width,
        "options": {
            "recovery_priority": pool.recovery_priority,
            "pg_autoscale_bias": limits.autoscale_bias,
            **{name: getattr(limits, name) for name in _OPTIONS if getattr(limits, name)},
        },
        "pg_autoscale_mode": "".join(re.findall(r"^[a-z]{1,8}$", limits.autoscale_mode)),
        "quota_max_bytes": limits.quota_bytes,
        "quota_max_objects": limits.quota_objects,
        "application_metadata": {
            name if name in _APPLICATIONS else "other": {} for name in pool.applications
        },
        **profile,
        # Types and buckets keep their numbers.
        **{
            f"peering_crush_bucket_{key}": HOLE if value is None else value
            for key, value in (asdict(pool.stretch) if pool.stretch else {}).items()
        },
    }


def _stretch_mode(mode: StretchMode | None) -> dict[str, Any]:
    if mode is None:
        return {}
    return {
        "stretch_mode": {
            "stretch_mode_enabled": True,
            "stretch_bucket_count": mode.bucket_count,
            "degraded_stretch_mode": int(mode.is_degraded),
            "recovering_stretch_mode": int(mode.is_recovering),
            "stretch_mode_bucket": mode.bucket,
        }
    }


def _exceptions(cluster: ClusterReport) -> dict[str, Any]:
    """The tables of exceptions to CRUSH, as `read_exceptions` reads them."""

    def plain(osd: int) -> int:
        # Numbers beyond max_osd are kept as -2 less themselves.
        return osd if osd >= -1 else -2 - osd

    tables: dict[str, list[Any]] = {
        name: []
        for name in ("pg_upmap", "pg_upmap_items", "pg_upmap_primaries", "pg_temp", "primary_temp")
    }
    for pool in cluster.pools:
        found = pool.exceptions

        def pgid(number: int, pool: PoolInfo = pool) -> dict[str, Any]:
            return {"pgid": f"{pool.id}.{number:x}"}

        for number, osds in found.upmap:
            tables["pg_upmap"].append({**pgid(number), "osds": [plain(osd) for osd in osds]})
        for number, pairs in found.upmap_items:
            mappings = [{"from": plain(one), "to": plain(other)} for one, other in pairs]
            tables["pg_upmap_items"].append({**pgid(number), "mappings": mappings})
        for number, osd in found.upmap_primaries:
            tables["pg_upmap_primaries"].append({**pgid(number), "primary_osd": plain(osd)})
        for number, osds in found.pg_temp:
            tables["pg_temp"].append({**pgid(number), "osds": [plain(osd) for osd in osds]})
        for number, osd in found.primary_temp:
            tables["primary_temp"].append({**pgid(number), "osd": osd})
    return tables


def _pg_map(cluster: ClusterReport) -> dict[str, Any]:
    ratios = cluster.ratios
    old = (
        {"full_ratio": ratios.full, "near_full_ratio": ratios.nearfull}
        if ratios is not None and ratios.backfillfull is None
        else {}
    )
    total = {} if cluster.total is None else {"pg_stats_sum": {"stat_sum": _sums(*cluster.total)}}
    time = cluster.stamp_seconds
    stamp = {} if time is None else {"stamp": datetime.fromtimestamp(time, UTC).isoformat()}
    return {
        **old,
        **stamp,
        **total,
        "pool_stats": [
            {"poolid": pool, "stat_sum": _sums(size, objects)}
            for pool, size, objects in cluster.pool_totals
        ],
        "osd_stats": [{"osd": osd, "kb": size // _KIB} for osd, size in cluster.osd_bytes],
        "pg_stats": [_group(group) for group in cluster.groups],
    }


def _sums(size: int, objects: int | None) -> dict[str, int]:
    return {"num_bytes": size} | ({} if objects is None else {"num_objects": objects})


def _group(group: GroupInfo) -> dict[str, Any]:
    amounts = (group.bytes, group.objects, group.omap_bytes, group.degraded, group.misplaced)
    stated = {key: one for key, one in zip(AMOUNTS, amounts, strict=True) if one is not None}
    primaries = {"up_primary": group.up_primary, "acting_primary": group.acting_primary}
    return {
        "pgid": group.pgid,
        "state": "+".join(re.findall(r"[a-z_]+", group.state)),
        "up": list(group.up),
        "acting": list(group.acting),
        "stat_sum": stated,
        **{key: one for key, one in primaries.items() if one is not None},
    }


def _df(cluster: ClusterReport, names: Renaming) -> dict[str, Any]:
    of_pool = {pool.id: names.pools[pool.name] for pool in cluster.pools}
    pools = [
        {
            "name": of_pool[pool],
            "id": pool,
            "stats": {"stored": size} | ({} if objects is None else {"objects": objects}),
        }
        for pool, size, objects in cluster.pool_totals
        if pool in of_pool
    ]
    return {"stats": {}, "pools": pools}


def _osd_df(cluster: ClusterReport) -> dict[str, Any]:
    nodes = []
    for one in cluster.usage:
        amounts = {
            "kb": one.capacity_bytes,
            "kb_used": one.used_bytes,
            "kb_used_data": one.data_bytes,
            "kb_used_omap": one.omap_bytes,
            "kb_used_meta": one.meta_bytes,
            "kb_avail": one.available_bytes,
        }
        stated = {key: size // _KIB for key, size in amounts.items() if size is not None}
        groups = {} if one.groups is None else {"pgs": one.groups}
        nodes.append({"id": one.osd, "name": f"osd.{one.osd}", **stated, **groups})
    return {"nodes": nodes, "stray": [], "summary": {}}


def _entry(entry: ConfigEntry, names: Renaming) -> dict[str, str] | None:
    """A setting of how OSDs work, of all or some of them; None for any other."""
    known = _SETTINGS.fullmatch(entry.name) or _OF_MANAGER.fullmatch(entry.name)
    if not known or not _SECTION.fullmatch(entry.section):
        return None
    value = entry.value
    if entry.name == "mon_osd_down_out_subtree_limit":
        value = names.types.get(value, value if value in PLAIN_TYPES else "")
    elif not _NUMBER.fullmatch(value) and value not in _WORDS:
        return None
    masks = [one.partition(":") for one in entry.mask.split("/") if one]
    mask = "/".join(f"{_mask_kind(kind)}:{names.location(kind, name)}" for kind, _, name in masks)
    return {"section": entry.section, "mask": mask, "name": entry.name, "value": value}


def _mask_kind(kind: str) -> str:
    return kind if kind in PLAIN_TYPES or kind == "class" else "type"


def _metadata(cluster: ClusterReport, names: Renaming) -> list[dict[str, Any]]:
    rows = []
    for one in cluster.metadata:
        stated: dict[str, str | None] = {
            "hostname": names.machines.get(one.hostname),
            "rotational": _digit(one.rotational),
            "journal_rotational": _digit(one.journal_rotational),
            "bluestore_bdev_size": None if one.size_bytes is None else str(one.size_bytes),
            "bluestore_min_alloc_size": (
                None if one.min_alloc_bytes is None else str(one.min_alloc_bytes)
            ),
            "ceph_version": one.release and f"ceph version {'.'.join(map(str, one.release))}",
            "osd_objectstore": one.objectstore if one.objectstore in _WORDS else "other",
        }
        rows.append({"id": one.osd} | {key: text for key, text in stated.items() if text})
    return rows


def _digit(flag: bool | None) -> str | None:
    return None if flag is None else str(int(flag))


def _delays(one: Any) -> dict[str, int]:
    return {
        "commit_latency_ns": round(one.commit_seconds * 1e9),
        "apply_latency_ns": round(one.apply_seconds * 1e9),
    }
