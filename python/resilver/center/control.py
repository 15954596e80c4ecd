"""Control charts of a benchmark that is run again and again: Shewhart's and the cumulative sum.

Each run is compared with those before it at the same level: how far it is off their mean, as a t
value turned into the normal deviation of the same chance (a self-starting chart, so that false
alarms are as often as tables say however few runs there were at first). A run beyond three is an
outlier (Shewhart). The cumulative sums add up what runs are beyond half a deviation, upwards and
downwards, and signal at five (Page): they find small lasting changes. A run beyond four deviations
counts there if the next one is so too, for four each, and moves no mean, so that one outlier alone
signals nothing. After a signal the chart goes on from the new level.

Where runs are independent and normal, Shewhart's limits are passed by chance once in 370 runs, and
the sums' once in 465; a step of one deviation from a level that is well known is found after 10.4
runs in the mean.

Sources: D. C. Montgomery, "Introduction to Statistical Quality Control", chapters 6 and 9; E. S.
Page, "Continuous inspection schemes", Biometrika 41 (1954); D. M. Hawkins, "Self-starting CUSUM
charts for location and scale", The Statistician 36 (1987); D. Siegmund, "Sequential Analysis"
(1985), for run lengths; J. M. Lucas, R. B. Crosier, "Robust CUSUM" (1982), for the four deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LIMIT = 3.0
"""Deviations beyond which a run is an outlier."""
SLACK, DECISION = 0.5, 5.0
"""The cumulative sums' reference value and decision interval, in deviations."""
COUNTED_MOST = 4.0
"""Deviations for which a run counts in the sums at most."""

_OF_DIFFERENCES = 0.953873
_FAR = 30.0
# What Siegmund's approximation adds to the decision interval for its overshoot, on either side.
_OVERSHOOT = 1.166


@dataclass(frozen=True)
class Change:
    """Where the level changed.

    Attributes:
        begin: The first run that is changed.
        found: The run at which the sums signalled it.
        end: The run after the last one of the new level, or of the drift.
        is_drift: Whether it goes on changing from run to run.
        before: The level before.
        after: The level after, or at the end of the drift.
    """

    begin: int
    found: int
    end: int
    is_drift: bool
    before: float
    after: float


@dataclass(frozen=True)
class Control:
    """A series against its limits.

    Attributes:
        level: The level of the first runs.
        deviation: The deviation of a run from its level.
        levels: The level that holds at each run: shape (runs,).
        changes: Steps and drifts, in order.
        outliers: The runs that are beyond the limits of the level that holds there.
        upper, lower: The cumulative sums, which begin anew after a signal: shape (runs,), 0 among
            the first runs.
    """

    level: float
    deviation: float
    levels: Floats
    changes: tuple[Change, ...]
    outliers: tuple[int, ...]
    upper: Floats
    lower: Floats


def run_length(shift: float = 0.0) -> float:
    """After how many runs the two sums signal in the mean (Siegmund's approximation).

    Args:
        shift: How many deviations the level is off; at 0 the signals are false.

    >>> round(run_length()), round(run_length(1.0), 1), round(run_length(2.0), 1)
    (469, 10.3, 3.9)
    """
    rates = 0.0
    width = DECISION + _OVERSHOOT
    for drift in (shift - SLACK, -shift - SLACK):
        if drift == 0.0:
            rates += 1.0 / width**2
        else:
            x = 2.0 * drift * width
            rates += 2.0 * drift**2 / (math.exp(-x) + x - 1.0)
    return 1.0 / rates


@dataclass(frozen=True)
class _Known:
    """What is known of the level and of the deviation at a run."""

    mean: float
    count: int
    squares: float
    degrees: int

    def deviations(self, value: float) -> float:
        """How many normal deviations a further run is off."""
        from scipy.special import ndtri, stdtr

        spread = math.sqrt(self.squares / self.degrees * (1.0 + 1.0 / self.count))
        if spread == 0.0:
            return 0.0 if value == self.mean else math.copysign(_FAR, value - self.mean)
        # By the lower tail, which keeps its digits far out.
        tail = float(ndtri(stdtr(self.degrees, -abs(value - self.mean) / spread)))
        return math.copysign(min(-tail, _FAR), value - self.mean)

    def with_run(self, value: float) -> _Known:
        """The same with one more run at this level."""
        mean = self.mean + (value - self.mean) / (self.count + 1)
        squares = self.squares + (value - self.mean) * (value - mean)
        return _Known(mean, self.count + 1, squares, self.degrees + 1)


def _first(values: Floats) -> _Known:
    """What the first runs say, without those far off their median."""
    differences = np.abs(np.diff(values))
    wide = COUNTED_MOST * float(np.median(differences)) / _OF_DIFFERENCES
    kept = values[np.abs(values - np.median(values)) <= wide] if wide else values
    mean = float(np.mean(kept))
    return _Known(mean, len(kept), float(np.sum((kept - mean) ** 2)), len(kept) - 1)


@dataclass(frozen=True)
class _Signal:
    begin: int
    found: int
    before: float


def control(values: Floats, first: int) -> Control:
    """Hold a series against what its first runs say is usual.

    Args:
        values: The runs, in order: shape (runs,).
        first: How many of them say what is usual at first; three or more.
    """
    begun = _first(values[:first])
    signals, known, upper, lower = _signals(values, first, begun)
    deviation = math.sqrt(known.squares / known.degrees)
    changes = _merged(values, signals, deviation)
    levels = np.full(len(values), begun.mean)
    for one in changes:
        count = one.end - one.begin
        drift = np.linspace(one.before, one.after, count)
        levels[one.begin : one.end] = drift if one.is_drift else one.after
    residual = np.abs(values - levels)
    outliers = np.flatnonzero(residual > max(LIMIT * deviation, 1e-9 * abs(begun.mean)))
    late = tuple(int(at) for at in outliers if at >= first)
    return Control(begun.mean, deviation, levels, tuple(changes), late, upper, lower)


def _signals(
    values: Floats, first: int, known: _Known
) -> tuple[list[_Signal], _Known, Floats, Floats]:
    """The signals of the sums, what is known at the end, and the sums."""
    found: list[_Signal] = []
    upper, lower, offs = (np.zeros(len(values)) for _ in range(3))
    # Before each run, what was known; and where each sum was last nothing.
    states = [known] * first
    high = low = alone = 0.0
    high_from = low_from = since = first
    for at in range(first, len(values)):
        states.append(known)
        value = float(values[at])
        off = known.deviations(value)
        offs[at] = off
        if abs(off) <= COUNTED_MOST:
            known = known.with_run(value)
            high, low = max(high + off - SLACK, 0.0), max(low - off - SLACK, 0.0)
            alone = 0.0
        elif alone * off > 0.0:
            # Two such runs, one after another, are no chance.
            both = 2.0 * (COUNTED_MOST - SLACK)
            high, low = (high + both, 0.0) if off > 0.0 else (0.0, low + both)
        else:
            alone = off
        upper[at], lower[at] = high, low
        if max(high, low) > DECISION:
            begin = _begin(offs, high_from if high > DECISION else low_from, at, since)
            before = states[begin]
            found.append(_Signal(begin, at, before.mean))
            runs = values[begin : at + 1]
            known = _Known(float(np.mean(runs)), len(runs), before.squares, before.degrees)
            high = low = alone = 0.0
            since = at + 1
        high_from = at + 1 if high == 0.0 else high_from
        low_from = at + 1 if low == 0.0 else low_from
    return found, known, upper, lower


def _begin(offs: Floats, after_nothing: int, at: int, since: int) -> int:
    """The run that a change most likely began with (the most likely split of those since).

    Args:
        offs: How far each run was off.
        after_nothing: The run after the sum was last nothing (Page).
        at: The run at which it signalled.
        since: The first run that is held against the same level.
    """
    least = after_nothing
    while least > since and abs(offs[least - 1]) > COUNTED_MOST:
        least -= 1
    total = np.cumsum(offs[least : at + 1][::-1])[::-1]
    counts = np.arange(len(total), 0, -1)
    return least + int(np.argmax(total**2 / counts))


def _merged(values: Floats, signals: list[_Signal], deviation: float) -> list[Change]:
    """Signals as steps, and those that follow each other one way as a drift where a line is nearer.

    A step costs a level and a place, a drift a slope and a place, by Schwarz's criterion.
    """
    ends = [*(one.begin for one in signals), len(values)][1:]
    afters = [
        float(np.median(values[one.begin : end])) for one, end in zip(signals, ends, strict=True)
    ]
    changes: list[Change] = []
    at = 0
    while at < len(signals):
        befores = [changes[-1].after if changes else signals[0].before, *afters[at:]]
        last = at
        while last + 1 < len(signals) and (befores[last + 2 - at] > befores[last + 1 - at]) == (
            befores[1] > befores[0]
        ):
            last += 1
        steps = [
            Change(signals[one].begin, signals[one].found, ends[one], False, start, afters[one])
            for one, start in zip(range(at, last + 1), befores, strict=False)
        ]
        # All of them steps stands first and so wins a draw; else some steps, and then a drift.
        ways = [steps]
        ways += [[*steps[:n], _drift(values, steps[n:])] for n in range(len(steps))]
        worths = [_worth(values, way, deviation) for way in ways]
        changes += ways[worths.index(min(worths))]
        at = last + 1
    return changes


def _drift(values: Floats, steps: list[Change]) -> Change:
    """One drift in place of steps that follow each other."""
    begin, end, before = steps[0].begin, steps[-1].end, steps[0].before
    after = before + _slope(values[begin:end], before) * (end - begin - 1)
    return Change(begin, steps[0].found, end, True, before, after)


def _slope(values: Floats, before: float) -> float:
    """The slope a run of a line that begins at the old level, by least squares."""
    places = np.arange(len(values), dtype=np.float64)
    square = float(places @ places)
    return float(places @ (values - before)) / square if square else 0.0


def _worth(values: Floats, changes: list[Change], deviation: float) -> float:
    """How far runs are off such changes, with what the changes cost: less is better."""
    off = 0.0
    for one in changes:
        count = one.end - one.begin
        model = np.linspace(one.before, one.after, count) if one.is_drift else one.after
        residual = (values[one.begin : one.end] - model) / (deviation or 1.0)
        off += float(np.sum(np.clip(residual, -COUNTED_MOST, COUNTED_MOST) ** 2))
    runs = changes[-1].end - changes[0].begin
    return off + 2.0 * len(changes) * math.log(max(runs, 2))
