"""Streams beside the analytic model, and by group, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.report.plots import AXIS, empty_figure, plain
from resilver.report.scales import Scale, rate_scale, significant
from resilver.report.streams import NOUNS, StreamRate, StreamsChart
from resilver.report.style import BLUE, GREEN, GREY, ORANGE, VERMILLION
from resilver.report.words import against
from resilver.units import format_rate

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure

_COLOURS = {"read": BLUE, "write": VERMILLION, "rebuild": ORANGE, "burst": GREEN}
_MARKS = {"read": "circle", "write": "square", "rebuild": "diamond", "burst": "triangle-up"}
_MARKS_STATIC = {"read": "o", "write": "s", "rebuild": "D", "burst": "^"}
_BAR_PIXELS = 48


def streams_inches(made: StreamsChart) -> tuple[float, float]:
    """The size in print.

    Args:
        made: The streams.
    """
    return (3.5, 0.9 + 0.28 * len(made.rates) + (1.9 if made.groups is not None else 0.0))


def _scale(made: StreamsChart) -> Scale:
    values = [one.bytes_per_second for one in made.rates]
    return rate_scale(max([*values, *(one.analytic_bytes_per_second or 0.0 for one in made.rates)]))


def _hover(one: StreamRate) -> str:
    text = f"{NOUNS[one.kind]}: {format_rate(one.bytes_per_second)}"
    if not one.analytic_bytes_per_second:
        return text
    expected = one.analytic_bytes_per_second
    ratio = one.bytes_per_second / expected
    return f"{text}<br>analytic {format_rate(expected)}: {against(ratio, 'it')}"


def streams_figure(made: StreamsChart) -> Figure:
    """Bars beside the analytic marks, and below them the groups, with Plotly.

    Args:
        made: The streams.
    """
    bars = 70 + _BAR_PIXELS * len(made.rates)
    height = bars + (300 if made.groups is not None else 40)
    figure = empty_figure(height)
    scale = _scale(made)
    ranks = list(range(len(made.rates)))
    figure.add_bar(
        x=[significant(one.bytes_per_second / scale.divisor) for one in made.rates],
        y=ranks,
        orientation="h",
        width=0.6,
        marker={"color": [_COLOURS[one.kind] for one in made.rates]},
        text=[_hover(one) for one in made.rates],
        textposition="none",
        hoverinfo="text",
        name="simulated",
        showlegend=False,
    )
    told = [(rank, one) for rank, one in enumerate(made.rates) if one.analytic_bytes_per_second]
    figure.add_scatter(
        x=[significant((one.analytic_bytes_per_second or 0.0) / scale.divisor) for _, one in told],
        y=[rank for rank, _ in told],
        mode="markers",
        name="analytic",
        marker={"symbol": "line-ns", "size": 30, "line": {"width": 3, "color": GREY}},
        hoverinfo="skip",
        showlegend=bool(told),
    )
    top = 1.0 - bars / height if made.groups is not None else 0.0
    figure.update_xaxes(title=f"all ({scale.unit})", rangemode="tozero")
    figure.update_yaxes(
        tickvals=ranks,
        ticktext=[NOUNS[one.kind] for one in made.rates],
        range=[len(ranks) - 0.5, -0.5],
        showgrid=False,
        domain=[min(0.9, top + 0.12), 1.0] if made.groups is not None else [0.0, 1.0],
    )
    if made.groups is not None:
        _groups(figure, made, top)
    return figure.update_layout(hovermode="closest", showlegend=True)


def _groups(figure: Figure, made: StreamsChart, top: float) -> None:
    """A mark a group and kind in the lower panel, ringed where the group rebuilds."""
    groups = made.groups
    assert groups is not None
    scale = rate_scale(max(float(values.max()) for values in groups.rates.values()))
    for kind, values in groups.shown():
        figure.add_scatter(
            x=plain(groups.group),
            y=plain(values, scale.divisor),
            mode="markers",
            name=NOUNS[kind],
            marker={
                "color": _COLOURS[kind],
                "symbol": _MARKS[kind],
                "size": 9,
                "line": {
                    "width": [2.5 if busy else 0 for busy in groups.rebuilding],
                    "color": GREY,
                },
            },
            text=[
                f"group {at:.0f}{', rebuilding' if busy else ''}: {NOUNS[kind]} "
                f"{format_rate(float(rate))}<br>{working:.0f} ports work"
                for at, busy, rate, working in zip(
                    groups.group,
                    groups.rebuilding,
                    np.nan_to_num(values),
                    groups.ports_working,
                    strict=True,
                )
            ],
            hoverinfo="text",
            xaxis="x2",
            yaxis="y2",
        )
    figure.update_layout(
        xaxis2={**AXIS, "title": "group", "anchor": "y2", "dtick": _step(groups.group.size)},
        yaxis2={
            **AXIS,
            "title": f"of a group ({scale.unit})",
            "domain": [0.0, max(top - 0.08, 0.2)],
            "anchor": "x2",
            "rangemode": "tozero",
        },
    )


def _step(groups: int) -> int:
    """Groups between two ticks."""
    return max(1, -(-groups // 12))


def streams_static(figure: matplotlib.figure.Figure, made: StreamsChart) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        made: The streams.
    """
    if made.groups is not None:
        axes, below = figure.subplots(2, 1, height_ratios=[0.4 + 0.28 * len(made.rates), 1.7])
    else:
        axes, below = figure.subplots(), None
    scale = _scale(made)
    ranks = list(range(len(made.rates)))
    axes.barh(
        ranks,
        [one.bytes_per_second / scale.divisor for one in made.rates],
        color=[_COLOURS[one.kind] for one in made.rates],
        height=0.6,
    )
    told = [(rank, one) for rank, one in enumerate(made.rates) if one.analytic_bytes_per_second]
    if told:
        axes.plot(
            [(one.analytic_bytes_per_second or 0.0) / scale.divisor for _, one in told],
            [rank for rank, _ in told],
            linestyle="",
            marker="|",
            markersize=15,
            markeredgewidth=1.8,
            color="black",
            label="analytic",
        )
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0, markerscale=0.5
        )
    axes.set_yticks(ranks, [NOUNS[one.kind] for one in made.rates])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlabel(f"all ({scale.unit})")
    groups = made.groups
    if below is None or groups is None:
        return
    scale = rate_scale(max(float(values.max()) for values in groups.rates.values()))
    for kind, values in groups.shown():
        below.scatter(
            groups.group,
            values / scale.divisor,
            s=18,
            color=_COLOURS[kind],
            marker=_MARKS_STATIC[kind],
            edgecolors=np.where(groups.rebuilding, "black", _COLOURS[kind]),
            linewidths=0.9,
            label=NOUNS[kind],
        )
    below.set_ylim(bottom=0.0)
    below.set_xticks(groups.group[:: _step(groups.group.size)])
    below.set_xlabel("group")
    below.set_ylabel(f"of a group ({scale.unit})")
    below.legend(loc="best")
