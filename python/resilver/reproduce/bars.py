"""Bars in groups, with the range of their runs, as they are or as the change from a base case."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.report.plots import empty_figure
from resilver.report.scales import significant
from resilver.report.style import BLUE, SERIES
from resilver.report.tables import Cell, Column, Table
from resilver.reproduce.compare import DIVISORS
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
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
    def has_series(self) -> bool:
        """Whether a group has several bars."""
        return len(self.names) > 1

    @property
    def series(self) -> list[str]:
        """The series in order."""
        return list(dict.fromkeys(bar.series for bar in self.bars))

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
                "color": SERIES[rank % len(SERIES)] if made.has_series else BLUE,
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
                f"{_named(bar)}: {bar.median:,.4g} {unit_words(made.spec.y.unit)}"
                f"<br>{bar.least:,.4g} to {bar.most:,.4g} in {bar.runs} "
                f"{'run' if bar.runs == 1 else 'runs'}"
                for _, bar in own
            ],
            textposition="none",
            hoverinfo="text",
        )
    figure.update_xaxes(
        title=made.spec.x.title,
        tickvals=list(range(len(made.groups))),
        ticktext=made.groups,
        showgrid=False,
    )
    figure.update_yaxes(title=made.spec.y.label)
    if made.spec.y.logarithmic:
        figure.update_yaxes(type="log")
    figure.update_layout(barmode="overlay", hovermode="closest", showlegend=bool(made.has_series))
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
            color=SERIES[rank % len(SERIES)] if made.has_series else BLUE,
            hatch=2 * _HATCHES[rank % len(_HATCHES)],
            edgecolor="white",
            linewidth=0.3,
            yerr=_spreads(made, series) if made.is_spread else None,
            error_kw={"elinewidth": 0.6, "capsize": 1.0, "capthick": 0.6},
            label=series or None,
        )
    axes.set_xticks(range(len(made.groups)), made.groups)
    axes.grid(False, axis="x")
    axes.set_xlabel(made.spec.x.title)
    axes.set_ylabel(made.spec.y.label)
    if made.spec.y.logarithmic:
        axes.set_yscale("log")
    if any(bar.median < 0.0 for bar in made.bars):
        axes.axhline(0.0, color="black", linewidth=0.6)
    if made.has_series:
        # Beside the bars: seven cases of eight topologies leave no free corner.
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
