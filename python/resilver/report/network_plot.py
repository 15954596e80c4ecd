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
from resilver.report.style import BLUE, GREY
from resilver.report.topology_lines import Lines, lines_of
from resilver.report.topology_plot import draw_topology
from resilver.report.words import percent

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes
    from plotly.graph_objects import Figure

# Each is legible on white and on near-black; lightness falls and warmth rises with the load.
_SCALE = ((0.0, "#9AA7B1"), (0.35, "#5B9BC8"), (0.65, "#E69F00"), (1.0, "#C1121F"))
_FAILED = "#C026D3"
"""The colour of what failed, which the scale does not have."""
_THICKNESS = 1.5
_PIXELS = (1500, 840)
_COLOURS_KEPT = 96
_NODES_DRAWN_MAX = 600
"""Nodes of a network with more are too close together for marks of their own."""
_NARROWEST_PIXELS = 700
"""A window that is narrower scrolls the map, whose names would cover each other."""
_LETTER_PIXELS = 6.5
_LABEL_LETTERS = 32
_KINDS_NAMED = ("switch", "router", "host")
"""Whose names come first where there is no room for all."""


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
        colors=_FAILED,
        linewidths=1.5 * _THICKNESS,
        linestyles=(0, (2, 1.5)),
    )
    axes.add_collection(broken)
    for is_router, marker, colour, size in ((False, "o", GREY, 9.0), (True, "s", BLUE, 22.0)):
        chosen = np.array([(kind == "router") == is_router for kind in chart.node_kinds])
        if chosen.any() and (is_router or chosen.sum() <= _NODES_DRAWN_MAX):
            places = chart.positions[chosen]
            size *= min(1.0, 200.0 / int(chosen.sum())) * _THICKNESS
            axes.scatter(places[:, 0], places[:, 1], s=size, c=colour, marker=marker, zorder=3)
    left, right, bottom, up = _frame(lines)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, up)
    axes.set_axis_off()


def _names_shown(chart: LinkMap, frame: tuple[float, float, float, float]) -> list[str]:
    """The name of each node where there is room for it, else nothing: switches' names first."""
    left, right, bottom, top = frame
    # The bar of colours takes some 170 pixels beside the map, and a name is 14 pixels high.
    across = (_NARROWEST_PIXELS - 170) / (right - left)
    up = 560 / (top - bottom)
    shown = [""] * len(chart.node_names)
    placed = np.empty((0, 3))
    for kind in _KINDS_NAMED:
        for node in (at for at, one in enumerate(chart.node_kinds) if one == kind):
            name = chart.node_names[node]
            name = name if len(name) <= _LABEL_LETTERS else f"{name[: _LABEL_LETTERS - 1]}…"
            x, y = chart.positions[node] * (across, up)
            half = 0.5 * _LETTER_PIXELS * len(name) + 3.0
            beside = np.abs(placed[:, 0] - x) < placed[:, 2] + half
            if not np.any(beside & (np.abs(placed[:, 1] - y) < 15.0)):
                shown[node] = name
                placed = np.vstack([placed, (x, y, half)])
    return shown


def _stands_below(chart: LinkMap) -> npt.NDArray[np.bool_]:
    """Whether all links of a node lead up, so that below it there is room for its name."""
    heights = chart.positions[chart.ends, 1]
    lowest_other = np.full(len(chart.node_names), np.inf)
    for side in (0, 1):
        np.minimum.at(lowest_other, chart.ends[:, side], heights[:, 1 - side])
    return np.asarray(lowest_other > chart.positions[:, 1] + 1e-9, dtype=np.bool_)


def _add_nodes(figure: Figure, chart: LinkMap, frame: tuple[float, float, float, float]) -> None:
    """The names of nodes: where there is room for them beside the marks, and under the pointer."""
    figure.add_scatter(
        x=[round(float(x), 5) for x in chart.positions[:, 0]],
        y=[round(float(y), 5) for y in chart.positions[:, 1]],
        mode="markers+text",
        name="nodes",
        showlegend=False,
        marker={"size": 9, "color": "rgba(0,0,0,0)"},
        text=[text_of(name) for name in _names_shown(chart, frame)],
        textposition=[
            "bottom center" if is_below else "top center" for is_below in _stands_below(chart)
        ],
        cliponaxis=False,
        textfont={"size": 11},
        hovertext=[text_of(name) for name in chart.node_names],
        hoverinfo="text",
    )


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


def _add_failed(figure: Figure, chart: LinkMap, lines: Lines) -> None:
    """Crosses on the failed links."""
    failed = np.flatnonzero(chart.failed)
    if not failed.size:
        return
    middles = _middles(lines, failed)
    figure.add_scatter(
        x=[round(float(x), 5) for x in middles[:, 0]],
        y=[round(float(y), 5) for y in middles[:, 1]],
        mode="markers",
        name="failed links",
        marker={"size": 11, "symbol": "x", "color": _FAILED, "line": {"width": 1}},
        text=[f"{text_of(chart.name(int(link)))}<br>failed" for link in failed],
        hoverinfo="text",
    )


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
    # Circles around a good part of all links would point at nothing.
    hottest = chart.hottest[: max(1, chart.load.size // 4)]
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
    _add_failed(figure, chart, lines)
    if len(chart.node_names) <= _NODES_DRAWN_MAX:
        _add_nodes(figure, chart, (left, right, bottom, top))
    if "router" in chart.node_kinds:
        marker = {"symbol": "square", "color": BLUE, "size": 8}
        figure.add_scatter(x=[None], y=[None], mode="markers", name="routers", marker=marker)
    figure.update_xaxes(visible=False, range=[left, right])
    figure.update_yaxes(visible=False, range=[bottom, top])
    margin = {"l": 8, "r": 8, "t": 44, "b": 26}
    figure.update_layout(margin=margin, showlegend=True, hovermode="closest")
    figure.update_layout(meta={"narrowest": _NARROWEST_PIXELS})
    return figure


def network_static(chart: LinkMap, title: str) -> matplotlib.figure.Figure:
    """The map as a figure of its own, with matplotlib.

    Args:
        chart: The links.
        title: What it shows.
    """
    return draw_topology(
        chart.positions,
        chart.ends,
        chart.node_kinds,
        load=np.minimum(chart.load, 1.0),
        failed=np.flatnonzero(chart.failed),
        title=title,
        labels=chart.node_names,
    )
