"""How likely further failures lose data while groups lack pieces: the chance of loss right now."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, show

SETS_MAX = 5_000_000
"""The most sets of devices that are looked at each; of more, groups are taken one by one."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Windows:
    """Times in which groups lack pieces.

    Attributes:
        holders: The devices that hold what is left of each group, numbered from 0, and -1 where
            there is none; shape (windows, most holders).
        survives: How many of them each group may still lose; below 0 where data is lost already.
            Shape (windows,).
        begin_seconds: From when on a further loss is not made good before the window ends.
        end_seconds: Until when.
    """

    holders: Ints
    survives: Ints
    begin_seconds: Floats
    end_seconds: Floats

    def of(self, rows: npt.NDArray[np.bool_]) -> Windows:
        """Some of the windows.

        Args:
            rows: Which, shape (windows,).
        """
        return Windows(
            self.holders[rows],
            self.survives[rows],
            self.begin_seconds[rows],
            self.end_seconds[rows],
        )


def chance_of_loss(windows: Windows, rates_per_second: npt.ArrayLike) -> float:
    """The probability that further failures of devices lose data while groups lack pieces.

    Devices fail independently, each at a constant rate, and a group loses data if within its window
    more of its holders fail than it survives. The sets of devices that do so are looked at each:
    a set that is fatal for many groups counts once, for as long as any of them lasts.

    Args:
        windows: The groups that lack pieces, and until when.
        rates_per_second: Failures a second of each device, shape (devices,).

    Returns:
        1 - exp(-S). Of devices whose loss alone is fatal, S is the sum of their rates times the
        time in which they are so, and the result exact. Of sets of several it is the sum of
        -log(1 - p) over the sets, with p the product of 1 - exp(-rate x window). Of windows that
        begin together this is never below the true probability, and above it by a share of about
        the chance that any device fails meanwhile. Where there are more than five million such
        sets, groups are taken one by one, which counts a set for each group that it is fatal for.

    Raises:
        ConfigError: A rate is not a number from 0 on, or a window ends before it begins.

    >>> one = Windows(np.array([[1, 2]]), np.array([0]), np.zeros(1), np.array([3600.0]))
    >>> round(chance_of_loss(one, [0.0, 1e-6, 1e-6]), 9)  # 1 - exp(-2 x 3600 x 1e-6)
    0.007174142
    """
    rates = np.asarray(rates_per_second, dtype=np.float64)
    _check(windows, rates)
    if bool((windows.survives < 0).any()):
        return 1.0
    single = windows.survives == 0
    total = float(critical_seconds(windows.of(single), len(rates)) @ rates)
    rest = windows.of(~single)
    sizes = (rest.holders >= 0).sum(axis=1)
    pairs = zip(sizes.tolist(), (rest.survives + 1).tolist(), strict=True)
    if sum(comb(size, fatal) for size, fatal in pairs) > SETS_MAX:
        return -math.expm1(-total - _apart(rest, rates))
    for begin in np.unique(rest.begin_seconds):
        total += _together(rest.of(rest.begin_seconds == begin), rates)
    return -math.expm1(-total)


def _check(windows: Windows, rates: Floats) -> None:
    wrong = ~(np.isfinite(rates) & (rates >= 0))
    if wrong.any():
        rule, remedy = "a rate is a number from 0 on", "give failures a second"
        value = float(rates[wrong][0])
        raise ConfigError(rule, remedy, key="rates_per_second", value=show(value))
    lasts = windows.end_seconds - windows.begin_seconds
    if not bool((lasts >= 0).all()):
        rule, remedy = "a window ends after it begins", "give both in seconds"
        value = float(windows.end_seconds[~(lasts >= 0)][0])
        raise ConfigError(rule, remedy, key="end_seconds", value=show(value))
    if windows.holders.size and int(windows.holders.max()) >= len(rates):
        rule, remedy = f"there are {len(rates)} devices, numbered from 0", "give a rate for each"
        value = int(windows.holders.max())
        raise ConfigError(rule, remedy, key="holders", value=show(value))


def critical_seconds(windows: Windows, devices: int) -> Floats:
    """For how long the loss of each device alone would lose data.

    Args:
        windows: The groups that lack pieces, and until when.
        devices: How many devices there are.

    Returns:
        Seconds of each device, shape (devices,): the length of the union of its windows.
    """
    rows, columns = np.nonzero((windows.holders >= 0) & (windows.survives == 0)[:, None])
    device = windows.holders[rows, columns]
    begin, end = windows.begin_seconds[rows], windows.end_seconds[rows]
    seconds = np.zeros(devices)
    order = np.lexsort((begin, device))
    device, begin, end = device[order], begin[order], end[order]
    starts = [*np.flatnonzero(np.diff(device, prepend=-1)), len(device)]
    for first, last in pairwise(starts):
        until = np.maximum.accumulate(end[first:last])
        before = np.concatenate(([-math.inf], until[:-1]))
        # What each window adds to those that began before it.
        seconds[device[first]] = np.maximum(until - np.maximum(begin[first:last], before), 0).sum()
    return seconds


def _together(windows: Windows, rates: Floats) -> float:
    """The sum of -log(1 - p) over the fatal sets of windows that begin at one time."""
    total = 0.0
    lasts = windows.end_seconds - windows.begin_seconds
    for sets, rows in _fatal_sets(windows):
        order, kept = _longest(sets, lasts[rows])
        failing = -np.expm1(-rates[sets[order][kept]] * lasts[rows][order][kept][:, None])
        total -= float(np.log1p(-failing.prod(axis=1)).sum())
    return total


def _fatal_sets(windows: Windows) -> Iterator[tuple[Ints, Ints]]:
    """(devices that are fatal together, shape (sets, size); the window of each), by their size."""
    held = np.sort(np.where(windows.holders >= 0, windows.holders, np.iinfo(np.int64).max), axis=1)
    sizes = (windows.holders >= 0).sum(axis=1)
    for fatal in np.unique(windows.survives + 1).tolist():
        sets, rows = [], []
        for size in np.unique(sizes[windows.survives + 1 == fatal]).tolist():
            of = np.flatnonzero((windows.survives + 1 == fatal) & (sizes == size))
            for columns in combinations(range(size), fatal):
                sets.append(held[of][:, columns])
                rows.append(of)
        if sets:
            yield np.concatenate(sets), np.concatenate(rows)


def _longest(sets: Ints, lasts: Floats) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """(an order of the sets, which of them in it to keep): each set with its longest window."""
    order = np.lexsort((lasts, *sets.T[::-1]))
    ordered = sets[order]
    is_last = np.ones(len(ordered), dtype=bool)
    is_last[:-1] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, is_last


def _apart(windows: Windows, rates: Floats) -> float:
    """The sum of -log(1 - P) over groups, with P that more holders fail than the group survives."""
    lasts = windows.end_seconds - windows.begin_seconds
    is_there = windows.holders >= 0
    failing = np.where(is_there, -np.expm1(-rates[windows.holders] * lasts[:, None]), 0.0)
    most = int(windows.survives.max()) + 1
    # Of each group the probability that so many fail; the last entry is that of more.
    number = np.zeros((len(lasts), most + 1))
    number[:, 0] = 1.0
    for column in failing.T:
        number[:, -1] += number[:, -2] * column
        number[:, 1:-1] = number[:, 1:-1] * (1 - column)[:, None] + number[:, :-2] * column[:, None]
        number[:, 0] *= 1 - column
    above = np.arange(most + 1)[None, :] > windows.survives[:, None]
    return float(-np.log1p(-np.minimum((number * above).sum(axis=1), 1 - 1e-16)).sum())
