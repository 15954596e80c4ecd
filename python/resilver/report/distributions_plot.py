"""Histograms of delays, hops and busy channels, drawn with Plotly and with matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from resilver.report.charts_data import Floats
from resilver.report.distributions import (
    BINS_DRAWN,
    ChannelsBusy,
    Delays,
    Histogram,
    Hops,
    by_ratios,
)
from resilver.report.plots import empty_figure, faint, plain
from resilver.report.scales import Scale, log_ticks, time_scale
from resilver.report.style import BLUE, GREEN, ORANGE, VERMILLION
from resilver.units import format_duration

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure

_COLOURS = {"reads": BLUE, "writes": ORANGE}
_DASHES = {0.5: ("dash", "--", "half"), 0.99: ("dot", ":", "99 %")}
"""The quantiles that are marked: Plotly's dash, matplotlib's, and what it says."""
_TAIL = 0.0005
"""Of delays, the share at either end that gets no room: one early request would take half of it."""


def _range(data: Delays) -> tuple[float, float]:
    """The ends of the axis of delays: all but the least and the largest few."""
    low = min(max(one.quantile(_TAIL), 1e-12) for _, one in data.kinds)
    high = max(one.quantile(1.0 - _TAIL) for _, one in data.kinds)
    return low / 1.15, max(high, low * 1.5) * 1.15


def _steps(data: Delays, low: float, high: float) -> tuple[Floats, list[Floats]]:
    """The edges of the drawn bins, and for each kind of request its shares, by equal ratios."""
    edges = np.geomspace(low, high, BINS_DRAWN + 1)
    return edges, [by_ratios(one, edges) for _, one in data.kinds]


def _ticks(low: float, high: float, scale: Scale) -> list[float]:
    """Ticks of a logarithmic axis of time within its ends, at most about eight."""
    ticks = [t for t in log_ticks(low / scale.divisor, high / scale.divisor)]
    inside = [t for t in ticks if low <= t * scale.divisor <= high]
    if len(inside) >= 2:
        return inside
    # Less than a decade: steps of one figure between the ends.
    step = 10.0 ** math.floor(math.log10((high - low) / scale.divisor / 2.0))
    first = math.ceil(low / scale.divisor / step)
    many = [n * step for n in range(first, math.floor(high / scale.divisor / step) + 1)]
    return many[:: max(1, -(-len(many) // 6))]


def delays_figure(data: Delays) -> Figure:
    """Histograms of delays of reads and writes over a logarithmic axis, with Plotly.

    Args:
        data: The histograms.
    """
    figure = empty_figure(400)
    low, high = _range(data)
    time = time_scale(high / 2.0)
    edges, kinds = _steps(data, low, high)
    top = max(float(shares.max()) for shares in kinds)
    for (name, _), shares in zip(data.kinds, kinds, strict=True):
        colour = _COLOURS[name]
        figure.add_scatter(
            x=plain(edges, time.divisor),
            y=plain(100.0 * np.append(shares, shares[-1:])),
            mode="lines",
            line={"color": colour, "width": 1.5, "shape": "hv"},
            fill="tozeroy",
            fillcolor=faint(colour),
            name=name,
            hovertemplate=f"from %{{x:.4g}} {time.unit}: %{{y:.3g}} %<extra>{name}</extra>",
        )
    for name, one in data.kinds:
        for share, (dash, _, words) in _DASHES.items():
            at = one.quantile(share)
            figure.add_scatter(
                x=[at / time.divisor] * 2,
                y=[0.0, 108.0 * top],
                mode="lines",
                line={"color": _COLOURS[name], "width": 1.5, "dash": dash},
                name=f"{words} of {name} below {format_duration(at)}",
                hoverinfo="name",
            )
    ticks = _ticks(low, high, time)
    figure.update_xaxes(
        title=f"delay ({time.unit}), logarithmic",
        type="log",
        range=[math.log10(low / time.divisor), math.log10(high / time.divisor)],
        tickvals=ticks,
        ticktext=[f"{tick:,.4g}" for tick in ticks],
    )
    figure.update_yaxes(title="share of the requests (%)", range=[0, 112.0 * top])
    figure.update_layout(showlegend=True, hovermode="closest")
    return figure


def delays_static(figure: matplotlib.figure.Figure, data: Delays) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        data: The histograms.
    """
    axes = figure.subplots()
    low, high = _range(data)
    time = time_scale(high / 2.0)
    edges, kinds = _steps(data, low, high)
    for (name, one), shares in zip(data.kinds, kinds, strict=True):
        colour = _COLOURS[name]
        scaled = edges / time.divisor
        axes.stairs(100.0 * shares, scaled, color=colour, fill=True, alpha=0.25)
        axes.stairs(100.0 * shares, scaled, color=colour, linewidth=0.9, label=name)
        for share, (_, dash, words) in _DASHES.items():
            at = one.quantile(share)
            label = f"{words} of {name}: {format_duration(at)}"
            axes.axvline(at / time.divisor, color=colour, linestyle=dash, label=label)
    axes.set_xscale("log")
    axes.set_xlim(low / time.divisor, high / time.divisor)
    axes.set_xticks(*_labelled(_ticks(low, high, time)))
    axes.minorticks_off()
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(f"delay ({time.unit}), logarithmic")
    axes.set_ylabel("share of the requests (%)")
    figure.legend(loc="outside lower center", ncols=2)


def _labelled(ticks: list[float]) -> tuple[list[float], list[str]]:
    return ticks, [f"{tick:,.4g}" for tick in ticks]


def hops_figure(data: Hops) -> Figure:
    """The share of packets by their number of hops, with Plotly.

    Args:
        data: The histogram.
    """
    figure = empty_figure(320)
    one = data.histogram
    figure.add_bar(
        x=plain(one.low),
        y=plain(100.0 * one.share),
        marker={"color": BLUE, "line": {"width": 0}},
        hovertemplate="%{x} hops: %{y:.3g} %<extra></extra>",
    )
    figure.update_xaxes(title="hops of a delivered packet", **_whole(one))
    figure.update_yaxes(title="share of the packets (%)", rangemode="tozero")
    figure.update_layout(bargap=0.2, showlegend=False, hovermode="closest")
    return figure


def _whole(one: Histogram) -> dict[str, object]:
    """An axis of whole numbers over a histogram's values that occur."""
    seen = one.low[one.count > 0.0]
    first, last = float(seen.min()), float(seen.max())
    step = max(1, math.ceil((last - first + 1.0) / 20.0))
    return {"range": [first - 0.7, last + 0.7], "dtick": step, "tick0": 0}


def hops_static(figure: matplotlib.figure.Figure, data: Hops) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        data: The histogram.
    """
    from matplotlib.ticker import MaxNLocator

    axes = figure.subplots()
    one = data.histogram
    axes.bar(one.low, 100.0 * one.share, width=0.8, color=BLUE)
    seen = one.low[one.count > 0.0]
    axes.set_xlim(float(seen.min()) - 0.7, float(seen.max()) + 0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("hops of a delivered packet")
    axes.set_ylabel("share of the packets (%)")


def _cumulative(one: Histogram) -> tuple[Floats, Floats]:
    """The corners of the cumulative share, both in percent."""
    edges = np.append(one.low[:1], one.high)
    return 100.0 * edges, 100.0 * np.append(0.0, np.cumsum(one.share))


def channels_figure(data: ChannelsBusy) -> Figure:
    """The share of channels that are at most so busy, with Plotly.

    Args:
        data: The histogram.
    """
    figure = empty_figure(360)
    xs, ys = _cumulative(data.histogram)
    figure.add_scatter(
        x=plain(xs),
        y=plain(ys),
        mode="lines",
        line={"color": GREEN, "width": 2},
        hovertemplate="%{y:.3g} % of the channels are busy at most %{x:.3g} %<extra></extra>",
    )
    mean = 100.0 * data.histogram.mean
    figure.add_scatter(
        x=[mean, mean],
        y=[0, 100],
        mode="lines",
        line={"color": VERMILLION, "dash": "dash", "width": 1.5},
        name="mean",
        hoverinfo="name",
    )
    figure.data[0].name = "channels"
    last = float(xs[np.flatnonzero(data.histogram.count)[-1] + 1])
    figure.update_xaxes(title="busy share of the time (%)", range=[0, min(102.0, 1.05 * last)])
    figure.update_yaxes(title="channels as busy or less (%)", range=[0, 104])
    figure.update_layout(showlegend=True, hovermode="closest")
    return figure


def channels_static(figure: matplotlib.figure.Figure, data: ChannelsBusy) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        data: The histogram.
    """
    axes = figure.subplots()
    xs, ys = _cumulative(data.histogram)
    axes.plot(xs, ys, color=GREEN, linewidth=1.2)
    mean = 100.0 * data.histogram.mean
    axes.axvline(mean, color=VERMILLION, linestyle="--", label=f"mean: {mean:.3g} %")
    last = float(xs[np.flatnonzero(data.histogram.count)[-1] + 1])
    axes.set_xlim(0.0, min(102.0, 1.05 * last))
    axes.set_ylim(0.0, 104.0)
    axes.set_xlabel("busy share of the time (%)")
    axes.set_ylabel("channels as busy or less (%)")
    axes.legend(loc="lower right")
