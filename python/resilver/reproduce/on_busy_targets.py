"""Evidence of what placing files by load brings, on targets as busy as those of a real system."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files as resources_of
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.center import LoadState, advise
from resilver.center.expected import expect, stream_paces
from resilver.reproduce.advising import generator
from resilver.reproduce.tables import Row
from resilver.units import BytesPerSecond

if TYPE_CHECKING:
    from resilver.center import LoadState
    from resilver.center.layers import Layers

Floats = npt.NDArray[np.float64]

_ADVISED, _OLD, _WRITERS = range(6, 9)
"""The second halves of the keys of random streams, one a case."""


@dataclass(frozen=True, eq=False)
class _Busy:
    """A file system that was watched, and one as busy that is asked about.

    Attributes:
        seconds: When it was watched: shape (moments,).
        shares: The share of what a target can move that each did: shape (moments, targets).
        targets: How many targets the one that is asked about has.
        rate: What each of these moves by itself, in bytes/s.
    """

    seconds: Floats
    shares: Floats
    targets: int
    rate: float

    def drawn(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Which of the watched targets each of ours is like."""
        return rng.integers(0, self.shares.shape[1], self.targets)

    def state(self, moment: int, which: npt.NDArray[np.int64]) -> LoadState:
        """How busy they are at a moment."""
        moved = self.rate * self.shares[moment, which]
        return LoadState.of(self.targets, write_bytes_per_second=moved)


def busy_rows(
    busy: str,
    alone: str,
    targets: int,
    rate: str,
    files: Sequence[int],
    writers: Sequence[int],
    draws: int,
    old: Sequence[float],
) -> list[Row]:
    """What advice brings on targets as busy as those of a file system that was watched.

    Args:
        busy: A table of the catalog's studies, as ``study/file``: a row a moment, with what each
            target moved, in MB/s.
        alone: What one of these targets moves by itself.
        targets: How many targets the file system has that is asked about.
        rate: What one of its targets moves by itself.
        files: How many files jobs write on it.
        writers: How many files jobs write of which the file system draws each one's target.
        draws: How many states a median is of.
        old: How old states are, in seconds.

    Returns:
        Rows with the column ``kind`` ("advised", "old" or "writers"), with ``files``, and
        ``old_seconds``, ``slowest_gain`` and ``mean_gain`` over round robin's; of "writers" over
        drawn targets, with ``rate`` and ``drawn_rate`` of the job in bytes/s, and ``longest`` and
        ``drawn_longest``, the longest write over the shortest.
    """
    file = resources_of("resilver.catalog").joinpath("studies", *busy.split("/"))
    table = np.array(list(csv.reader(file.read_text().splitlines()))[1:], dtype=np.float64)
    shares = 1e6 * table[:, 1:] / float(BytesPerSecond.parse(alone))
    watched = _Busy(table[:, 0], shares, targets, float(BytesPerSecond.parse(rate)))
    return [
        *_advised_rows(watched, files, draws),
        *_old_rows(watched, old, draws),
        *_writer_rows(watched, writers, draws),
    ]


def _advised_rows(busy: _Busy, files: Sequence[int], draws: int) -> Iterator[Row]:
    """Jobs that know how busy targets are, and such that do not."""
    for draw in range(draws):
        which = busy.drawn(generator(draw, _ADVISED))
        state = busy.state(draw % len(busy.seconds), which)
        for count in files:
            found = advise(state, files=count, rate=busy.rate)
            yield {
                "kind": "advised",
                "files": count,
                "slowest_gain": found.expected.slowest / found.round_robin.slowest,
                "mean_gain": found.expected.mean / found.round_robin.mean,
            }


def _old_rows(busy: _Busy, old: Sequence[float], draws: int) -> Iterator[Row]:
    """Jobs on a quarter of the targets, by a state that is old, on what then is there."""
    files = busy.targets // 4
    for seconds in old:
        pairs = np.argwhere(busy.seconds - busy.seconds[:, None] == seconds).tolist()
        for draw in range(draws):
            which = busy.drawn(generator(draw, _OLD))
            then, now = pairs[draw % len(pairs)]
            placed = advise(busy.state(then, which), files=files, rate=busy.rate).placed
            true = advise(busy.state(now, which), files=files, rate=busy.rate)
            got = expect(true.layers, placed, None)
            yield {
                "kind": "old",
                "files": files,
                "old_seconds": seconds,
                "slowest_gain": got.slowest / true.round_robin.slowest,
                "mean_gain": got.mean / true.round_robin.mean,
            }


def _writer_rows(busy: _Busy, writers: Sequence[int], draws: int) -> Iterator[Row]:
    """A file a writer, on a target that the file system draws for it, and where advice puts it."""
    for draw in range(draws):
        rng = generator(draw, _WRITERS)
        state = busy.state(draw % len(busy.seconds), busy.drawn(rng))
        for count in writers:
            found = advise(state, files=count, rate=busy.rate)
            chance = rng.integers(0, busy.targets, (count, 1))
            drawn = expect(found.layers, chance, None)
            yield {
                "kind": "writers",
                "files": count,
                "rate": found.expected.slowest,
                "drawn_rate": drawn.slowest,
                "slowest_gain": found.expected.slowest / drawn.slowest,
                "mean_gain": found.expected.mean / drawn.mean,
                "longest": _longest(found.layers, found.placed),
                "drawn_longest": _longest(found.layers, chance),
            }


def _longest(layers: Layers, placed: npt.NDArray[np.int64]) -> float:
    """The longest write of a job over its shortest, of files of one size."""
    paces = stream_paces(layers, placed, None).max(axis=(0, 2))
    return float(paces.max() / paces.min())
