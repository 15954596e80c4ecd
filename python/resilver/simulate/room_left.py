"""How much more fits into the pools of a cluster: Ceph's MAX AVAIL, and by the actual PGs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resilver.crush import rule_shares
from resilver.errors import ConfigError
from resilver.importers.ceph import NEW_CLUSTER, ClusterReport, PoolInfo, Ratios
from resilver.simulate.pool_growth import growth_between, growth_rates, stored_bytes
from resilver.simulate.stored_data import StoredData

STATES = ("nearfull", "backfillfull", "full")
"""The ratios of an OSD map at which Ceph acts."""


@dataclass(frozen=True)
class Fits:
    """How much data fits before the first OSD reaches a ratio.

    Attributes:
        bytes: User data that the pool can take, other pools unchanged; 0 where an OSD of the pool
            is above the ratio already.
        osd: The first OSD to reach it.
    """

    bytes: int
    osd: int


@dataclass(frozen=True)
class PoolRoom:
    """How much more fits into a pool.

    Attributes:
        pool: The pool.
        stored_bytes: User data in it; None where no dump states it.
        max_avail_bytes: MAX AVAIL of `ceph df`: what fits if each OSD got the share of its CRUSH
            weight, until the first is full. None where no OSD of its rule is in.
        quota_left_bytes: What fits until the pool's quota; None where it has none, or no dump says
            what is in it.
        nearfull: What fits before the first OSD is nearfull, by the pool's PGs; None where none of
            them is on an OSD of known capacity.
        backfillfull: Likewise for backfillfull; None also before Luminous, which has no such ratio.
        full: Likewise for full.
    """

    pool: PoolInfo
    stored_bytes: int | None
    max_avail_bytes: int | None
    quota_left_bytes: int | None
    nearfull: Fits | None
    backfillfull: Fits | None
    full: Fits | None

    @property
    def by_state(self) -> dict[str, Fits | None]:
        """What fits before the first OSD reaches each of `STATES`."""
        return {state: getattr(self, state) for state in STATES}


@dataclass(frozen=True)
class Reached:
    """When the first OSD reaches a ratio.

    Attributes:
        seconds: From now, with all pools growing; 0 where one is above the ratio already.
        osd: The OSD.
    """

    seconds: float
    osd: int


@dataclass(frozen=True)
class Room:
    """How much more fits into pools.

    Attributes:
        ratios: The ratios at which an OSD is nearfull, backfillfull and full.
        has_ratios: Whether the dumps state them; else they are the defaults of a new cluster.
        pools: The pools, by number.
        growth: Bytes of user data a second that pools gain, by name; below 0 where one shrinks,
            which counts as no growth. Empty where no growth is asked for.
        reached: With growth, when the first OSD is nearfull, backfillfull and full, without those
            that no OSD reaches.
    """

    ratios: Ratios
    has_ratios: bool
    pools: tuple[PoolRoom, ...]
    growth: Mapping[str, float] = field(default_factory=dict)
    reached: Mapping[str, Reached] = field(default_factory=dict)


def room(
    report: ClusterReport,
    pool_ids: Iterable[int] | None = None,
    grow: Iterable[str] = (),
    older: ClusterReport | None = None,
) -> Room:
    """How much more fits into the pools of a cluster, and until when.

    New objects spread over a pool's PGs by their hashes, and take space on each OSD of an up set.
    What fits into a pool is with the others as they are; data that is still to move is counted
    where it is now.

    Args:
        report: The cluster, with what its OSDs hold.
        pool_ids: The pools; None for all.
        grow: How fast pools grow, see `growth_rates`; all of them at the same time.
        older: The same cluster earlier: pools whose growth is not stated grow as since then.

    Raises:
        ConfigError: No dump states what OSDs hold, or how a pool is coded, or a growth cannot be.
        PlacementError: There is no such pool, or the map cannot be used.
    """
    data, everything = StoredData(report, pool_ids), StoredData(report, None)
    ratios, grow = report.ratios or NEW_CLUSTER, tuple(grow)
    # What fits needs no sizes of PGs: the use of OSDs is enough.
    stored = stored_bytes(report)
    growth = growth_between(older, report) if older is not None else {}
    growth |= growth_rates(grow, everything.pools, stored)
    # How far a pool goes on shrinking, nobody knows.
    growing = [pool for pool in everything.pools if growth.get(pool.name, 0.0) > 0.0]
    gained = {pool.id: _gained(everything, pool) for pool in {*data.pools, *growing}}
    rooms = tuple(
        PoolRoom(
            pool,
            stored[pool.id],
            _max_avail(data, pool, ratios),
            _quota_left(pool, stored[pool.id]),
            *(_fits(data, gained[pool.id], getattr(ratios, state)) for state in STATES),
        )
        for pool in data.pools
    )
    if not grow and older is None:
        return Room(ratios, report.ratios is not None, rooms)
    total = np.zeros(data.device_count)
    for pool in growing:
        total += gained[pool.id] * growth[pool.name]
    first = {state: _first(data, total, getattr(ratios, state), is_of_all=True) for state in STATES}
    reached = {state: Reached(*one) for state, one in first.items() if one is not None}
    return Room(ratios, report.ratios is not None, rooms, growth, reached)


def group_shares(pg_num: int) -> npt.NDArray[np.float64]:
    """The share of a pool's objects that each of its PGs holds, by Ceph's stable modulo.

    Returns:
        Shape (pg_num,): if it is no power of two, PGs that are not split yet hold twice as much.

    >>> group_shares(3).tolist()
    [0.25, 0.5, 0.25]
    """
    whole = 1 << (pg_num - 1).bit_length()
    numbers = np.arange(whole)
    numbers[pg_num:] &= (whole >> 1) - 1
    return np.bincount(numbers, minlength=pg_num) / whole


def _quota_left(pool: PoolInfo, stored: int | None) -> int | None:
    quota = pool.limits.quota_bytes
    return max(quota - stored, 0) if quota and stored is not None else None


def _gained(data: StoredData, pool: PoolInfo) -> npt.NDArray[np.float64]:
    """Bytes that each OSD gets of a byte of user data in a pool, by number."""
    gained = np.zeros(data.device_count)
    shares = group_shares(pool.pg_num) / data.data_pieces(pool)
    for column in data.sets(pool).T:
        there = data.is_device(column)
        np.add.at(gained, column[there], shares[there])
    return gained


def _free(data: StoredData) -> npt.NDArray[np.float64]:
    """Free bytes of each OSD, by number: as `ceph osd df` states, else what its PGs leave."""
    free = data.capacities.astype(np.float64)
    usage = data.report.usage
    if not data.report.capacities.keys() <= {osd.osd for osd in usage}:
        try:
            free -= data.used_bytes
        except ConfigError:
            rule = f"{data.report.label}: it does not state what OSDs hold"
            raise ConfigError(rule, "add `ceph osd df` (--osd-df)") from None
    for osd in usage:
        available = osd.available_bytes
        free[osd.osd] = osd.capacity_bytes - osd.used_bytes if available is None else available
    return free


def _fits(data: StoredData, gained: npt.NDArray[np.float64], ratio: float | None) -> Fits | None:
    """What fits before an OSD that gains data reaches a ratio."""
    first = _first(data, gained, ratio)
    return None if first is None else Fits(int(first[0]), first[1])


def _first(
    data: StoredData,
    gained: npt.NDArray[np.float64],
    ratio: float | None,
    *,
    is_of_all: bool = False,
) -> tuple[float, int] | None:
    """How much growth brings the first OSD to a ratio, and which OSD that is.

    Args:
        data: The cluster.
        gained: Bytes that each OSD gains of one unit of growth.
        ratio: The ratio; None for none.
        is_of_all: Whether an OSD that gains nothing counts where it is above the ratio already.
    """
    if ratio is None:
        return None
    capacities, is_in = data.capacities, np.array(data.report.osd_states.reweights) > 0
    left = np.maximum(_free(data) - capacities * (1 - ratio), 0)
    counted = (capacities > 0) & ((gained > 0) | (is_of_all & is_in & (left == 0)))
    takers = np.flatnonzero(counted)
    if not len(takers):
        return None
    # What is above the ratio needs no growth to be there.
    fits = np.divide(left, gained, out=np.zeros_like(left), where=gained > 0)[takers]
    first = int(np.argmin(fits))
    return float(fits[first]), int(takers[first])


def _max_avail(data: StoredData, pool: PoolInfo, ratios: Ratios) -> int | None:
    """What `ceph df` prints, in its own precision (`PGMap::get_rule_avail`)."""
    full, free, states = float(np.float32(ratios.full)), _free(data), data.report.osd_states
    projected: list[int] = []
    for osd, share in rule_shares(data.crush, pool.rule_id).items():
        is_known = osd < data.device_count and data.capacities[osd] > 0
        # Ceph keeps no statistics of an OSD that is out.
        if is_known and share > 0 and states.reweights[osd] > 0:
            unusable = data.capacities[osd] // 1024 * (1.0 - full)
            projected.append(int(max(0.0, free[osd] // 1024 - unusable) * 1024.0 / share))
    if not projected:
        return None
    rate = np.float32(pool.size / data.data_pieces(pool))
    return int(np.float32(min(projected)) / rate)
