"""A real Ceph cluster, from the JSON of `ceph report`.

The report's ``osdmap`` has the pools and the OSDs, ``crushmap`` the CRUSH map, and
``pgmap.pg_stats`` the groups with their up and acting sets and their bytes. Field names that Ceph
changed over time are read in every spelling: ``crush_rule`` was ``crush_ruleset`` before Luminous,
and ``pg_map`` stands for ``pgmap`` in `ceph pg dump`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from resilver.importers.buckets import DEVICE_ID_MAX, BucketTree, read_buckets
from resilver.importers.jsonpath import Node
from resilver.importers.text import decode, parse_json, read_bytes, refuse

_HOLE = 2**31 - 1
"""What stands in the set of an erasure-coded pool where no OSD does."""

_PGID = re.compile(r"([0-9]{1,18})\.([0-9a-f]{1,8})")
_FLAG_HASHPSPOOL = 1
_KINDS = {1: "replicated", 3: "erasure"}
_WEIGHT_ONE = 0x10000


@dataclass(frozen=True)
class PoolInfo:
    """A pool of the cluster.

    Attributes:
        id: Its number.
        name: Its name.
        pg_num: How many placement groups it has.
        pgp_num: How many of them are placed apart.
        size: How many copies (or pieces) a group has.
        rule_id: The CRUSH rule that places it.
        hashpspool: Whether the pool's number is mixed into the placement seed.
        kind: ``replicated`` or ``erasure``.
    """

    id: int
    name: str
    pg_num: int
    pgp_num: int
    size: int
    rule_id: int
    hashpspool: bool
    kind: str


@dataclass(frozen=True)
class OsdInfo:
    """An OSD of the cluster.

    Attributes:
        id: Its number.
        name: Its name in the CRUSH map, usually ``osd.N``.
        host: The host it is in, or None when the map has no bucket of type host above it.
        up: Whether it runs.
        in_cluster: Whether it is in; an OSD that is out gets no data.
        reweight: Its reweight as CRUSH takes it, 16.16 fixed point, zero when out.
        listed: Whether the osdmap lists it. A device of the CRUSH map that the osdmap omits is
            taken to be up and in, with full weight, as a report cut down by hand is meant.
    """

    id: int
    name: str
    host: str | None
    up: bool
    in_cluster: bool
    reweight: int
    listed: bool


@dataclass(frozen=True)
class GroupInfo:
    """A placement group as the report states it.

    Attributes:
        pool: Its pool's number.
        number: Its number in the pool.
        up: The OSDs it should be on, the primary first.
        acting: The OSDs it is on.
        bytes: Its bytes, before replication, or None where the report leaves them out.
        objects: Its objects, likewise.
    """

    pool: int
    number: int
    up: tuple[int, ...]
    acting: tuple[int, ...]
    bytes: int | None
    objects: int | None

    @property
    def pgid(self) -> str:
        """Its name as Ceph writes it: pool, a dot, the number in hexadecimal."""
        return f"{self.pool}.{self.number:x}"


@dataclass(frozen=True)
class ClusterReport:
    """What a `ceph report` says, as far as placement and rebuild need it.

    Attributes:
        label: The file's name.
        sha256: The hash of the file's bytes.
        version: The Ceph version that wrote it, or empty.
        crushmap: The ``crushmap`` object as JSON text, for the core.
        buckets: The hierarchy of the CRUSH map.
        pools: The pools by number.
        osds: The OSDs by number.
        groups: The groups that ``pg_stats`` lists, by pool and number; empty without a pgmap.
        pool_totals: (pool, bytes, objects) where the report sums up a pool.
        total: (bytes, objects) of the whole cluster, where the report has it.
    """

    label: str
    sha256: str
    version: str
    crushmap: str
    buckets: BucketTree
    pools: tuple[PoolInfo, ...]
    osds: tuple[OsdInfo, ...]
    groups: tuple[GroupInfo, ...]
    pool_totals: tuple[tuple[int, int, int | None], ...]
    total: tuple[int, int | None] | None

    @cached_property
    def osd_ids(self) -> dict[str, int]:
        """Every name an OSD goes by, ``osd.N`` and its name in the CRUSH map, with its number."""
        names = {f"osd.{osd.id}": osd.id for osd in self.osds}
        return {osd.name: osd.id for osd in self.osds} | names

    @property
    def reweights(self) -> list[int]:
        """The reweight of each device number, 16.16 fixed point; 0 where there is no OSD."""
        values = [0] * (max((osd.id for osd in self.osds), default=-1) + 1)
        for osd in self.osds:
            values[osd.id] = osd.reweight
        return values

    @cached_property
    def loads(self) -> tuple[GroupLoad, ...]:
        """What every group of every pool holds, by pool and number; see `group_loads`."""
        from resilver.importers.loads import group_loads

        return group_loads(self)

    @cached_property
    def largest_object_bytes(self) -> int:
        """The largest object of any group, whose objects share its bytes evenly; 0 without any."""
        sizes = (-(-load.bytes // load.objects) for load in self.loads if load.objects)
        return max(sizes, default=0)


@dataclass(frozen=True)
class GroupLoad:
    """What a placement group holds, before replication.

    Attributes:
        pool: Its pool's number.
        number: Its number in the pool.
        bytes: Its bytes.
        objects: Its objects.
        measured: Whether the report itself states the group's bytes; otherwise they are an even
            share.
    """

    pool: int
    number: int
    bytes: int
    objects: int
    measured: bool


def read_report(path: Path) -> ClusterReport:
    """Read the JSON of `ceph report`.

    Args:
        path: The file.

    Returns:
        The cluster it describes.

    Raises:
        ConfigError: The file cannot be read, is not JSON, or lacks what a report must have; the
            message names the place and what was expected there.
    """
    data = read_bytes(path)
    document = Node(parse_json(decode(data, path), path), "", str(path))
    if not isinstance(document.value, dict):
        document.fail("the object that `ceph report` prints")
    if not document.has("osdmap") or not document.has("crushmap"):
        missing = "osdmap" if not document.has("osdmap") else "crushmap"
        refuse(path, f'there is no "{missing}"', "expected the JSON that `ceph report` prints")
    _refuse_exceptions(document.at("osdmap"), path)
    crushmap = document.at("crushmap")
    buckets = read_buckets(crushmap)
    pools = _pools(document.at("osdmap"), crushmap)
    pgmap = document.get("pgmap", "pg_map")
    version = document.get("version")
    return ClusterReport(
        label=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
        version=version.text() if version else "",
        crushmap=json.dumps(crushmap.value, separators=(",", ":")),
        buckets=buckets,
        pools=pools,
        osds=_osds(document.at("osdmap"), buckets),
        groups=_groups(pgmap, pools) if pgmap else (),
        pool_totals=_pool_totals(pgmap) if pgmap else (),
        total=_total(pgmap.get("pg_stats_sum")) if pgmap else None,
    )


def _refuse_exceptions(osdmap: Node, path: Path) -> None:
    """Refuse a map whose groups are not all where CRUSH puts them, rather than answer wrongly."""
    for key in ("pg_upmap", "pg_upmap_items", "pg_upmap_primaries"):
        entries = osdmap.get(key)
        count = sum(1 for _ in entries.items()) if entries is not None else 0
        if count:
            refuse(
                path,
                f"osdmap.{key} moves {count} placement groups away from where CRUSH puts them, "
                "and these exceptions are not applied yet",
                "take a report of a cluster without them (balancer off, or in crush-compat mode)",
            )


def _pools(osdmap: Node, crushmap: Node) -> tuple[PoolInfo, ...]:
    pools: dict[int, PoolInfo] = {}
    for node in osdmap.at("pools").items():
        pool_id = node.at("pool").integer(0)
        if pool_id in pools:
            node.at("pool").fail("a pool number that no other pool has")
        name = node.get("pool_name")
        pg_num = node.at("pg_num").integer(1, 2**24)
        placed = node.get("pg_placement_num", "pgp_num")
        kind = node.get("type")
        kind_code = kind.integer(0) if kind else 1
        if kind is not None and kind_code not in _KINDS:
            kind.fail("1 (replicated) or 3 (erasure)")
        pools[pool_id] = PoolInfo(
            id=pool_id,
            name=name.text() if name else str(pool_id),
            pg_num=pg_num,
            pgp_num=placed.integer(1, pg_num) if placed else pg_num,
            size=node.at("size").integer(1, 64),
            rule_id=_rule(node, crushmap),
            hashpspool=_hashpspool(node),
            kind=_KINDS[kind_code],
        )
    return tuple(pools[key] for key in sorted(pools))


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


def _osds(osdmap: Node, buckets: BucketTree) -> tuple[OsdInfo, ...]:
    osds: dict[int, OsdInfo] = {}
    for node in osdmap.at("osds").items():
        osd_id = node.at("osd").integer(0, DEVICE_ID_MAX)
        if osd_id in osds:
            node.at("osd").fail("an OSD number that stands once")
        weight_node = node.get("weight")
        weight = weight_node.number(0.0, 1.0) if weight_node else 1.0
        up_node, in_node = node.get("up"), node.get("in")
        in_cluster = bool(in_node.integer(0, 1)) if in_node else weight > 0
        osds[osd_id] = OsdInfo(
            id=osd_id,
            name=buckets.device_name(osd_id),
            host=buckets.host_of(osd_id),
            up=bool(up_node.integer(0, 1)) if up_node else True,
            in_cluster=in_cluster,
            # The report prints the 16.16 weight with six digits, which rounding undoes.
            reweight=round(weight * _WEIGHT_ONE) if in_cluster else 0,
            listed=True,
        )
    for osd_id in buckets.devices:
        if osd_id not in osds:
            osds[osd_id] = OsdInfo(
                id=osd_id,
                name=buckets.device_name(osd_id),
                host=buckets.host_of(osd_id),
                up=True,
                in_cluster=True,
                reweight=_WEIGHT_ONE,
                listed=False,
            )
    return tuple(osds[key] for key in sorted(osds))


def _groups(pgmap: Node, pools: tuple[PoolInfo, ...]) -> tuple[GroupInfo, ...]:
    stats = pgmap.get("pg_stats")
    by_id = {pool.id: pool for pool in pools}
    groups: dict[tuple[int, int], GroupInfo] = {}
    for node in stats.items() if stats else ():
        name = node.at("pgid")
        match = _PGID.fullmatch(name.text())
        if match is None:
            name.fail('a group such as "3.fff": pool, a dot, a hexadecimal number')
        key = (int(match.group(1)), int(match.group(2), 16))
        pool = by_id.get(key[0])
        if pool is None:
            name.fail("a group of a pool that osdmap.pools lists")
        if key[1] >= pool.pg_num:
            name.fail(f"a group number below pg_num, which is {pool.pg_num} for pool {pool.id}")
        if key in groups:
            name.fail("a group that stands once")
        amount = _total(node.get("stat_sum"))
        groups[key] = GroupInfo(
            pool=key[0],
            number=key[1],
            up=_members(node.get("up")),
            acting=_members(node.get("acting")),
            bytes=amount[0] if amount else None,
            objects=amount[1] if amount else None,
        )
    return tuple(groups[key] for key in sorted(groups))


def _members(node: Node | None) -> tuple[int, ...]:
    return tuple(item.integer(0, _HOLE) for item in node.items()) if node else ()


def _total(node: Node | None) -> tuple[int, int | None] | None:
    """(bytes, objects) of a ``stat_sum`` or an object with one; None where it says no bytes."""
    if node is None:
        return None
    node = node.get("stat_sum") or node
    amount = node.get("num_bytes")
    if amount is None:
        return None
    objects = node.get("num_objects")
    return amount.integer(0), objects.integer(0) if objects else None


def _pool_totals(pgmap: Node) -> tuple[tuple[int, int, int | None], ...]:
    stats = pgmap.get("pool_stats")
    totals = []
    for node in stats.items() if stats else ():
        amount = _total(node.get("stat_sum"))
        if amount is not None:
            totals.append((node.at("poolid").integer(0), *amount))
    return tuple(sorted(totals))
