"""Bars in groups, with the range of their runs, as they are or as the change from a base case."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from resilver.charts.idioms import columns, series
from resilver.charts.scales import log_ticks
from resilver.charts.vega import Spec, axis, letters, rows
from resilver.reproduce.compare import DIVISORS
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import number_words, unit_words
from resilver.tables import Cell, Column, Table


@dataclass(frozen=True)
class Bar:
    """One bar, in the unit of the axis.

    Args:
        group: Its group, across.
        series: Its series within the group.
        median: Its height.
        least: The least of its runs.
        most: The greatest of its runs.
        runs: How many runs it has.
    """

    group: str
    series: str
    median: float
    least: float
    most: float
    runs: int


@dataclass(frozen=True)
class Bars:
    """Bars in groups.

    Args:
        spec: What is drawn.
        bars: The bars, in the order of the rows.
        names: Of the columns that tell groups apart, and series if there are any.
    """

    spec: PictureSpec
    bars: tuple[Bar, ...]
    names: tuple[str, ...]

    @property
    def groups(self) -> list[str]:
        """The groups in order."""
        return list(dict.fromkeys(bar.group for bar in self.bars))

    @property
    def series(self) -> list[str]:
        """The series in order."""
        return list(dict.fromkeys(bar.series for bar in self.bars))


def bars(spec: PictureSpec, tables: Tables) -> Bars | None:
    """The bars of a picture.

    Args:
        spec: What to draw.
        tables: The entry's tables.

    Returns:
        The bars; None where no row has what it needs.
    """
    names, rows = tables.ask(spec.query)
    parts: dict[tuple[str, str], list[float]] = {}
    for *key, value in rows:
        if value is not None and key[0] is not None:
            group, series = (*map(str, key), "")[:2]
            parts.setdefault((group, series), []).append(float(value) / DIVISORS[spec.y.unit])
    found = tuple(
        Bar(*key, float(statistics.median(values)), min(values), max(values), len(values))
        for key, values in parts.items()
    )
    return Bars(spec, found, tuple(names[:-1])) if found else None


def bars_words(made: Bars) -> str:
    """What the bars show, for their caption."""
    top = max(made.bars, key=lambda bar: bar.median)
    low = min(made.bars, key=lambda bar: bar.median)
    runs = max(bar.runs for bar in made.bars)
    text = "A bar is a median" if runs > 1 else "A bar is of one run"
    if runs > 1:
        text += f" over {runs} seeds, its line reaches from the least to the greatest"
    if low.median == top.median:
        return f"{text}. All are {number_words(top.median, made.spec.y.unit)}."
    most, least = (
        number_words(top.median, made.spec.y.unit),
        number_words(low.median, made.spec.y.unit),
    )
    return f"{text}. Most: {most} ({_named(top)}); least: {least} ({_named(low)})."


def _named(bar: Bar) -> str:
    return f"{bar.group}, {bar.series}" if bar.series else bar.group


def bars_table(made: Bars) -> Table:
    """The bars as rows."""
    unit = made.spec.y.unit.replace("/s", "_per_second").replace("%", "percent").lower()
    name = f"{made.spec.y.title.replace(' ', '_')}_{unit}".rstrip("_")
    columns = (
        Column(made.names[0], made.spec.x.title, "text"),
        *(Column(name, "case", "text") for name in made.names[1:]),
        Column(f"{name}_median", made.spec.y.label, "number"),
        Column(f"{name}_least", "least", "number"),
        Column(f"{name}_most", "most", "number"),
        Column("runs", "runs", "count"),
    )
    rows: list[list[Cell]] = []
    for bar in made.bars:
        names = (bar.group, bar.series)[: len(made.names)]
        rows.append([*names, bar.median, bar.least, bar.most, bar.runs])
    return Table(columns, rows)


def bars_drawn(made: Bars) -> Spec:
    """The bars as a specification, each with the range of its runs where they differ."""
    groups, series_of = made.groups, made.series
    unit, is_log = unit_words(made.spec.y.unit), made.spec.y.logarithmic
    width = 0.84 / len(series_of)
    values = [value for bar in made.bars for value in (bar.median, bar.least, bar.most)]
    top, floor = max(values), min(0.0, *values)
    heights = axis("y", made.spec.y.label, ends=(1.05 * floor, max(1.05 * top, 0.0)))
    if is_log:
        floor = min(value for value in values if value > 0.0) / 1.5
        ticks = log_ticks(floor, top)
        heights = axis("y", made.spec.y.label, ends=(floor, 1.2 * top), log=10, ticks=ticks)
    spread = {
        "low": [bar.least for bar in made.bars],
        "high": [bar.most for bar in made.bars],
    } if any(bar.least < bar.most for bar in made.bars) else {}  # fmt: skip
    data = rows(
        x=[
            groups.index(bar.group)
            + (series_of.index(bar.series) + 0.46 - len(series_of) / 2.0) * width
            for bar in made.bars
        ],
        y=[bar.median for bar in made.bars],
        kind=[bar.series for bar in made.bars],
        base=[floor if is_log else 0.0] * len(made.bars),
        text=[
            f"{_named(bar)}: {bar.median:,.4g} {unit}, min {bar.least:,.4g}, max {bar.most:,.4g} "
            f"of {bar.runs} {'run' if bar.runs == 1 else 'runs'}"
            for bar in made.bars
        ],
        **spread,
    )
    labels = {float(at): group for at, group in enumerate(groups)}
    ends = (-0.6, len(groups) - 0.4)
    across = axis("x", made.spec.x.title, ends=ends, ticks=labels, labelOverlap=False)
    named = series(series_of)
    spec = columns(data, across, heights, named, wide=0.92 * width, height=300)
    return spec | {"letters": letters(groups)}
