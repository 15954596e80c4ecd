"""How full a file system gets: what comes in and is purged, what a listing and a series tell.

Closed forms stand beside the days that are simulated, see `resilver.center.year`. How much slower a
full file system is, no source that could be read publishes: without a measured curve it is swept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.center.capacity_file import Capacity, FileClass
from resilver.center.figures import Figure
from resilver.center.theil_sen import Trend, trend
from resilver.center.year import PurgeRule, Year, mean_life_days, simulate_year
from resilver.errors import ConfigError, show
from resilver.importers.ages import AgedFiles, read_ages
from resilver.importers.lfs_df import FillSeries, read_lfs_df
from resilver.quantities import DAY_SECONDS, daily, decimal_bytes, duration

AGE_BINS_DAYS = (1, 5, 7, 14, 30, 60, 90)
"""The ages that ne2scan_histo tells apart."""

LOSSES_SWEPT = (0.0, 0.25, 0.5)
"""The shares of its bandwidth that a full file system loses, where no curve was measured."""


@dataclass(frozen=True)
class RateOutlook:
    """What the fill leaves of the bandwidth.

    Attributes:
        curve: Which curve: "measured", or what a full file system loses.
        is_measured: Whether it was.
        mean: The share of the bandwidth on average over the days.
        least: On the fullest day.
    """

    curve: str
    is_measured: bool
    mean: float
    least: float


@dataclass(frozen=True)
class TargetTrend:
    """A target of a series: its fill in the end, and what it gains."""

    target: str
    fill: float
    trend: Trend


@dataclass(frozen=True)
class FillOutlook:
    """What a series of `lfs df` tells of a file system.

    Attributes:
        series: The series.
        size_bytes: What its targets hold.
        fill: How full they are in the end.
        trend: What all of them gain, in bytes a second.
        targets: Each target, in the order of the series.
    """

    series: FillSeries
    size_bytes: float
    fill: float
    trend: Trend
    targets: tuple[TargetTrend, ...] = field(repr=False)


@dataclass(frozen=True)
class Outlook:
    """What the section `capacity` of a sizing file comes to.

    Attributes:
        usable_bytes: What the file system holds; None where only series of `lfs df` are given.
        figures: Closed forms and what the days come to, each with its derivation.
        year: The days; None where nothing comes in.
        rates: What the fill leaves of the bandwidth, a curve each.
        listing: What is stored, by age.
        purges: A purge of each age now: days, files, bytes and owners.
        fills: A file system each that `lfs df` was run on.
    """

    usable_bytes: float | None
    figures: tuple[Figure, ...]
    year: Year | None
    rates: tuple[RateOutlook, ...]
    listing: AgedFiles | None
    purges: tuple[tuple[int, int, float, int | None], ...]
    fills: tuple[FillOutlook, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, in SI units."""
        year = self.year
        days: Iterable[tuple[float, float, float]] = ()
        if year is not None:
            columns = (year.stored_bytes, year.fill, year.purged_bytes)
            days = zip(*(column.tolist() for column in columns), strict=True)
        return {
            "usable_bytes": self.usable_bytes,
            "figures": [vars(figure) for figure in self.figures],
            "days": [
                {"day": day, "stored_bytes": stored, "fill": fill, "purged_bytes": purged}
                for day, (stored, fill, purged) in enumerate(days, 1)
            ],
            "rates": [vars(one) for one in self.rates],
            "purges": [
                {"days": days, "files": files, "bytes": size, "owners": owners}
                for days, files, size, owners in self.purges
            ],
            "file_systems": [
                {
                    "name": one.series.name,
                    "size_bytes": one.size_bytes,
                    "fill": one.fill,
                    **_trend_json(one.trend),
                    "left_out": list(one.series.left_out),
                    "targets": [
                        {"target": of.target, "fill": of.fill, **_trend_json(of.trend)}
                        for of in one.targets
                    ],
                }
                for one in self.fills
            ],
        }


def _trend_json(found: Trend) -> dict[str, float]:
    return {
        "slope_bytes_per_second": found.slope,
        "low_bytes_per_second": found.low,
        "high_bytes_per_second": found.high,
        "span_seconds": found.span_seconds,
        "points": found.points,
    }


def outlook(capacity: Capacity, knees: Sequence[float], usable: float | None) -> Outlook:
    """How full the file system gets.

    Args:
        capacity: The section.
        knees: The fills beyond which it is slower.
        usable: What it holds where the section does not say.

    Returns:
        Closed forms, the days, what a purge frees, and what series tell.

    Raises:
        ConfigError: A file cannot be read, or more is stored than the file system holds.
    """
    holds = float(capacity.usable) if capacity.usable is not None else usable
    ages = {*AGE_BINS_DAYS, *(() if capacity.purge is None else (capacity.purge.days,))}
    listing = None if capacity.listing is None else read_ages(capacity.listing)
    figures: list[Figure] = []
    year = None
    if holds is not None and (capacity.inflow or listing is not None):
        if capacity.inflow:
            figures += _steady(capacity, knees, holds)
            year = _year(capacity, holds, listing)
            figures += _of_year(year, knees)
        elif listing is not None:
            stored = float(listing.bytes.sum())
            words = f"{decimal_bytes(stored)} ÷ {decimal_bytes(holds)}"
            what = "Full with what is listed"
            figures.append(Figure("listed_fill", what, stored / holds, "share", words))
    return Outlook(
        usable_bytes=holds,
        figures=tuple(figures),
        year=year,
        rates=() if year is None else tuple(_rates(capacity, knees, year)),
        listing=listing,
        purges=()
        if listing is None
        else tuple((days, *listing.older(days)) for days in sorted(ages)),
        fills=tuple(_fill(series) for series in read_lfs_df(capacity.lfs_df))
        if capacity.lfs_df
        else (),
    )


def _life(of: FileClass, purge_days: int) -> float:
    """How many days a file of a class lives on average."""
    uses = 0.0 if of.accessed_every is None else DAY_SECONDS / of.accessed_every
    return mean_life_days(purge_days, uses)


def _steady(capacity: Capacity, knees: Sequence[float], usable: float) -> list[Figure]:
    """What is stored in the long run, by Little's law."""
    total = sum(one.rate for one in capacity.inflow)
    if capacity.purge is None:
        words = f"{decimal_bytes(usable - capacity.stored)} ÷ {daily(total)}"
        days = (usable - capacity.stored) / (total * DAY_SECONDS)
        return [Figure("full_days", "Full after, in days", days, "count", words)]
    age, found, volume = capacity.purge.days, [], 0.0
    for number, one in enumerate(capacity.inflow):
        life = _life(one, age)
        words = f"{age} d, as none is used again"
        if one.accessed_every is not None:
            every = duration(one.accessed_every)
            words = f"(e^({age} d ÷ {every}) − 1) × {every}"
        which = f" of class {number}" if len(capacity.inflow) > 1 else ""
        what = f"Life of a file{which}, in days"
        found.append(Figure(f"life_days_{number}", what, life, "number", words))
        volume += one.rate * DAY_SECONDS * life
    lives = " + ".join(
        f"{daily(one.rate)} × {_life(one, age):.4g} d" for one in capacity.inflow[:4]
    )
    by_fill = capacity.purge.high is not None
    # What a purge by fill leaves may be used again, so that more than this is young.
    what = "Stored in the long run" if not by_fill else "At least this is too young to delete"
    found.append(Figure("steady_bytes", what, volume, "bytes", lives))
    words = f"{decimal_bytes(volume)} ÷ {decimal_bytes(usable)}"
    found.append(Figure("steady_fill", "Full with that", volume / usable, "share", words))
    if by_fill:
        return found
    life = volume / (total * DAY_SECONDS)
    for knee in knees if math.isfinite(life) else ():
        key = f"inflow_below_{100 * knee:g}_percent_bytes_per_second"
        words = f"{knee:g} × {decimal_bytes(usable)} ÷ {life:.4g} d"
        what = f"Inflow that stays below {100 * knee:g} % full"
        allowed = knee * usable / (life * DAY_SECONDS)
        found.append(Figure(key, what, allowed, "daily", words))
    return found


def _year(capacity: Capacity, usable: float, listing: AgedFiles | None) -> Year:
    """The days."""
    purge = None
    if capacity.purge is not None:
        purge = PurgeRule(capacity.purge.days, capacity.purge.high, capacity.purge.low)
    age = 1 if purge is None else purge.days
    inflow = np.array([one.rate * DAY_SECONDS for one in capacity.inflow])
    uses = np.array(
        [
            0.0 if one.accessed_every is None else DAY_SECONDS / one.accessed_every
            for one in capacity.inflow
        ]
    )
    lives = np.array([min(_life(one, age), 1e6) for one in capacity.inflow])
    # What is there already is of the classes as they are stored in the long run.
    share = inflow * lives / float(inflow @ lives)
    if listing is not None:
        by_age = listing.bytes_by_day
        if by_age.sum() > usable:
            rule = f"{decimal_bytes(by_age.sum())} are listed, more than the file system holds"
            raise ConfigError(rule, "raise it", "capacity.usable", show(decimal_bytes(usable)))
    else:
        by_age = np.full(age, capacity.stored / age)
    return simulate_year(inflow, uses, by_age[:, None] * share, usable, purge, capacity.days)


def _of_year(year: Year, knees: Sequence[float]) -> list[Figure]:
    """What the days come to."""
    days = len(year.stored_bytes)
    top = int(np.argmax(year.fill))
    when = f"on day {top + 1}, before that day's purge"
    stored, purged = float(year.stored_bytes[-1]), float(year.purged_bytes.sum())
    words = "simulated day by day"
    after = f"{words}, after the purge"
    found = [
        Figure("most_fill", "Fullest", float(year.fill[top]), "share", when),
        Figure("last_bytes", f"Stored after {days:,} days", stored, "bytes", after),
        Figure("purged_bytes", f"Purged in {days:,} days", purged, "bytes", words),
    ]
    for knee in knees:
        above = int((year.fill > knee * (1.0 + 1e-12)).sum())
        first = year.first_day_above(knee)
        words = f"of {days:,}" + ("" if first is None else f"; the first is day {first:,}")
        key, what = f"days_above_{100 * knee:g}_percent", f"Days above {100 * knee:g} % full"
        found.append(Figure(key, what, above, "count", words))
    if refused := float(year.refused_bytes.sum()):
        day = int(np.flatnonzero(year.refused_bytes)[0]) + 1
        words = f"full from day {day:,}"
        found.append(Figure("refused_bytes", "Refused for want of room", refused, "bytes", words))
    return found


def _rates(capacity: Capacity, knees: Sequence[float], year: Year) -> list[RateOutlook]:
    """What the fill leaves of the bandwidth."""
    fill = year.fill
    if capacity.rate_at_fill:
        points, shares = zip(*capacity.rate_at_fill, strict=True)
        found = np.interp(fill, points, shares)
        # What is fuller than was measured is taken to be as there, which is the best it can be.
        beyond = fill.max() > points[-1] * (1.0 + 1e-12)
        curve = "measured" + (f", at best beyond {100 * points[-1]:.3g} % full" if beyond else "")
        return [RateOutlook(curve, True, float(found.mean()), float(found.min()))]
    first = min(knees, default=0.5)
    return [
        RateOutlook(
            f"a full one loses {100 * loss:g} %", False, float(found.mean()), float(found.min())
        )
        for loss in LOSSES_SWEPT
        for found in (stand_in_rate(fill, first, loss),)
    ]


def stand_in_rate(fill: npt.NDArray[Any], knee: float, loss: float) -> npt.NDArray[np.float64]:
    """A stand-in for the share of its bandwidth that a file system has at a fill.

    Args:
        fill: How full it is, from 0 to 1: of any shape.
        knee: Up to here it has all of it.
        loss: What it has lost when it is full; between it falls in a straight line.
    """
    if knee >= 1.0:
        return np.ones_like(fill, dtype=np.float64)
    return np.asarray(1.0 - loss * np.clip((fill - knee) / (1.0 - knee), 0.0, 1.0))


def _fill(series: FillSeries) -> FillOutlook:
    total = series.used_bytes.sum(axis=1)
    fill = series.fill[-1]
    size = float(series.size_bytes.sum())
    return FillOutlook(
        series,
        size,
        float(total[-1]) / size,
        trend(series.seconds, total),
        tuple(
            TargetTrend(
                target, float(fill[number]), trend(series.seconds, series.used_bytes[:, number])
            )
            for number, target in enumerate(series.targets)
        ),
    )
