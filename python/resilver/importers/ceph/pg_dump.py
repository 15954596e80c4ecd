"""The placement groups of `ceph pg dump`, or of the ``pgmap`` of a report."""

from __future__ import annotations

import re

from resilver.importers.ceph.model import HOLE, GroupInfo, PoolInfo
from resilver.importers.jsonpath import Node

_PGID = re.compile(r"([0-9]{1,18})\.([0-9a-f]{1,8})")


def is_pg_dump(value: object) -> bool:
    """Whether a JSON document is what `ceph pg dump` or `ceph pg dump pgs` prints."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) and "pgid" in item for item in value)
    if not isinstance(value, dict):
        return False
    return any(key in value for key in ("pg_map", "pgmap", "pg_stats"))


def pgmap_of(document: Node) -> Node:
    """The object with ``pg_stats`` in a dump, whichever form it has.

    `ceph pg dump` nests it in ``pg_map`` since Nautilus and prints it bare before; `ceph pg dump
    pgs` prints the list alone in some versions.
    """
    if isinstance(document.value, list):
        return Node({"pg_stats": document.value}, document.path, document.file)
    return document.get("pg_map", "pgmap") or document


def group_key(name: Node) -> tuple[int, int]:
    """The pool and the number in a group's name.

    Raises:
        ConfigError: It is not the name of a group.
    """
    match = _PGID.fullmatch(name.text())
    if match is None:
        name.fail('a group such as "3.fff": pool, a dot, a hexadecimal number')
    return int(match.group(1)), int(match.group(2), 16)


def read_osd_bytes(pgmap: Node) -> tuple[tuple[int, int], ...]:
    """The capacity of each OSD that ``osd_stats`` states, in bytes.

    Args:
        pgmap: The object with ``pg_stats``.

    Raises:
        ConfigError: A row of it is not what Ceph writes.
    """
    stats = pgmap.get("osd_stats")
    rows = list(stats.items()) if stats is not None else []
    return tuple(
        (row.at("osd").integer(0), size.integer(0) * 1024)
        for row in rows
        if (size := row.get("kb")) is not None
    )


def read_groups(pgmap: Node, pools: tuple[PoolInfo, ...]) -> tuple[GroupInfo, ...]:
    """The groups that ``pg_stats`` lists, by pool and number.

    Args:
        pgmap: The object that has it.
        pools: The cluster's pools.

    Raises:
        ConfigError: A group is none of a pool's, or stands twice, or is not what Ceph writes.
    """
    stats = pgmap.get("pg_stats")
    by_id = {pool.id: pool for pool in pools}
    groups: dict[tuple[int, int], GroupInfo] = {}
    for node in stats.items() if stats else ():
        name = node.at("pgid")
        key = group_key(name)
        pool = by_id.get(key[0])
        if pool is None:
            name.fail("a group of a pool that osdmap.pools lists")
        if key[1] >= pool.pg_num:
            name.fail(f"a group number below pg_num, which is {pool.pg_num} for pool {pool.id}")
        if key in groups:
            name.fail("a group that stands once")
        sums = node.get("stat_sum")
        amount = read_total(sums)
        groups[key] = GroupInfo(
            pool=key[0],
            number=key[1],
            up=_members(node.get("up")),
            acting=_members(node.get("acting")),
            bytes=amount[0] if amount else None,
            objects=amount[1] if amount else None,
            up_primary=_primary(node.get("up_primary")),
            acting_primary=_primary(node.get("acting_primary")),
            omap_bytes=_sum(sums, "num_omap_bytes"),
            degraded=_sum(sums, "num_objects_degraded"),
            misplaced=_sum(sums, "num_objects_misplaced"),
            state=state.text() if (state := node.get("state")) else "",
        )
    return tuple(groups[key] for key in sorted(groups))


def _members(node: Node | None) -> tuple[int, ...]:
    return tuple(item.integer(0, HOLE) for item in node.items()) if node else ()


def _sum(sums: Node | None, name: str) -> int | None:
    found = sums.get(name) if sums is not None else None
    return found.integer(0) if found is not None else None


def _primary(node: Node | None) -> int | None:
    return node.integer(-1, HOLE) if node else None


def read_total(node: Node | None) -> tuple[int, int | None] | None:
    """(bytes, objects) of a ``stat_sum`` or an object with one; None where it says no bytes."""
    if node is None:
        return None
    node = node.get("stat_sum") or node
    amount = node.get("num_bytes")
    if amount is None:
        return None
    objects = node.get("num_objects")
    return amount.integer(0), objects.integer(0) if objects else None


def read_pool_totals(pgmap: Node) -> tuple[tuple[int, int, int | None], ...]:
    """(pool, bytes, objects) where ``pool_stats`` sums up a pool."""
    stats = pgmap.get("pool_stats")
    totals = []
    for node in stats.items() if stats else ():
        amount = read_total(node.get("stat_sum"))
        if amount is not None:
            totals.append((node.at("poolid").integer(0), *amount))
    return tuple(sorted(totals))
