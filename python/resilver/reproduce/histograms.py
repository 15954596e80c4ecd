"""Counts and volumes by size, a panel a population: both ways of drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.report.plots import AXIS, empty_figure
from resilver.report.scales import significant
from resilver.report.style import BLUE, VERMILLION
from resilver.report.tables import Column, Table
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as StaticFigure
    from plotly.graph_objects import Figure

_PANEL_PIXELS = 230
_EXPONENTS_A_TICK = 6


@dataclass(frozen=True)
class Panel:
    """One population: the share of each bin in the number and in the volume, in per cent."""

    name: str
    exponents: tuple[int, ...]
    counts: tuple[float, ...]
    volumes: tuple[float, ...]


@dataclass(frozen=True)
class Histogram:
    """Panels over one axis of sizes.

    Args:
        spec: What is drawn.
        panels: The panels, from the top.
        counted: What is counted.
    """

    spec: PictureSpec
    panels: tuple[Panel, ...]
    counted: str

    @property
    def limits(self) -> tuple[int, int]:
        """The exponents of the least and the greatest size."""
        found = [exponent for panel in self.panels for exponent in panel.exponents]
        return min(found), max(found)

    @property
    def ticks(self) -> list[int]:
        """The exponents that are labelled."""
        low, high = self.limits
        first = -(-low // _EXPONENTS_A_TICK) * _EXPONENTS_A_TICK
        return list(range(first, high + 2, _EXPONENTS_A_TICK))


def histogram(spec: PictureSpec, tables: Tables) -> Histogram | None:
    """The panels of a picture.

    Args:
        spec: What to draw.
        tables: The entry's tables.

    Returns:
        The histogram; None where nothing is stored.
    """
    names, rows = tables.ask(spec.query)
    panels = []
    for name in dict.fromkeys(row[0] for row in rows):
        own = [row[1:] for row in rows if row[0] == name and row[2]]
        count, volume = sum(row[1] for row in own), sum(row[2] for row in own)
        if count and volume:
            panels.append(
                Panel(
                    name,
                    tuple(math.frexp(max(row[0], 1))[1] - 1 for row in own),
                    tuple(100.0 * row[1] / count for row in own),
                    tuple(100.0 * row[2] / volume for row in own),
                )
            )
    return Histogram(spec, tuple(panels), names[2]) if panels else None


def histogram_table(made: Histogram) -> Table:
    """The bins as rows."""
    columns = (
        Column("population", "population", "text"),
        Column("bin_min_bytes", "from", "bytes"),
        Column(f"{made.counted}_share", f"share of {made.counted}", "share"),
        Column("volume_share", "share of the volume", "share"),
    )
    rows = [
        (panel.name, 2**exponent, count / 100.0, volume / 100.0)
        for panel in made.panels
        for exponent, count, volume in zip(
            panel.exponents, panel.counts, panel.volumes, strict=True
        )
    ]
    return Table(columns, rows)


def histogram_figure(made: Histogram) -> Figure:
    """The panels, drawn with Plotly."""
    count = len(made.panels)
    figure = empty_figure(60 + _PANEL_PIXELS * count)
    low, high = made.limits
    gap = 0.12
    room = (1.0 - gap * (count - 1)) / count
    for rank, panel in enumerate(made.panels):
        suffix = "" if rank == 0 else str(rank + 1)
        top = 1.0 - rank * (room + gap)
        for values, colour, name, aside in (
            (panel.counts, VERMILLION, f"share of {made.counted}", 0.28),
            (panel.volumes, BLUE, "share of the volume", 0.72),
        ):
            figure.add_bar(
                x=[exponent + aside for exponent in panel.exponents],
                y=[significant(value) for value in values],
                width=0.44,
                marker={"color": colour, "line": {"width": 0}},
                name=name,
                legendgroup=name,
                showlegend=rank == 0,
                yaxis=f"y{suffix}",
                text=[
                    f"{panel.name}, {_bin(exponent)}: {value:.3g} %"
                    for exponent, value in zip(panel.exponents, values, strict=True)
                ],
                textposition="none",
                hoverinfo="text",
            )
        axis = {**AXIS, "domain": [max(0.0, top - room), top], "rangemode": "tozero"}
        figure.update_layout({f"yaxis{suffix}": {**axis, "title": f"{panel.name} (%)"}})
    figure.update_xaxes(
        title="size",
        range=[low - 0.2, high + 1.2],
        tickvals=made.ticks,
        ticktext=[exact_bytes(2**exponent) for exponent in made.ticks],
        anchor="y" if count == 1 else f"y{count}",
    )
    figure.update_layout(bargap=0, barmode="overlay", hovermode="closest", showlegend=True)
    return figure


def _bin(exponent: int) -> str:
    return f"{exact_bytes(2**exponent)} to {exact_bytes(2 ** (exponent + 1))}"


def histogram_static(figure: StaticFigure, made: Histogram) -> None:
    """The panels, drawn with matplotlib."""
    low, high = made.limits
    grid = figure.subplots(len(made.panels), 1, sharex=True, squeeze=False)
    for rank, (axes, panel) in enumerate(zip(grid[:, 0], made.panels, strict=True)):
        for values, colour, name, aside in (
            (panel.counts, VERMILLION, f"share of {made.counted}", 0.28),
            (panel.volumes, BLUE, "share of the volume", 0.72),
        ):
            xs = [exponent + aside for exponent in panel.exponents]
            axes.bar(xs, values, width=0.44, color=colour, label=name)
        axes.set_ylabel(f"{panel.name} (%)")
        axes.set_xlim(low - 0.2, high + 1.2)
        axes.set_ylim(bottom=0.0)
        axes.grid(False, axis="x")
        if rank == 0:
            axes.legend(loc="best")
    last = grid[-1, 0]
    last.set_xticks(made.ticks, [exact_bytes(2**exponent) for exponent in made.ticks])
    last.set_xlabel("size")
