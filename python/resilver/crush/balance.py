"""Upmap entries that even a cluster out: as Ceph's balancer writes them, and our own, by bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.core_errors import core_errors
from resilver.crush.maps import CrushMap
from resilver.crush.model import Osds, Pool
from resilver.errors import ConfigError

_AnyPool = TypeVar("_AnyPool", bound=Pool)

NO_LIMIT = 2**63
"""More bytes than any cluster moves."""


@dataclass(frozen=True)
class GroupEntry:
    """An exception to CRUSH of a group.

    Attributes:
        pool: The pool's number.
        group: The group's number in the pool.
    """

    pool: int
    group: int

    @property
    def pgid(self) -> str:
        """The group's name as Ceph writes it."""
        return f"{self.pool}.{self.group:x}"


@dataclass(frozen=True)
class UpmapEntry(GroupEntry):
    """What becomes of the ``pg_upmap_items`` of a group.

    Attributes:
        pairs: (from, to) in place of what the group had; none takes its entry away.

    >>> UpmapEntry(3, 26, ((5, 17),)).command
    'ceph osd pg-upmap-items 3.1a 5 17'
    """

    pairs: tuple[tuple[int, int], ...]

    @property
    def command(self) -> str:
        """The line that makes it so."""
        if not self.pairs:
            return f"ceph osd rm-pg-upmap-items {self.pgid}"
        osds = " ".join(f"{one} {other}" for one, other in self.pairs)
        return f"ceph osd pg-upmap-items {self.pgid} {osds}"


def upmaps_by_groups(
    crush: CrushMap,
    pools: Iterable[Pool],
    osds: Osds,
    *,
    entries: int = 10,
    deviation: int = 5,
    label: str = "",
) -> list[UpmapEntry]:
    """The entries that Ceph's balancer would write, without its draws.

    Each pool by itself, as Ceph does it, here in the order given. Source:
    ``OSDMap::calc_pg_upmaps`` of Ceph 16.2 with ``osd_calc_pg_upmaps_aggressively`` false.

    Args:
        crush: The cluster's map.
        pools: The pools to balance, with the entries that they have.
        osds: The state of each OSD.
        entries: Changes at most, in all pools (``upmap_max_optimizations``).
        deviation: Groups by which an OSD may miss its target (``upmap_max_deviation``).
        label: Whose map it is, for messages.

    Raises:
        ConfigError: A limit is out of range.
        PlacementError: The map cannot be used.

    >>> pool = Pool(1, "rbd", pg_num=64, pgp_num=64, size=3, rule_id=0)
    >>> found = upmaps_by_groups(CrushMap.flat(8), [pool], Osds.all_in(8), deviation=1)
    >>> found[0].command.startswith("ceph osd pg-upmap-items 1.")
    True
    """
    for name, value in (("entries", entries), ("deviation", deviation)):
        if not 0 <= value < 2**31:
            raise ConfigError(f"{name} = {value}: use a number from 0 to below 2^31")
    found: list[UpmapEntry] = []
    reweights, up, _ = osds.to_core()
    for pool in pools:
        with core_errors(label):
            rows = _core.upmaps_by_groups(
                crush.core,
                json.dumps([pool.to_core()]),
                reweights,
                up,
                entries - len(found),
                deviation,
            )
        found += _entries(rows)
    return found


def upmaps_by_bytes(
    crush: CrushMap,
    pools: Sequence[Pool],
    osds: Osds,
    *,
    piece_bytes: Sequence[npt.ArrayLike],
    capacities: npt.ArrayLike,
    used_bytes: npt.ArrayLike,
    entries: int = 100,
    moved_bytes: int = NO_LIMIT,
    within: float = 0.01,
    label: str = "",
) -> list[UpmapEntry]:
    """The entries that even out how full the OSDs are, the most with the fewest.

    An OSD of a reweight below 1 takes up to that share of what the giver has.

    Args:
        crush: The cluster's map.
        pools: The pools whose groups may move, with the entries that they have.
        osds: The state of each OSD.
        piece_bytes: For each pool, bytes of a copy or piece of each group.
        capacities: Bytes that fit on each OSD; 0 where that is unknown.
        used_bytes: Bytes on each OSD.
        entries: Pieces that go elsewhere, at most: pairs written or taken away.
        moved_bytes: Bytes that go elsewhere, at most.
        within: No piece moves between OSDs whose fill differs by less, as a share of capacity.
        label: Whose map it is, for messages.

    Raises:
        ConfigError: Bytes are no whole numbers, or too few.
        PlacementError: The map cannot be used.
    """
    sizes = [_bytes("piece_bytes", of_pool) for of_pool in piece_bytes]
    if [len(of_pool) for of_pool in sizes] != [pool.pg_num for pool in pools]:
        raise ConfigError("piece_bytes: each pool has as many as PGs; pass one for each")
    fits, used = _bytes("capacities", capacities), _bytes("used_bytes", used_bytes)
    if not len(fits) == len(used) == len(osds.reweights):
        raise ConfigError("capacities and used_bytes have one for each OSD; pass as many")
    reweights, up, _ = osds.to_core()
    with core_errors(label):
        rows = _core.upmaps_by_bytes(
            crush.core,
            json.dumps([pool.to_core() for pool in pools]),
            sizes,
            reweights,
            up,
            fits,
            used,
            (entries, moved_bytes, within),
        )
    return _entries(rows)


def with_entries(pools: Iterable[_AnyPool], entries: Sequence[UpmapEntry]) -> tuple[_AnyPool, ...]:
    """Pools with other entries of ``pg_upmap_items``.

    Args:
        pools: The pools.
        entries: What becomes of groups' entries; other groups keep theirs.
    """
    made = []
    for pool in pools:
        items = dict(pool.exceptions.upmap_items)
        items |= {one.group: one.pairs for one in entries if one.pool == pool.id}
        kept = tuple(sorted((group, pairs) for group, pairs in items.items() if pairs))
        made.append(replace(pool, exceptions=replace(pool.exceptions, upmap_items=kept)))
    return tuple(made)


def _bytes(what: str, given: npt.ArrayLike) -> list[int]:
    sizes = np.asarray(given)
    is_whole = np.issubdtype(sizes.dtype, np.integer) and sizes.min(initial=0) >= 0
    if sizes.ndim != 1 or not is_whole:
        raise ConfigError(f"{what}: they are a row of whole numbers of bytes from 0; convert them")
    found: list[int] = sizes.tolist()
    return found


def _entries(rows: list[tuple[int, int, list[tuple[int, int]]]]) -> list[UpmapEntry]:
    return [
        UpmapEntry(pool, group, tuple((one, other) for one, other in pairs))
        for pool, group, pairs in rows
    ]
