"""Pools: where their groups are, and which group an object belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.core_errors import core_errors
from resilver.crush.maps import CrushMap
from resilver.crush.model import Osds, Pool
from resilver.errors import PlacementError

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


def group_sets(crush: CrushMap, pool: Pool, osds: Osds, *, label: str = "") -> GroupSets:
    """Where each group of a pool is, as an OSD map says.

    CRUSH, then the exceptions: upmap entries, OSDs that are down, primary affinity, temporary sets.

    Args:
        crush: The cluster's map.
        pool: The pool.
        osds: The state of each OSD.
        label: Whose map it is, for messages.

    Returns:
        The up and acting sets and their primaries.

    Raises:
        PlacementError: The map cannot be used, or the pool has more groups than fit into memory.

    >>> pool = Pool(1, "rbd", pg_num=64, pgp_num=64, size=3, rule_id=0)
    >>> group_sets(CrushMap.flat(8), pool, Osds.all_in(8)).up.shape
    (64, 3)
    """
    places = pool.pg_num * _longest_set(pool)
    if places > _PLACES_MAX:
        where = f"{label}: " if label else ""
        raise PlacementError(
            f"{where}pool {pool.id}: pg_num = {pool.pg_num}: its sets have {places} "
            f"places, and at most {_PLACES_MAX} are answered at once; check pg_num and size"
        )
    with core_errors(label):
        up, acting, up_primary, acting_primary = _core.group_sets(
            crush.core,
            json.dumps(pool.to_core()),
            *osds.to_core(),
        )
    return GroupSets(up, acting, up_primary, acting_primary)


def rule_shares(crush: CrushMap, rule_id: int) -> dict[int, float]:
    """The share that each device has of what a rule takes, by its weight.

    Those below each bucket that the rule takes add up to one. They are Ceph's own, in its
    precision (`CrushWrapper::get_rule_weight_osd_map`).

    Returns:
        The shares by device; those of weight zero have zero.

    Raises:
        PlacementError: The map has no such rule.

    >>> rule_shares(CrushMap.flat(4), 0)
    {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}
    """
    rules = [rule for rule, _ in crush.core.rules()]
    if rule_id not in rules:
        raise PlacementError(f"the map has no rule {rule_id}; its rules are {sorted(rules)}")
    return crush.core.shares_of_rule(rule_id)


def object_group(pool: Pool, name: str, namespace: str = "", key: str = "") -> int:
    """The number, within its pool, of the group that an object belongs to.

    Args:
        name: The object's name.
        namespace: Its namespace, if it has one.
        key: Its locator key, if it has one; objects of one key are in one group.

    Raises:
        PlacementError: The pool hashes names in a way that is not known.

    >>> pool = Pool(1, "rbd", 4096, 4096, 3, 0)
    >>> hex(object_group(pool, "foo"))
    '0x406'
    """
    with core_errors():
        return _core.group_of_name(
            json.dumps(pool.to_core()),
            pool.object_hash,
            namespace.encode(),
            (key or name).encode(),
        )


def _longest_set(pool: Pool) -> int:
    """The most OSDs that a set of the pool may have, exceptions included."""
    tables = pool.exceptions
    return max([pool.size, *(len(osds) for _, osds in (*tables.upmap, *tables.pg_temp))])
