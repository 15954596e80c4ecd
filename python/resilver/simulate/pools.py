"""The groups of a cluster that was read: where they are, and where it says that they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver import crush
from resilver.errors import PlacementError
from resilver.importers.ceph import ClusterReport, PoolInfo


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


def group_sets(report: ClusterReport, pool_id: int) -> crush.GroupSets:
    """Where each group of a pool is, as the cluster's OSD map says; see `resilver.crush`.

    Args:
        pool_id: The pool's number.

    Returns:
        The up and acting sets and their primaries.

    Raises:
        PlacementError: The cluster has no such pool, its map cannot be used, or the pool has more
            groups than fit into memory.
    """
    mapped = crush.CrushMap.from_json(report.crushmap)
    return crush.group_sets(mapped, _pool(report, pool_id), report.osd_states, label=report.label)


def compare_stated(report: ClusterReport) -> StatedGroups:
    """Compare the sets that ``pg_stats`` states with those that the OSD map gives.

    They differ where the dumps were taken of different states of the cluster, or were edited.

    Returns:
        How many groups were compared, and the names of those that differ.

    Raises:
        PlacementError: The map cannot be used.
    """
    found = {pool: group_sets(report, pool) for pool in {one.pool for one in report.groups}}
    up = [one for one in report.groups if one.up != _members(found[one.pool].up[one.number])]
    acting = [
        one for one in report.groups if one.acting != _members(found[one.pool].acting[one.number])
    ]
    return StatedGroups(
        compared=len(report.groups),
        up=tuple(one.pgid for one in up),
        acting=tuple(one.pgid for one in acting),
    )


def _members(row: npt.NDArray[np.int32]) -> tuple[int, ...]:
    return tuple(int(osd) for osd in row if osd != -1)


def _pool(report: ClusterReport, pool_id: int) -> PoolInfo:
    for pool in report.pools:
        if pool.id == pool_id:
            return pool
    known = ", ".join(f"{pool.id} ({pool.name})" for pool in report.pools)
    raise PlacementError(f"{report.label}: there is no pool {pool_id}; the pools are {known}")
