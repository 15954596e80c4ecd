"""The pools and OSDs of `ceph osd dump`, or of the ``osdmap`` of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from resilver.crush.model import HOLE, WEIGHT_ONE, PoolExceptions
from resilver.importers.buckets import DEVICE_ID_MAX, BucketTree
from resilver.importers.ceph.facts import Ratios
from resilver.importers.ceph.model import (
    PG_NUM_MAX,
    SIZE_MAX,
    ErasureProfile,
    OsdInfo,
    PoolInfo,
    PoolLimits,
    PoolStretch,
    StretchMode,
)
from resilver.importers.ceph.pg_dump import group_key
from resilver.importers.ceph.plugins import KEYS, plugin_code
from resilver.importers.jsonpath import Node

_FLAG_HASHPSPOOL = 1
_KINDS = {1: "replicated", 3: "erasure"}
_OBJECT_HASH_RJENKINS = 2


def read_pools(osdmap: Node, crushmap: Node) -> tuple[PoolInfo, ...]:
    """The pools, by number, each with its exceptions to CRUSH.

    Args:
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
        pg_num = node.at("pg_num").integer(1, PG_NUM_MAX)
        kind = node.get("type")
        kind_code = kind.integer(0) if kind else 1
        if kind is not None and kind_code not in _KINDS:
            kind.fail("1 (replicated) or 3 (erasure)")
        size = node.at("size").integer(1, SIZE_MAX)
        profile = _profile(node, osdmap) if _KINDS[kind_code] == "erasure" else None
        pools[pool_id] = PoolInfo(
            id=pool_id,
            name=node.text_of("pool_name", str(pool_id)),
            pg_num=pg_num,
            pgp_num=node.integer_of(
                "pg_placement_num", "pgp_num", least=1, most=pg_num, default=pg_num
            ),
            size=size,
            rule_id=_rule(node, crushmap),
            hashpspool=_hashpspool(node),
            kind=_KINDS[kind_code],
            object_hash=node.integer_of("object_hash", most=255, default=_OBJECT_HASH_RJENKINS),
            exceptions=exceptions.get(pool_id, PoolExceptions()),
            profile=profile,
            min_size=_min_size(node, size, profile),
            recovery_priority=_recovery_priority(node),
            stripe_width=node.integer_of("stripe_width", most=2**40, default=0),
            pg_num_target=node.integer_of(
                "pg_num_target", least=1, most=PG_NUM_MAX, default=pg_num
            ),
            applications=_applications(node),
            stretch=_stretch(node, size),
            limits=_limits(node),
        )
    return tuple(pools[key] for key in sorted(pools))


def _min_size(pool: Node, size: int, profile: ErasureProfile | None) -> int:
    """How many OSDs a group needs to serve: the map's, else as Ceph sets it for a new pool."""
    stated = pool.get("min_size")
    if stated is not None:
        # 0 stands for the rule itself (osd_pool_default_min_size, Ceph's global options).
        return stated.integer(0, SIZE_MAX) or size - size // 2
    return profile.data + min(1, profile.parity - 1) if profile else size - size // 2


def _recovery_priority(pool: Node) -> int:
    if (options := pool.get("options")) is None:
        return 0
    return options.integer_of("recovery_priority", least=-10, most=10, default=0)


def _limits(pool: Node) -> PoolLimits:
    options = pool.get("options") or Node({}, pool.path, pool.file)
    bias, ratio = options.get("pg_autoscale_bias"), options.get("target_size_ratio")
    return PoolLimits(
        flags=tuple(sorted({*pool.text_of("flags_names").split(",")} - {"", "hashpspool"})),
        quota_bytes=pool.integer_of("quota_max_bytes", default=0),
        quota_objects=pool.integer_of("quota_max_objects", default=0),
        pg_num_min=options.integer_of("pg_num_min", most=PG_NUM_MAX, default=0),
        pg_num_max=options.integer_of("pg_num_max", most=PG_NUM_MAX, default=0),
        autoscale_mode=pool.text_of("pg_autoscale_mode", "off"),
        autoscale_bias=bias.number(0.0, 1e3) if bias else 1.0,
        target_size_bytes=options.integer_of("target_size_bytes", default=0),
        target_size_ratio=ratio.number(0.0, 1e6) if ratio else 0.0,
    )


def _applications(pool: Node) -> tuple[str, ...]:
    listed = pool.get("application_metadata")
    if listed is None:
        return ()
    if not isinstance(listed.value, dict):
        listed.fail("an object whose members are applications")
    return tuple(sorted(Node(name, listed.path, listed.file).text() for name in listed.value))


def _stretch(pool: Node, size: int) -> PoolStretch | None:
    """What a stretch pool asks; a count of 0 is Ceph's word for a pool that is none."""
    if not (count := pool.integer_of("peering_crush_bucket_count", most=size, default=0)):
        return None
    member = "peering_crush_bucket_mandatory_member"
    bucket = pool.integer_of(member, least=-(2**31), most=HOLE, default=HOLE)
    return PoolStretch(
        count,
        pool.integer_of("peering_crush_bucket_target", least=1, most=size, default=count),
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
        mode.integer_of("degraded_stretch_mode", most=SIZE_MAX, default=0) > 0,
        mode.integer_of("recovering_stretch_mode", most=SIZE_MAX, default=0) > 0,
    )


def read_ratios(osdmap: Node, pgmap: Node | None) -> Ratios | None:
    """The ratios of the map; before Luminous they stand with the groups. None where neither has.

    Args:
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
    return tuple(sorted(filter(None, osdmap.text_of("flags").split(","))))


def _profile(pool: Node, osdmap: Node) -> ErasureProfile | None:
    """The erasure code profile that a pool names; None where the osdmap does not hold it."""
    name, profiles = pool.get("erasure_code_profile"), osdmap.get("erasure_code_profiles")
    profile = profiles.get(name.text()) if name is not None and profiles is not None else None
    if name is None or profile is None:
        return None
    plugin = node.text() if (node := profile.get("plugin")) is not None else "jerasure"
    if plugin in KEYS:
        data, parity, code, values = plugin_code(plugin, profile)
        own = (code, tuple(values.items()))
    else:
        # Ceph writes all of a profile's values as text.
        data, parity = (profile.at(key).whole(1, SIZE_MAX) for key in ("k", "m"))
        own = ("", ())
    coded = ErasureProfile(name.text(), plugin, data, parity, *own)
    size = pool.at("size")
    if coded.code is not None and size.integer(1, SIZE_MAX) != data + parity:
        size.fail(f'{data + parity}, the pieces of its erasure code profile "{name.text()}"')
    return coded


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

    Raises:
        ConfigError: An OSD is not what Ceph writes, or stands twice.
    """
    osds: dict[int, OsdInfo] = {}
    hosts = buckets.holders("host")
    for node in osdmap.at("osds").items():
        osd_id = node.at("osd").integer(0, DEVICE_ID_MAX)
        if osd_id in osds:
            node.at("osd").fail("an OSD number that stands once")
        weight_node = node.get("weight")
        weight = weight_node.number(0.0, 1.0) if weight_node else 1.0
        affinity = node.get("primary_affinity")
        in_cluster = bool(node.integer_of("in", most=1, default=weight > 0))
        osds[osd_id] = OsdInfo(
            id=osd_id,
            name=buckets.device_name(osd_id),
            host=hosts.get(osd_id),
            up=bool(node.integer_of("up", most=1, default=True)),
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
                host=hosts.get(osd_id),
                up=True,
                in_cluster=True,
                reweight=WEIGHT_ONE,
                listed=False,
            )
    return tuple(osds[key] for key in sorted(osds))


_NOWHERE = -1
"""What Ceph writes for no OSD."""


def read_exceptions(osdmap: Node) -> dict[int, PoolExceptions]:
    """The exceptions of each pool that has any, by its number.

    Args:
        osdmap: The ``osdmap`` of a report, or what `ceph osd dump` prints.

    Raises:
        ConfigError: An entry is not what Ceph writes, or a group has two in one table.
    """
    limit = osdmap.integer_of("max_osd", most=HOLE, default=HOLE)

    def osd(node: Node) -> int:
        number = node.integer(_NOWHERE, HOLE)
        # A number beyond max_osd is no OSD, and so neither in nor out nor up. Several such stay
        # apart, since one entry may name what another has put there.
        return number if number < limit or number == HOLE else _NOWHERE - 1 - number

    def osds(node: Node) -> tuple[int, ...]:
        found = tuple(osd(item) for item in node.items())
        # The arrays of sets are as wide as the longest, so one entry may not make them huge.
        if len(found) > SIZE_MAX:
            node.fail(f"at most {SIZE_MAX} OSDs, as many as a pool has copies")
        return found

    def pairs(node: Node) -> tuple[tuple[int, int], ...]:
        listed = node.at("mappings").items()
        return tuple((osd(pair.at("from")), osd(pair.at("to"))) for pair in listed)

    readers: dict[str, Callable[[Node], Any]] = {
        "pg_upmap": lambda node: osds(node.at("osds")),
        "pg_upmap_items": pairs,
        "pg_upmap_primaries": lambda node: osd(node.at("primary_osd")),
        "pg_temp": lambda node: osds(node.at("osds")),
        # Ceph takes a temporary primary at its word, whatever the number.
        "primary_temp": lambda node: node.integer(_NOWHERE, HOLE),
    }
    tables: dict[int, dict[str, dict[int, Any]]] = {}
    for table, read in readers.items():
        for name, entry in _entries(osdmap, table):
            pool, number = group_key(name)
            field = table.replace("pg_upmap", "upmap")
            groups = tables.setdefault(pool, {}).setdefault(field, {})
            if number in groups:
                name.fail("a PG that stands once")
            if entry is None:
                name.fail("a PG with the OSD that is its primary after it")
            groups[number] = read(entry)
    return {
        pool: PoolExceptions(**{field: tuple(sorted(of.items())) for field, of in fields.items()})
        for pool, fields in tables.items()
    }


def _entries(osdmap: Node, table: str) -> Iterator[tuple[Node, Node | None]]:
    """The entries of a table, each with the name of its group.

    Ceph prints ``primary_temp`` as a flat list, a group's name and its primary in turn; a list of
    objects, which its other tables are, is read too.
    """
    nodes = osdmap.items_of(table)
    for node in nodes:
        if table != "primary_temp":
            yield node.at("pgid"), node
        elif isinstance(node.value, dict):
            yield node.at("pgid"), node.at("osd")
        else:
            yield node, next(nodes, None)
