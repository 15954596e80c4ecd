"""How much more fits into the pools of a cluster, as Ceph says and by where its groups are."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.crush import rule_shares
from resilver.errors import ConfigError
from resilver.importers.ceph import ClusterReport, PoolInfo, Ratios
from resilver.simulate.held import Held

_RATIOS = Ratios(nearfull=0.85, backfillfull=0.90, full=0.95)
"""Those of a new cluster."""


@dataclass(frozen=True)
class Fits:
    """What fits until the first OSD is so full.

    Attributes:
        bytes: User data that the pool takes more, all others as they are; 0 where an OSD of the
            pool is as full already.
        osd: The OSD that is so full first.
    """

    bytes: int
    osd: int


@dataclass(frozen=True)
class PoolRoom:
    """How much more fits into a pool.

    Attributes:
        pool: The pool.
        stored_bytes: User data in it; None where no dump states it.
        max_avail_bytes: MAX AVAIL of `ceph df`: what fits if every OSD took the share of its CRUSH
            weight, until the first is full. None where no OSD of its rule is in.
        nearfull: What fits until the first OSD is nearfull, by where its groups are; None where
            none of its groups is on an OSD whose capacity is known.
        backfillfull: Likewise until the first is backfillfull; None too where the release knows no
            such state.
        full: Likewise until the first is full.
    """

    pool: PoolInfo
    stored_bytes: int | None
    max_avail_bytes: int | None
    nearfull: Fits | None
    backfillfull: Fits | None
    full: Fits | None


@dataclass(frozen=True)
class Room:
    """How much more fits into pools.

    Attributes:
        ratios: At which share of its capacity an OSD is nearfull, backfillfull and full.
        has_ratios: Whether the dumps state them; else they are a new cluster's.
        pools: The pools, by number.
    """

    ratios: Ratios
    has_ratios: bool
    pools: tuple[PoolRoom, ...]


def room(report: ClusterReport, pool_ids: Iterable[int] | None = None) -> Room:
    """How much more fits into the pools of a cluster.

    New data is spread over a pool's groups by the hashes of its objects, and takes of each OSD of
    a group what its copy or piece takes. Each pool grows alone; OSDs hold what they hold today.

    Args:
        report: The cluster, with what its OSDs hold.
        pool_ids: The pools; None for all.

    Raises:
        ConfigError: No dump states what OSDs hold, or how a pool is coded.
        PlacementError: There is no such pool, or the map cannot be used.
    """
    held = Held(report, pool_ids)
    return Room(
        report.ratios or _RATIOS,
        report.ratios is not None,
        tuple(_room_of(held, pool, report.ratios or _RATIOS) for pool in held.pools),
    )


def _room_of(held: Held, pool: PoolInfo, ratios: Ratios) -> PoolRoom:
    gained = _gained(held, pool)
    nearfull, backfillfull, full = (
        _fits(held, gained, share) for share in (ratios.nearfull, ratios.backfillfull, ratios.full)
    )
    stored = None
    # What fits follows from what OSDs hold alone.
    with suppress(ConfigError):
        stored = sum(one.bytes for one in held.report.loads if one.pool == pool.id)
    return PoolRoom(pool, stored, _max_avail(held, pool, ratios), nearfull, backfillfull, full)


def group_shares(pg_num: int) -> npt.NDArray[np.float64]:
    """The share of a pool's objects that each of its groups holds, by Ceph's stable modulo.

    Returns:
        Shape (pg_num,): where it is no power of two, groups that are not split hold twice as much.

    >>> group_shares(3).tolist()
    [0.25, 0.5, 0.25]
    """
    whole = 1 << (pg_num - 1).bit_length()
    numbers = np.arange(whole)
    numbers[pg_num:] &= (whole >> 1) - 1
    return np.bincount(numbers, minlength=pg_num) / whole


def _gained(held: Held, pool: PoolInfo) -> npt.NDArray[np.float64]:
    """Bytes that each OSD gets of a byte of user data in a pool, by number."""
    gained = np.zeros(held.device_count)
    shares = group_shares(pool.pg_num) / held.data_pieces(pool)
    for column in held.sets(pool).T:
        there = held.is_device(column)
        np.add.at(gained, column[there], shares[there])
    return gained


def _free(held: Held) -> npt.NDArray[np.float64]:
    """Free bytes of each OSD, by number: as `ceph osd df` states, else what is not used."""
    free = held.capacities.astype(np.float64)
    stated = {one.osd: one for one in held.report.usage}
    if any(osd not in stated for osd in held.report.capacities):
        try:
            free -= held.used_bytes
        except ConfigError:
            rule = f"{held.report.label}: it does not state what OSDs hold"
            raise ConfigError(rule, "add `ceph osd df` (--osd-df)") from None
    for one in stated.values():
        available = one.available_bytes
        free[one.osd] = one.capacity_bytes - one.used_bytes if available is None else available
    return free


def _fits(held: Held, gained: npt.NDArray[np.float64], share: float | None) -> Fits | None:
    """What fits until an OSD that gains is full to a share of its capacity."""
    takers = np.flatnonzero((gained > 0) & (held.capacities > 0))
    if share is None or not len(takers):
        return None
    left = _free(held)[takers] - held.capacities[takers] * (1 - share)
    fits = np.maximum(left, 0) / gained[takers]
    first = int(np.argmin(fits))
    return Fits(int(fits[first]), int(takers[first]))


def _max_avail(held: Held, pool: PoolInfo, ratios: Ratios) -> int | None:
    """What `ceph df` says, in its own precision (`PGMap::get_rule_avail`)."""
    full, free, states = float(np.float32(ratios.full)), _free(held), held.report.osd_states
    avail: list[int] = []
    for osd, share in rule_shares(held.crush, pool.rule_id).items():
        is_known = osd < held.device_count and held.capacities[osd] > 0
        # What is out has no statistics there.
        if is_known and share > 0 and states.reweights[osd] > 0:
            unusable = held.capacities[osd] // 1024 * (1.0 - full)
            avail.append(int(max(0.0, free[osd] // 1024 - unusable) * 1024.0 / share))
    if not avail:
        return None
    rate = np.float32(pool.size / held.data_pieces(pool))
    return int(np.float32(min(avail)) / rate)
