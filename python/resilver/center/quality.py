"""A benchmark that is run again and again: what is out of control, when it began, how large it is.

Lessons 13 and 16 of S. Oral et al., "Best practices and lessons learned from deploying and
operating large-scale data-centric parallel file systems" (SC 2014): slow disks come back, so
performance is to be held to what it was over the whole life of a system.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from resilver.center.control import Control, Floats, control
from resilver.center.rates_file import csv_lines
from resilver.errors import ConfigError, name_remedy, show
from resilver.importers.benchmarks.table import RATE_MOST
from resilver.text import refuse
from resilver.units import RATE_UNITS, BytesPerSecond

FIRST = 30
"""How many runs say what is usual at first, where nothing else is said; half of few."""

_FIRST_LEAST = 10
_TIMES = ("time", "date", "timestamp", "start", "begin", "_datetime_start", "iso date")
_VALUES = ("rate", "rate_bytes_per_second", "bytes_per_second", "operations_per_second")
_SI = "bytes_per_second"
_DAY = 86_400.0
_MONTH = 30 * _DAY
_CORRELATED = 2.0


@dataclass(frozen=True)
class Finding:
    """One thing that is out of control.

    Attributes:
        series: Of which series.
        kind: ``step``, ``drift`` or ``outlier``.
        run: The run that it begins with, from 0.
        seconds: When that was, since 1970; None without times.
        share: How far it is off the level before, as a share of that: of a drift at its end.
        value: The run of an outlier; the level after a step, or at the end of a drift.
        found_run: The run at which it was found.
        share_in_30_days: Of a drift its pace; None without times.
    """

    series: str
    kind: str
    run: int
    seconds: float | None
    share: float
    value: float
    found_run: int
    share_in_30_days: float | None = None

    @property
    def runs_until_found(self) -> int:
        """How many runs it took to find it, the one that it begins with among them."""
        return self.found_run - self.run + 1


@dataclass(frozen=True, eq=False)
class Series:
    """Runs of one benchmark.

    Attributes:
        name: What it is called.
        seconds: When each run was, since 1970: shape (runs,); None without times.
        values: What each came to, in bytes per second where the unit is known: shape (runs,).
        first: How many runs say what is usual at first.
        control: The runs against their limits.
        findings: What is out of control, in order.
        correlation: How far neighbours among the first runs hang together, -1 to 1.
    """

    name: str
    seconds: Floats | None = field(repr=False)
    values: Floats = field(repr=False)
    first: int
    control: Control = field(repr=False)
    findings: tuple[Finding, ...]
    correlation: float


@dataclass(frozen=True)
class QualityCharts:
    """Benchmarks against their own past.

    Attributes:
        series: A chart each.
        column: What was measured.
        is_rate: Whether values are bytes per second.
        notes: What was left out.
        unit: The unit that bare values of the files are in, which people are shown; empty for the
            unit that fits.
    """

    series: tuple[Series, ...]
    column: str
    is_rate: bool
    notes: tuple[str, ...] = ()
    unit: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is out of control in any series."""
        return tuple(one for series in self.series for one in series.findings)

    @property
    def holds(self) -> bool:
        """Whether everything is in control."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, with units in the names."""
        return {
            "value": self.column,
            "series": [
                {
                    "name": one.name,
                    "runs": len(one.values),
                    "first_runs": one.first,
                    "level": one.control.level,
                    "deviation": one.control.deviation,
                    "correlation": one.correlation,
                }
                for one in self.series
            ],
            "findings": [asdict(one) for one in self.findings],
            "notes": list(self.notes),
            "holds": self.holds,
        }


@dataclass(frozen=True)
class Columns:
    """Which columns of the files say what.

    Attributes:
        value: What was measured; by default a column called rate.
        time: When; by default a column called so, and without one runs are numbered.
        by: What tells series in one file apart.
        unit: The unit of bare values, such as ``MiB/s``.
    """

    value: str | None = None
    time: str | None = None
    by: str | None = None
    unit: str | None = None


def quality_chart(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    value: str | None = None,
    time: str | None = None,
    by: str | None = None,
    unit: str | None = None,
    first: int | None = None,
) -> QualityCharts:
    """Hold a benchmark's runs against those before them: steps, drifts and outliers.

    Args:
        files: CSV with a header, a line a run; each file is a series, or several by a column.
        value: The column of what was measured, by default ``rate`` or ``rate_bytes_per_second``.
        time: The column of when, in seconds since 1970 or as ISO 8601 has it; by default one that
            is called so. Runs are taken in its order, without it in that of their lines.
        by: A column that tells series apart.
        unit: The unit of values without one, such as ``"MiB/s"``.
        first: How many runs say what is usual at first; by default 30, of fewer than 60 half.

    Raises:
        ConfigError: A file cannot be read, has not these columns, or has too few runs.
    """
    columns = Columns(value, time, by, unit)
    if unit is not None and unit not in RATE_UNITS:
        remedy = name_remedy(unit, list(RATE_UNITS), "units")
        raise ConfigError("this is no unit of rates", remedy, "unit", show(unit))
    listed = [files] if isinstance(files, str | os.PathLike) else list(files)
    made: list[Series] = []
    notes: list[str] = []
    column, is_rate = "", True
    for path in (Path(one).expanduser() for one in listed):
        read = _Read(path, columns)
        column, is_rate = read.column, is_rate and read.is_rate
        notes += read.notes
        for name, runs in read.runs.items():
            label = path.name if not name else name if len(listed) == 1 else f"{path.name} {name}"
            made.append(_series(label, runs, first, path, has_times=read.has_times))
    if not made:
        raise ConfigError("no file of runs is given", "name at least one CSV")
    return QualityCharts(tuple(made), column, is_rate, tuple(notes), unit or "")


class _Read:
    """The runs of a file by series: (time, value) each, in the order of time."""

    def __init__(self, path: Path, asked: Columns) -> None:
        self.path = path
        self.notes: list[str] = []
        self.runs: dict[str, list[tuple[float, float]]] = {}
        names, rows = csv_lines(path, "is a quote missing?")
        self.column = self._column(names, asked.value, _VALUES, "value") or ""
        when = self._column(names, asked.time, _TIMES, "time")
        self.has_times = when is not None
        apart = None if asked.by is None else self._column(names, asked.by, (), "by")
        self.is_rate = asked.unit is not None or self.column.endswith(_SI)
        left = 0
        for line, row in rows:
            place = f"{path}, line {line}"
            found = self._value(row.get(self.column), place, asked.unit)
            if found is None:
                left += 1
                continue
            at = float(line) if when is None else _seconds(row.get(when), place)
            name = "" if apart is None else str(row.get(apart) or "").strip()
            self.runs.setdefault(name, []).append((at, found))
        if left:
            self.notes.append(f"{path.name}: {left} lines without a {self.column} are left out")
        if not self.runs:
            refuse(path, "there is no run in it", f"add lines with a {self.column}")
        for runs in self.runs.values():
            runs.sort()

    def _column(
        self, names: list[str], asked: str | None, usual: Sequence[str], what: str
    ) -> str | None:
        if asked is not None:
            if asked not in names:
                remedy = name_remedy(asked, names, "columns")
                refuse(self.path, f"there is no column {show(asked)}", remedy)
            return asked
        found = next((name for name in names if name.casefold() in usual), None)
        if found is None and what == "value":
            have = ", ".join(names[:8]) or "none"
            rule = f"no column is called rate, and there are: {have}"
            refuse(self.path, rule, "name the column with --value")
        return found

    def _value(self, cell: object, place: str, unit: str | None) -> float | None:
        """What a run came to; None of one that has none."""
        text = cell.strip() if isinstance(cell, str) else ""
        if not text or text.casefold() in ("nan", "na", "null", "none", "-"):
            return None
        try:
            value = float(text)
        except ValueError:
            try:
                value = float(BytesPerSecond.parse(text))
            except ConfigError:
                refuse(place, f"{self.column} = {show(text)} is no rate", 'such as "5.2 GB/s"')
            self.is_rate = True
        else:
            value *= 1.0 if unit is None else float(RATE_UNITS[unit])
        if not 0.0 < value <= RATE_MOST:
            rule = (
                f"{self.column} = {show(text)}: a run comes to more than nothing, to 1e18 at most"
            )
            refuse(place, rule, "leave out runs that failed")
        return value


def _seconds(cell: object, place: str) -> float:
    """A time in seconds since 1970; without a zone it is UTC."""
    text = cell.strip() if isinstance(cell, str) else ""
    try:
        value = float(text)
    except ValueError:
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            rule = f"time = {show(text)} is no time"
            refuse(place, rule, "such as 2017-08-06T14:31:58 or seconds since 1970")
        value = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    if not abs(value) < 2e11:
        refuse(place, f"time = {show(text)} is no time since 1970 in seconds", "divide it by 1,000")
    return value


def _series(
    name: str, runs: list[tuple[float, float]], first: int | None, path: Path, *, has_times: bool
) -> Series:
    least = 2 * _FIRST_LEAST if first is None else first + 1
    if len(runs) < least:
        rule = f"{name} has {len(runs)} runs, and a chart takes {least} or more"
        refuse(path, rule, "run the benchmark more often")
    if first is not None and first < _FIRST_LEAST:
        rule = f"a baseline needs {_FIRST_LEAST} runs or more"
        raise ConfigError(rule, "leave it out", key="first", value=show(first))
    begun = first or min(FIRST, len(runs) // 2)
    values = np.array([value for _, value in runs])
    seconds = np.array([at for at, _ in runs]) if has_times else None
    found = control(values, begun)
    return Series(
        name,
        seconds,
        values,
        begun,
        found,
        tuple(_findings(name, values, seconds, found)),
        _correlation(values[:begun]),
    )


def _findings(name: str, values: Floats, seconds: Floats | None, found: Control) -> list[Finding]:
    def when(run: int) -> float | None:
        return None if seconds is None else float(seconds[run])

    made = []
    for one in found.changes:
        share = one.after / one.before - 1.0
        pace = None
        if one.is_drift and seconds is not None:
            lasted = float(seconds[one.end - 1] - seconds[one.begin])
            pace = share * _MONTH / lasted if lasted else None
        kind = "drift" if one.is_drift else "step"
        made.append(
            Finding(name, kind, one.begin, when(one.begin), share, one.after, one.found, pace)
        )
    for run in found.outliers:
        value = float(values[run])
        share = value / float(found.levels[run]) - 1.0
        made.append(Finding(name, "outlier", run, when(run), share, value, run))
    return sorted(made, key=lambda one: one.run)


def _correlation(values: Floats) -> float:
    """How far neighbours hang together: the autocorrelation at one run's distance."""
    off = values - values.mean()
    square = float(off @ off)
    return float(off[1:] @ off[:-1]) / square if square else 0.0


def is_correlated(series: Series) -> bool:
    """Whether the first runs hang together more than chance has it, in 95 of 100."""
    return abs(series.correlation) > _CORRELATED / math.sqrt(series.first)
