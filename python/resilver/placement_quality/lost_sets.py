"""Sets of devices that are asked, for many failures at once, whether any of them loses data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import NO_DEVICE
from resilver.errors import ConfigError, show

_PROBED_MAX = 20_000
"""The most losses of positions that are tried to find how many are always survived."""

_WORDS_MAX = 1 << 22
"""Words of 64 sets, over all devices, up to which each device has a word for every set: 32 MiB."""

_CHUNK_WORDS = 1 << 20
"""Words, or lost pieces, that are worked on at once."""

Devices = npt.NDArray[np.int64]


class LostSets:
    """Sets of devices, each of which loses data or not by the positions that it lacks.

    Args:
        array: Devices by position, shape (sets, positions), -1 where there is none.
        devices: How many devices there are.
        survives: Whether a set survives the loss of some positions; more losses never help.

    Attributes:
        count: Different sets.
        always: So many lost positions are survived, wherever they are.
        never: Whether no more ever are: so it is for copies and Reed-Solomon codes.
        holes: The most positions that some set lacks from the start.
        repeats: The most positions of a set that one device has.

    Raises:
        ConfigError: A set has more than 64 positions.
    """

    def __init__(
        self,
        array: npt.NDArray[np.int64],
        devices: int,
        survives: Callable[[list[int]], bool],
    ) -> None:
        distinct = np.unique(array, axis=0) if array.size else array
        self.count, self.width = distinct.shape
        if self.width > 64:
            rule = "a set has at most 64 positions"
            raise ConfigError(rule, key="sets", value=show(self.width))
        self.devices = devices
        self.sets = distinct
        self._survives = survives
        self._is_fatal: dict[int, bool] = {}
        bits = np.left_shift(np.uint64(1), np.arange(self.width, dtype=np.uint64))
        self._lacking = ((distinct == NO_DEVICE) * bits).sum(axis=1, dtype=np.uint64)
        self._lacks = (distinct == NO_DEVICE).sum(axis=1)
        self.holes = int(self._lacks.max(initial=0))
        # Each device's places, one after the other: the set, and the bit of the position.
        order = np.argsort(distinct, axis=None, kind="stable")
        self._starts = np.searchsorted(distinct.reshape(-1)[order], np.arange(devices + 1))
        self._set_of = order // max(self.width, 1)
        self._bit_of = bits[order % max(self.width, 1)] if self.width else bits
        self.repeats = self._most_repeated()
        self.always, self.never = self._probed()
        words = -(-self.count // 64)
        fits = 0 < self.repeats * devices * words <= _WORDS_MAX
        self._layers = self._words(words) if fits else None

    @property
    def is_dense(self) -> bool:
        """Whether each device has a word for every 64 sets, by which many failures are tried."""
        return self._layers is not None

    def _most_repeated(self) -> int:
        held = np.sort(self.sets, axis=1)
        most, same = 1, np.ones(len(held), dtype=np.int64)
        for column in range(1, self.width):
            again = (held[:, column] == held[:, column - 1]) & (held[:, column] != NO_DEVICE)
            same = np.where(again, same + 1, 1)
            most = max(most, int(same.max(initial=1)))
        return most

    def _probed(self) -> tuple[int, bool]:
        """How many lost positions are always survived, and whether one more never is.

        Where trying all would take too long, as many as were tried: none beyond is taken for
        granted either way.
        """
        tried = 0
        for losses in range(1, self.width + 1):
            tried += math.comb(self.width, losses)
            if tried > _PROBED_MAX:
                return losses - 1, False
            survived = [
                self._survives(list(lost)) for lost in combinations(range(self.width), losses)
            ]
            if not all(survived):
                return losses - 1, not any(survived)
        return self.width, True

    def _words(self, words: int) -> npt.NDArray[np.uint64]:
        """Of each device a bit for each set, shape (repeats, devices, words).

        In the layer r is a bit where the device has more than r positions of the set.
        """
        layers = np.zeros((self.repeats, self.devices, words), dtype=np.uint64)
        device = np.repeat(np.arange(self.devices), np.diff(self._starts))
        place = self._set_of[self._starts[0] :]
        index = np.arange(len(place))
        is_first = np.diff(device * self.count + place, prepend=-1) != 0
        layer = index - np.maximum.accumulate(np.where(is_first, index, 0))
        bit = np.left_shift(np.uint64(1), (place % 64).astype(np.uint64))
        np.bitwise_or.at(layers, (layer, device, place // 64), bit)
        return layers

    def lost(self, failed: Devices) -> npt.NDArray[np.bool_]:
        """Whether some set does not survive the failure of some devices.

        A set of which nothing fails is not looked at, whatever it lacks from the start.

        Args:
            failed: Different devices, shape (draws, failures).

        Returns:
            Shape (draws,).
        """
        draws, failures = failed.shape
        found = np.zeros(draws, dtype=bool)
        if not self.count or failures * self.repeats + self.holes <= self.always:
            return found
        for part in self.parts(failed):
            if self.never and self._layers is not None:
                found[part] = self._flagged(failed[part]).any(axis=1)
            else:
                row, _, pattern = self.beyond(failed[part])
                found[part.start + self.fatal(row, pattern)] = True
        return found

    def beyond(self, failed: Devices) -> tuple[Devices, Devices, npt.NDArray[np.uint64]]:
        """The sets of which something fails, and which lack more than is always survived.

        Args:
            failed: Different devices, shape (draws, failures).

        Returns:
            For each such set of each draw: the draw, the set, and the positions that it lacks, as
            bits.
        """
        if self._layers is not None:
            return self._patterns(failed, self._flagged(failed))
        row, place, pattern = self._touched(failed)
        more = np.bitwise_count(pattern) > self.always
        return row[more], place[more], pattern[more]

    def lacking(self, place: Devices) -> Devices:
        """How many positions of these sets have no device."""
        lacks: Devices = self._lacks[place]
        return lacks

    def parts(self, failed: Devices) -> Iterator[slice]:
        """Slices of draws whose work fits in memory."""
        each = failed.shape[1] * max(self.count * self.width // max(self.devices, 1), 1)
        if self._layers is not None:
            each = self._layers.shape[2] * (self.always + 2)
        step = max(1, _CHUNK_WORDS // max(each, 1))
        for begin in range(0, len(failed), step):
            yield slice(begin, begin + step)

    def _planes(
        self, failed: Devices
    ) -> tuple[list[npt.NDArray[np.uint64]], npt.NDArray[np.uint64]]:
        """For each draw, bits of the sets that lack at least 1, 2, ... up to `always` + 1
        positions; and of those of which something failed."""
        assert self._layers is not None
        shape = (len(failed), self._layers.shape[2])
        lacking = (_packed(self._lacks >= number) for number in range(1, self.always + 2))
        planes = [np.broadcast_to(plane, shape).copy() for plane in lacking]
        touched = np.zeros(shape, dtype=np.uint64)
        for column in failed.T:
            touched |= self._layers[0, column]
            for layer in self._layers:
                member = layer[column]
                for above in range(self.always, 0, -1):
                    planes[above] |= planes[above - 1] & member
                planes[0] |= member
        return planes, touched

    def _flagged(self, failed: Devices) -> npt.NDArray[np.uint64]:
        """Bits of the sets that lack more than is always survived, shape (draws, words)."""
        planes, touched = self._planes(failed)
        return planes[-1] & touched

    def _patterns(
        self, failed: Devices, flags: npt.NDArray[np.uint64]
    ) -> tuple[Devices, Devices, npt.NDArray[np.uint64]]:
        """Of each flagged set of each draw, the draw, the set and the positions that it lacks."""
        row, word = np.nonzero(flags)
        bits = np.unpackbits(
            flags[row, word].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little"
        )
        which, bit = np.nonzero(bits)
        row, place = row[which], word[which] * 64 + bit
        pattern = self._lacking[place].copy()
        of_set = self.sets[place]
        positions = np.left_shift(np.uint64(1), np.arange(self.width, dtype=np.uint64))
        for column in failed.T:
            gone = of_set == column[row][:, np.newaxis]
            pattern |= (gone * positions).sum(axis=1, dtype=np.uint64)
        return row, place, pattern

    def _touched(self, failed: Devices) -> tuple[Devices, Devices, npt.NDArray[np.uint64]]:
        """For each set of which something fails, of each draw: draw, set, and what it lacks."""
        begins, ends = self._starts[failed], self._starts[failed + 1]
        lengths = (ends - begins).reshape(-1)
        draw = np.repeat(np.repeat(np.arange(len(failed)), failed.shape[1]), lengths)
        steps = np.arange(len(draw)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entry = np.repeat(begins.reshape(-1), lengths) + steps
        key = draw * self.count + self._set_of[entry]
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        if not len(first):
            none = np.empty(0, dtype=np.int64)
            return none, none, none.astype(np.uint64)
        pattern = np.bitwise_or.reduceat(self._bit_of[entry[order]], first)
        row, place = key[first] // self.count, key[first] % self.count
        return row, place, pattern | self._lacking[place]

    def _fatal(self, patterns: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Whether each set of lost positions, more than are always survived, loses data."""
        if self.never:
            return np.ones(len(patterns), dtype=bool)
        distinct, place = np.unique(patterns, return_inverse=True)
        for word in distinct.tolist():
            if word not in self._is_fatal:
                lost = [bit for bit in range(self.width) if word >> bit & 1]
                self._is_fatal[word] = not self._survives(lost)
        return np.array([self._is_fatal[word] for word in distinct.tolist()], dtype=bool)[place]

    def fatal(self, row: Devices, pattern: npt.NDArray[np.uint64]) -> Devices:
        """Of draws with such sets (`beyond`), those that lose data, each once."""
        return np.unique(row[self._fatal(pattern)])

    def all_lost(self, failures: int) -> int:
        """How many of all combinations of so many devices lose data: each is looked at."""
        if failures * self.repeats + self.holes <= self.always or not self.count:
            return 0
        if failures < 2 or self._layers is None or not self.never or self.repeats > 1:
            return sum(int(self.lost(part).sum()) for part in self._combinations(failures))
        layer, lost = self._layers[0], 0
        for last in range(failures - 2, self.devices - 1):
            # All combinations whose last but one device is this one, by those before it and after.
            before = np.array(list(combinations(range(last), failures - 2)), dtype=np.int64)
            before = before.reshape(math.comb(last, failures - 2), failures - 2)
            prefixes = np.column_stack([before, np.full(len(before), last)])
            after = layer[last + 1 :]
            step = max(1, _CHUNK_WORDS // (after.size or 1))
            for begin in range(0, len(prefixes), step):
                planes, touched = self._planes(prefixes[begin : begin + step])
                # How many draws lose data with one more device each.
                beyond = planes[-1][:, np.newaxis, :]
                nearly = planes[-2][:, np.newaxis, :] if len(planes) > 1 else ~np.zeros_like(beyond)
                flags = (nearly & after) | (beyond & (touched[:, np.newaxis, :] | after))
                lost += int(flags.any(axis=2).sum())
        return lost

    def _combinations(self, failures: int) -> Iterator[Devices]:
        chosen = combinations(range(self.devices), failures)
        while part := list(islice(chosen, 50_000)):
            yield np.array(part, dtype=np.int64).reshape(len(part), failures)


def _packed(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """A bit for each flag, in words of 64."""
    padded = np.zeros(-(-len(flags) // 64) * 64, dtype=np.uint8)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
