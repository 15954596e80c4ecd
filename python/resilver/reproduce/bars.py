"""Bars in groups, with the range of their runs, as they are or as the change from a base case."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.report.plots import empty_figure
from resilver.report.scales import significant
from resilver.report.style import BLUE, SERIES
from resilver.report.tables import Cell, Column, Table
from resilver.reproduce.compare import DIVISORS, Row
from resilver.reproduce.grouped import paired_ratios
from resilver.reproduce.published import PictureSpec, matches
from resilver.reproduce.words import number_words, unit_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure as StaticFigure
    from plotly.graph_objects import Figure

# Hatches beside the colours, so that bars differ in print and without colour.
_HATCHES = ("", "/", "\\", "x", ".", "-", "+")
_ROOM = 0.84


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
    """

    spec: PictureSpec
    bars: tuple[Bar, ...]

    @property
    def groups(self) -> list[str]:
        """The groups in order."""
        return list(dict.fromkeys(bar.group for bar in self.bars))

    @property
    def series(self) -> list[str]:
        """The series in order."""
        return list(dict.fromkeys(bar.series for bar in self.bars))

    @property
    def unit(self) -> str:
        """The unit of the heights."""
        return "%" if self.spec.change_from else self.spec.y_unit

    @property
    def y_title(self) -> str:
        """The title of the axis upwards."""
        unit = unit_words(self.unit)
        return f"{self.spec.y_title} ({unit})" if unit else self.spec.y_title

    def of(self, series: str) -> list[tuple[int, Bar]]:
        """The bars of a series, each with the place of its group."""
        places = {group: place for place, group in enumerate(self.groups)}
        return [(places[bar.group], bar) for bar in self.bars if bar.series == series]

    @property
    def is_spread(self) -> bool:
        """Whether any bar has runs that differ; without, whiskers would be dots on the bars."""
        return any(bar.least < bar.most for bar in self.bars)

    def offset(self, rank: int) -> float:
        """How far the bars of a series stand from the middle of their group."""
        return (rank - (len(self.series) - 1) / 2.0) * self.width

    @property
    def width(self) -> float:
        """The width of a bar, where a group is 1 wide."""
        return _ROOM / len(self.series)


def bars(spec: PictureSpec, rows: Sequence[Row]) -> Bars | None:
    """The bars of a picture.

    Args:
        spec: What to draw.
        rows: The rows to draw it from.

    Returns:
        The bars; None where no row has what it needs.
    """
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        base = bool(spec.change_from) and matches(row, spec.change_from)
        if matches(row, spec.at) and row.get(spec.x) is not None and not base:
            name = str(row.get(spec.by, ""))
            key = (str(row[spec.x]), spec.names.get(name, name) if spec.by else "")
            parts.setdefault(key, []).append(row)
    found = []
    for (group, series), part in parts.items():
        values = _values(spec, part, rows)
        if values:
            middle = float(statistics.median(values))
            found.append(Bar(group, series, middle, min(values), max(values), len(values)))
    return Bars(spec, tuple(found)) if found else None


def _values(spec: PictureSpec, part: Sequence[Row], rows: Sequence[Row]) -> list[float]:
    if spec.change_from:
        base = [row for row in rows if matches(row, spec.change_from)]
        return [100.0 * (ratio - 1.0) for ratio in paired_ratios(part, base, spec.x, spec.y)]
    divisor = DIVISORS[spec.y_unit]
    values = [row.get(spec.y) for row in part]
    return [
        float(value) / divisor
        for value in values
        if isinstance(value, int | float) and math.isfinite(value)
    ]


def bars_words(made: Bars) -> str:
    """What the bars show, for their caption."""
    top = max(made.bars, key=lambda bar: bar.median)
    low = min(made.bars, key=lambda bar: bar.median)
    kind = "The change from the base case of the same seed" if made.spec.change_from else "A bar"
    runs = max(bar.runs for bar in made.bars)
    text = f"{kind} is a median" if runs > 1 else f"{kind} is of one run"
    if runs > 1:
        text += f" over {runs} seeds, its line reaches from the least to the greatest"
    if low.median == top.median:
        return f"{text}. All are {number_words(top.median, made.unit)}."
    most, least = number_words(top.median, made.unit), number_words(low.median, made.unit)
    return f"{text}. Most: {most} ({_named(top)}); least: {least} ({_named(low)})."


def _named(bar: Bar) -> str:
    return f"{bar.group}, {bar.series}" if bar.series else bar.group


def bars_table(made: Bars) -> Table:
    """The bars as rows."""
    unit = made.unit.replace("/s", "_per_second").replace("%", "percent").lower()
    name = f"{made.spec.y_title.replace(' ', '_')}_{unit}".rstrip("_")
    columns = (
        Column(made.spec.x.replace(".", "_"), made.spec.x_title, "text"),
        *((Column(made.spec.by.replace(".", "_"), "case", "text"),) if made.spec.by else ()),
        Column(f"{name}_median", made.y_title, "number"),
        Column(f"{name}_least", "least", "number"),
        Column(f"{name}_most", "most", "number"),
        Column("runs", "runs", "count"),
    )
    rows: list[list[Cell]] = []
    for bar in made.bars:
        names: list[Cell] = [bar.group, bar.series] if made.spec.by else [bar.group]
        rows.append([*names, bar.median, bar.least, bar.most, bar.runs])
    return Table(columns, rows)


def _spreads(made: Bars, series: str) -> list[list[float]]:
    """How far the least run of each bar lies below its median, and how far the greatest above."""
    own = [bar for _, bar in made.of(series)]
    return [[bar.median - bar.least for bar in own], [bar.most - bar.median for bar in own]]


def bars_figure(made: Bars) -> Figure:
    """The bars, drawn with Plotly."""
    figure = empty_figure(420)
    for rank, series in enumerate(made.series):
        own = made.of(series)
        figure.add_bar(
            x=[place + made.offset(rank) for place, _ in own],
            y=[significant(bar.median) for _, bar in own],
            width=made.width,
            name=series or "ours",
            marker={
                "color": SERIES[rank % len(SERIES)] if made.spec.by else BLUE,
                "pattern": {"shape": _HATCHES[rank % len(_HATCHES)], "solidity": 0.25},
                "line": {"width": 0},
            },
            error_y={
                "type": "data",
                "symmetric": False,
                "array": _spreads(made, series)[1],
                "arrayminus": _spreads(made, series)[0],
                "thickness": 1,
                "width": 2,
            }
            if made.is_spread
            else None,
            text=[
                f"{_named(bar)}: {bar.median:,.4g} {unit_words(made.unit)}"
                f"<br>{bar.least:,.4g} to {bar.most:,.4g} in {bar.runs} "
                f"{'run' if bar.runs == 1 else 'runs'}"
                for _, bar in own
            ],
            textposition="none",
            hoverinfo="text",
        )
    figure.update_xaxes(
        title=made.spec.x_title,
        tickvals=list(range(len(made.groups))),
        ticktext=made.groups,
        showgrid=False,
    )
    figure.update_yaxes(title=made.y_title)
    if made.spec.y_logarithmic:
        figure.update_yaxes(type="log")
    figure.update_layout(barmode="overlay", hovermode="closest", showlegend=bool(made.spec.by))
    return figure


def bars_static(figure: StaticFigure, made: Bars) -> None:
    """The bars, drawn with matplotlib."""
    axes = figure.subplots()
    for rank, series in enumerate(made.series):
        own = made.of(series)
        axes.bar(
            [place + made.offset(rank) for place, _ in own],
            [bar.median for _, bar in own],
            width=made.width,
            color=SERIES[rank % len(SERIES)] if made.spec.by else BLUE,
            hatch=2 * _HATCHES[rank % len(_HATCHES)],
            edgecolor="white",
            linewidth=0.3,
            yerr=_spreads(made, series) if made.is_spread else None,
            error_kw={"elinewidth": 0.6, "capsize": 1.0, "capthick": 0.6},
            label=series or None,
        )
    axes.set_xticks(range(len(made.groups)), made.groups)
    axes.grid(False, axis="x")
    axes.set_xlabel(made.spec.x_title)
    axes.set_ylabel(made.y_title)
    if made.spec.y_logarithmic:
        axes.set_yscale("log")
    if any(bar.median < 0.0 for bar in made.bars):
        axes.axhline(0.0, color="black", linewidth=0.6)
    if made.spec.by:
        # Beside the bars: seven cases of eight topologies leave no free corner.
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
