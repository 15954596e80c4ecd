"""Reports of a small Ceph cluster of two pools on five hosts."""

from typing import Any

from tests.reference.ceph_rows import TUNABLES

ONE = 0x10000
# Five hosts of two OSDs; there is no OSD 5.
HOSTS = {"a": [0, 1], "b": [2, 3], "c": [4, 6], "d": [7, 8], "e": [9, 10]}
OSDS = sorted(osd for members in HOSTS.values() for osd in members)
TYPES = {"osd": 0, "host": 1, "root": 10}
CRUSH_TYPES = [{"type_id": number, "name": name} for name, number in TYPES.items()]
# Bytes and objects of a group, by its number modulo 6: none, empty objects, fewer bytes than
# objects, one object of many buffers, many small ones, and shares that do not come out even.
LOADS = [(0, 0), (0, 3), (2, 5), (7_000_001, 1), (50_000, 20), (10_000_019, 7)]
SUMS = [{"num_bytes": size, "num_objects": objects} for size, objects in LOADS]


def put(document: Any, path: str, value: Any) -> Any:
    """A document whose member at a path is replaced, or removed for None; dots part the path."""
    *rest, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    node = document
    for part in rest:
        node = node[part]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return document


def bucket(number: int, name: str, kind: str, items: dict[int, int]) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "type_id": TYPES[kind],
        "type_name": kind,
        "weight": sum(items.values()),
        "alg": "straw2",
        "hash": "rjenkins1",
        "items": [
            {"id": item, "weight": weight, "pos": place}
            for place, (item, weight) in enumerate(items.items())
        ],
    }


def rule(number: int, operation: str, kind: str) -> dict[str, Any]:
    return {
        "rule_id": number,
        "rule_name": f"rule-{number}",
        "ruleset": number,
        "type": 1,
        "min_size": 1,
        "max_size": 10,
        "steps": [
            {"op": "take", "item": -1, "item_name": "default"},
            {"op": operation, "num": 0, "type": kind},
            {"op": "emit"},
        ],
    }


def pool(number: int, groups: int, placed: int, size: int, crush_rule: int) -> dict[str, Any]:
    return {
        "pool": number,
        "pool_name": f"pool-{number}",
        "type": 1,
        "size": size,
        "crush_rule": crush_rule,
        "pg_num": groups,
        "pg_placement_num": placed,
        # The second pool is of a cluster that knew no hashpspool yet.
        "flags_names": "hashpspool" if number == 2 else "",
    }


def flat(weights: list[int], rules: list[dict[str, Any]]) -> dict[str, Any]:
    """A CRUSH map of devices of these weights in one root."""
    return {
        "devices": [{"id": osd, "name": f"osd.{osd}"} for osd in range(len(weights))],
        "types": CRUSH_TYPES,
        "buckets": [bucket(-1, "default", "root", dict(enumerate(weights)))],
        "rules": rules,
    }


def report(osds_as_domains: bool) -> dict[str, Any]:
    """A report of two pools; the second one's copies may share a host when OSDs are the domains."""
    # OSD 4 weighs double in CRUSH, OSD 7 has a reweight, OSD 10 is down.
    weight = {osd: ONE * (2 if osd == 4 else 1) for osd in OSDS}
    buckets = [bucket(-1, "default", "root", {-2 - place: 2 * ONE for place in range(len(HOSTS))})]
    for place, (name, members) in enumerate(HOSTS.items()):
        buckets.append(bucket(-2 - place, name, "host", {osd: weight[osd] for osd in members}))
    pools = [pool(2, 24, 24, 3, 0), pool(5, 90, 70, 2, 1 if osds_as_domains else 0)]
    return {
        "osdmap": {
            "pools": pools,
            "osds": [
                {
                    "osd": osd,
                    "up": int(osd != 10),
                    "in": 1,
                    "weight": 0.7 if osd == 7 else 1.0,
                    "primary_affinity": {3: 0.5, 8: 0.0}.get(osd, 1.0),
                }
                for osd in OSDS
            ],
        },
        "crushmap": {
            "devices": [{"id": osd, "name": f"osd.{osd}"} for osd in OSDS],
            "types": CRUSH_TYPES,
            "buckets": buckets,
            "rules": [rule(0, "chooseleaf_firstn", "host"), rule(1, "choose_firstn", "osd")],
            "tunables": TUNABLES,
        },
        "pgmap": {
            "pg_stats": [
                {
                    "pgid": f"{one['pool']}.{group:x}",
                    "up": [],
                    "acting": [],
                    "stat_sum": SUMS[group % 6],
                }
                for one in pools
                for group in range(one["pg_num"])
            ]
        },
    }
