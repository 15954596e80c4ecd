"""The placement groups of `ceph pg dump`, or of the ``pgmap`` of a report."""

from __future__ import annotations

import re
from typing import Any

from resilver.crush.model import HOLE
from resilver.importers.ceph.model import GroupInfo, PoolInfo
from resilver.importers.jsonpath import Node

_PGID = re.compile(r"([0-9]{1,18})\.([0-9a-f]{1,8})")


AMOUNTS = (
    "num_bytes",
    "num_objects",
    "num_omap_bytes",
    "num_objects_degraded",
    "num_objects_misplaced",
)
"""What is read of a group's ``stat_sum``, in the order of `GroupInfo`."""

_AMOUNT_MAX = 2**63 - 1


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
        name.fail('a PG such as "3.fff": pool, a dot, a hexadecimal number')
    return int(match.group(1)), int(match.group(2), 16)


def read_osd_bytes(pgmap: Node) -> tuple[tuple[int, int], ...]:
    """The capacity of each OSD that ``osd_stats`` states, in bytes.

    Raises:
        ConfigError: A row of it is not what Ceph writes.
    """
    return tuple(
        (row.at("osd").integer(0), size.integer(0) * 1024)
        for row in pgmap.items_of("osd_stats")
        if (size := row.get("kb")) is not None
    )


def read_groups(pgmap: Node, pools: tuple[PoolInfo, ...]) -> tuple[GroupInfo, ...]:
    """The groups that ``pg_stats`` lists, by pool and number.

    Raises:
        ConfigError: A group is none of a pool's, or stands twice, or is not what Ceph writes.
    """
    counts = {pool.id: pool.pg_num for pool in pools}
    states: dict[str, str] = {}
    groups: dict[tuple[int, int], GroupInfo] = {}
    for node in pgmap.items_of("pg_stats"):
        group = _plain_group(node.value, counts, states)
        if group is None:
            group = _group(node, counts)
            states[group.state] = group.state
        key = (group.pool, group.number)
        if key in groups:
            node.at("pgid").fail("a PG that stands once")
        groups[key] = group
    return tuple(groups[key] for key in sorted(groups))


def _plain_group(value: Any, counts: dict[int, int], states: dict[str, str]) -> GroupInfo | None:
    """A group in which all is as Ceph prints it; None for any other, which `_group` reads or names.

    A cluster may have 100,000 groups, and a check of each member by itself takes three times as
    long.

    Args:
        counts: How many groups each pool has.
        states: States that were read before.
    """
    try:
        sums, up, acting, pgid = value["stat_sum"], value["up"], value["acting"], value["pgid"]
        primaries = value["up_primary"], value["acting_primary"]
        amounts = [sums[key] for key in AMOUNTS]
        state = states[value["state"]]
        match = _PGID.fullmatch(pgid)
    except (KeyError, TypeError):
        return None
    if match is None or type(up) is not list or type(acting) is not list:
        return None
    pool, number = int(match[1]), int(match[2], 16)
    numbers = (*up, *acting, *amounts)
    if (
        number >= counts.get(pool, 0)
        or not all(type(one) is int for one in (*numbers, *primaries))
        or min(numbers) < 0
        or max(amounts) > _AMOUNT_MAX
        or max(*up, *acting, *primaries, -1, -1) > HOLE
        or min(primaries) < -1
    ):
        return None
    return GroupInfo(
        pool,
        number,
        tuple(up),
        tuple(acting),
        bytes=amounts[0],
        objects=amounts[1],
        up_primary=primaries[0],
        acting_primary=primaries[1],
        omap_bytes=amounts[2],
        degraded=amounts[3],
        misplaced=amounts[4],
        state=state,
    )


def _group(node: Node, counts: dict[int, int]) -> GroupInfo:
    """A group of any form that a release prints.

    Raises:
        ConfigError: It is none of a pool's, or is not what Ceph writes.
    """
    name = node.at("pgid")
    pool, number = group_key(name)
    if pool not in counts:
        name.fail("a PG of a pool that osdmap.pools lists")
    if number >= counts[pool]:
        name.fail(f"a PG number below pg_num, which is {counts[pool]} for pool {pool}")
    sums = node.get("stat_sum")
    amount = read_total(sums)
    return GroupInfo(
        pool=pool,
        number=number,
        up=_members(node, "up"),
        acting=_members(node, "acting"),
        bytes=amount[0] if amount else None,
        objects=amount[1] if amount else None,
        up_primary=node.integer_of("up_primary", least=-1, most=HOLE, default=None),
        acting_primary=node.integer_of("acting_primary", least=-1, most=HOLE, default=None),
        omap_bytes=_sum(sums, "num_omap_bytes"),
        degraded=_sum(sums, "num_objects_degraded"),
        misplaced=_sum(sums, "num_objects_misplaced"),
        state=node.text_of("state"),
    )


def _members(node: Node, key: str) -> tuple[int, ...]:
    return tuple(item.integer(0, HOLE) for item in node.items_of(key))


def _sum(sums: Node | None, name: str) -> int | None:
    return sums.integer_of(name, default=None) if sums is not None else None


def read_total(node: Node | None) -> tuple[int, int | None] | None:
    """(bytes, objects) of a ``stat_sum`` or an object with one; None where it says no bytes."""
    if node is None:
        return None
    node = node.get("stat_sum") or node
    amount = node.get("num_bytes")
    if amount is None:
        return None
    return amount.integer(0), node.integer_of("num_objects", default=None)


def read_df_totals(document: Node) -> tuple[tuple[int, int, int | None], ...]:
    """(pool, bytes, objects) of `ceph df detail`: what is stored, before redundancy.

    Before Nautilus it stood in ``bytes_used``, which has been the allocated bytes since.

    Raises:
        ConfigError: A pool is not what Ceph writes.
    """
    totals = []
    for node in document.at("pools").items():
        stats = node.at("stats")
        stored, count = stats.at("stored", "bytes_used"), stats.integer_of("objects", default=None)
        totals.append((node.at("id").integer(0), stored.integer(0), count))
    return tuple(sorted(totals))


def read_pool_totals(pgmap: Node) -> tuple[tuple[int, int, int | None], ...]:
    """(pool, bytes, objects) where ``pool_stats`` sums up a pool.

    Args:
        pgmap: The object with ``pg_stats``, or a `ceph report`, which has kept these sums alone
            since Luminous.
    """
    totals = []
    for node in pgmap.items_of("pool_stats"):
        amount = read_total(node.get("stat_sum"))
        if amount is not None:
            totals.append((node.at("poolid").integer(0), *amount))
    return tuple(sorted(totals))
