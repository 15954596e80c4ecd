"""Pools: where their groups are, and which group an object belongs to."""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from resilver import _core, describe
from resilver.errors import PlacementError
from resilver.importers.ceph import ClusterReport, PoolInfo
from resilver.simulate.core_errors import core_errors
from resilver.simulate.crush import CrushMap


def group_up_sets(report: ClusterReport, pool_id: int) -> npt.NDArray[np.int32]:
    """Where each group of a pool is, as the cluster's map says.

    Args:
        report: The cluster.
        pool_id: The pool's number.

    Returns:
        OSDs, shape (pg_num, size), in placement order: 2147483647 for a hole in a set of an erasure
        pool, and -1 after the end of a set that is short.

    Raises:
        PlacementError: The cluster has no such pool, or its map cannot be used.
    """
    pool = _pool(report, pool_id)
    crush = CrushMap.from_json(report.crushmap)
    with core_errors(report.label):
        return _core.group_up_sets(
            crush.core,
            json.dumps(describe.pool_json(pool)),
            report.reweights,
            describe.up_flags(report),
        )


def object_group(pool: PoolInfo, name: str) -> int:
    """The number, within its pool, of the group that an object belongs to.

    Args:
        pool: The pool.
        name: The object's name.
    """
    return _core.group_of_name(json.dumps(describe.pool_json(pool)), name.encode())


def _pool(report: ClusterReport, pool_id: int) -> PoolInfo:
    for pool in report.pools:
        if pool.id == pool_id:
            return pool
    known = ", ".join(f"{pool.id} ({pool.name})" for pool in report.pools)
    raise PlacementError(f"{report.label}: there is no pool {pool_id}; the pools are {known}")
