"""How each chart is drawn with matplotlib, into a figure that is given."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.report.charts_data import RateChart, ServerChart, TimelineChart, descending
from resilver.report.chord import Flows, Ribbon, chord, label_arcs, on_circle, ring
from resilver.report.rate_layout import jitter, rate_layout
from resilver.report.scales import (
    byte_scale,
    integer_step,
    log_ticks,
    rate_scale,
    time_scale,
    time_title,
)
from resilver.report.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SERIES,
    SERIES_MARKS_STATIC,
    VERMILLION,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TITLE_LETTERS = 34
"""Letters of a title that fit along an upright axis."""


def rate(figure: Figure, chart: RateChart) -> None:
    """Boxes of the metric over the swept axis, with the ideal line if there is one."""
    axes = figure.subplots()
    if not chart.key:
        _one_system(axes, chart)
        return
    layout = rate_layout(chart)
    divisor = layout.scale.divisor
    if chart.ideal is not None:
        servers, rates = chart.ideal
        axes.plot(
            [layout.place(float(n)) for n in servers],
            rates / divisor,
            color=GREY,
            linestyle="--",
            label="ideal",
        )
    for rank, series in enumerate(chart.series):
        colour = SERIES[rank % len(SERIES)]
        xs = [layout.place(box.x) + layout.offset(rank) for box in series.boxes]
        numbers = [
            {
                "med": box.median / divisor,
                "q1": box.q1 / divisor,
                "q3": box.q3 / divisor,
                "whislo": box.low / divisor,
                "whishi": box.high / divisor,
            }
            for box in series.boxes
        ]
        line = {"color": colour, "linewidth": 0.9}
        axes.bxp(
            numbers,
            positions=xs,
            widths=0.8 * layout.slot,
            showfliers=False,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": f"{colour}40", "edgecolor": colour, "linewidth": 0.9},
            medianprops=line,
            whiskerprops=line,
            capprops=line,
        )
        for at, (x, box) in enumerate(zip(xs, series.boxes, strict=True)):
            axes.plot(
                x + 0.3 * layout.slot * jitter(box.values.size),
                box.values / divisor,
                linestyle="",
                marker=SERIES_MARKS_STATIC[rank % len(SERIES_MARKS_STATIC)],
                markersize=2.0,
                color=colour,
                alpha=0.75,
                label=(series.name or "runs") if at == 0 else None,
            )
    if layout.logarithmic:
        logarithmic_upwards(axes)
    else:
        axes.set_ylim(bottom=0.0)
    axes.set_ylabel("\n".join(wrap(chart.metric.axis_title(layout.scale), _TITLE_LETTERS)))
    axes.set_xlabel(chart.key + (", logarithmic" if chart.numeric else ""))
    axes.set_xlim(*layout.limits)
    axes.set_xticks([x for x, _ in layout.ticks], layout.broken("\n"))
    wide = layout.needs_room
    if wide:
        axes.tick_params(axis="x", labelsize=6)
    if chart.ideal is not None or len(chart.series) > 1:
        if wide:
            figure.legend(loc="outside lower center", ncols=3)
        else:
            axes.legend(loc="best")


def _one_system(axes: Axes, chart: RateChart) -> None:
    """The runs of one system, lying on their side: there is no other axis to compare them over."""
    box = chart.series[0].boxes[0]
    scale = chart.metric.scale(box.median)
    numbers = {
        "med": box.median / scale.divisor,
        "q1": box.q1 / scale.divisor,
        "q3": box.q3 / scale.divisor,
        "whislo": box.low / scale.divisor,
        "whishi": box.high / scale.divisor,
    }
    line = {"color": BLUE, "linewidth": 0.9}
    if box.values.size > 1:
        axes.bxp(
            [numbers],
            positions=[0.0],
            widths=0.8,
            orientation="horizontal",
            showfliers=False,
            patch_artist=True,
            boxprops={"facecolor": f"{BLUE}40", "edgecolor": BLUE, "linewidth": 0.9},
            medianprops=line,
            whiskerprops=line,
            capprops=line,
        )
    axes.plot(
        box.values / scale.divisor,
        0.24 * jitter(box.values.size),
        linestyle="",
        marker="o",
        markersize=3.0,
        color=BLUE,
        alpha=0.8,
    )
    axes.set_xlim(left=0.0)
    axes.set_ylim(-0.8, 0.8)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(chart.metric.axis_title(scale))


def servers(figure: Figure, chart: ServerChart) -> None:
    """Rebuilt replicas by server, most first, with the groups gained on a second axis."""
    axes = figure.subplots()
    order = descending(chart.rebuilt_objects)
    ranks = np.arange(1, order.size + 1)
    top = max(1.0, float(np.nanmax(chart.rebuilt_objects)))
    axes.bar(
        ranks,
        chart.rebuilt_objects[order],
        width=0.85 if order.size <= 150 else 1.0,
        color=BLUE,
        label="replicas",
    )
    axes.set_ylim(0.0, 1.08 * top)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("surviving servers, most replicas first")
    axes.set_ylabel("replicas rebuilt", color=BLUE)
    axes.set_xlim(0.25, order.size + 0.75)
    if chart.groups is None:
        return
    right = axes.twinx()
    right.spines["right"].set_visible(True)
    right.grid(visible=False)
    right.plot(
        ranks,
        chart.groups[order],
        linestyle="",
        marker="o",
        markersize=2.2,
        color=ORANGE,
        markeredgecolor="#00000080",
        markeredgewidth=0.3,
    )
    most = max(1.0, float(np.nanmax(chart.groups)))
    right.set_ylim(0.0, 1.08 * most)
    right.set_yticks(np.arange(0, most + 1, integer_step(most)))
    right.set_ylabel("placement groups gained (points)")


def finish(figure: Figure, chart: ServerChart) -> None:
    """Finishing times sorted (left), and against the bytes rebuilt (right)."""
    left, right = figure.subplots(1, 2, sharey=True)
    active = np.flatnonzero(~np.isnan(chart.finish_seconds))
    times, rebuilt = chart.finish_seconds[active], chart.rebuilt_bytes[active]
    time, size = time_scale(float(times.max())), byte_scale(float(rebuilt.max()))
    order = descending(times)
    dots: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 2.5, "color": BLUE}
    left.plot(np.arange(1, active.size + 1), times[order] / time.divisor, **dots)
    right.plot(rebuilt / size.divisor, times / time.divisor, **dots)
    last = int(np.argmax(times))
    name = chart.names[active[last]]
    y = float(times[last]) / time.divisor
    for axes, x, shift in ((left, 1.0, 8.0), (right, float(rebuilt[last]) / size.divisor, -8.0)):
        axes.annotate(
            name,
            (x, y),
            xytext=(shift, 4.0),
            textcoords="offset points",
            fontsize=7,
            ha="left" if shift > 0 else "right",
            va="bottom",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6},
        )
    left.set_ylim(0.0, 1.14 * y)
    left.set_xlim(left=0.0)
    right.set_xlim(left=0.0)
    left.set_ylabel(f"finishing time ({time.unit})")
    left.set_xlabel("servers that rebuild, last to finish first")
    right.set_xlabel(f"data rebuilt on the server ({size.unit})")


def transfers(figure: Figure, flow: Flows) -> None:
    """Who sends to whom; what the busiest receiver gets stands out."""
    from matplotlib.patches import Patch, PathPatch, Polygon

    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.32, 1.32)
    axes.set_ylim(-1.32, 1.32)
    diagram = chord(flow)
    top = int(np.argmax(flow.received)) if diagram.arcs else -1
    for ribbon in sorted(diagram.ribbons, key=lambda ribbon: ribbon.destination == top):
        red = ribbon.destination == top
        axes.add_patch(
            PathPatch(
                _path(ribbon),
                facecolor=VERMILLION if red else BLUE,
                edgecolor="none",
                alpha=0.75 if red else 0.28,
            )
        )
    for arc in diagram.arcs:
        for start, end, colour in ((arc.start, arc.turn, BLUE), (arc.turn, arc.end, ORANGE)):
            if end > start:
                axes.add_patch(Polygon(ring(start, end), facecolor=colour, edgecolor="none"))
    for arc, text in label_arcs(flow, diagram):
        degrees = math.degrees(arc.middle)
        right = degrees <= 180.0
        axes.text(
            *on_circle(arc.middle, 1.02),
            text,
            fontsize=5.5,
            rotation_mode="anchor",
            rotation=90.0 - degrees if right else 270.0 - degrees,
            ha="left" if right else "right",
            va="center",
        )
    handles = [Patch(color=BLUE, label="sends"), Patch(color=ORANGE, label="receives")]
    axes.legend(handles=handles, loc="upper left")


def _path(ribbon: Ribbon) -> Any:
    """The outline of a ribbon as a matplotlib path."""
    from matplotlib.path import Path

    codes = {"M": [Path.MOVETO], "L": [Path.LINETO], "Q": [Path.CURVE3, Path.CURVE3]}
    points = [point for _, at in ribbon.outline for point in at]
    return Path(points, [code for command, _ in ribbon.outline for code in codes[command]])


def timeline(figure: Figure, chart: TimelineChart) -> None:
    """Rebuild rate (above) and bytes in flight (below) over one time axis."""
    edges = np.append(chart.start_seconds, chart.start_seconds[-1:] + chart.duration_seconds[-1:])
    time = time_scale(float(edges.max()))
    rates, flight = (
        rate_scale(float(chart.rate.max())),
        byte_scale(float(chart.in_flight_bytes.max())),
    )
    panels: tuple[Axes, Axes] = tuple(figure.subplots(2, 1, sharex=True))
    for axes, values, scale, colour, name in (
        (panels[0], chart.rate, rates, BLUE, "rebuild rate"),
        (panels[1], chart.in_flight_bytes, flight, GREEN, "bytes in flight"),
    ):
        axes.stairs(
            values / scale.divisor, edges / time.divisor, color=colour, fill=True, alpha=0.25
        )
        axes.stairs(values / scale.divisor, edges / time.divisor, color=colour, linewidth=1.0)
        axes.set_ylim(bottom=0.0)
        axes.set_ylabel(f"{name}\n({scale.unit})")
    panels[1].set_xlim(0.0, float(edges.max()) / time.divisor)
    panels[1].set_xlabel(time_title(chart.fault_seconds, time.unit))
    for axes in panels:
        mark_faults_static(axes, chart.fault_seconds, time.divisor)


def logarithmic_upwards(axes: Axes) -> None:
    """Make the axis upwards logarithmic, with plain numbers at its ticks.

    Args:
        axes: Axes that hold what is drawn already.
    """
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    ticks = [tick for tick in log_ticks(low, high) if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:,.10g}" for tick in ticks])
    axes.minorticks_off()


def mark_faults_static(axes: Axes, fault_seconds: tuple[float, ...], divisor: float) -> None:
    """Dashed lines where something breaks.

    Args:
        axes: Axes whose horizontal axis is time.
        fault_seconds: When something breaks.
        divisor: Seconds of one unit of that axis.
    """
    for seconds in fault_seconds if any(fault_seconds) else ():
        axes.axvline(seconds / divisor, color=GREY, linestyle="--", linewidth=0.8)


def busy(figure: Figure, chart: ServerChart) -> None:
    """The share of the time that each device and link is busy, busiest device first."""
    axes = figure.subplots()
    order = descending(chart.device_share)
    ranks = np.arange(1, order.size + 1)
    for values, name, colour, mark in (
        (chart.device_share, "device", BLUE, "o"),
        (chart.link_share, "link", ORANGE, "D"),
    ):
        if not np.isnan(values).all():
            axes.plot(
                ranks,
                100.0 * values[order],
                linestyle="",
                marker=mark,
                markersize=2.0,
                color=colour,
                label=name,
            )
    axes.set_ylim(0.0, 104.0)
    axes.set_xlim(0.25, order.size + 0.75)
    axes.set_ylabel(f"busy share of the {chart.share_of} (%)")
    axes.set_xlabel("surviving servers, busiest device first")
    axes.legend(loc="upper right")
