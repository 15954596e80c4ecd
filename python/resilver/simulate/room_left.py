"""How much more fits into the pools of a cluster: Ceph's MAX AVAIL, and by the actual PGs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resilver.crush import rule_shares
from resilver.errors import ConfigError
from resilver.importers.ceph import NEW_CLUSTER, ClusterReport, PoolInfo, Ratios
from resilver.simulate.pool_growth import growth_between, growth_rates
from resilver.simulate.stored_data import StoredData

STATES = ("nearfull", "backfillfull", "full")
"""The ratios of an OSD map, in the order in which an OSD reaches them."""


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
        nearfull: What fits before the first OSD is nearfull, by the pool's PGs; None where none of
            them is on an OSD of known capacity.
        backfillfull: Likewise for backfillfull; None also before Luminous, which has no such ratio.
        full: Likewise for full.
    """

    pool: PoolInfo
    stored_bytes: int | None
    max_avail_bytes: int | None
    nearfull: Fits | None
    backfillfull: Fits | None
    full: Fits | None


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
        growth: Bytes of user data a second that pools gain, by name; empty for no growth.
        reached: With growth, when the first OSD is nearfull, backfillfull and full; what no OSD
            reaches is not there.
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
        ConfigError: No dump states what OSDs hold, or how a pool is coded; or a growth is not
            written so.
        PlacementError: There is no such pool, or the map cannot be used.
    """
    data = StoredData(report, pool_ids)
    ratios = report.ratios or NEW_CLUSTER
    rooms = tuple(_room_of(data, pool, ratios) for pool in data.pools)
    growth = growth_between(older, report) if older is not None else {}
    growth |= growth_rates(grow, {one.pool.name: one.stored_bytes for one in rooms})
    gained = np.zeros(data.device_count)
    for pool in data.pools:
        gained += _gained(data, pool) * growth.get(pool.name, 0.0)
    found = {state: _first(data, gained, getattr(ratios, state)) for state in STATES}
    reached = {state: Reached(*one) for state, one in found.items() if one is not None}
    return Room(ratios, report.ratios is not None, rooms, growth, reached)


def _room_of(data: StoredData, pool: PoolInfo, ratios: Ratios) -> PoolRoom:
    gained = _gained(data, pool)
    nearfull, backfillfull, full = (
        _fits(data, gained, ratio) for ratio in (ratios.nearfull, ratios.backfillfull, ratios.full)
    )
    stored = None
    # PG sizes are not needed for what fits: the use of OSDs is.
    with suppress(ConfigError):
        stored = sum(load.bytes for load in data.report.loads if load.pool == pool.id)
    return PoolRoom(pool, stored, _max_avail(data, pool, ratios), nearfull, backfillfull, full)


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
    found = _first(data, gained, ratio)
    return None if found is None else Fits(int(found[0]), found[1])


def _first(
    data: StoredData, gained: npt.NDArray[np.float64], ratio: float | None
) -> tuple[float, int] | None:
    """How much of what OSDs gain data of brings the first to a ratio, and which OSD that is."""
    takers = np.flatnonzero((gained > 0) & (data.capacities > 0))
    if ratio is None or not len(takers):
        return None
    left = _free(data)[takers] - data.capacities[takers] * (1 - ratio)
    fits = np.maximum(left, 0) / gained[takers]
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
