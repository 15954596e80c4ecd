"""What a stream gets of a part that others use, and which parts serve so many streams at a pace.

A part serves streams by max-min fair shares (Bertsekas and Gallager, *Data Networks*, 6.5.2). Some
of the others' streams take all they get, as those of another job that was advised; what else was
measured moves w bytes/s by b streams and wants no more. A stream beside x - 1 of its job and e that
take all then gets max((r - w) / (x + e), r / (x + e + b)) of a part of rate r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NEAR = 1e-9
"""Counts of streams at a pace are exact to this share: what pace was computed from counts."""


def least_pace(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """The least pace of an interval at which something holds, to nine digits."""
    while high - low > _NEAR * high:
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a layer, and what others do there.

    Attributes:
        rates: What each moves, in bytes/s or in any one unit: shape (parts,).
        greedy: Streams that take all they get: the same shape.
        busy: What else it moves, in that unit.
        others: By how many streams that is moved.
    """

    rates: Floats
    greedy: Floats
    busy: Floats
    others: Floats

    def pace(self, streams: npt.NDArray[np.floating | np.integer]) -> Floats:
        """How long each of a job's streams takes a byte, beside all others.

        Args:
            streams: How many the job has at each part: shape (..., parts).
        """
        ours = streams + self.greedy
        with np.errstate(divide="ignore", invalid="ignore"):
            beside = np.where(ours > 0.0, ours / (self.rates - self.busy), 0.0)
            shared = (ours + self.others) / self.rates
        return np.asarray(np.minimum(beside, shared))

    def room(self, pace: float) -> Floats:
        """How many streams of a job each part serves at a pace at least.

        Args:
            pace: Time a byte.
        """
        with np.errstate(invalid="ignore"):
            ours = np.maximum(pace * (self.rates - self.busy), pace * self.rates - self.others)
        return np.maximum(np.floor((ours - self.greedy) * (1.0 + _NEAR) + _NEAR), 0.0)
