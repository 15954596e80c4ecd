"""The map of link load: the topology drawn, each link as wide and as warm as it is busy.

A network may have tens of thousands of links, which neither a page nor a browser carries one by
one. So the links of the page's map are a picture without text and ground, made with matplotlib,
and Plotly puts the scale, the names and what stands out over it; so the map follows the page's
colours.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.report.charts_data import Floats
from resilver.report.network import LinkMap
from resilver.report.plots import empty_figure, text_of
from resilver.report.style import BLUE, GREY, VERMILLION
from resilver.report.topology_lines import Lines, lines_of
from resilver.report.topology_plot import draw_topology
from resilver.report.words import percent

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes
    from plotly.graph_objects import Figure

# Each is legible on white and on near-black; lightness falls and warmth rises with the load.
_SCALE = ((0.0, "#9AA7B1"), (0.35, "#5B9BC8"), (0.65, "#E69F00"), (1.0, "#C1121F"))
_THICKNESS = 1.5
_PIXELS = (1500, 840)
_COLOURS_KEPT = 96
_NODES_DRAWN_MAX = 600
"""Nodes of a network with more are too close together for marks of their own."""


def _frame(lines: Lines) -> tuple[float, float, float, float]:
    """The ends of both axes: all segments and a margin; left, right, bottom, top."""
    points = lines.segments.reshape(-1, 2)
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.03 * np.maximum(high - low, 0.2)
    low, high = low - room, high + room
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _middles(lines: Lines, links: npt.NDArray[np.int64]) -> Floats:
    """Where a mark on each link stands: in the middle of its line, or of its first stub."""
    first = np.array([int(np.flatnonzero(lines.link == link)[0]) for link in links], dtype=np.int64)
    return np.asarray(lines.segments[first].mean(axis=1), dtype=np.float64).reshape(-1, 2)


def _top(chart: LinkMap) -> float:
    """The upper end of the scale of loads: the busiest link's, or a little for an idle network."""
    return max(float(chart.load.max()), 0.01)


def _draw_links(axes: Axes, chart: LinkMap, lines: Lines) -> None:
    """Draw links and nodes into axes, the busiest links on top."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    works = ~chart.failed[lines.link]
    load = chart.load[lines.link]
    order = np.argsort(load, kind="stable")
    order = order[works[order]]
    top = _top(chart)
    # Where there are many links, those with little load must not hide the others.
    crowd = min(1.0, 2000.0 / max(1, len(lines.link)))
    share = load[order] / top
    drawn = LineCollection(
        list(lines.segments[order]),
        cmap=LinearSegmentedColormap.from_list("load", list(_SCALE)),
        norm=Normalize(0.0, top),
        linewidths=_THICKNESS * (0.3 + 0.5 * crowd + (0.5 + 1.4 * crowd) * share),
        alpha=np.clip(0.25 + 0.5 * crowd + 0.75 * share, 0.0, 1.0),
        capstyle="round",
    )
    drawn.set_array(load[order])
    axes.add_collection(drawn)
    broken = LineCollection(
        list(lines.segments[~works]),
        colors=VERMILLION,
        linewidths=1.5 * _THICKNESS,
        linestyles=(0, (2, 1.5)),
    )
    axes.add_collection(broken)
    for is_router, marker, colour, size in ((False, "o", GREY, 9.0), (True, "s", BLUE, 22.0)):
        chosen = np.array([(_kind(name) == "router") == is_router for name in chart.node_names])
        if chosen.any() and (is_router or chosen.sum() <= _NODES_DRAWN_MAX):
            places = chart.positions[chosen]
            size *= min(1.0, 200.0 / int(chosen.sum())) * _THICKNESS
            axes.scatter(places[:, 0], places[:, 1], s=size, c=colour, marker=marker, zorder=3)
    left, right, bottom, up = _frame(lines)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, up)
    axes.set_axis_off()


def _kind(name: str) -> str:
    """What a node is, as its name says: `router.3` is a router."""
    return name.partition(".")[0]


def _raster(chart: LinkMap, lines: Lines) -> str:
    """The links as a picture with a transparent ground, as a data address."""
    from matplotlib.figure import Figure as StaticFigure
    from PIL import Image

    width, height = _PIXELS
    figure = StaticFigure(figsize=(width / 100.0, height / 100.0), dpi=100)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    _draw_links(axes, chart, lines)
    whole, data = io.BytesIO(), io.BytesIO()
    figure.savefig(whole, format="png", dpi=100, transparent=True)
    small = Image.open(whole).quantize(_COLOURS_KEPT, method=Image.Quantize.FASTOCTREE)
    small.save(data, format="png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()


def network_figure(chart: LinkMap) -> Figure:
    """The map with its scale, and with the busiest and the failed links marked, with Plotly.

    Args:
        chart: The links.
    """
    figure = empty_figure(620)
    lines = lines_of(chart.positions, chart.ends)
    left, right, bottom, top = _frame(lines)
    figure.add_layout_image(
        source=_raster(chart, lines),
        xref="x",
        yref="y",
        x=left,
        y=top,
        sizex=right - left,
        sizey=top - bottom,
        sizing="stretch",
        layer="below",
    )
    hottest = chart.hottest
    middles = _middles(lines, hottest)
    figure.add_scatter(
        x=[round(float(x), 5) for x in middles[:, 0]],
        y=[round(float(y), 5) for y in middles[:, 1]],
        mode="markers",
        name=f"the {len(hottest)} busiest links" if len(hottest) > 1 else "the busiest link",
        marker={
            "size": 13,
            "symbol": "circle-open",
            "line": {"width": 2, "color": BLUE},
            "color": [round(100.0 * float(chart.load[link]), 3) for link in hottest],
            "colorscale": [[at, colour] for at, colour in _SCALE],
            "cmin": 0.0,
            "cmax": 100.0 * _top(chart),
            "showscale": True,
            "colorbar": {
                "title": {"text": "busier direction<br>busy (%)", "side": "top"},
                "thickness": 14,
                "len": 0.85,
            },
        },
        text=[
            f"{text_of(chart.name(int(link)))}<br>busy {percent(float(chart.load[link]))}"
            for link in hottest
        ],
        hoverinfo="text",
    )
    failed = np.flatnonzero(chart.failed)
    if failed.size:
        middles = _middles(lines, failed)
        figure.add_scatter(
            x=[round(float(x), 5) for x in middles[:, 0]],
            y=[round(float(y), 5) for y in middles[:, 1]],
            mode="markers",
            name="failed links",
            marker={"size": 11, "symbol": "x", "color": VERMILLION, "line": {"width": 1}},
            text=[f"{text_of(chart.name(int(link)))}<br>failed" for link in failed],
            hoverinfo="text",
        )
    if any(_kind(name) == "router" for name in chart.node_names):
        marker = {"symbol": "square", "color": BLUE, "size": 8}
        figure.add_scatter(x=[None], y=[None], mode="markers", name="routers", marker=marker)
    figure.update_xaxes(visible=False, range=[left, right])
    figure.update_yaxes(visible=False, range=[bottom, top])
    margin = {"l": 8, "r": 8, "t": 36, "b": 8}
    figure.update_layout(margin=margin, showlegend=True, hovermode="closest")
    return figure


def network_static(chart: LinkMap, title: str) -> matplotlib.figure.Figure:
    """The map as a figure of its own, with matplotlib.

    Args:
        chart: The links.
        title: What it shows.
    """
    kinds = [_kind(name) for name in chart.node_names]
    known = ("host", "router", "switch")
    return draw_topology(
        chart.positions,
        chart.ends,
        [kind if kind in known else "host" for kind in kinds],
        load=np.minimum(chart.load, 1.0),
        failed=np.flatnonzero(chart.failed),
        title=title,
        labels=chart.node_names,
    )
