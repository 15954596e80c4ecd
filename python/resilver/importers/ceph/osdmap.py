"""The pools and OSDs of `ceph osd dump`, or of the ``osdmap`` of a report."""

from __future__ import annotations

from itertools import pairwise

from resilver.crush.model import HOLE, WEIGHT_ONE, PoolExceptions
from resilver.importers.buckets import DEVICE_ID_MAX, BucketTree
from resilver.importers.ceph.exceptions import read_exceptions
from resilver.importers.ceph.facts import Ratios
from resilver.importers.ceph.model import (
    MDS_PLUGINS,
    SIZE_MAX,
    ErasureProfile,
    OsdInfo,
    PoolInfo,
    PoolStretch,
    StretchMode,
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
        size = node.at("size").integer(1, SIZE_MAX)
        profile = _profile(node, osdmap) if _KINDS[kind_code] == "erasure" else None
        pools[pool_id] = PoolInfo(
            id=pool_id,
            name=name.text() if name else str(pool_id),
            pg_num=pg_num,
            pgp_num=placed.integer(1, pg_num) if placed else pg_num,
            size=size,
            rule_id=_rule(node, crushmap),
            hashpspool=_hashpspool(node),
            kind=_KINDS[kind_code],
            object_hash=object_hash.integer(0, 255) if object_hash else _OBJECT_HASH_RJENKINS,
            exceptions=exceptions.get(pool_id, PoolExceptions()),
            profile=profile,
            min_size=_min_size(node, size, profile),
            recovery_priority=_recovery_priority(node),
            stripe_width=_whole(node, "stripe_width", 0, 2**40, 0),
            pg_num_target=_whole(node, "pg_num_target", 1, 2**24, pg_num),
            applications=_applications(node),
            stretch=_stretch(node, size),
        )
    return tuple(pools[key] for key in sorted(pools))


def _whole(node: Node, name: str, least: int, most: int, default: int) -> int:
    """A whole number that dumps of older releases leave out."""
    found = node.get(name)
    return default if found is None else found.integer(least, most)


def _min_size(pool: Node, size: int, profile: ErasureProfile | None) -> int:
    """How many OSDs a group needs to serve: the map's, else as Ceph sets it for a new pool."""
    stated = pool.get("min_size")
    if stated is not None:
        # 0 stands for the rule itself (osd_pool_default_min_size, Ceph's global options).
        return stated.integer(0, SIZE_MAX) or size - size // 2
    return profile.data + min(1, profile.parity - 1) if profile else size - size // 2


def _recovery_priority(pool: Node) -> int:
    options = pool.get("options")
    found = options.get("recovery_priority") if options is not None else None
    return 0 if found is None else found.integer(-10, 10)


def _applications(pool: Node) -> tuple[str, ...]:
    listed = pool.get("application_metadata")
    if listed is None:
        return ()
    if not isinstance(listed.value, dict):
        listed.fail("an object whose members are applications")
    return tuple(sorted(Node(name, listed.path, listed.file).text() for name in listed.value))


def _stretch(pool: Node, size: int) -> PoolStretch | None:
    """What a stretch pool asks; a count of 0 is Ceph's word for a pool that is none."""
    if not (count := _whole(pool, "peering_crush_bucket_count", 0, size, 0)):
        return None
    member = pool.get("peering_crush_bucket_mandatory_member")
    bucket = HOLE if member is None else member.integer(-(2**31), HOLE)
    return PoolStretch(
        count,
        _whole(pool, "peering_crush_bucket_target", 1, size, count),
        pool.at("peering_crush_bucket_barrier").integer(1, 2**31 - 1),
        # Ids of buckets are below 0; Ceph writes its hole, or 0, for none.
        bucket if bucket < 0 else None,
    )


def read_stretch_mode(osdmap: Node) -> StretchMode | None:
    """Stretch mode; None where it is not enabled.

    Raises:
        ConfigError: It is not what Ceph writes.
    """
    mode = osdmap.get("stretch_mode")
    if mode is None:
        return None
    enabled = mode.at("stretch_mode_enabled")
    if not isinstance(enabled.value, bool):
        enabled.fail("true or false")
    if not enabled.value:
        return None
    return StretchMode(
        mode.at("stretch_bucket_count").integer(1, SIZE_MAX),
        mode.at("stretch_mode_bucket").integer(1, 2**31 - 1),
        _whole(mode, "degraded_stretch_mode", 0, SIZE_MAX, 0) > 0,
        _whole(mode, "recovering_stretch_mode", 0, SIZE_MAX, 0) > 0,
    )


def read_ratios(osdmap: Node, pgmap: Node | None) -> Ratios | None:
    """The ratios of the map; before Luminous they stand with the groups. None where neither has.

    Args:
        osdmap: The ``osdmap`` of a report, or what `ceph osd dump` prints.
        pgmap: The object with ``pg_stats``, or None.

    Raises:
        ConfigError: One is no share, or they do not rise: Ceph would then act in another order.
    """

    def ratio(node: Node) -> float:
        # The map keeps a float of 32 bits and prints all of its digits.
        return round(node.number(0.0, 1.0), 6)

    full = osdmap.get("full_ratio")
    if full is not None:
        near, back = osdmap.at("nearfull_ratio"), osdmap.at("backfillfull_ratio")
        found = Ratios(ratio(near), ratio(back), ratio(full))
        rising = [(near, found.nearfull), (back, ratio(back)), (full, found.full)]
    else:
        old = pgmap.get("full_ratio") if pgmap is not None else None
        if pgmap is None or old is None:
            return None
        near = pgmap.at("near_full_ratio")
        found = Ratios(ratio(near), None, ratio(old))
        rising = [(near, found.nearfull), (old, found.full)]
    for (_, lower), (node, upper) in pairwise(rising):
        if upper < lower:
            node.fail(
                f"at least {lower:g}, since the ratios rise from nearfull over backfillfull to "
                "full; set them with `ceph osd set-full-ratio` and its like, and fetch it again"
            )
    return found


def read_flags(osdmap: Node) -> tuple[str, ...]:
    """The flags that are set on the map, such as ``noout``.

    Raises:
        ConfigError: They are not what Ceph writes.
    """
    listed = osdmap.get("flags_set")
    if listed is not None:
        return tuple(sorted(node.text() for node in listed.items()))
    joined = osdmap.get("flags")
    return tuple(sorted(filter(None, joined.text().split(",")))) if joined is not None else ()


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
