"""The exceptions to CRUSH that an osdmap lists: upmap entries and temporary sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from resilver.crush.model import HOLE, PoolExceptions
from resilver.importers.ceph.model import SIZE_MAX
from resilver.importers.ceph.pg_dump import group_key
from resilver.importers.jsonpath import Node

_NOWHERE = -1
"""What Ceph writes for no OSD."""


@dataclass
class _Tables:
    """The tables of one pool while they are read."""

    upmap: dict[int, tuple[int, ...]] = field(default_factory=dict)
    upmap_items: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    upmap_primaries: dict[int, int] = field(default_factory=dict)
    pg_temp: dict[int, tuple[int, ...]] = field(default_factory=dict)
    primary_temp: dict[int, int] = field(default_factory=dict)

    def done(self) -> PoolExceptions:
        return PoolExceptions(
            tuple(sorted(self.upmap.items())),
            tuple(sorted(self.upmap_items.items())),
            tuple(sorted(self.upmap_primaries.items())),
            tuple(sorted(self.pg_temp.items())),
            tuple(sorted(self.primary_temp.items())),
        )


def read_exceptions(osdmap: Node) -> dict[int, PoolExceptions]:
    """The exceptions of each pool that has any, by its number.

    Args:
        osdmap: The ``osdmap`` of a report, or what `ceph osd dump` prints.

    Raises:
        ConfigError: An entry is not what Ceph writes, or a group has two in one table.
    """
    limit_node = osdmap.get("max_osd")
    limit = limit_node.integer(0, HOLE) if limit_node else HOLE
    tables: dict[int, _Tables] = {}

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

    for key, node in _entries(osdmap, "pg_upmap", tables):
        tables[key[0]].upmap[key[1]] = osds(node.at("osds"))
    for key, node in _entries(osdmap, "pg_upmap_items", tables):
        tables[key[0]].upmap_items[key[1]] = tuple(
            (osd(pair.at("from")), osd(pair.at("to"))) for pair in node.at("mappings").items()
        )
    for key, node in _entries(osdmap, "pg_upmap_primaries", tables):
        tables[key[0]].upmap_primaries[key[1]] = osd(node.at("primary_osd"))
    for key, node in _entries(osdmap, "pg_temp", tables):
        tables[key[0]].pg_temp[key[1]] = osds(node.at("osds"))
    for key, node in _primary_temps(osdmap, tables):
        # Ceph takes a temporary primary at its word, whatever the number.
        tables[key[0]].primary_temp[key[1]] = node.integer(_NOWHERE, HOLE)
    return {pool: table.done() for pool, table in tables.items()}


def _entries(
    osdmap: Node, name: str, tables: dict[int, _Tables]
) -> Iterator[tuple[tuple[int, int], Node]]:
    listed = osdmap.get(name)
    seen: set[tuple[int, int]] = set()
    for node in listed.items() if listed else ():
        yield _key(node.at("pgid"), seen, tables), node


def _primary_temps(
    osdmap: Node, tables: dict[int, _Tables]
) -> Iterator[tuple[tuple[int, int], Node]]:
    """The entries of ``primary_temp``.

    Ceph prints a flat list, a group's name and its primary in turn; a list of objects, which its
    other tables are, is read too.
    """
    listed = osdmap.get("primary_temp")
    seen: set[tuple[int, int]] = set()
    nodes = listed.items() if listed else iter(())
    for node in nodes:
        if isinstance(node.value, dict):
            yield _key(node.at("pgid"), seen, tables), node.at("osd")
            continue
        key = _key(node, seen, tables)
        following = next(nodes, None)
        if following is None:
            node.fail("a PG with the OSD that is its primary after it")
        yield key, following


def _key(name: Node, seen: set[tuple[int, int]], tables: dict[int, _Tables]) -> tuple[int, int]:
    key = group_key(name)
    if key in seen:
        name.fail("a PG that stands once")
    seen.add(key)
    tables.setdefault(key[0], _Tables())
    return key
