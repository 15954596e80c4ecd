"""Replica sets as one array, and which devices meet in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.model import HOLE
from resilver.errors import ConfigError

NO_DEVICE = -1
"""What stands in a set where there is no device."""


def replica_sets(sets: Any) -> npt.NDArray[np.int64]:
    """Replica sets in one form, whatever form they came in.

    Args:
        sets: A row a set, of device numbers from 0; -1 and Ceph's 2147483647 stand for no device.
            Rows may be lists of unequal length.

    Returns:
        Devices, shape (sets, copies), with -1 for no device.

    Raises:
        ConfigError: A number is neither a device nor a sign for none.

    >>> replica_sets([[2, 0], [1]]).tolist()
    [[2, 0], [1, -1]]
    """
    if not isinstance(sets, np.ndarray):
        rows = [list(row) for row in sets]
        width = max((len(row) for row in rows), default=0)
        sets = [row + [NO_DEVICE] * (width - len(row)) for row in rows]
    array = np.array(sets, dtype=np.int64)
    if array.ndim != 2:
        array = array.reshape(len(array), -1) if array.size else array.reshape(0, 0)
    array[array == HOLE] = NO_DEVICE
    if array.size and array.min() < NO_DEVICE:
        raise ConfigError(
            f"sets: {array.min()} is not a device; devices are numbered from 0, and "
            f"{NO_DEVICE} stands for none"
        )
    return array


def weights_of(weights: Any, devices: int) -> npt.NDArray[np.float64]:
    """Device weights, checked; equal ones for None.

    Args:
        weights: A weight a device, or None.
        devices: How many devices there are.

    Returns:
        Weights, shape (devices,).

    Raises:
        ConfigError: They are too few or too many, negative, or not finite.
    """
    if weights is None:
        return np.ones(devices)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (devices,):
        raise ConfigError(
            f"weights has the shape {array.shape}: there is one weight for each of {devices} "
            "devices; pass as many, or none"
        )
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise ConfigError("weights: a weight is a finite number from 0; correct the others")
    return array


def summed(
    places: npt.NDArray[np.int64], amounts: npt.NDArray[np.float64], count: int
) -> npt.NDArray[np.float64]:
    """The sum of the amounts that fall on each place.

    Args:
        places: Where each amount falls, from 0 and below `count`.
        amounts: The amounts, of the same shape.
        count: How many places there are.

    Returns:
        Sums, shape (count,).
    """
    return np.bincount(places, weights=amounts, minlength=count).astype(np.float64)


@dataclass(frozen=True)
class Pairs:
    """The pairs of devices that share a set, each once.

    Attributes:
        devices: How many devices there are.
        low: The lower device of each pair, shape (pairs,).
        high: The higher one.
        sets: In how many sets the two meet.
        load: The bytes of these sets (their number, where sets have no bytes).
    """

    devices: int
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    sets: npt.NDArray[np.int64]
    load: npt.NDArray[np.float64]


def pairs_of(
    sets: npt.NDArray[np.int64], devices: int, loads: npt.NDArray[np.float64] | None = None
) -> Pairs:
    """Which devices meet, how often, and in how many bytes.

    Args:
        sets: Replica sets with -1 for no device, shape (sets, copies).
        devices: How many devices there are; the sets name none above.
        loads: Bytes of each set, shape (sets,); one each when None.

    Returns:
        The pairs in ascending order.
    """
    weights = np.ones(len(sets)) if loads is None else loads
    keys: list[npt.NDArray[np.int64]] = []
    values: list[npt.NDArray[np.float64]] = []
    for first in range(sets.shape[1]):
        for second in range(first + 1, sets.shape[1]):
            one, other = sets[:, first], sets[:, second]
            both = (one >= 0) & (other >= 0) & (one != other)
            low = np.minimum(one[both], other[both])
            keys.append(low * devices + np.maximum(one[both], other[both]))
            values.append(weights[both])
    if not keys:
        none = np.empty(0, dtype=np.int64)
        return Pairs(devices, none, none, none, np.empty(0))
    every, of_pair, count = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    load = summed(of_pair, np.concatenate(values), len(every))
    return Pairs(devices, every // max(devices, 1), every % max(devices, 1), count, load)


def distinct_sets(sets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The different sets, whatever the order of their members.

    Args:
        sets: Replica sets with -1 for no device, shape (sets, copies).

    Returns:
        Each once with its members ascending, shape (different sets, copies).
    """
    if not sets.size:
        return sets
    return np.unique(np.sort(sets, axis=1), axis=0)
