"""Ours beside the published number: from a query to one number, its deviation and its verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from resilver.record import record
from resilver.reproduce.published import (
    CHECK,
    CONSTRUCTED,
    GOAL,
    MEASURED,
    PREDICTED,
    Published,
)
from resilver.reproduce.tables import Tables

WITHIN, DIFFERS = "within tolerance", "differs"
PASSES, FAILS = "passes", "fails"
MET, MISSED = "met", "missed"
NOT_JUDGED, ABSENT, CHANGED = "measured", "not run", "changed"
"""The verdicts: of what is published, of own checks, of goals, of what is compared with nothing,
of what has no rows, and of a study that somebody changed, which no published number is of."""

VERDICTS = {
    PREDICTED: (WITHIN, DIFFERS),
    CONSTRUCTED: (WITHIN, DIFFERS),
    CHECK: (PASSES, FAILS),
    GOAL: (MET, MISSED),
    MEASURED: (NOT_JUDGED, NOT_JUDGED),
}
"""The verdicts of each kind: that ours is where it should be, and that it is not."""

DIVISORS = {
    **dict.fromkeys(("", "s", "objects", "groups", "replicas", "hops", "requests", "packets"), 1.0),
    **dict.fromkeys(("units", "disks"), 1.0),
    "%": 0.01,
    "ms": 1e-3,
    "us": 1e-6,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "TB/s": 1e12,
    "TB": 1e12,
    "PB": 1e15,
    "PB/d": 1e15 / 86_400,
    "min": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
    "MiB/s": 2.0**20,
    "GiB/s": 2.0**30,
    "thousand/s": 1e3,
    "million/s": 1e6,
    "million": 1e6,
    "billion": 1e9,
}
"""What one of each unit is in the SI units of the tables."""

# The median of one expression, which may have brackets of its own: of no ratio of two medians.
_MEDIAN = re.compile(r"median\(((?:[^()]|\([^()]*\))+)\)")


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
        low: The least that is allowed; None for no limit.
        high: The most that is allowed; None for no limit.
        rows: How many rows ours was computed from.
        kind: One of `KINDS`.
        expected: Of an own check, what ours should be; None where limits say it.
        why: Why what is allowed is so wide, or which input a published number was put into.
        least: Of a plain median, the least of its rows; else None.
        most: Of a plain median, the greatest of its rows; else None.
        query: How ours was computed, in SI units.
        is_changed: Whether it is of a study that somebody changed.
        unchanged: Ours of the study as it ships, beside a changed one; None where it is not there.
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
    kind: str = MEASURED
    expected: float | None = None
    why: str = ""
    least: float | None = None
    most: float | None = None
    query: str = ""
    is_changed: bool = False
    unchanged: float | None = None

    @property
    def deviation(self) -> float | None:
        """How far ours is from the published number, as a share of it."""
        if self.ours is None or not self.paper:
            return None
        return self.ours / self.paper - 1.0

    @property
    def verdict(self) -> str:
        """One of `VERDICTS` for its kind, or `ABSENT`.

        What is published is judged by its distance from the published number.
        """
        if self.ours is None:
            return ABSENT
        if self.is_changed:
            return CHANGED
        above = self.low is None or self.ours >= self.low
        below = self.high is None or self.ours <= self.high
        return VERDICTS[self.kind][0 if above and below else 1]

    def as_record(self) -> dict[str, Any]:
        """Everything as a flat object, for `--json`."""
        return {
            **record(self, "entry", "key", "what"),
            "figure": self.figure or None,
            "where": self.where or None,
            "kind": self.kind,
            "unit": self.unit or None,
            "ours": self.ours,
            "ours_least": self.least,
            "ours_most": self.most,
            **record(self, "paper", "expected", "deviation", "low", "high"),
            "why": self.why or None,
            "runs": self.rows,
            **record(self, "verdict", "query"),
            **({"unchanged": self.unchanged} if self.is_changed else {}),
        }


def compare(
    entry: str, number: Published, tables: Tables, changed: Collection[str] = ()
) -> Comparison:
    """Compute one number and set it beside the published one.

    Args:
        entry: The entry's name.
        number: What is published.
        tables: The entry's tables.
        changed: The keys of its study that somebody changed. A number of one value of such a key is
            that of the changed value.

    Returns:
        The comparison; its `ours` is None where no row has what it needs.

    >>> import pyarrow as pa
    >>> tables = Tables(pa.table({"rate": [2.0, 2.5, 9.0]}))
    >>> number = Published("rate", "Rate", "median(rate)", PREDICTED, paper=2.0, within=0.2)
    >>> compare("example", number, tables).verdict
    'differs'
    """
    plain = _MEDIAN.fullmatch(number.select)
    # The rows that have what is measured, and its range over them where they are seeds of a point.
    of = f"count({plain[1]}), min({plain[1]}), max({plain[1]})" if plain else "count(*), NULL, NULL"
    low, high = number.allowed
    limits = ", ".join(limit if isinstance(limit, str) else "NULL" for limit in (low, high))
    columns = f"{number.select}, {of}, {limits}"
    found = tables.ask(number.asking(columns))[1][0]
    if changed and found[0] is None:
        number = number.without(changed)
        found = tables.ask(number.asking(columns))[1][0]
    ours, rows, least, most, asked_low, asked_high = map(_number, found)
    divisor = DIVISORS[number.unit]
    is_range = ours is not None and rows is not None and rows > 1
    return Comparison(
        entry=entry,
        key=number.key,
        what=number.what,
        figure=number.figure,
        where=number.source,
        unit=number.unit,
        ours=None if ours is None else ours / divisor,
        paper=number.paper,
        low=asked_low if isinstance(low, str) else low,
        high=asked_high if isinstance(high, str) else high,
        rows=int(rows or 0),
        kind=number.kind,
        expected=number.expected,
        why=number.put_in or number.why,
        least=least / divisor if is_range and least is not None else None,
        most=most / divisor if is_range and most is not None else None,
        query=number.query,
        is_changed=bool(changed),
    )


def _number(value: Any) -> float | None:
    """A finite number as SQL gives it, which may be an integer or a decimal fraction."""
    return None if value is None or not math.isfinite(value) else float(value)


def published_of(numbers: Mapping[str, Comparison], key: str, divisor: float) -> float | None:
    """A source's number over this divisor; None where it says nothing.

    Args:
        numbers: Comparisons by key.
    """
    compared = numbers.get(key)
    if compared is None or compared.paper is None:
        return None
    return compared.paper * DIVISORS[compared.unit] / divisor
