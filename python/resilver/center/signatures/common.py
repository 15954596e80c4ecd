"""Bursts that runs have in common, by the cells of a grid that many of them meet.

A burst is a point of (begin, length, volume). Cells met by half of the runs or more are dense, and
dense cells that touch are one common burst (CLIQUE: R. Agrawal et al., "Automatic subspace
clustering of high dimensional data for data mining applications", 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resilver.center.signatures.period import PIECE_SAMPLES
from resilver.importers.series import Floats

_CELLS_OF_TIME = 256
_ABOVE = 1.0


@dataclass(frozen=True)
class CommonBurst:
    """A burst that half of the runs or more have at about one time.

    Attributes:
        begin: Seconds from the begin of runs: the median.
        length: Seconds: the median.
        volume: Bytes: the median, with what others moved meanwhile.
        runs: How many runs have it.
    """

    begin: float
    length: float
    volume: float
    runs: int


def common_bursts(
    runs: Sequence[Floats], bursts: Sequence[Floats], step: float
) -> list[CommonBurst]:
    """The bursts that half of the runs or more have, in order of time.

    Args:
        runs: The bytes of each run's samples, NaN where they are not known.
        bursts: What `bursts_of` makes of each.
        step: Seconds of a sample.
    """
    from scipy import ndimage

    runs = [run[:PIECE_SAMPLES] for run in runs]
    points = np.concatenate(
        [
            _points(run, own[: len(run)], number, step)
            for number, (run, own) in enumerate(zip(runs, bursts, strict=True))
        ]
    )
    if not len(points):
        return []
    # Lengths and volumes are parted by factors of four, times evenly.
    span = max(len(run) for run in runs) * step
    cells = np.stack(
        [
            points[:, 1] * (_CELLS_OF_TIME / span),
            np.log2(points[:, 2]) / 2.0,
            np.log2(np.maximum(points[:, 3], 1.0)) / 2.0,
        ],
        axis=1,
    ).astype(np.int64)
    cells -= cells.min(axis=0)
    met = np.zeros((len(runs), *(cells.max(axis=0) + 2)), dtype=bool)
    met[(points[:, 0].astype(np.int64), *cells.T)] = True
    # A cluster on a border has half of its points on either side: a cell counts with the next ones.
    near = met.copy()
    for axis in (1, 2, 3):
        beyond = [slice(None)] * 4
        before = [slice(None)] * 4
        beyond[axis], before[axis] = slice(1, None), slice(None, -1)
        near[tuple(beyond)] |= near[tuple(before)].copy()
    dense = near.sum(axis=0) >= max(2.0, 0.5 * len(runs))
    labels, count = ndimage.label(dense, structure=np.ones((3, 3, 3)))
    # A point belongs to the first dense cell among its own and the next ones.
    of_point = np.zeros(len(points), dtype=np.int64)
    for offset in np.ndindex(2, 2, 2):
        there = np.minimum(cells + np.array(offset), np.array(dense.shape) - 1)
        found = labels[tuple(there.T)]
        of_point = np.where(of_point == 0, found, of_point)
    made = []
    for label in range(1, count + 1):
        own = points[of_point == label]
        who = len(np.unique(own[:, 0]))
        if who >= max(2.0, 0.5 * len(runs)):
            begin, length, volume = np.median(own[:, 1:], axis=0).tolist()
            made.append(CommonBurst(begin, length, volume, who))
    return sorted(made, key=lambda burst: burst.begin)


def _points(run: Floats, bursts: Floats, number: int, step: float) -> Floats:
    """The bursts of a run: its number, begin, length and volume; shape (bursts, 4)."""
    is_high = bursts > _ABOVE
    edges = np.diff(np.concatenate([[False], is_high, [False]]).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    is_known = np.isfinite(run)
    above = np.where(is_known, run - np.median(run[is_known]), 0.0)
    moved = np.concatenate([[0.0], np.cumsum(above)])
    volume = np.maximum(moved[ends] - moved[begins], 0.0)
    return np.stack(
        [np.full(len(begins), float(number)), begins * step, (ends - begins) * step, volume], axis=1
    )
