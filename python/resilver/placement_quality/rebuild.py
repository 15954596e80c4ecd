"""How many devices work on the rebuild of one, and how evenly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import Pairs, replica_sets, summed


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
    devices = pairs.devices
    ends = np.concatenate([pairs.low, pairs.high])
    work = np.concatenate([pairs.load, pairs.load])
    distinct = np.bincount(ends, minlength=devices)
    total = summed(ends, work, devices)
    busiest = np.zeros(devices)
    np.maximum.at(busiest, ends, work)
    return _parallelism(distinct, total, busiest)


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


def _parallelism(
    distinct: npt.NDArray[np.int64],
    total: npt.NDArray[np.float64],
    busiest: npt.NDArray[np.float64],
) -> Parallelism:
    devices = np.flatnonzero(distinct)
    effective = np.zeros(len(devices))
    np.divide(total[devices], busiest[devices], out=effective, where=busiest[devices] > 0)
    return Parallelism(devices, distinct[devices], effective)
