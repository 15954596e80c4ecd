"""What can be said of a placement by looking at its replica sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import (
    Pairs,
    distinct_sets,
    pairs_of,
    replica_sets,
    summed,
    weights_of,
)
from resilver.errors import ConfigError
from resilver.placement_quality.balance import Balance, balance, rebuild_sources
from resilver.placement_quality.loss import fatal_subsets


@dataclass(frozen=True)
class Quality:
    """The measures of a placement.

    Attributes:
        sets: How many replica sets there are: placement groups, or inputs.
        copies: How many members a set should have.
        devices: How many devices may hold data, those of positive weight.
        short_sets: Sets with fewer members than they should have.
        distinct_sets: Different sets, whatever their order.
        possible_sets: How many sets there could be, the binomial C(devices, copies).
        copy_balance: How evenly copies lie.
        byte_balance: How evenly bytes lie, or None where sets have no bytes.
        primary_balance: How evenly first members lie.
        scatter_width_median: The median, over devices, of how many others share a set with one.
        scatter_width_min: The least.
        scatter_width_max: The most.
        scatter_share: The median scatter width over all other devices: one when a device shares a
            set with every other.
        declustering_ratio: (copies - 1) / (devices - 1), the parity declustering of the layout as
            its designer chose it: what part of each survivor a perfectly even rebuild reads.
        declustering_ratio_measured: The largest part of a survivor that a rebuild reads, the median
            over failed devices; equal to `declustering_ratio` for a perfect layout.
        pair_sets_min: In how many sets the least joined pair of devices meets.
        pair_sets_mean: The mean over all pairs.
        pair_sets_max: The most.
        rebuild_sources_worst: How many devices the rebuild of one reads from, the fewest over
            devices.
        rebuild_sources_median: The median.
        rebuild_parallelism_worst: All that is read over what the busiest source reads, the least
            over devices.
        rebuild_parallelism_median: The median.
        fatal: How many members of one set must fail at once for its data to be lost.
        loss_share: The part of all combinations of `fatal` devices that lose data when they fail at
            once, or None where counting them would take too much.
    """

    sets: int
    copies: int
    devices: int
    short_sets: int
    distinct_sets: int
    possible_sets: int
    copy_balance: Balance
    byte_balance: Balance | None
    primary_balance: Balance
    scatter_width_median: float
    scatter_width_min: int
    scatter_width_max: int
    scatter_share: float
    declustering_ratio: float
    declustering_ratio_measured: float
    pair_sets_min: int
    pair_sets_mean: float
    pair_sets_max: int
    rebuild_sources_worst: int
    rebuild_sources_median: float
    rebuild_parallelism_worst: float
    rebuild_parallelism_median: float
    fatal: int
    loss_share: float | None


def quality(
    sets: Any,
    *,
    devices: int | None = None,
    weights: Any = None,
    set_bytes: Any = None,
    fatal: int | None = None,
) -> Quality:
    """Judge a placement by its replica sets.

    Args:
        sets: A row a set, of device numbers; -1 and 2147483647 stand for no device. Rows should be
            as wide as sets ought to be.
        devices: How many devices there are; by default as many as the sets name, or the weights.
        weights: The weight of each device, which says its fair share; equal when None.
        set_bytes: The bytes of one copy (or piece) of each set, shape (sets,), where known.
        fatal: How many lost members lose a set's data: all of them by default (replicas), m + 1 for
            an erasure code with m coding pieces.

    Returns:
        The measures.

    Raises:
        ConfigError: A number does not fit: a device beyond `devices`, weights or bytes of another
            length, `fatal` beyond the copies.

    Sources: scatter width and the count of sets that lose data are of Cidon et al., Copysets
    (USENIX ATC 2013); the declustering ratio of Muntz and Lui (VLDB 1990) and Holland and Gibson
    (ASPLOS 1992).

    >>> quality([[0, 1], [1, 2], [2, 0]]).scatter_share
    1.0
    """
    array = replica_sets(sets)
    count = _device_count(array, devices, weights)
    weight = weights_of(weights, count)
    loads = _set_loads(set_bytes, len(array))
    copies = array.shape[1]
    fatal = copies if fatal is None else fatal
    if copies and not 1 <= fatal <= copies:
        raise ConfigError(
            f"fatal = {fatal}: losing data takes from 1 to {copies} members of a set; "
            "pass such a number"
        )
    used = int(np.count_nonzero(weight > 0))
    members = np.where(array >= 0, array, count)
    held = np.bincount(members.ravel(), minlength=count + 1)[:count]
    pairs = pairs_of(array, count)
    different = distinct_sets(array)
    return Quality(
        sets=len(array),
        copies=copies,
        devices=used,
        short_sets=int(np.count_nonzero(np.any(array < 0, axis=1))),
        distinct_sets=len(different),
        possible_sets=math.comb(used, copies),
        copy_balance=balance(held, weight, draws=len(array)),
        byte_balance=None if loads is None else balance(_bytes_held(members, loads, count), weight),
        primary_balance=balance(_primaries(array, count), weight, draws=len(array)),
        fatal=fatal,
        loss_share=_loss_share(different, used, fatal),
        **_spread(pairs, weight, held, copies),
        **_rebuild(pairs if loads is None else pairs_of(array, count, loads)),
    )


def _device_count(array: npt.NDArray[np.int64], devices: int | None, weights: Any) -> int:
    highest = int(array.max()) if array.size else -1
    if devices is None:
        devices = len(weights) if weights is not None else highest + 1
    if highest >= devices:
        raise ConfigError(
            f"sets name device {highest}, and there are {devices} devices, numbered from 0; "
            "pass devices as large as the highest number and one"
        )
    return devices


def _set_loads(set_bytes: Any, sets: int) -> npt.NDArray[np.float64] | None:
    if set_bytes is None:
        return None
    loads = np.asarray(set_bytes, dtype=np.float64)
    if loads.shape != (sets,):
        raise ConfigError(
            f"set_bytes has the shape {loads.shape}: there is one number for each of {sets} sets; "
            "pass as many, or none"
        )
    return loads


def _bytes_held(
    members: npt.NDArray[np.int64], loads: npt.NDArray[np.float64], count: int
) -> npt.NDArray[np.float64]:
    each = np.repeat(loads, members.shape[1])
    return summed(members.ravel(), each, count + 1)[:count]


def _primaries(array: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    """How many sets each device leads: as in Ceph, the first member that there is."""
    if not array.size:
        return np.zeros(count, dtype=np.int64)
    first = array[np.arange(len(array)), np.argmax(array >= 0, axis=1)]
    return np.bincount(first[first >= 0], minlength=count)


def _spread(
    pairs: Pairs,
    weight: npt.NDArray[np.float64],
    held: npt.NDArray[np.int64],
    copies: int,
) -> dict[str, Any]:
    """Scatter width, declustering and pairs, over the devices of positive weight."""
    used = weight > 0
    count = int(np.count_nonzero(used))
    ends = np.concatenate([pairs.low, pairs.high])
    width = np.bincount(ends, minlength=len(weight))[used]
    heaviest = np.zeros(len(weight))
    np.maximum.at(heaviest, ends, np.concatenate([pairs.sets, pairs.sets]))
    # Of the failed device's sets, the part that its closest partner is in; spread evenly, every
    # partner is in (copies - 1) / (devices - 1) of them.
    part = heaviest[used & (held > 0)] / held[used & (held > 0)]
    possible = count * (count - 1) // 2
    inside = used[pairs.low] & used[pairs.high]
    meetings = pairs.sets[inside]
    every = len(meetings) == possible and possible > 0
    return {
        "scatter_width_median": float(np.median(width)) if count else 0.0,
        "scatter_width_min": int(width.min()) if count else 0,
        "scatter_width_max": int(width.max()) if count else 0,
        "scatter_share": float(np.median(width)) / (count - 1) if count > 1 else 0.0,
        "declustering_ratio": (copies - 1) / (count - 1) if count > 1 else math.nan,
        "declustering_ratio_measured": float(np.median(part)) if len(part) else math.nan,
        "pair_sets_min": int(meetings.min()) if every else 0,
        "pair_sets_mean": float(meetings.sum()) / possible if possible else 0.0,
        "pair_sets_max": int(meetings.max()) if len(meetings) else 0,
    }


def _rebuild(pairs: Pairs) -> dict[str, Any]:
    sources = rebuild_sources(pairs)
    some = len(sources.devices) > 0
    return {
        "rebuild_sources_worst": int(sources.distinct.min()) if some else 0,
        "rebuild_sources_median": float(np.median(sources.distinct)) if some else 0.0,
        "rebuild_parallelism_worst": float(sources.effective.min()) if some else 0.0,
        "rebuild_parallelism_median": float(np.median(sources.effective)) if some else 0.0,
    }


def _loss_share(different: npt.NDArray[np.int64], devices: int, fatal: int) -> float | None:
    """The part of all `fatal` devices that include as many members of one set."""
    possible = math.comb(devices, fatal)
    if not possible or not different.size:
        return 0.0
    found = fatal_subsets(different, int(different.max()) + 1, fatal)
    return None if found is None else found / possible
