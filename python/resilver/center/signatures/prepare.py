"""Runs of one job as equal samples of equal length, without those that would mislead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from resilver.errors import ConfigError, show
from resilver.importers.series import Floats, Series
from resilver.quantities import duration

SAMPLES_MIN = 48
"""Fewer samples hold no three bursts that can be told from noise."""

SAMPLES_MAX = 2**25
"""More than a year of seconds: what is done with them takes half of 2 GiB."""

_KNOWN_MIN = 0.5
_LONG, _BIG = 1.5, 2.0
_GAP = 3.0
_UNEVEN = 1e-6


@dataclass(frozen=True, eq=False)
class Run:
    """A run in samples of equal length.

    Attributes:
        name: What it is called.
        values: The bytes of each sample, NaN where they are not known: shape (n,).
    """

    name: str
    values: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs that a signature is made of.

    Attributes:
        step: Seconds of a sample.
        runs: Those that are used.
        left_out: The names of others, and why.
    """

    step: float
    runs: tuple[Run, ...] = field(repr=False)
    left_out: tuple[tuple[str, str], ...] = ()


def prepare(series: Sequence[Series], every: float | None = None) -> Runs:
    """Bring runs to equal samples, and leave out those that are stretched or full of noise.

    Others' traffic only adds to what a job moves, and a run that others slowed down is longer: so
    runs of more than 1.5 times the median length, and of more than twice the median rate, are left
    out where there are three or more.

    Args:
        series: A run each, from its begin to its end.
        every: Seconds of a sample; by default the longest of the runs' own.

    Raises:
        ConfigError: There is no run, a run has too few samples, or `every` is shorter than theirs.
    """
    if not series:
        raise ConfigError("a signature is made of one run or more", "", "runs")
    steps = [_step(one) for one in series]
    if every is not None and every < max(steps) * (1.0 - _UNEVEN):
        own = duration(max(steps))
        rule = f"samples of the runs are {own} apart, and none can be made shorter"
        raise ConfigError(rule, f"write {own} or more", "--every", f"{every:g} s")
    step = max(steps) if every is None else every
    runs = [Run(one.name, resample(one, step)) for one in series]
    for run in runs:
        known = int(np.isfinite(run.values).sum())
        if known < SAMPLES_MIN:
            rule = (
                f"a run has {SAMPLES_MIN} known samples or more, and this one has {known} "
                f"of {duration(step)}"
            )
            raise ConfigError(rule, "give a longer log or a finer one", place=run.name)
    left_out = _misleading(runs) if len(runs) > 2 else {}
    kept = tuple(run for at, run in enumerate(runs) if at not in left_out)
    return Runs(step, kept, tuple((runs[at].name, why) for at, why in left_out.items()))


def _step(one: Series) -> float:
    """Seconds between samples; most of them are as far apart."""
    times = one.times
    if len(times) < SAMPLES_MIN:
        rule = f"a run has {SAMPLES_MIN} samples or more"
        raise ConfigError(
            rule, "give a longer log or a finer one", value=show(len(times)), place=one.name
        )
    return _usual(np.diff(times))


def _usual(spans: Floats) -> float:
    """What most spans are."""
    low, high = float(spans.min()), float(spans.max())
    return low if high - low <= _UNEVEN * low else float(np.median(spans))


def resample(one: Series, step: float) -> Floats:
    """The bytes of a series in samples of `step` seconds from its first time on.

    Bytes are conserved: a sample of the series that reaches over several of ours is spread evenly.
    A sample of which less than half is known is not; else its bytes are those of the time known.

    Args:
        one: The series. A sample that is followed only after three steps or more ends a gap.
        step: Seconds.

    Raises:
        ConfigError: They are too many, as where one time is wrong.
    """
    spans = np.diff(one.times)
    usual = _usual(spans)
    if (
        abs(usual - step) <= _UNEVEN * step
        and abs(spans.min() - usual) <= _UNEVEN * usual
        and abs(spans.max() - usual) <= _UNEVEN * usual
    ):
        return np.asarray(one.values, dtype=np.float64)
    spans = np.append(np.where(spans >= _GAP * usual, usual, spans), usual)
    is_known = np.isfinite(one.values)
    begins = one.times - one.times[0]
    # Where a gap follows, two edges: the end of the sample, and the begin of the next.
    edges = np.stack([begins, begins + spans], axis=1).reshape(-1)
    bytes_of = np.where(is_known, one.values, 0.0)
    seconds_of = np.where(is_known, spans, 0.0)
    moved = _running(bytes_of)
    known = _running(seconds_of)
    count = max(1, round(edges[-1] / step))
    if count > SAMPLES_MAX:
        rule = f"a run has {SAMPLES_MAX:,} samples at most, gaps included"
        found = f"{count:,} of {duration(step)}"
        remedy = "look for a wrong time, write a longer --every, or cut the run"
        raise ConfigError(rule, remedy, value=found, place=one.name)
    grid = np.arange(count + 1) * step
    length = np.diff(np.interp(grid, edges, known))
    volume = np.diff(np.interp(grid, edges, moved))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(length >= _KNOWN_MIN * step, volume * (step / length), np.nan)


def _running(values: Floats) -> Floats:
    """The sum before and after each value, as two entries each."""
    after = np.cumsum(values)
    return np.stack([after - values, after], axis=1).reshape(-1)


def _misleading(runs: Sequence[Run]) -> dict[int, str]:
    """The places of runs to leave out, and why."""
    lengths = np.array([len(run.values) for run in runs], dtype=np.float64)
    rates = np.array([np.nanmean(run.values) for run in runs])
    left_out = {}
    for at in range(len(runs)):
        long, big = lengths[at] / np.median(lengths), rates[at] / max(np.median(rates), 1e-300)
        if long > _LONG:
            left_out[at] = f"{long:.1f} times as long as most: others slowed it down"
        elif big > _BIG:
            left_out[at] = f"{big:.1f} times the bytes a second of most: others moved them"
    return left_out
