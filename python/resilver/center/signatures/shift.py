"""Two jobs on one file system: what their bursts cost each other, by how the second is shifted.

While both are in a burst they share what the system carries, max-min fairly, and none gets more
than its height. A job computes between its bursts, so a burst that ends late delays the next one.
Where events keep their order, all their times are linear in the shift; so each run of the fluid
carries its times with their slopes and says up to which shift the order holds. From one such shift
to the next the curve is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from resilver.center.signatures.file import Signature, read_signature
from resilver.errors import ConfigError, show
from resilver.importers.series import Floats

PERIODS = 20
"""How many of the longer period are looked at by default."""

_BURSTS_MAX = 2000
_BREAKS_MAX = 20_000
_SAME = 1e-11
_AS_GOOD = 1e-6


@dataclass(frozen=True, eq=False)
class ShiftPlan:
    """What two jobs lose to each other, by the start of the second.

    Attributes:
        one: The first job, which starts at 0.
        other: The second.
        rate: What the system carries, in bytes a second.
        bursts: How many bursts of each were looked at.
        shifts: Starts of the second where the curve bends, in seconds from 0 to its period:
            shape (n,).
        lost_one: By how much later the first job's last burst ends, in seconds: likewise.
        lost_other: The same of the second.
        best: The start of the second that costs least: the middle of those that are as good.
        best_from: The first of these.
        best_to: The last.
    """

    one: Signature
    other: Signature
    rate: float
    bursts: tuple[int, int]
    shifts: Floats = field(repr=False)
    lost_one: Floats = field(repr=False)
    lost_other: Floats = field(repr=False)
    best: float
    best_from: float
    best_to: float

    def lost(self, shift: float) -> tuple[float, float]:
        """The seconds that each job loses at a start of the second."""
        return (
            float(np.interp(shift, self.shifts, self.lost_one)),
            float(np.interp(shift, self.shifts, self.lost_other)),
        )

    @property
    def mean(self) -> tuple[float, float]:
        """The seconds that each loses on average over all starts."""
        means = [
            float(np.trapezoid(lost, self.shifts) / self.shifts[-1])
            for lost in (self.lost_one, self.lost_other)
        ]
        return means[0], means[1]

    @property
    def worst(self) -> float:
        """The start of the second that costs most."""
        return float(self.shifts[int(np.argmax(self.lost_one + self.lost_other))])

    @property
    def spans(self) -> tuple[float, float]:
        """Seconds of the bursts of each, with what is computed between, were it alone."""
        return (
            self.bursts[0] * _period(self.one, self.rate),
            self.bursts[1] * _period(self.other, self.rate),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""

        def told(lost: tuple[float, float]) -> dict[str, float]:
            return {"one_seconds": lost[0], "other_seconds": lost[1]}

        return {
            "rate_bytes_per_second": self.rate,
            "bursts": {"one": self.bursts[0], "other": self.bursts[1]},
            "best_start_seconds": self.best,
            "as_good_from_seconds": self.best_from,
            "as_good_to_seconds": self.best_to,
            "lost_together": told(self.lost(0.0)),
            "lost_at_best": told(self.lost(self.best)),
            "lost_at_worst": told(self.lost(self.worst)),
            "lost_on_average": told(self.mean),
            "worst_start_seconds": self.worst,
            "curve": [
                {"start_seconds": at, "one_seconds": mine, "other_seconds": theirs}
                for at, mine, theirs in zip(
                    self.shifts.tolist(),
                    self.lost_one.tolist(),
                    self.lost_other.tolist(),
                    strict=True,
                )
            ],
        }


def shift_signatures(
    one: Signature | str | Path,
    other: Signature | str | Path,
    *,
    rate: float,
    over: float | None = None,
) -> ShiftPlan:
    """Say when a second job should start so that both lose least to each other.

    Args:
        one: The first job, which starts at 0, or the file of its signature.
        other: The second.
        rate: What the system carries, in bytes a second.
        over: For how long both are looked at, in seconds; by default 20 of the longer period.

    Raises:
        ConfigError: A file cannot be read, the rate is not above 0, or there are too many bursts.

    >>> job = Signature(period=600.0, first=0.0, length=60.0, volume=60e9)
    >>> plan = shift_signatures(job, job, rate=1e9)
    >>> plan.lost(0.0), plan.best
    ((1200.0, 1200.0), 300.0)
    """
    first, second = (
        value if isinstance(value, Signature) else read_signature(value) for value in (one, other)
    )
    if not 0.0 < rate < float("inf"):
        raise ConfigError("what a system carries is above 0", "", "--rate", show(rate))
    periods = [_period(job, rate) for job in (first, second)]
    span = PERIODS * max(periods) if over is None else over
    count = (max(1, round(span / periods[0])), max(1, round(span / periods[1])))
    if max(count) > _BURSTS_MAX:
        rule = f"a job has {_BURSTS_MAX:,} bursts at most, and here one has {max(count):,}"
        raise ConfigError(rule, "look at a shorter time with --over", "--over")
    shifts, lost = _curve((first, second), count, rate, periods[1])
    total = lost.sum(axis=0)
    low, high = _flattest(shifts, total)
    return ShiftPlan(
        first, second, rate, count, shifts, lost[0], lost[1], 0.5 * (low + high), low, high
    )


def _period(job: Signature, rate: float) -> float:
    """From burst to burst where the job is alone: longer than its own if the system is slower."""
    return job.period - job.length + job.volume / min(job.height, rate)


def _flattest(shifts: Floats, total: Floats) -> tuple[float, float]:
    """The longest stretch of shifts that cost least."""
    least = float(total.min())
    is_good = total <= least + _AS_GOOD
    edges = np.diff(np.concatenate([[False], is_good, [False]]).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    at = int(np.argmax(shifts[ends] - shifts[begins]))
    return float(shifts[begins[at]]), float(shifts[ends[at]])


def _curve(
    jobs: tuple[Signature, Signature], count: tuple[int, int], rate: float, last: float
) -> tuple[Floats, Floats]:
    """Where the curve bends, and the seconds that each job loses there: shapes (n,), (2, n)."""
    at, shifts, lost = 0.0, [], []
    least = _SAME * last
    while at < last:
        ended = run_both(jobs, count, rate, at)
        shifts.append(at)
        lost.append(ended.lost)
        if len(shifts) > _BREAKS_MAX:
            rule = f"the curve over all shifts has {_BREAKS_MAX:,} bends at most"
            raise ConfigError(rule, "look at a shorter time with --over", "--over")
        at += max(ended.holds_for, least)
    shifts.append(last)
    lost.append(run_both(jobs, count, rate, last).lost)
    return np.array(shifts), np.array(lost).T


@dataclass(frozen=True)
class Ended:
    """How a run of both jobs ended.

    Attributes:
        lost: The seconds that each lost.
        holds_for: By how much more the second may be shifted until events come in another order.
        bursts: Begin and end of each burst, by job.
    """

    lost: tuple[float, float]
    holds_for: float
    bursts: tuple[list[tuple[float, float]], list[tuple[float, float]]]


def run_both(
    jobs: tuple[Signature, Signature], count: tuple[int, int], rate: float, shift: float
) -> Ended:
    """Run the fluid of two jobs from event to event.

    Args:
        count: How many bursts each has.
        rate: What the system carries, in bytes a second.
        shift: When the second starts, in seconds.
    """
    pauses = [job.period - job.length for job in jobs]
    # When a job's next burst begins, or what is left of its burst; with slopes by the shift.
    begins = [(jobs[0].first, 0.0), (shift + jobs[1].first, 1.0)]
    left: list[tuple[float, float] | None] = [None, None]
    bursts: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    now, now_slope, holds_for = 0.0, 0.0, float("inf")
    while True:
        is_on = [one is not None for one in left]
        rates = _shared(jobs, is_on, rate)
        coming = []
        for job in range(2):
            of_job = left[job]
            if of_job is not None:
                at = (now + of_job[0] / rates[job], now_slope + of_job[1] / rates[job])
                coming.append((*at, job))
            elif len(bursts[job]) < count[job]:
                coming.append((*begins[job], job))
        if not coming:
            break
        if len(coming) == 2:
            coming, holds = _in_order(coming[0], coming[1], now)
            holds_for = min(holds_for, holds)
        then, slope, job = coming[0]
        for active in range(2):
            of_job = left[active]
            if of_job is not None:
                left[active] = (
                    of_job[0] - rates[active] * (then - now),
                    of_job[1] - rates[active] * (slope - now_slope),
                )
        now, now_slope = then, slope
        if left[job] is None:
            left[job] = (jobs[job].volume, 0.0)
        else:
            left[job] = None
            bursts[job].append((begins[job][0], now))
            begins[job] = (now + pauses[job], now_slope)
    lost = [
        sum(end - begin for begin, end in bursts[job])
        - count[job] * jobs[job].volume / min(jobs[job].height, rate)
        for job in range(2)
    ]
    # What is left of a long sum of times that cancel is no loss.
    mine, theirs = (one if one > _AS_GOOD else 0.0 for one in lost)
    return Ended((mine, theirs), holds_for, bursts)


def _in_order(
    one: tuple[float, float, int], other: tuple[float, float, int], now: float
) -> tuple[list[tuple[float, float, int]], float]:
    """Both events by time, and how much more shift keeps that order.

    Of events at one time the one with the lesser slope is first, as it is for any larger shift.
    """
    apart = other[0] - one[0]
    if abs(apart) <= _SAME * max(1.0, now):
        first, second = (one, other) if one[1] <= other[1] else (other, one)
        return [first, second], float("inf")
    first, second = (one, other) if apart > 0.0 else (other, one)
    nearing = first[1] - second[1]
    return [first, second], abs(apart) / nearing if nearing > 0.0 else float("inf")


def _shared(jobs: tuple[Signature, Signature], is_on: list[bool], rate: float) -> list[float]:
    """What each gets, max-min fairly."""
    if all(is_on):
        one, other = (job.height for job in jobs)
        half = 0.5 * rate
        return [min(one, max(half, rate - other)), min(other, max(half, rate - one))]
    return [min(job.height, rate) for job in jobs]
