"""Pools: where their groups are, and which group an object belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.crush import CrushMap
from resilver.errors import PlacementError
from resilver.importers.ceph import ClusterReport, PoolInfo

_PLACES_MAX = 2**28
"""The most places of a pool's sets that are answered at once: 1 GiB for each of the two arrays."""


@dataclass(frozen=True)
class GroupSets:
    """Where each group of a pool is.

    Attributes:
        up: The OSDs that should serve each group, shape (pg_num, size), or wider where an upmap
            entry is longer; 2147483647 for a hole in a set of an erasure pool, and -1 after the
            end of a set that is short.
        acting: The OSDs that serve it at present, likewise; wider where a temporary set is longer.
        up_primary: The primary of each up set, shape (pg_num,); -1 for none.
        acting_primary: The primary of each acting set, likewise.
    """

    up: npt.NDArray[np.int32]
    acting: npt.NDArray[np.int32]
    up_primary: npt.NDArray[np.int32]
    acting_primary: npt.NDArray[np.int32]


@dataclass(frozen=True)
class StatedGroups:
    """How the sets that a cluster states compare with those that its map gives.

    Attributes:
        compared: How many groups the report states.
        up: The groups whose stated up set is another.
        acting: The groups whose stated acting set is another.
    """

    compared: int
    up: tuple[str, ...]
    acting: tuple[str, ...]


def group_sets(report: ClusterReport, pool_id: int) -> GroupSets:
    """Where each group of a pool is, as the cluster's OSD map says.

    CRUSH, then the exceptions: upmap entries, OSDs that are down, primary affinity, temporary sets.

    Args:
        report: The cluster.
        pool_id: The pool's number.

    Returns:
        The up and acting sets and their primaries.

    Raises:
        PlacementError: The cluster has no such pool, its map cannot be used, or the pool has more
            groups than fit into memory.
    """
    return _sets(report, CrushMap.from_json(report.crushmap), _pool(report, pool_id))


def group_up_sets(report: ClusterReport, pool_id: int) -> npt.NDArray[np.int32]:
    """The up set of each group of a pool; see `group_sets`.

    Args:
        report: The cluster.
        pool_id: The pool's number.

    Returns:
        OSDs, shape (pg_num, size), in placement order: 2147483647 for a hole in a set of an erasure
        pool, and -1 after the end of a set that is short.

    Raises:
        PlacementError: The cluster has no such pool, or its map cannot be used.
    """
    return group_sets(report, pool_id).up


def compare_stated(report: ClusterReport) -> StatedGroups:
    """Compare the sets that ``pg_stats`` states with those that the OSD map gives.

    They differ where the dumps were taken of different states of the cluster, or were edited.

    Returns:
        How many groups were compared, and the names of those that differ.

    Raises:
        PlacementError: The map cannot be used.
    """
    crush = CrushMap.from_json(report.crushmap)
    pools = {pool.id: pool for pool in report.pools}
    found = {
        pool: _sets(report, crush, pools[pool]) for pool in {one.pool for one in report.groups}
    }
    up = [one for one in report.groups if one.up != _members(found[one.pool].up[one.number])]
    acting = [
        one for one in report.groups if one.acting != _members(found[one.pool].acting[one.number])
    ]
    return StatedGroups(
        compared=len(report.groups),
        up=tuple(one.pgid for one in up),
        acting=tuple(one.pgid for one in acting),
    )


def object_group(pool: PoolInfo, name: str, namespace: str = "", key: str = "") -> int:
    """The number, within its pool, of the group that an object belongs to.

    Args:
        name: The object's name.
        namespace: Its namespace, if it has one.
        key: Its locator key, if it has one; objects of one key are in one group.

    Raises:
        PlacementError: The pool hashes names in a way that is not known.

    >>> pool = PoolInfo(1, "rbd", 4096, 4096, 3, 0, True, "replicated")
    >>> hex(object_group(pool, "foo"))
    '0x406'
    """
    with core_errors():
        return _core.group_of_name(
            json.dumps(core_input.pool_json(pool)),
            pool.object_hash,
            namespace.encode(),
            (key or name).encode(),
        )


def _sets(report: ClusterReport, crush: CrushMap, pool: PoolInfo) -> GroupSets:
    places = pool.pg_num * _longest_set(pool)
    if places > _PLACES_MAX:
        raise PlacementError(
            f"{report.label}: pool {pool.id}: pg_num = {pool.pg_num}: its sets have {places} "
            f"places, and at most {_PLACES_MAX} are answered at once; check pg_num and size"
        )
    with core_errors(report.label):
        up, acting, up_primary, acting_primary = _core.group_sets(
            crush.core,
            json.dumps(core_input.pool_json(pool)),
            report.reweights,
            report.up_flags,
            report.affinities,
        )
    return GroupSets(up, acting, up_primary, acting_primary)


def _longest_set(pool: PoolInfo) -> int:
    """The most OSDs that a set of the pool may have, exceptions included."""
    tables = pool.exceptions
    return max([pool.size, *(len(osds) for _, osds in (*tables.upmap, *tables.pg_temp))])


def _members(row: npt.NDArray[np.int32]) -> tuple[int, ...]:
    return tuple(int(osd) for osd in row if osd != -1)


def _pool(report: ClusterReport, pool_id: int) -> PoolInfo:
    for pool in report.pools:
        if pool.id == pool_id:
            return pool
    known = ", ".join(f"{pool.id} ({pool.name})" for pool in report.pools)
    raise PlacementError(f"{report.label}: there is no pool {pool_id}; the pools are {known}")
