"""What the manager's module `pg_autoscaler` would make of each pool's pg_num.

By `pg_autoscaler/module.py` as it was before Quincy, and since with the flag `bulk`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from resilver.importers.ceph import PoolInfo
from resilver.whatif.cluster import Cluster, PoolState
from resilver.whatif.configuration import Daemon
from resilver.whatif.releases import OCTOPUS, PACIFIC, QUINCY

_PG_NUM_MIN = 32
"""What it leaves a pool that states no pg_num_min."""


@dataclass(frozen=True)
class Wish:
    """What the autoscaler would make of a pool.

    Attributes:
        pool: The pool.
        groups: Its PGs, as they are or as a plan sets them.
        ideal: Its PGs by the share of its subtree's capacity that it takes, before rounding.
        pg_num: The same as a power of two within the pool's bounds.
        is_acted_on: Whether it is so far off that the autoscaler acts, or warns.
    """

    pool: PoolInfo
    groups: int
    ideal: float
    pg_num: int
    is_acted_on: bool


@dataclass(frozen=True)
class _Subtree:
    """The OSDs below a rule's root, and the pools there, in the order of their numbers."""

    osds: frozenset[int]
    pools: tuple[PoolState, ...]


def wishes(cluster: Cluster) -> list[Wish]:
    """What the autoscaler would make of each pool, whether it is on for it or not.

    Pools whose roots share OSDs are left out, as it leaves them alone; so are all before Octopus,
    whose module was another.

    Args:
        cluster: The cluster as it is, or as a plan leaves it.
    """
    if cluster.release < OCTOPUS:
        return []
    found = [wish for subtree in _subtrees(cluster) for wish in _of_subtree(cluster, subtree)]
    return sorted(found, key=lambda wish: wish.pool.id)


def _subtrees(cluster: Cluster) -> Iterator[_Subtree]:
    roots: dict[str, list[PoolState]] = {}
    for pool in sorted(cluster.pools.values(), key=lambda pool: pool.info.id):
        steps = cluster.tree.rules[pool.rule].steps
        take = next((str(step["item_name"]) for step in steps if step["op"] == "take"), "")
        roots.setdefault(take, []).append(pool)
    below = {root: cluster.tree.below_root(root) for root in roots}
    for root, pools in roots.items():
        sharing = [other for other in roots if below[other] & below[root]]
        if sharing == [root]:
            yield _Subtree(below[root], tuple(pools))
        elif cluster.release < PACIFIC and root == sharing[0]:
            # Octopus takes roots that share OSDs for one.
            osds = frozenset().union(*(below[other] for other in sharing))
            yield _Subtree(osds, tuple(pool for other in sharing for pool in roots[other]))


def _of_subtree(cluster: Cluster, subtree: _Subtree) -> Iterator[Wish]:
    capacity = sum(cluster.capacity_of(osd) for osd in subtree.osds if osd in cluster.osds)
    if not capacity:
        return
    shares = {pool.info.id: share for pool, share in _shares(subtree.pools, capacity)}
    per_osd = int(cluster.configuration.find("mon_target_pg_per_osd", Daemon("mgr")).value)
    left = budget = len(subtree.osds) * per_osd
    bulk = [pool for pool in subtree.pools if _is_bulk(cluster, pool)]
    count = len(subtree.pools)
    for pool in (pool for pool in subtree.pools if pool not in bulk):
        share = shares[pool.info.id]
        # Until Pacific each takes its share of all; since Quincy of what those before it leave.
        taken = share * (left if cluster.release >= QUINCY else budget)
        left -= int(taken)
        count -= 1
        yield _wish(cluster, pool, share, taken)
    even = []
    for pool in bulk:
        share = shares[pool.info.id]
        if share <= 1 / count:
            even.append(pool)
            continue
        taken = share * left
        left -= int(taken)
        count -= 1
        yield _wish(cluster, pool, share, taken)
    for pool in even:
        yield _wish(cluster, pool, 1 / count, left / count)


def _shares(pools: Sequence[PoolState], capacity: int) -> Iterator[tuple[PoolState, float]]:
    """The share of a subtree's capacity that each pool takes, or is expected to take."""

    def raw(pool: PoolState, amount: int) -> float:
        return amount * pool.size / pool.data_pieces

    # A ratio goes before bytes where a pool states both.
    expected = {
        pool.info.id: raw(pool, pool.info.limits.target_size_bytes)
        for pool in pools
        if not pool.info.limits.target_size_ratio
    }
    ratios = sum(pool.info.limits.target_size_ratio for pool in pools)
    rest = 1 - min(1.0, sum(expected.values()) / capacity)
    for pool in pools:
        target = pool.info.limits.target_size_ratio / ratios * rest if ratios else 0.0
        taken = max(raw(pool, pool.stored_bytes), expected.get(pool.info.id, 0.0))
        yield pool, max(taken / capacity, target)


def _is_bulk(cluster: Cluster, pool: PoolState) -> bool:
    return cluster.release >= QUINCY and "bulk" in pool.info.limits.flags


def _wish(cluster: Cluster, pool: PoolState, share: float, raw_groups: float) -> Wish:
    limits = pool.info.limits
    ideal = raw_groups / pool.size * limits.autoscale_bias
    pg_num = max(limits.pg_num_min or _PG_NUM_MIN, _nearest_power_of_two(ideal))
    pg_num = min(pg_num, limits.pg_num_max or pg_num)
    most = float(cluster.configuration.find("mgr/pg_autoscaler/threshold", Daemon("mgr")).value)
    is_off = not pool.pg_num / most <= pg_num <= pool.pg_num * most
    return Wish(pool.info, pool.pg_num, ideal, pg_num, is_off and share <= 1)


def _nearest_power_of_two(number: float) -> int:
    """The nearest power of two, the larger of two as near; 0 for less than 1."""
    if number < 1:
        return 0
    above = 1 << (int(number) - 1).bit_length()
    below = above >> 1
    return below if above - number > number - below else above


def autoscaler_notes(
    before: Sequence[Wish], after: Sequence[Wish], flags: set[str]
) -> Iterator[str]:
    """What a reader must know of the autoscaler: which pools it changes, or changes back.

    Args:
        before: What it wished before the plan.
        after: What it wishes of the cluster as the plan leaves it.
        flags: The flags that are set then.
    """
    if "noautoscale" in flags:
        return
    earlier = {wish.pool.id for wish in before if wish.is_acted_on}
    for wish in after:
        name, mode = wish.pool.name, wish.pool.limits.autoscale_mode
        is_set = wish.groups != wish.pool.pg_num
        if mode == "off" or not wish.is_acted_on or (wish.pool.id in earlier and not is_set):
            continue
        what = f"pool '{name}' has {wish.groups:,} PGs and should have {wish.pg_num:,}"
        if mode == "warn":
            yield f"Ceph's autoscaler will warn that {what}."
        elif is_set:
            yield (
                f"Ceph's autoscaler is on and will set pg_num back, as {what}; the answer leaves "
                f"that out. `ceph osd pool set {name} pg_autoscale_mode off` stops it."
            )
        else:
            yield (
                f"After the change Ceph's autoscaler will set pg_num, as {what}; the answer leaves "
                "that out."
            )


def autoscaler_rows(before: Sequence[Wish], after: Sequence[Wish]) -> Iterator[dict[str, Any]]:
    """The rows of the table ``autoscaler``: a pool each that it looks at before and after."""
    earlier = {wish.pool.id: wish for wish in before}
    for wish in after:
        first, pool = earlier.get(wish.pool.id), wish.pool
        yield {
            "pool": pool.id,
            "name": pool.name,
            "mode": pool.limits.autoscale_mode,
            "start_groups": pool.pg_num,
            "start_wanted_groups": first.pg_num if first else None,
            "end_groups": wish.groups,
            "end_wanted_groups": wish.pg_num,
        }
