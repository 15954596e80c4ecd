"""The exceptions to CRUSH that an osdmap lists: upmap entries and temporary sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from resilver.crush.model import HOLE, PoolExceptions
from resilver.importers.ceph.model import SIZE_MAX
from resilver.importers.ceph.pg_dump import group_key
from resilver.importers.jsonpath import Node

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
