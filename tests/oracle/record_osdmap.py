"""Record where `osdmaptool` says the groups of one OSD map are, for machines that do not have it.

    python -m tests.oracle.record_osdmap

The map has all that an OSD map can say: see `everything`. Review the difference before committing.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.oracle import crush_text
from tests.oracle.osdmap_file import EXISTS, UP, OsdMapSpec, PoolSpec, answers, tool, write

RECORD = Path(__file__).resolve().parents[1] / "golden" / "osdmap.json"

ONE = 0x10000


def everything() -> tuple[OsdMapSpec, str]:
    """Five hosts of four OSDs: some down, out, in by part or gone; exceptions of all kinds."""
    hosts = [{4 * host + osd: ONE + 1000 * osd for osd in range(4)} for host in range(5)]
    states, weights, affinities = [EXISTS | UP] * 20, [ONE] * 20, [ONE] * 20
    states[3], states[9] = EXISTS, 0
    weights[6], weights[9], weights[12], weights[17] = 0, 0, 40_000, 9_999
    affinities[0], affinities[5], affinities[10], affinities[15] = 0, 20_000, 45_000, 1
    pools = {
        1: PoolSpec(3, 64, 64),
        4: PoolSpec(4, 50, 37, rule=3, erasure=True),
        6: PoolSpec(2, 20, 20, rule=1, hashpspool=False),
    }
    osds = [*range(20), 25, 2**31 - 1]
    upmap = {(1, g): [g % 4, 4 + g * 3 % 4, 8 + g % 4] for g in range(0, 64, 5)}
    items = {
        (pool, g): [(osds[(g + n) % 20], osds[(7 * g + 5 * n) % 22]) for n in range(10)]
        for pool, spec in pools.items()
        for g in range(1, spec.pg_num, 2)
    }
    temp = {(1, g): [(g + n) % 20 for n in range(0, 9, 3)] for g in range(0, 64, 7)}
    temp |= {(4, g): [3, 9, g % 20, 2**31 - 1] for g in range(0, 50, 9)}
    temp |= {(6, 2): [3], (6, 3): [3, 11]}
    primary = {(1, g): g % 20 for g in range(0, 64, 11)} | {(6, 5): 3}
    spec = OsdMapSpec(pools, states, weights, affinities, upmap, items, temp, primary)
    quarters = [[(1 + (host + osd) % 5) * ONE // 4 for osd in range(4)] for host in range(5)]
    return spec, crush_text.of_hosts(hosts, {6: quarters})


def record() -> dict[str, Any]:
    """The dumps of the map, and the answers for its groups."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, *everything())
        printed = tool("osdmaptool", "osdmap.bin", "--dump", "json", folder=folder)
        dump = json.loads(printed[printed.index("{") :])
        crush = json.loads(tool("crushtool", "-i", "crush.bin", "--dump", folder=folder))
        found = answers(folder)
    tables = ("pg_upmap", "pg_upmap_items", "pg_temp", "primary_temp")
    pool_keys = ("pool", "pool_name", "type", "size", "crush_rule", "object_hash", "pg_num")
    pool_keys += ("pg_placement_num", "flags_names")
    osd_keys = ("osd", "up", "in", "weight", "primary_affinity")
    osdmap = {
        "max_osd": dump["max_osd"],
        "pools": [{key: pool[key] for key in pool_keys} for pool in dump["pools"]],
        "osds": [{key: osd[key] for key in osd_keys} for osd in dump["osds"]],
        **{table: dump[table] for table in tables},
    }
    sets = {
        f"{pool}.{number:x}": [one.up, one.up_primary, one.acting, one.acting_primary]
        for (pool, number), one in sorted(found.items())
    }
    return {"osd_dump": osdmap, "crush": crush, "groups": sets}


if __name__ == "__main__":
    RECORD.parent.mkdir(exist_ok=True)
    recorded = record()
    lines = [f'"{key}": {json.dumps(recorded[key])}' for key in ("osd_dump", "crush")]
    groups = ",\n".join(
        f'"{pgid}": {json.dumps(sets)}' for pgid, sets in recorded["groups"].items()
    )
    text = "{\n" + ",\n".join([*lines, '"groups": {\n' + groups + "\n}"]) + "\n}\n"
    RECORD.write_text(text, encoding="utf-8")
