"""Objects short of copies over time, drawn with Plotly and with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.report.degraded import DegradedChart
from resilver.report.plots import empty_figure, faint, mark_faults, plain
from resilver.report.scales import time_scale, time_title
from resilver.report.static_charts import mark_faults_static
from resilver.report.style import ORANGE, VERMILLION

if TYPE_CHECKING:
    import matplotlib.figure
    from plotly.graph_objects import Figure


def degraded_figure(chart: DegradedChart) -> Figure:
    """Objects with a copy missing and with one copy left, as steps over time, with Plotly.

    Args:
        chart: The numbers.
    """
    figure = empty_figure(360)
    edges = chart.edges
    time = time_scale(float(edges.max()))
    for values, colour, name in _series(chart):
        figure.add_scatter(
            x=plain(edges, time.divisor),
            y=plain(np.append(values, values[-1:])),
            mode="lines",
            line={"color": colour, "width": 1.75, "shape": "hv"},
            fill="tozeroy",
            fillcolor=faint(colour),
            name=name,
            hovertemplate=f"%{{x:.4g}} {time.unit}: %{{y:,.4~g}} objects<extra>{name}</extra>",
        )
    mark_faults(figure, chart.fault_seconds, time.divisor)
    top = max(1.0, float(chart.degraded_objects.max()))
    figure.update_yaxes(
        title="objects", tickformat="," if top < 1e6 else "~s", range=[0, 1.08 * top]
    )
    figure.update_xaxes(
        title=time_title(chart.fault_seconds, time.unit),
        range=[0, float(edges.max()) / time.divisor],
    )
    figure.update_layout(showlegend=True, hovermode="x")
    return figure


def _series(chart: DegradedChart) -> list[tuple[np.ndarray, str, str]]:
    """What is drawn: values, colour and name. A line along zero would say less than no line."""
    series = [(chart.degraded_objects, ORANGE, "a copy missing")]
    if chart.at_risk_objects.max() > 0.0:
        series.append((chart.at_risk_objects, VERMILLION, "one copy left"))
    return series


def degraded(figure: matplotlib.figure.Figure, chart: DegradedChart) -> None:
    """The same with matplotlib.

    Args:
        figure: An empty figure.
        chart: The numbers.
    """
    axes = figure.subplots()
    edges = chart.edges
    time = time_scale(float(edges.max()))
    for values, colour, name in _series(chart):
        axes.stairs(values, edges / time.divisor, color=colour, fill=True, alpha=0.25)
        axes.stairs(values, edges / time.divisor, color=colour, linewidth=1.0, label=name)
    mark_faults_static(axes, chart.fault_seconds, time.divisor)
    axes.set_ylim(0.0, 1.08 * max(1.0, float(chart.degraded_objects.max())))
    axes.set_xlim(0.0, float(edges.max()) / time.divisor)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_ylabel("objects")
    axes.set_xlabel(time_title(chart.fault_seconds, time.unit))
    axes.legend(loc="best")
