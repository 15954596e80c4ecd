"""Counting file sizes in fine classes, so that any number of files takes the same memory.

A class is a 64th of a doubling: sizes below 64 bytes have a class each, and from there every octave
[2^k, 2^(k+1)) has 64 classes of equal width. Beside its count a class keeps the sum, the smallest
and the largest of its sizes, from which coarser bins are made without losing the volume.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError
from resilver.importers.sizes.histogram import FILE_BYTES_MAX, Bin
from resilver.units import VOLUME_MAX, exact_bytes

CLASSES_PER_DOUBLING = 64
_LOG2 = 6
_LAST = (50 - _LOG2 + 1) * CLASSES_PER_DOUBLING
# Sums are kept in 64 bits: they are checked before another batch could take them past that, for
# which a batch of the largest files must be far smaller than what is left above VOLUME_MAX = 2^62.
_BATCH = 1024
_FAST_BATCH = 65_536
_FAST_BYTES = 2**44


class SizeGroup(NamedTuple):
    """Files of sizes that are close to each other.

    Attributes:
        octave: The *k* of [2^k, 2^(k+1)); -1 for empty files.
        part: Which equal part of the octave, from 0.
        min_bytes: The smallest size.
        max_bytes: The largest size.
        files: How many there are.
        bytes: What they add up to.
    """

    octave: int
    part: int
    min_bytes: int
    max_bytes: int
    files: int
    bytes: int


class Tally:
    """Counts of sizes, of bounded memory.

    Attributes:
        too_large_count: Sizes above `FILE_BYTES_MAX`, which are left out.
    """

    def __init__(self) -> None:
        self._files = np.zeros(_LAST + 1, np.int64)
        self._bytes = np.zeros(_LAST + 1, np.int64)
        self._min = np.full(_LAST + 1, np.iinfo(np.int64).max)
        self._max = np.full(_LAST + 1, -1, np.int64)
        self.too_large_count = 0

    @property
    def files(self) -> int:
        """How many sizes were counted."""
        return int(self._files.sum())

    @property
    def bytes(self) -> int:
        """What they add up to."""
        return sum(self._bytes.tolist())

    def add(self, sizes: Sequence[int] | npt.NDArray[np.int64]) -> None:
        """Count sizes.

        Args:
            sizes: Sizes in bytes, zero or more, below 2^63.

        Raises:
            ConfigError: All sizes together are more than a system can hold.
        """
        values = np.sort(np.asarray(sizes, np.int64))
        kept = int(np.searchsorted(values, FILE_BYTES_MAX, side="right"))
        self.too_large_count += values.size - kept
        values = values[:kept]
        batch = _FAST_BATCH if kept and values[-1] < _FAST_BYTES else _BATCH
        for start in range(0, kept, batch):
            self._add_sorted(values[start : start + batch])

    def _add_sorted(self, values: npt.NDArray[np.int64]) -> None:
        classes = class_of(values)
        starts = np.flatnonzero(np.diff(classes, prepend=-1))
        at = classes[starts]
        ends = np.append(starts[1:], values.size)
        self._files[at] += ends - starts
        self._bytes[at] += np.add.reduceat(values, starts)
        self._min[at] = np.minimum(self._min[at], values[starts])
        self._max[at] = np.maximum(self._max[at], values[ends - 1])
        if float(self._bytes.sum(dtype=np.float64)) > VOLUME_MAX:
            raise ConfigError(
                f"the files hold more than {exact_bytes(VOLUME_MAX)}, the largest volume",
                "are the sizes in bytes? Import parts of the listing, or a sample",
            )

    def groups(self, per_doubling: int) -> list[SizeGroup]:
        """The sizes, in equal parts of each octave.

        Args:
            per_doubling: How many parts an octave has: a power of two, 1 to 64.

        Returns:
            The groups that hold files, sizes rising.
        """
        merged: dict[tuple[int, int], SizeGroup] = {}
        for index in np.flatnonzero(self._files).tolist():
            low, high = int(self._min[index]), int(self._max[index])
            key = part_of(low, per_doubling)
            files, size = int(self._files[index]), int(self._bytes[index])
            old = merged.get(key)
            if old is not None:
                low, files, size = old.min_bytes, files + old.files, size + old.bytes
            merged[key] = SizeGroup(*key, low, high, files, size)
        return list(merged.values())


def class_of(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The fine class of each size.

    Args:
        sizes: Sizes in bytes, 0 to `FILE_BYTES_MAX`; converting them to float64 is exact.

    Returns:
        Numbers that rise with the size, of the same shape.
    """
    octave = np.frexp(sizes.astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(octave - _LOG2, 0)
    fine = (shift << _LOG2) + (sizes >> shift)
    return np.where(sizes < CLASSES_PER_DOUBLING, sizes, fine)


def part_of(size: int, per_doubling: int) -> tuple[int, int]:
    """The octave of a size, and which of `per_doubling` equal parts of it the size lies in.

    >>> part_of(96, 2)  # The upper half of 64 to 128.
    (6, 1)
    """
    if size == 0:
        return -1, 0
    octave = size.bit_length() - 1
    return octave, ((size - (1 << octave)) * per_doubling) >> octave


def plain_bin(group: SizeGroup, per_doubling: int) -> Bin:
    """The bin of a group with the edges of its part of the octave."""
    if group.octave < 0:
        return Bin(0, 1, group.files)
    low, high = (
        -((-(per_doubling + part) << group.octave) // per_doubling)
        for part in (group.part, group.part + 1)
    )
    return Bin(low, high, group.files)


def kept_bin(group: SizeGroup) -> Bin:
    """The bin of a group that has the group's mean, to a quarter of a byte a file.

    It is the range of the sizes that occur, cut at the end that lies farther from the mean so that
    the middle of what is left is the mean.
    """
    twice_mean = (4 * group.bytes + group.files) // (2 * group.files)
    if twice_mean <= group.min_bytes + group.max_bytes:
        return Bin(group.min_bytes, twice_mean - group.min_bytes + 1, group.files)
    return Bin(twice_mean - group.max_bytes, group.max_bytes + 1, group.files)
