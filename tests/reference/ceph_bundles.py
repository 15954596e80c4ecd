"""Small Ceph clusters of any shape: hosts of given OSDs, in zones or not, one rule and one pool."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resilver.crush import CrushMap
from resilver.importers import read_cluster
from resilver.simulate import group_sets
from tests.reference.ceph_rows import TUNABLES, Shape, crush_bucket, group, pool_row

OBJECT_BYTES = 4 * 2**20
SHORT = -1
TYPES = {"osd": 0, "host": 1, "zone": 9, "root": 10}


@dataclass(frozen=True)
class Bundle:
    """A cluster of one pool.

    Attributes:
        hosts: The TiB of each OSD of each host, by the host's name.
        zones: The hosts of each zone; empty where all are below the root.
        steps: The steps of the rule, between `take default` and `emit`.
        pool: What the pool's entry in the osdmap has beyond its rule and pg_num.
        pg_num: Its PGs.
        objects: Objects of 4 MiB of each PG.
        osdmap: What the osdmap has beside.
        config: Entries of `ceph config dump`, (section, name, value).
        version: The release.
        coded: Whether the pool is coded.
    """

    hosts: dict[str, list[float]]
    steps: tuple[str, ...]
    pool: dict[str, Any]
    zones: dict[str, list[str]] = field(default_factory=dict)
    pg_num: int = 256
    objects: int = 1000
    osdmap: dict[str, Any] = field(default_factory=dict)
    config: tuple[tuple[str, str, str], ...] = ()
    version: str = "18.2.4"
    coded: bool = False


def crush_text(bundle: Bundle) -> str:
    """The CRUSH map as `crushtool -d` writes it."""
    lines = [f"tunable {name} {value}" for name, value in TUNABLES.items()]
    osds = [osd for host in bundle.hosts.values() for osd in host]
    lines += [f"device {osd} osd.{osd} class ssd" for osd in range(len(osds))]
    lines += [f"type {number} {name}" for name, number in TYPES.items()]
    number, bucket, weights = 0, -2, {}
    for name, host in bundle.hosts.items():
        items = [f"item osd.{number + at} weight {size:.5f}" for at, size in enumerate(host)]
        number, bucket, weights[name] = number + len(host), bucket - 1, sum(host)
        lines += crush_bucket("host", name, bucket, items)
    top = list(bundle.hosts)
    for name, hosts in bundle.zones.items():
        bucket, weights[name] = bucket - 1, sum(weights[host] for host in hosts)
        items = [f"item {host} weight {weights[host]:.5f}" for host in hosts]
        lines += crush_bucket("zone", name, bucket, items)
        top = [*(item for item in top if item not in hosts), name]
    items = [f"item {at} weight {weights[at]:.5f}" for at in top]
    lines += crush_bucket("root", "default", -1, items)
    kind = "erasure" if bundle.coded else "replicated"
    lines += ["rule placing {", "id 0", f"type {kind}", *(f"step {one}" for one in bundle.steps)]
    return "\n".join([*lines, "}"]) + "\n"


def write_bundle(folder: Path, bundle: Bundle) -> Path:
    """Write its dumps into a folder, which is made; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    count = sum(len(host) for host in bundle.hosts.values())
    pool = pool_row(1, "rbd", bundle.pg_num, coded=bundle.coded) | {"crush_rule": 0, **bundle.pool}
    osdmap = {
        "epoch": 100,
        "full_ratio": 0.95,
        "backfillfull_ratio": 0.9,
        "nearfull_ratio": 0.85,
        "max_osd": count,
        "pools": [pool],
        "osds": [{"osd": osd, "up": 1, "in": 1, "weight": 1} for osd in range(count)],
        **bundle.osdmap,
    }
    _write(folder / "osd_dump.json", osdmap)
    crush = folder / "crush.json"
    crush.write_text(CrushMap.from_text(crush_text(bundle)).to_json(), encoding="utf-8")
    shape = Shape(osds=count, version=bundle.version, epoch=100)
    placed = read_cluster(folder / "osd_dump.json", crush=crush)
    rows = [
        group(shape, f"1.{number:x}", bundle.objects * OBJECT_BYTES, bundle.objects, members)
        for number, members in enumerate(up_sets(placed))
    ]
    _write(folder / "pg_dump.json", {"pg_map": {"pg_stats": rows}})
    _write(folder / "versions.json", {"overall": {f"ceph version {bundle.version}": count}})
    keys = ("section", "name", "value", "mask")
    settings = [dict(zip(keys, (*row, ""), strict=True)) for row in bundle.config]
    _write(folder / "config_dump.json", settings)
    return folder


def up_sets(report: Any) -> list[list[int]]:
    """The up set of each PG of pool 1, holes of a coded pool as HOLE."""
    rows: list[list[int]] = group_sets(report, pool_id=1).up.tolist()
    return [[osd for osd in row if osd != SHORT] for row in rows]


def _write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
