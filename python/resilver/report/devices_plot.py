"""Busy devices, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.report.plots import empty_figure, plain, text_of
from resilver.report.style import BLUE, VERMILLION
from resilver.report.traffic_devices import DevicesChart
from resilver.report.words import percent, plural

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure

_TICKS_MAX = 12
"""Devices each of which has a tick of its own; between them there is nothing."""
_MARKS_MAX = 400
"""More devices than this are drawn as a line: marks would be one thick band."""


def devices_figure(chart: DevicesChart) -> Figure:
    """The busy share of each device, busiest first, with Plotly.

    Args:
        chart: The devices.
    """
    figure = empty_figure(340)
    ranks = np.arange(1, len(chart.names) + 1)
    groups = ((~chart.failed, "works", BLUE, "circle"), (chart.failed, "failed", VERMILLION, "x"))
    for chosen, name, colour, mark in groups:
        at = np.flatnonzero(chosen)
        if not at.size:
            continue
        many = at.size > _MARKS_MAX
        figure.add_scatter(
            x=ranks[at].tolist(),
            y=plain(100.0 * chart.busy_share[at]),
            mode="lines" if many else "markers",
            line={"color": colour, "width": 2},
            marker={"color": colour, "size": 8 if name == "failed" else 6, "symbol": mark},
            name=name,
            text=[
                f"{text_of(chart.names[i])}<br>busy {percent(float(chart.busy_share[i]))}, "
                f"{plural(float(chart.completed[i]), 'request')}"
                for i in at
            ],
            hoverinfo="text",
        )
    top = 100.0 * float(np.nanmax(chart.busy_share))
    figure.update_yaxes(title="device busy (%)", range=[0, min(104.0, max(1.08 * top, 0.1))])
    figure.update_xaxes(
        title="devices, busiest first", tickformat=",", range=[0.25, ranks.size + 0.75]
    )
    if ranks.size <= _TICKS_MAX:
        figure.update_xaxes(dtick=1)
    figure.update_layout(showlegend=bool(chart.failed.any()), hovermode="closest")
    return figure


def devices_static(figure: matplotlib.figure.Figure, chart: DevicesChart) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        chart: The devices.
    """
    axes = figure.subplots()
    ranks = np.arange(1, len(chart.names) + 1)
    shares = 100.0 * chart.busy_share
    works = ~chart.failed
    axes.plot(ranks[works], shares[works], linestyle="", marker="o", markersize=1.8, color=BLUE)
    if chart.failed.any():
        axes.plot(
            ranks[chart.failed],
            shares[chart.failed],
            linestyle="",
            marker="x",
            markersize=4,
            color=VERMILLION,
            label="failed",
        )
        axes.legend(loc="upper right")
    axes.set_ylim(0.0, min(104.0, max(1.08 * float(np.nanmax(shares)), 0.1)))
    axes.set_xlim(0.25, ranks.size + 0.75)
    axes.set_ylabel("device busy (%)")
    axes.set_xlabel("devices, busiest first")
