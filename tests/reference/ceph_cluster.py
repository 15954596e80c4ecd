"""A made-up Ceph cluster of any size, as the dumps that its own commands would print.

The forms follow those of a 15.2.14 cluster's support archive (docs/how-to/read-a-real-cluster.md);
the sets of its groups are placed by CRUSH, their bytes drawn with a fixed seed.
"""

import json
import lzma
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from resilver.crush import CrushMap
from resilver.importers import ClusterReport, read_cluster
from resilver.simulate import group_sets
from tests.reference.ceph_rows import (
    KIB,
    POOLS,
    SSD,
    TUNABLES,
    MadePool,
    Shape,
    crush_bucket,
    group,
    metadata,
    osd_row,
    osd_stats,
    perf,
    pool_row,
    sums,
    tree_row,
)


def write_cluster(
    folder: Path, shape: Shape | None = None, *, pretty: bool = False, stderr: bool = True
) -> Path:
    """Write every dump of a cluster into a folder.

    Args:
        folder: It is made where it does not exist.
        shape: The cluster.
        pretty: Whether as `-f json-pretty` prints them.
        stderr: Whether as a support archive keeps them, with the lines of stderr.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents(shape or Shape()).items():
        rest = {"pg_dump": "dumped all\n", "report": "report 3484926453\n"}.get(name, "")
        path = folder / f"ceph_{name}.json"
        with path.open("w", encoding="utf-8") as file:
            if name == "pg_dump":
                _write_groups(file, document, pretty)
            else:
                json.dump(document, file, indent=4 if pretty else None)
            file.write("\n" + (rest if stderr else ""))
    return folder


def write_state(path: Path, shape: Shape) -> Path:
    """Write the state that ceph-balancer's `gather` keeps: xz of one object."""
    found = documents(shape)
    groups = {**found["pg_dump"], "pg_stats": list(found["pg_dump"]["pg_stats"])}
    parts = {
        "stateversion": 1,
        "timestamp": "2026-01-01T00:00:00",
        "versions": found["versions"],
        "health_detail": {},
        "osd_dump": found["osd_dump"],
        "pg_dump": {"pg_ready": True, "pg_map": groups},
        "osd_df_dump": found["osd_df"],
        "osd_df_tree_dump": found["osd_df_tree"],
        "df_dump": found["df"],
        "pool_dump": found["osd_dump"]["pools"],
        "crush_dump": found["crush"],
        "crush_class_osds": {},
    }
    path.write_bytes(lzma.compress(json.dumps(parts).encode(), preset=0))
    return path


@contextmanager
def edited(path: Path) -> Iterator[Any]:
    """A dump to change, which is written again without the lines of stderr beside it."""
    text = path.read_text(encoding="utf-8")
    dump, _ = json.JSONDecoder().raw_decode(re.sub(r"\A[^\[{]*", "", text))
    yield dump
    path.write_text(json.dumps(dump), encoding="utf-8")


def documents(shape: Shape) -> dict[str, Any]:
    """Every dump by its name; the groups of ``pg_dump`` are an iterator."""
    crush = json.loads(CrushMap.from_text(_crush_text(shape)).to_json())
    osd_dump = _osd_dump(shape)
    placed = _placed(osd_dump, crush)
    loads = {pool.id: _loads(shape, pool) for pool in POOLS}
    sets = {pool.id: group_sets(placed, pool_id=pool.id).up for pool in POOLS}
    used, held = _used(shape, loads, sets)
    rows = [osd_row(shape, osd, used[osd], int(held[osd])) for osd in range(shape.osds)]
    totals = {pool.id: (int(b.sum()), int(n.sum())) for pool in POOLS for b, n in [loads[pool.id]]}
    pool_stats = [
        {"poolid": pool.id, "num_pg": len(loads[pool.id][0]), "stat_sum": sums(*totals[pool.id])}
        for pool in POOLS
    ]
    whole = {"stat_sum": sums(*(sum(column) for column in zip(*totals.values(), strict=True)))}
    version = f"ceph version {shape.version} (0123456789abcdef) stable"
    hardware = [metadata(shape, osd, version) for osd in range(shape.osds)]
    summary = {"total_kb": sum(row["kb"] for row in rows)}
    return {
        "report": {
            "version": shape.version,
            "osdmap": osd_dump,
            "osd_metadata": hardware,
            "crushmap": crush,
            "pool_stats": pool_stats,
            "pool_sum": whole,
            "osd_stats": [{"osd": osd, "seq": 1} for osd in range(shape.osds)],
        },
        "osd_dump": osd_dump,
        "crush": crush,
        "pg_dump": {
            "pg_stats_sum": whole,
            "pool_stats": pool_stats,
            "osd_stats": [osd_stats(row) for row in rows],
            "pg_stats": _groups(shape, loads, sets),
        },
        "osd_df": {"nodes": rows, "stray": [], "summary": summary},
        "osd_df_tree": {"nodes": [tree_row(shape), *rows], "stray": [], "summary": summary},
        "df": {
            "stats": {"total_bytes": KIB * summary["total_kb"]},
            "pools": [_df_row(pool, *totals[pool.id]) for pool in POOLS],
        },
        "config_dump": CONFIG,
        "osd_metadata": hardware,
        "osd_perf": {"osdstats": {"osd_perf_infos": [perf(osd) for osd in range(shape.osds)]}},
        "balancer_status": {"active": shape.balancer, "mode": "upmap", **IDLE},
        "versions": {"osd": {version: shape.osds}, "overall": {version: shape.osds}},
    }


def _df_row(pool: MadePool, size: int, objects: int) -> dict[str, Any]:
    return {"name": pool.name, "id": pool.id, "stats": {"stored": size, "objects": objects}}


def _setting(section: str, name: str, value: str, **more: str) -> dict[str, Any]:
    """A row of `ceph config dump`."""
    row = {"section": section, "name": name, "value": value, "level": "advanced", "mask": ""}
    return {**row, "can_update_at_runtime": True, **more}


IDLE = {"optimize_result": "", "plans": []}
CODE = {"k": "4", "m": "2", "plugin": "jerasure", "technique": "reed_sol_van"}
CONFIG = [
    _setting("global", "osd_pool_default_size", "3"),
    _setting(
        "osd", "osd_mclock_profile", "high_recovery_ops", mask="class:hdd", device_class="hdd"
    ),
    _setting("osd.3", "osd_mclock_max_capacity_iops_hdd", "287.450000", level="basic"),
]


def _crush_text(shape: Shape) -> str:
    lines = [f"tunable {name} {value}" for name, value in TUNABLES.items()]
    lines += [f"device {osd} osd.{osd} class {shape.class_of(osd)}" for osd in range(shape.osds)]
    lines += ["type 0 osd", "type 1 host", "type 3 rack", "type 11 root"]
    members: dict[int, list[int]] = {}
    for osd in range(shape.osds):
        members.setdefault(shape.host_of(osd), []).append(osd)
    weights: dict[str, float] = {}
    for host, osds in members.items():
        items = [f"item osd.{osd} weight {shape.bytes_of(osd) / 2**40:.5f}" for osd in osds]
        weights[f"node-{host:03d}"] = sum(float(item.split()[-1]) for item in items)
        lines += crush_bucket("host", f"node-{host:03d}", -1000 - host, items)
    racks: dict[int, list[str]] = {}
    for host in members:
        # Hosts are dealt to racks, so that flash is in several of them.
        racks.setdefault(host % shape.racks, []).append(f"node-{host:03d}")
    for rack, hosts in racks.items():
        items = [f"item {host} weight {weights[host]:.5f}" for host in hosts]
        weights[f"rack-{rack:02d}"] = sum(weights[host] for host in hosts)
        lines += crush_bucket("rack", f"rack-{rack:02d}", -2 - rack, items)
    items = [f"item rack-{rack:02d} weight {weights[f'rack-{rack:02d}']:.5f}" for rack in racks]
    lines += crush_bucket("root", "default", -1, items)
    for pool in POOLS:
        coded = pool.data > 1
        step = f"step chooseleaf {'indep' if coded else 'firstn'} 0 type host"
        lines += [f"rule {pool.name}_rule {{", f"id {pool.rule}"]
        lines += [f"type {'erasure' if coded else 'replicated'}"]
        lines += ["step set_chooseleaf_tries 5", "step set_choose_tries 100"] if coded else []
        lines += [f"step take default class {pool.of_class}", step, "step emit", "}"]
    return "\n".join(lines) + "\n"


def _osd_dump(shape: Shape) -> dict[str, Any]:
    return {
        "epoch": shape.epoch,
        "fsid": "01234567-89ab-cdef-0123-456789abcdef",
        "flags": "sortbitwise,recovery_deletes,purged_snapdirs,pglog_hardlimit",
        "flags_set": ["pglog_hardlimit", "purged_snapdirs", "recovery_deletes", "sortbitwise"],
        "crush_version": 17,
        # The digits that a 32-bit float has.
        "full_ratio": 0.94999998807907104,
        "backfillfull_ratio": 0.89999997615814209,
        "nearfull_ratio": 0.85000002384185791,
        "max_osd": shape.osds,
        "require_min_compat_client": "luminous",
        "require_osd_release": "reef",
        "pools": [_pool(shape, pool) for pool in POOLS],
        "osds": [
            {
                "osd": osd,
                "uuid": f"00000000-0000-0000-0000-{osd:012d}",
                "up": 1,
                "in": 1,
                "weight": 1,
                "primary_affinity": 1,
                "public_addr": f"10.0.{shape.host_of(osd) % 250}.{osd % 250}:6801/1113152",
                "state": ["exists", "up"],
            }
            for osd in range(shape.osds)
        ],
        **{key: [] for key in ("pg_upmap", "pg_upmap_items", "pg_temp", "primary_temp")},
        "erasure_code_profiles": {"ec42": {**CODE, "crush-failure-domain": "host"}},
    }


def _pool(shape: Shape, pool: MadePool) -> dict[str, Any]:
    coded = pool.data > 1
    of_code = {"stripe_width": 4096 * pool.data, "erasure_code_profile": "ec42"} if coded else {}
    return {
        **pool_row(pool.id, pool.name, _group_count(shape, pool), coded=coded),
        "size": pool.size,
        "min_size": pool.data + 1 if coded else 2,
        "crush_rule": pool.rule,
        "pg_autoscale_mode": "off",
        "stripe_width": 0,
        "erasure_code_profile": "",
        **of_code,
    }


def _group_count(shape: Shape, pool: MadePool) -> int:
    """The groups of a pool: 32 copies on each flash OSD, and of the rest a third and two thirds."""
    flash = sum(shape.class_of(osd) == SSD for osd in range(shape.osds))
    fast = round(10.6 * flash)
    if pool.of_class == SSD:
        return fast
    third = round((shape.groups - fast) / 3)
    return third if pool.data == 1 else shape.groups - fast - third


def _placed(osd_dump: dict[str, Any], crush: dict[str, Any]) -> ClusterReport:
    """The cluster as far as its map goes, which places its groups."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        osds, rules = Path(folder, "osd.json"), Path(folder, "crush.json")
        osds.write_text(json.dumps(osd_dump), encoding="utf-8")
        rules.write_text(json.dumps(crush), encoding="utf-8")
        return read_cluster(osds, crush=rules)


def _loads(shape: Shape, pool: MadePool) -> tuple[np.ndarray, np.ndarray]:
    """(bytes, objects) of each group: as objects fall to groups by hash, to a Poisson's spread."""
    count = _group_count(shape, pool)
    raw = sum(
        shape.bytes_of(osd) for osd in range(shape.osds) if shape.class_of(osd) == pool.of_class
    )
    mean = shape.fill * pool.part * raw * pool.data / pool.size / count / pool.object_bytes
    objects = np.random.default_rng([1, pool.id]).poisson(mean, count).astype(np.int64)
    return objects * pool.object_bytes, objects


def _used(shape: Shape, loads: Any, sets: Any) -> tuple[np.ndarray, np.ndarray]:
    """(bytes of data, groups) of each OSD."""
    used = np.zeros(shape.osds, dtype=np.int64)
    held = np.zeros(shape.osds, dtype=np.int64)
    for pool in POOLS:
        of_group = -(-loads[pool.id][0] // pool.data)
        members = np.asarray(sets[pool.id])
        there = (members >= 0) & (members < shape.osds)
        amounts = np.broadcast_to(of_group[:, None], members.shape)[there]
        np.add.at(used, members[there], amounts)
        np.add.at(held, members[there], 1)
    return used, held


def _groups(shape: Shape, loads: Any, sets: Any) -> Iterator[dict[str, Any]]:
    for pool in POOLS:
        sizes, objects = (column.tolist() for column in loads[pool.id])
        for number, row in enumerate(np.asarray(sets[pool.id]).tolist()):
            yield group(shape, f"{pool.id}.{number:x}", sizes[number], objects[number], row)


def _write_groups(file: Any, pg_dump: dict[str, Any], pretty: bool) -> None:
    """Write a dump of groups one after another, since all at once are many."""
    head = json.dumps({key: pg_dump[key] for key in pg_dump if key != "pg_stats"})
    file.write('{"pg_ready": true, "pg_map": {' + head[1:-1] + ', "pg_stats": [')
    for number, row in enumerate(pg_dump["pg_stats"]):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(row, indent=4 if pretty else None))
    file.write("\n]}}")
