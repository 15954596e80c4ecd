"""The pools and OSDs of `ceph osd dump`, or of the ``osdmap`` of a report."""

from __future__ import annotations

from resilver.importers.buckets import DEVICE_ID_MAX, BucketTree
from resilver.importers.ceph.exceptions import read_exceptions
from resilver.importers.ceph.model import (
    MDS_PLUGINS,
    SIZE_MAX,
    WEIGHT_ONE,
    ErasureProfile,
    OsdInfo,
    PoolExceptions,
    PoolInfo,
)
from resilver.importers.jsonpath import Node

_FLAG_HASHPSPOOL = 1
_KINDS = {1: "replicated", 3: "erasure"}
_OBJECT_HASH_RJENKINS = 2


def read_pools(osdmap: Node, crushmap: Node) -> tuple[PoolInfo, ...]:
    """The pools, by number, each with its exceptions to CRUSH.

    Args:
        osdmap: The ``osdmap`` of a report, or what `ceph osd dump` prints.
        crushmap: The CRUSH map, whose rules the pools name.

    Raises:
        ConfigError: A pool is not what Ceph writes, or its rule is not in the map.
    """
    exceptions = read_exceptions(osdmap)
    pools: dict[int, PoolInfo] = {}
    for node in osdmap.at("pools").items():
        pool_id = node.at("pool").integer(0)
        if pool_id in pools:
            node.at("pool").fail("a pool number that no other pool has")
        name = node.get("pool_name")
        pg_num = node.at("pg_num").integer(1, 2**24)
        placed = node.get("pg_placement_num", "pgp_num")
        object_hash = node.get("object_hash")
        kind = node.get("type")
        kind_code = kind.integer(0) if kind else 1
        if kind is not None and kind_code not in _KINDS:
            kind.fail("1 (replicated) or 3 (erasure)")
        pools[pool_id] = PoolInfo(
            id=pool_id,
            name=name.text() if name else str(pool_id),
            pg_num=pg_num,
            pgp_num=placed.integer(1, pg_num) if placed else pg_num,
            size=node.at("size").integer(1, SIZE_MAX),
            rule_id=_rule(node, crushmap),
            hashpspool=_hashpspool(node),
            kind=_KINDS[kind_code],
            object_hash=object_hash.integer(0, 255) if object_hash else _OBJECT_HASH_RJENKINS,
            exceptions=exceptions.get(pool_id, PoolExceptions()),
            profile=_profile(node, osdmap) if _KINDS[kind_code] == "erasure" else None,
        )
    return tuple(pools[key] for key in sorted(pools))


def _profile(pool: Node, osdmap: Node) -> ErasureProfile | None:
    """The erasure code profile that a pool names; None where the osdmap does not hold it."""
    name, profiles = pool.get("erasure_code_profile"), osdmap.get("erasure_code_profiles")
    profile = profiles.get(name.text()) if name is not None and profiles is not None else None
    if name is None or profile is None:
        return None
    plugin = profile.get("plugin")
    # Ceph writes all of a profile's values as text.
    data, parity = (profile.at(key).whole(1, SIZE_MAX) for key in ("k", "m"))
    if plugin is None or plugin.text() in MDS_PLUGINS:
        size = pool.at("size")
        if size.integer(1, SIZE_MAX) != data + parity:
            size.fail(f'{data + parity}, the pieces of its erasure code profile "{name.text()}"')
    return ErasureProfile(name.text(), plugin.text() if plugin else "jerasure", data, parity)


def _hashpspool(pool: Node) -> bool:
    names = pool.get("flags_names")
    if names is not None:
        return "hashpspool" in names.text().split(",")
    flags = pool.get("flags")
    return flags is None or bool(flags.integer(0) & _FLAG_HASHPSPOOL)


def _rule(pool: Node, crushmap: Node) -> int:
    """The id of a pool's rule.

    A pool of Luminous or later names the rule's id. Before, it names a ruleset, a number that
    several rules may share, each for a range of sizes; the first that admits the pool's size is
    used, else the first of the ruleset.
    """
    rules = list(crushmap.at("rules").items())
    node = pool.get("crush_rule")
    if node is not None:
        wanted = node.integer(0)
        if any(rule.at("rule_id").integer(0) == wanted for rule in rules):
            return wanted
        node.fail("the id of a rule in crushmap.rules")
    node = pool.at("crush_ruleset")
    wanted = node.integer(0)
    same = [rule for rule in rules if rule.at("ruleset", "rule_id").integer(0) == wanted]
    if not same:
        node.fail("the ruleset of a rule in crushmap.rules")
    size = pool.at("size").integer(1)
    fits = [
        rule
        for rule in same
        if rule.has("min_size")
        and rule.has("max_size")
        and rule.at("min_size").integer(0) <= size <= rule.at("max_size").integer(0)
    ]
    return (fits or same)[0].at("rule_id").integer(0)


def read_osds(osdmap: Node, buckets: BucketTree) -> tuple[OsdInfo, ...]:
    """The OSDs, by number.

    Args:
        osdmap: The ``osdmap`` of a report, or what `ceph osd dump` prints.
        buckets: The hierarchy that holds them.

    Raises:
        ConfigError: An OSD is not what Ceph writes, or stands twice.
    """
    osds: dict[int, OsdInfo] = {}
    for node in osdmap.at("osds").items():
        osd_id = node.at("osd").integer(0, DEVICE_ID_MAX)
        if osd_id in osds:
            node.at("osd").fail("an OSD number that stands once")
        weight_node = node.get("weight")
        weight = weight_node.number(0.0, 1.0) if weight_node else 1.0
        up_node, in_node = node.get("up"), node.get("in")
        affinity = node.get("primary_affinity")
        in_cluster = bool(in_node.integer(0, 1)) if in_node else weight > 0
        osds[osd_id] = OsdInfo(
            id=osd_id,
            name=buckets.device_name(osd_id),
            host=buckets.host_of(osd_id),
            up=bool(up_node.integer(0, 1)) if up_node else True,
            in_cluster=in_cluster,
            # The report prints the 16.16 weight with six digits, which rounding undoes.
            reweight=round(weight * WEIGHT_ONE) if in_cluster else 0,
            listed=True,
            affinity=round(affinity.number(0.0, 1.0) * WEIGHT_ONE) if affinity else WEIGHT_ONE,
        )
    # A whole osdmap says how many OSDs there may be, and lists all that exist.
    for osd_id in () if osdmap.has("max_osd") else buckets.devices:
        if osd_id not in osds:
            osds[osd_id] = OsdInfo(
                id=osd_id,
                name=buckets.device_name(osd_id),
                host=buckets.host_of(osd_id),
                up=True,
                in_cluster=True,
                reweight=WEIGHT_ONE,
                listed=False,
            )
    return tuple(osds[key] for key in sorted(osds))
