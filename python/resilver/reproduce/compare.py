"""Ours beside the published number: from rows to one number, its deviation and its band."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resilver.reproduce.grouped import GROUPED
from resilver.reproduce.published import Published, matches

Row = Mapping[str, Any]
Rows = Sequence[Row]

HOLDS, FAILS, COMPARED, ABSENT = "holds", "does not hold", "compared only", "not run"
DIFFERS = "differs"
"""The verdicts. A number without a band is compared only; one without rows was not run; one outside
of a band that is the source's claim and no promise of ours differs."""

DIVISORS = {
    "": 1.0,
    "%": 0.01,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
    "MiB/s": 2.0**20,
    "GiB/s": 2.0**30,
    "thousand/s": 1e3,
    "million/s": 1e6,
    "million": 1e6,
    "billion": 1e9,
    "objects": 1.0,
    "groups": 1.0,
    "replicas": 1.0,
    "hops": 1.0,
    "requests": 1.0,
    "packets": 1.0,
}
"""What one of each unit is in the SI units of the rows."""

_STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "mean": statistics.fmean,
    "max": max,
    "min": min,
    "sum": math.fsum,
}


@dataclass(frozen=True)
class Comparison:
    """One number of ours beside the published one, all in `unit`.

    Args:
        entry: The entry it belongs to.
        key: Its name there.
        what: What it is.
        figure: The figure or table; may be empty.
        where: Where the source has it; may be empty.
        unit: The unit; empty for a ratio.
        ours: Our number; None if it was not run.
        paper: The published number; None where there is none.
        low: The least that holds; None for no limit.
        high: The most that holds; None for no limit.
        rows: How many rows ours was computed from.
        claim: Whether the band is the source's claim and no promise of ours.
        least: Of a plain median, the least of its rows; else None.
        most: Of a plain median, the greatest of its rows; else None.
    """

    entry: str
    key: str
    what: str
    figure: str
    where: str
    unit: str
    ours: float | None
    paper: float | None
    low: float | None
    high: float | None
    rows: int
    claim: bool = False
    least: float | None = None
    most: float | None = None

    @property
    def deviation(self) -> float | None:
        """How far ours is from the published number, as a share of it."""
        if self.ours is None or not self.paper:
            return None
        return self.ours / self.paper - 1.0

    @property
    def verdict(self) -> str:
        """One of `HOLDS`, `FAILS`, `DIFFERS`, `COMPARED` and `ABSENT`."""
        if self.ours is None:
            return ABSENT
        if self.low is None and self.high is None:
            return COMPARED
        above = self.low is None or self.ours >= self.low
        below = self.high is None or self.ours <= self.high
        if above and below:
            return HOLDS
        return DIFFERS if self.claim else FAILS

    def as_record(self) -> dict[str, Any]:
        """Everything as a flat object, for `--json`."""
        return {
            "entry": self.entry,
            "key": self.key,
            "what": self.what,
            "figure": self.figure or None,
            "where": self.where or None,
            "unit": self.unit or None,
            "ours": self.ours,
            "ours_least": self.least,
            "ours_most": self.most,
            "paper": self.paper,
            "deviation": self.deviation,
            "low": self.low,
            "high": self.high,
            "runs": self.rows,
            "verdict": self.verdict,
        }


def compare(entry: str, number: Published, rows: Rows, other: Rows = ()) -> Comparison:
    """Compute one number from rows and set it beside the published one.

    Args:
        entry: The entry's name.
        number: What is published.
        rows: The entry's own rows.
        other: The rows of the entry that `number.over` names.

    Returns:
        The comparison; its `ours` is None where no row has what it needs.

    >>> number = Published("rate", "Rate", "rate", "s", paper=2.0, low=1.0, high=3.0)
    >>> compare("example", number, [{"rate": 2.0}, {"rate": 2.5}, {"rate": 9.0}]).verdict
    'holds'
    """
    rows = [row for row in rows if not (number.besides and matches(row, number.besides))]
    chosen = [
        row
        for row in rows
        if matches(row, number.at)
        and _number(row, number.metric) is not None
        and all((_number(row, key) or 0.0) > least for key, least in number.above.items())
    ]
    ours = _ours(number, chosen, rows, other)
    scaled = None if ours is None else ours / DIVISORS[number.unit]
    low, high = _band(number, len(chosen))
    least, most = _range(number, chosen)
    return Comparison(
        entry=entry,
        key=number.key,
        what=number.what,
        figure=number.figure,
        where=number.where,
        unit=number.unit,
        ours=scaled,
        paper=number.paper,
        low=low,
        high=high,
        rows=len(chosen),
        claim=number.claim,
        least=least,
        most=most,
    )


def _range(number: Published, chosen: Rows) -> tuple[float | None, float | None]:
    """The least and the greatest of several rows of which ours is the plain median."""
    is_ratio = number.over or number.over_at or number.over_metric or number.ideal_from is not None
    if number.statistic != "median" or is_ratio or len(chosen) < 2:
        return None, None
    values = [float(row[number.metric]) / DIVISORS[number.unit] for row in chosen]
    return min(values), max(values)


def _ours(number: Published, chosen: Rows, rows: Rows, other: Rows) -> float | None:
    if number.statistic in GROUPED:
        return GROUPED[number.statistic](number, chosen, rows)
    value = _statistic(number, chosen)
    if number.over:
        return _ratio(value, _statistic(number, [r for r in other if matches(r, number.at)]))
    if number.over_at:
        return _ratio(value, _statistic(number, [r for r in rows if matches(r, number.over_at)]))
    if number.over_metric:
        return _ratio(value, _reduced(number.statistic, chosen, number.over_metric))
    if number.ideal_from is not None:
        base = _statistic(number, [r for r in rows if r.get("servers") == number.ideal_from])
        scale = number.at["servers"] / number.ideal_from
        return _ratio(value, None if base is None else base * scale)
    return value


def _statistic(number: Published, rows: Rows) -> float | None:
    if number.statistic == "fullest":
        full = [row for row in rows if _number(row, number.of) is not None]
        best = max(full, key=lambda row: float(row[number.of]), default=None)
        return None if best is None else _number(best, number.metric)
    if number.statistic == "spread":
        groups: dict[Any, list[Row]] = {}
        for row in rows:
            groups.setdefault(row.get(number.spread_over), []).append(row)
        medians = [_reduced("median", group, number.metric) for group in groups.values()]
        found = [median for median in medians if median is not None]
        # One size says nothing about growth.
        return max(found) / min(found) if len(found) > 1 and min(found) > 0.0 else None
    return _reduced(number.statistic, rows, number.metric)


def _reduced(statistic: str, rows: Rows, metric: str) -> float | None:
    values = [value for row in rows if (value := _number(row, metric)) is not None]
    return _STATISTICS[statistic](values) if values else None


def _ratio(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def _band(number: Published, count: int) -> tuple[float | None, float | None]:
    if number.within is not None and number.paper is not None:
        reach = number.within * number.paper
        return number.paper - reach, number.paper + reach
    if number.mean is not None and number.deviation is not None:
        reach = 3.0 * number.deviation / max(count, 1) ** 0.5
        return number.mean - reach, number.mean + reach
    return number.low, number.high


def _number(row: Row, column: str) -> float | None:
    value = row.get(column)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
