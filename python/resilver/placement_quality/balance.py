"""How evenly a load lies on devices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import Pairs, replica_sets, summed, weights_of


@dataclass(frozen=True)
class Balance:
    """How evenly a load lies on the devices that may carry it.

    Loads are measured against each device's fair share, its weight's part of the total; with equal
    weights that is the mean.

    Attributes:
        total: The whole load: copies or bytes.
        mean: The load a device, over the devices of positive weight.
        max_over_fair: The fullest device's load over its fair share.
        min_over_fair: The emptiest device's.
        coefficient_of_variation: Standard deviation of load over fair share, around one.
        expected_coefficient_of_variation: What choosing at random would give, or None where the
            load is not a count of copies.
        fullest: The fullest device's number, or None without devices.
        emptiest: The emptiest device's.
    """

    total: float
    mean: float
    max_over_fair: float
    min_over_fair: float
    coefficient_of_variation: float
    expected_coefficient_of_variation: float | None
    fullest: int | None
    emptiest: int | None


def balance(loads: Any, weights: Any = None, *, draws: int | None = None) -> Balance:
    """How evenly loads lie.

    Args:
        loads: The load of each device, shape (devices,).
        weights: The weight of each, which says its fair share; equal when None. A device of weight
            zero should carry nothing and does not enter.
        draws: How many sets chose their devices, where `loads` counts copies: the coefficient of
            variation that choosing at random would give then follows.

    Returns:
        The balance; its ratios are NaN where there is no load or no weight.

    Raises:
        ConfigError: The weights do not fit.

    With n devices of equal weight, m sets of r different devices put a Binomial(m, r/n) number of
    copies on each, so the expected coefficient of variation is sqrt((1 - r/n) / (m r/n)).

    >>> balance([2, 4, 6]).max_over_fair
    1.5
    """
    load = np.asarray(loads, dtype=np.float64)
    weight = weights_of(weights, len(load))
    used = np.flatnonzero(weight > 0)
    total = float(load[used].sum())
    nothing = Balance(total, 0.0, math.nan, math.nan, math.nan, None, None, None)
    if not len(used) or total <= 0:
        return nothing
    share = weight[used] / weight[used].sum()
    ratio = load[used] / (share * total)
    # Weighted by the share, the mean ratio is one whatever the weights.
    deviation = float(np.sqrt(np.sum(share * (ratio - 1.0) ** 2)))
    return Balance(
        total=total,
        mean=total / len(used),
        max_over_fair=float(ratio.max()),
        min_over_fair=float(ratio.min()),
        coefficient_of_variation=deviation,
        expected_coefficient_of_variation=_at_random(share, total, draws),
        fullest=int(used[np.argmax(ratio)]),
        emptiest=int(used[np.argmin(ratio)]),
    )


def _at_random(share: npt.NDArray[np.float64], copies: float, draws: int | None) -> float | None:
    """The coefficient of variation if each set held each device with its fair probability."""
    if not draws:
        return None
    # A device is in a set with probability p = its share of all copies over the number of sets; its
    # ratio then has the variance (1 - p) / (draws p).
    chance = np.minimum(share * copies / draws, 1.0)
    return float(np.sqrt(np.sum(share * (1.0 - chance) / (draws * chance))))


@dataclass(frozen=True)
class Parallelism:
    """How much of a rebuild goes on at once, for each failed device.

    Attributes:
        devices: The failed devices, one after the other alone, shape (n,).
        distinct: How many different devices take part in the rebuild of each, shape (n,).
        effective: The whole work over the work of the busiest, shape (n,): how many times faster
            the rebuild is than if that device did it all. Zero where nothing is to rebuild.
    """

    devices: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64]
    effective: npt.NDArray[np.float64]


def rebuild_sources(pairs: Pairs) -> Parallelism:
    """From how many devices the copies of each failed device would be read.

    Every surviving copy of a set is taken to be as good a source as another, so a survivor's work
    is in proportion to the bytes that it shares with the failed device.

    Args:
        pairs: Which devices share how much.

    Returns:
        A value for each device that shares a set.
    """
    count = pairs.devices
    ends = np.concatenate([pairs.low, pairs.high])
    work = np.concatenate([pairs.load, pairs.load])
    distinct = np.bincount(ends, minlength=count)
    total = summed(ends, work, count)
    busiest = np.zeros(count)
    np.maximum.at(busiest, ends, work)
    devices = np.flatnonzero(distinct)
    effective = np.zeros(len(devices))
    np.divide(total[devices], busiest[devices], out=effective, where=busiest[devices] > 0)
    return Parallelism(devices, distinct[devices], effective)


def rebuild_targets(before: Any, after: Any, failed: int, loads: Any = None) -> tuple[int, float]:
    """To how many devices the copies of a failed device go, and how evenly.

    Args:
        before: Replica sets, a row a set.
        after: Those of the same sets once the device is out.
        failed: The device.
        loads: The bytes of each set's copy; one each when None.

    Returns:
        How many different devices get copies that they did not have, among the sets that the failed
        device was in, and the whole of these bytes over the busiest target's.

    >>> rebuild_targets([[0, 1], [0, 2]], [[2, 1], [1, 2]], 0)
    (2, 2.0)
    """
    old, new = replica_sets(before), replica_sets(after)
    touched = np.flatnonzero(np.any(old == failed, axis=1))
    old, new = old[touched], new[touched]
    amount = np.ones(len(touched)) if loads is None else np.asarray(loads, dtype=float)[touched]
    gained = (new >= 0) & ~np.any(new[:, :, None] == old[:, None, :], axis=2)
    rows, columns = np.nonzero(gained)
    if not len(rows):
        return 0, 0.0
    work = summed(new[rows, columns], amount[rows], 0)
    busiest = float(work.max())
    return int(np.count_nonzero(np.bincount(new[rows, columns]))), (
        float(work.sum()) / busiest if busiest > 0 else 0.0
    )
