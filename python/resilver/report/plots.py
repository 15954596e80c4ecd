"""The charts drawn with Plotly, for the page and for notebooks."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.report import words
from resilver.report.charts_data import (
    Floats,
    ServerChart,
    TimelineChart,
    descending,
)
from resilver.report.scales import (
    byte_scale,
    integer_step,
    rate_scale,
    significant,
    time_scale,
    time_title,
)
from resilver.report.style import BLUE, GREEN, GREY, ORANGE
from resilver.units import format_duration

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


AXIS: dict[str, Any] = {
    "zeroline": False,
    "gridcolor": "rgba(128,128,128,0.25)",
    "automargin": True,
    # Without it the two axes' labels of the origin touch.
    "ticklabelstandoff": 5,
}
"""What every axis has in common."""


def text_of(name: str) -> str:
    """A name as Plotly must have it, which reads its texts as a small part of HTML."""
    return escape(name, quote=False)


def plain(values: Floats, scale: float = 1.0) -> list[float | None]:
    """Values in an axis's unit, rounded to what a chart can show."""
    return [significant(float(value) / scale) for value in values]


def empty_figure(height: int) -> Figure:
    """A figure with the house's fonts and margins, and no colours that assume a background."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 72, "r": 40, "t": 24, "b": 48},
        font={"family": "system-ui, sans-serif", "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "itemsizing": "constant",
        },
        hoverlabel={"align": "left"},
    )
    figure.update_xaxes(**AXIS, title_standoff=8)
    figure.update_yaxes(**AXIS)
    return figure


def faint(colour: str) -> str:
    """The colour at a quarter of its strength."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"


def with_title(figure: Figure, heading: str) -> Figure:
    """The figure with its finding above it, on white, as it stands outside the page.

    Args:
        figure: A figure of this package.
        heading: The finding, broken into lines that fit a notebook's width.
    """
    lines = wrap(text_of(heading), 76)
    room = 20 * len(lines) + 44
    figure.update_layout(
        title={
            "text": "<br>".join(lines),
            "x": 0,
            "xref": "paper",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 14},
            "font": {"size": 16},
        },
        font_color="#1b1f24",
        paper_bgcolor="#ffffff",
        margin_t=figure.layout.margin.t + room,
        height=figure.layout.height + room,
    )
    return figure


def servers_figure(chart: ServerChart) -> Figure:
    """Rebuilt replicas by server, most first, with the placement groups gained on a second axis."""
    figure = empty_figure(420)
    order = descending(chart.rebuilt_objects)
    ranks = list(range(1, order.size + 1))
    names = [text_of(chart.names[i]) for i in order]
    texts = [
        f"{text_of(chart.names[i])}<br>{chart.rebuilt_objects[i]:,.0f} replicas, "
        f"{words.size_of(float(chart.rebuilt_bytes[i]))}"
        for i in order
    ]
    figure.add_bar(
        x=ranks,
        y=plain(chart.rebuilt_objects[order]),
        text=texts,
        textposition="none",
        hoverinfo="text",
        marker={"color": BLUE, "line": {"width": 0}},
        name="replicas rebuilt",
    )
    if chart.groups is not None:
        most = max(1.0, float(np.nanmax(chart.groups)))
        figure.add_scatter(
            x=ranks,
            y=plain(chart.groups[order]),
            yaxis="y2",
            mode="markers",
            marker={
                "color": ORANGE,
                "size": 5 if order.size > 150 else 7,
                "line": {"width": 0.5, "color": "#00000080"},
            },
            name="placement groups gained",
            text=[
                f"{name}<br>{groups:,.0f} groups gained"
                for name, groups in zip(names, chart.groups[order], strict=True)
            ],
            hoverinfo="text",
        )
        figure.update_layout(
            yaxis2={
                "title": "placement groups gained",
                "overlaying": "y",
                "side": "right",
                "rangemode": "tozero",
                **AXIS,
                "showgrid": False,
                "range": [0, 1.08 * most],
                "dtick": integer_step(most),
            }
        )
    top = max(1.0, float(np.nanmax(chart.rebuilt_objects)))
    figure.update_yaxes(
        title="replicas rebuilt",
        tickformat=",",
        range=[0, 1.08 * top],
        selector={"overlaying": None},
    )
    figure.update_xaxes(
        title="surviving servers, most replicas first",
        tickformat=",",
        range=[0.25, order.size + 0.75],
    )
    figure.update_layout(bargap=0.15 if order.size <= 150 else 0.0, hovermode="closest")
    return figure


def finish_figure(chart: ServerChart) -> Figure:
    """Finishing times sorted (left), and against the bytes rebuilt (right), on one time axis."""
    figure = empty_figure(420)
    busy = np.flatnonzero(~np.isnan(chart.finish_seconds))
    finish, rebuilt = chart.finish_seconds[busy], chart.rebuilt_bytes[busy]
    time, size = time_scale(float(finish.max())), byte_scale(float(rebuilt.max()))
    order = descending(finish)
    texts = [
        f"{text_of(chart.names[busy[i]])}<br>{format_duration(float(finish[i]))}, "
        f"{words.size_of(float(rebuilt[i]))}"
        for i in range(busy.size)
    ]
    marker = {"color": BLUE, "size": 5 if busy.size > 150 else 7, "opacity": 0.8}
    figure.add_scatter(
        x=list(range(1, busy.size + 1)),
        y=plain(finish[order], time.divisor),
        mode="markers",
        marker=marker,
        text=[texts[i] for i in order],
        hoverinfo="text",
        showlegend=False,
    )
    figure.add_scatter(
        x=plain(rebuilt, size.divisor),
        y=plain(finish, time.divisor),
        mode="markers",
        marker=marker,
        text=texts,
        hoverinfo="text",
        xaxis="x2",
        showlegend=False,
    )
    last = int(np.argmax(finish))
    for axis, x in (("x", 1.0), ("x2", float(rebuilt[last]) / size.divisor)):
        figure.add_annotation(
            x=x,
            y=float(finish[last]) / time.divisor,
            xref=axis,
            yref="y",
            text=text_of(chart.names[busy[last]]),
            showarrow=True,
            arrowhead=0,
            arrowwidth=1,
            arrowcolor=GREY,
            ax=36 if axis == "x" else -36,
            ay=-14,
            xanchor="left" if axis == "x" else "right",
        )
    figure.update_yaxes(
        title=f"finishing time ({time.unit})", range=[0, 1.14 * float(finish.max()) / time.divisor]
    )
    figure.update_xaxes(title="servers that rebuild, last to finish first", domain=[0, 0.48])
    figure.update_layout(
        xaxis2={
            "title": {"text": f"data rebuilt on the server ({size.unit})", "standoff": 8},
            "domain": [0.54, 1],
            "rangemode": "tozero",
            **AXIS,
        },
        hovermode="closest",
    )
    return figure


def timeline_figure(chart: TimelineChart) -> Figure:
    """Rebuild rate (above) and bytes in flight (below) over one time axis."""
    figure = empty_figure(460)
    edges = np.append(chart.start_seconds, chart.start_seconds[-1:] + chart.duration_seconds[-1:])
    time = time_scale(float(edges.max()))
    rate, flight = (
        rate_scale(float(chart.rate.max())),
        byte_scale(float(chart.in_flight_bytes.max())),
    )
    for values, scale, colour, axis, name in (
        (chart.rate, rate, BLUE, "y", "rebuild rate"),
        (chart.in_flight_bytes, flight, GREEN, "y2", "in flight"),
    ):
        steps = np.append(values, values[-1:])
        figure.add_scatter(
            x=plain(edges, time.divisor),
            y=plain(steps, scale.divisor),
            yaxis=axis,
            mode="lines",
            line={"color": colour, "width": 1.75, "shape": "hv"},
            fill="tozeroy",
            fillcolor=faint(colour),
            name=name,
            hovertemplate=f"%{{x:.4g}} {time.unit}: %{{y:.4g}} {scale.unit}<extra>{name}</extra>",
        )
    figure.update_xaxes(
        title=time_title(chart.fault_seconds, time.unit),
        range=[0, float(edges.max()) / time.divisor],
    )
    grid = {**AXIS, "rangemode": "tozero"}
    figure.update_layout(
        yaxis={"title": f"rebuild rate ({rate.unit})", "domain": [0.54, 1], **grid},
        yaxis2={"title": f"bytes in flight ({flight.unit})", "domain": [0, 0.46], **grid},
        showlegend=False,
        hovermode="x",
    )
    figure.update_xaxes(anchor="y2")
    mark_faults(figure, chart.fault_seconds, time.divisor)
    return figure


def mark_faults(figure: Figure, fault_seconds: tuple[float, ...], divisor: float) -> None:
    """Dashed lines where something breaks, over all rows of a chart over time.

    Args:
        figure: A figure whose horizontal axis is time.
        fault_seconds: When something breaks.
        divisor: Seconds of one unit of that axis.
    """
    for seconds in fault_seconds if any(fault_seconds) else ():
        at = seconds / divisor
        line = {"color": GREY, "width": 1.5, "dash": "dash"}
        figure.add_shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line=line)


def busy_figure(chart: ServerChart) -> Figure:
    """The share of the time that each device and link is busy, busiest device first."""
    figure = empty_figure(360)
    order = descending(chart.device_share)
    ranks = list(range(1, order.size + 1))
    size = 4 if order.size > 150 else 6
    for values, name, colour, mark in (
        (chart.device_share, "device", BLUE, "circle"),
        (chart.link_share, "link", ORANGE, "diamond"),
    ):
        if np.isnan(values).all():
            continue
        figure.add_scatter(
            x=ranks,
            y=plain(100.0 * values[order]),
            mode="markers",
            name=name,
            marker={"color": colour, "size": size, "symbol": mark},
            text=[
                f"{text_of(chart.names[i])}<br>{name} busy {words.percent(float(values[i]))}"
                for i in order
            ],
            hoverinfo="text",
        )
    figure.update_yaxes(title=f"busy share of the {chart.share_of} (%)", range=[0, 104])
    figure.update_xaxes(
        title="surviving servers, busiest device first",
        tickformat=",",
        range=[0.25, order.size + 0.75],
    )
    figure.update_layout(hovermode="closest", showlegend=True)
    return figure
