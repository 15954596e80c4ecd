"""A metric of runs over the swept axis, drawn with Plotly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.report.charts_data import RateChart, RateSeries
from resilver.report.metrics import Metric
from resilver.report.plots import empty_figure, faint, plain, text_of
from resilver.report.rate_layout import RateLayout, jitter, rate_layout
from resilver.report.scales import log_ticks, significant
from resilver.report.style import GREY, SERIES, SERIES_MARKS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def rate_figure(chart: RateChart) -> Figure:
    """Boxes of the metric over the swept axis, with the ideal line if there is one."""
    if not chart.key and chart.series:
        return _one_system(chart)
    figure = empty_figure(460)
    layout = rate_layout(chart)
    if chart.ideal is not None:
        servers, rates = chart.ideal
        figure.add_scatter(
            x=[layout.place(float(n)) for n in servers],
            y=plain(rates, layout.scale.divisor),
            mode="lines",
            line={"color": GREY, "dash": "dash", "width": 1.5},
            name="ideal: in proportion to servers",
            hoverinfo="skip",
        )
    for rank, series in enumerate(chart.series):
        _add_boxes(figure, series, rank, layout, chart.metric)
    boxes = [box for series in chart.series for box in series.boxes]
    figure.update_yaxes(title=chart.metric.axis_title(layout.scale))
    if layout.logarithmic:
        top = max(box.high for box in boxes)
        top = top if chart.ideal is None else max(top, float(chart.ideal[1].max()))
        low = min(box.low for box in boxes) / layout.scale.divisor
        ticks = log_ticks(low, top / layout.scale.divisor)
        figure.update_yaxes(
            type="log", tickvals=ticks, ticktext=[f"{tick:,.10g}" for tick in ticks]
        )
    else:
        figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(
        title=chart.key + (", logarithmic" if chart.numeric else ""),
        tickvals=[x for x, _ in layout.ticks],
        ticktext=[text_of(label).replace("\n", "<br>") for label in layout.broken("\n")],
        range=list(layout.limits),
    )
    figure.update_layout(
        showlegend=chart.ideal is not None or len(chart.series) > 1, hovermode="closest"
    )
    if layout.needs_room:
        # The title of the axis stands within the margin, below the label with the most lines.
        more = 17 * max(label.count("\n") for label in layout.broken("\n"))
        margin = {**figure.layout.margin.to_plotly_json(), "b": 64 + more}
        figure.update_layout(height=figure.layout.height + more, margin=margin)
        figure.update_xaxes(title_standoff=18)
        figure.update_layout(meta={"narrowest": layout.narrowest_pixels})
    return figure


def _add_boxes(
    figure: Figure, series: RateSeries, rank: int, layout: RateLayout, metric: Metric
) -> None:
    """One series: its boxes from their five numbers, its medians, and every run as a point."""
    slot, divisor = layout.slot, layout.scale.divisor
    xs = [layout.place(box.x) + layout.offset(rank) for box in series.boxes]
    colour = SERIES[rank % len(SERIES)]
    mark = SERIES_MARKS[rank % len(SERIES_MARKS)]
    name = series.name or "runs"
    figure.add_box(
        x=xs,
        name=name,
        legendgroup=name,
        showlegend=False,
        width=0.8 * slot,
        q1=plain(np.array([b.q1 for b in series.boxes]), divisor),
        median=plain(np.array([b.median for b in series.boxes]), divisor),
        q3=plain(np.array([b.q3 for b in series.boxes]), divisor),
        lowerfence=plain(np.array([b.low for b in series.boxes]), divisor),
        upperfence=plain(np.array([b.high for b in series.boxes]), divisor),
        line={"color": colour, "width": 1.5},
        fillcolor=faint(colour),
        hoverinfo="skip",
    )
    points = [
        (
            x + 0.3 * slot * aside,
            float(value),
            f"{box.label}, seed {seed}: {metric.words(float(value))}",
        )
        for x, box in zip(xs, series.boxes, strict=True)
        for value, seed, aside in zip(box.values, box.seeds, jitter(box.values.size), strict=True)
    ]
    figure.add_scatter(
        x=[significant(x) for x, _, _ in points],
        y=plain(np.array([y for _, y, _ in points]), divisor),
        text=[text for _, _, text in points],
        hoverinfo="text",
        mode="markers",
        name=name,
        legendgroup=name,
        marker={"color": colour, "size": 5, "symbol": mark, "opacity": 0.75},
    )


def _one_system(chart: RateChart) -> Figure:
    """The runs of one system, lying on their side: there is no other axis to compare them over."""
    box = chart.series[0].boxes[0]
    scale = chart.metric.scale(box.median)
    figure = empty_figure(190)
    if box.values.size > 1:
        figure.add_box(
            y=[0.0],
            orientation="h",
            q1=[box.q1 / scale.divisor],
            median=[box.median / scale.divisor],
            q3=[box.q3 / scale.divisor],
            lowerfence=[box.low / scale.divisor],
            upperfence=[box.high / scale.divisor],
            width=0.8,
            line={"color": SERIES[0], "width": 1.5},
            fillcolor=faint(SERIES[0]),
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=plain(box.values, scale.divisor),
        y=plain(0.24 * jitter(box.values.size)),
        text=[
            f"seed {seed}: {chart.metric.words(float(value))}"
            for value, seed in zip(box.values, box.seeds, strict=True)
        ],
        hoverinfo="text",
        mode="markers",
        marker={"color": SERIES[0], "size": 7, "opacity": 0.8},
    )
    figure.update_xaxes(title=chart.metric.axis_title(scale), rangemode="tozero")
    figure.update_yaxes(visible=False, range=[-0.8, 0.8], fixedrange=True)
    figure.update_layout(showlegend=False, hovermode="closest")
    return figure
