"""Lanes and loans, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.report.lanes import LanesChart
from resilver.report.plots import AXIS, empty_figure, faint, text_of
from resilver.report.scales import byte_scale, significant
from resilver.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE
from resilver.report.words import percent, size_of

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure

_COLOURS = {"clients": BLUE, "rebuilds": ORANGE, "bursts": GREEN}
_LEFT = 0.62
"""Where the left panel ends, where there are loans."""


def _colour(name: str) -> str:
    return _COLOURS.get(name, PURPLE)


def lanes_inches(made: LanesChart) -> tuple[float, float]:
    """The size in print: a strip for each lane.

    Args:
        made: The lanes.
    """
    return (7.1 if made.loans else 3.5, 1.1 + 0.32 * max(len(made.lanes), len(made.loans)))


def lanes_figure(made: LanesChart) -> Figure:
    """What each class got against its share, and the loans, with Plotly.

    Args:
        made: The lanes.
    """
    figure = empty_figure(150 + 46 * max(len(made.lanes), len(made.loans)))
    ranks = list(range(len(made.lanes)))
    colours = [_colour(lane.traffic_class) for lane in made.lanes]
    own = [100.0 * lane.own_share for lane in made.lanes]
    lent = [100.0 * lane.carried_share - first for lane, first in zip(made.lanes, own, strict=True)]
    hover = [
        f"{text_of(lane.label)}<br>carried {percent(lane.carried_share)} of all bytes "
        f"({size_of(lane.carried_bytes)}), {size_of(lane.borrowed_bytes)} of them borrowed"
        f"<br>guaranteed {percent(lane.guaranteed)}"
        for lane in made.lanes
    ]
    common = {"y": ranks, "orientation": "h", "text": hover, "hoverinfo": "text"}
    figure.add_bar(
        x=[significant(x) for x in own],
        marker={"color": colours},
        textposition="none",
        name="own share",
        **common,
    )
    figure.add_bar(
        x=[significant(x) for x in lent],
        marker={
            "color": [faint(colour) for colour in colours],
            "line": {"color": colours, "width": 1},
            "pattern": {"shape": "/", "fgcolor": colours},
        },
        textposition="none",
        name="borrowed",
        **common,
    )
    figure.add_scatter(
        x=[significant(100.0 * lane.guaranteed) for lane in made.lanes],
        y=ranks,
        mode="markers",
        name="guaranteed",
        marker={"symbol": "line-ns", "size": 26, "line": {"width": 3, "color": GREY}},
        hoverinfo="skip",
    )
    ends = [0.0, _LEFT - 0.1] if made.loans else [0.0, 1.0]
    figure.update_xaxes(title="of all bytes carried (%)", range=[0, 104], domain=ends)
    figure.update_yaxes(
        tickvals=ranks,
        ticktext=[text_of(lane.label) for lane in made.lanes],
        autorange="reversed",
        showgrid=False,
    )
    if made.loans:
        _loans(figure, made)
    return figure.update_layout(barmode="stack", hovermode="closest", showlegend=True)


def _loans(figure: Figure, made: LanesChart) -> None:
    """The loans, in a panel of their own at the right."""
    scale = byte_scale(float(made.loans[0].lent_bytes))
    ranks = list(range(len(made.loans)))
    figure.add_bar(
        x=[significant(loan.lent_bytes / scale.divisor) for loan in made.loans],
        y=ranks,
        orientation="h",
        marker={"color": [_colour(loan.borrower) for loan in made.loans]},
        text=[f"{text_of(loan.label)}: {size_of(loan.lent_bytes)}" for loan in made.loans],
        textposition="none",
        hoverinfo="text",
        showlegend=False,
        xaxis="x2",
        yaxis="y2",
    )
    figure.update_layout(
        xaxis2={
            **AXIS,
            "title": f"lent ({scale.unit})",
            "domain": [_LEFT + 0.14, 1.0],
            "anchor": "y2",
        },
        yaxis2={
            **AXIS,
            "tickvals": ranks,
            "ticktext": [text_of(loan.label).replace(", ", "<br>") for loan in made.loans],
            # As tall as the lanes, so that a single loan is no thick block.
            "range": [max(len(made.loans), len(made.lanes)) - 0.5, -0.5],
            "showgrid": False,
            "anchor": "x2",
        },
    )


def lanes_static(figure: matplotlib.figure.Figure, made: LanesChart) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        made: The lanes.
    """
    if made.loans:
        axes, right = figure.subplots(1, 2, width_ratios=[1.5, 1.0])
    else:
        axes, right = figure.subplots(), None
    ranks = list(range(len(made.lanes)))
    colours = [_colour(lane.traffic_class) for lane in made.lanes]
    own = [100.0 * lane.own_share for lane in made.lanes]
    lent = [100.0 * lane.carried_share - first for lane, first in zip(made.lanes, own, strict=True)]
    axes.barh(ranks, own, color=colours, height=0.6)
    axes.barh(
        ranks,
        lent,
        left=own,
        color=[f"{colour}40" for colour in colours],
        edgecolor=colours,
        hatch="////",
        height=0.6,
        linewidth=0.6,
        label="borrowed",
    )
    axes.plot(
        [100.0 * lane.guaranteed for lane in made.lanes],
        ranks,
        linestyle="",
        marker="|",
        markersize=16,
        markeredgewidth=1.8,
        color="black",
        label="guaranteed",
    )
    axes.set_yticks(ranks, [lane.label for lane in made.lanes])
    axes.invert_yaxis()
    axes.set_xlim(0.0, 104.0)
    axes.set_xlabel("of all bytes carried (%)")
    axes.grid(False, axis="y")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, markerscale=0.5)
    if right is not None:
        scale = byte_scale(float(made.loans[0].lent_bytes))
        places = list(range(len(made.loans)))
        right.barh(
            places,
            [loan.lent_bytes / scale.divisor for loan in made.loans],
            color=[_colour(loan.borrower) for loan in made.loans],
            height=0.6,
        )
        right.set_yticks(places, [loan.label.replace(", ", "\n") for loan in made.loans])
        right.set_ylim(max(len(made.loans), len(made.lanes)) - 0.5, -0.5)
        right.set_xlabel(f"lent ({scale.unit})")
        right.grid(False, axis="y")
