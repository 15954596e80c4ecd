"""Ways on a torus: along X, then Y, then Z, on each ring the shorter way round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def steps(source: npt.NDArray[Any], target: npt.NDArray[Any], length: int) -> Ints:
    """How far it is on a ring from one place to another: upwards if positive; a tie goes upwards.

    Args:
        source: Places, from 0.
        target: Places, of a shape that fits.
        length: The ring's.

    >>> steps(np.array([0, 0, 3]), np.array([3, 2, 0]), 4).tolist()
    [-1, 2, 1]
    """
    up = (target - source) % length
    return np.asarray(np.where(2 * up <= length, up, up - length))


def hops(source: npt.NDArray[Any], target: npt.NDArray[Any], torus: tuple[int, int, int]) -> Ints:
    """How many hops lie between places, in X, Y and Z.

    Args:
        source: Places: shape (..., 3).
        target: Places, of a shape that fits.
        torus: The lengths of the rings.
    """
    found = [np.abs(steps(source[..., axis], target[..., axis], torus[axis])) for axis in range(3)]
    return np.stack(found, axis=-1)


class ChannelLoads:
    """How much passes each channel of a torus: from each chip up and down, in X, Y and Z.

    A way on a ring adds to a row of neighbouring channels, so only its ends are noted, and the rows
    are added up once.

    Args:
        torus: The lengths of the rings.
    """

    def __init__(self, torus: tuple[int, int, int]) -> None:
        self.torus = torus
        # By axis: every ring, and its places twice in a row so that no way goes round the end.
        self._ends = [np.zeros((2, math.prod(torus) // length, 2 * length)) for length in torus]

    def add(
        self, source: npt.NDArray[Any], target: npt.NDArray[Any], amount: npt.NDArray[Any]
    ) -> None:
        """Add ways.

        Args:
            source: Where they begin: shape (ways, 3).
            target: Where they end: the same shape.
            amount: What passes each: shape (ways,).
        """
        passed = source.copy()
        for axis, length in enumerate(self.torus):
            others = [other for other in range(3) if other != axis]
            ring = passed[:, others[0]] * self.torus[others[1]] + passed[:, others[1]]
            keys = (ring * length + source[:, axis]) * length + target[:, axis]
            count = math.prod(self.torus) * length
            weights = amount
            if count <= len(keys):
                # More ways than can differ here: those that are alike are added up first.
                weights = np.bincount(keys, weights=amount, minlength=count)
                keys = np.flatnonzero(weights)
                weights = weights[keys]
            ring, begin, end = keys // length**2, keys // length % length, keys % length
            far = steps(begin, end, length)
            for direction, goes in enumerate((far > 0, far < 0)):
                self._add(axis, direction, ring[goes], begin[goes], far[goes], weights[goes])
            passed[:, axis] = target[:, axis]

    def _add(
        self, axis: int, direction: int, ring: Ints, start: Ints, far: Ints, amount: Floats
    ) -> None:
        ends = self._ends[axis][direction]
        width = ends.shape[1]
        # Downwards it leaves the places from the start to the one above the end.
        first = start if direction == 0 else start + far + 1 + self.torus[axis]
        first = first % self.torus[axis]
        last = first + np.abs(far)
        flat = ends.reshape(-1)
        for places, sign in ((first, 1.0), (last, -1.0)):
            keeps = places < width
            flat += sign * np.bincount(
                (ring * width + places)[keeps], weights=amount[keeps], minlength=flat.size
            )

    def of(self, axis: int) -> Floats:
        """What passes each channel of an axis.

        Returns:
            Shape (2, X, Y, Z): upwards and downwards, by the chip that the channel leaves.
        """
        length = self.torus[axis]
        sums = np.cumsum(self._ends[axis], axis=2)
        folded = sums[:, :, :length] + sums[:, :, length:]
        others = [self.torus[other] for other in range(3) if other != axis]
        rings = folded.reshape(2, *others, length)
        return np.ascontiguousarray(np.moveaxis(rings, 3, 1 + axis))

    def largest(self) -> tuple[float, float, float]:
        """The largest load of a channel in X, Y and Z."""
        x, y, z = (float(self.of(axis).max(initial=0.0)) for axis in range(3))
        return x, y, z
