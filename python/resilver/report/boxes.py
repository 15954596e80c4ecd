"""How a metric over a sweep is drawn: boxes, their runs as points, an ideal line, and stars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resilver.charts.chart import Chart
from resilver.charts.scales import log_ticks
from resilver.charts.style import DASHES, GREY, MARKS, PURPLE, SERIES
from resilver.charts.vega import READ, Spec, colours, letters, rows, told_apart
from resilver.charts.vega import number as axis
from resilver.report.arrays import Floats
from resilver.report.metrics import REBUILD_RATE, REBUILD_TIME
from resilver.report.sweep import LABELS_ROOM, Sweep, finding, sweep_table
from resilver.words import plural


def jitter(count: int) -> Floats:
    """Sideways offsets in -1..1 that part neighbouring points: multiples of the golden ratio."""
    if count < 2:
        return np.zeros(count)
    return np.asarray(2.0 * ((np.arange(count) * 0.6180339887498949) % 1.0) - 1.0)


@dataclass(frozen=True)
class Published:
    """A number of a source's beside the boxes.

    Args:
        label: The swept value it stands at, in words.
        value: The number, in the metric's SI unit.
        low: The lower end of a band around it; None without a band.
        high: The upper end.
        text: What the pointer reads.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    text: str


def sweep_spec(data: Sweep, across: str = "", published: Sequence[Published] = ()) -> Spec:
    """The boxes, their runs as points, the ideal line and a source's numbers.

    Args:
        data: The boxes, at least one.
        across: The title of the axis across; by default the swept key.
        published: A source's numbers.
    """
    if not data.key:
        return _one_system(data)
    stars = _star_rows(data, published)
    labels, boxes = data.labels, data.boxes
    values = [value / data.scale.divisor for box in boxes for value in box.values.tolist()]
    values += [row[name] for row in stars["values"] for name in ("y", "low", "high")]
    if data.ideal is not None:
        values += (data.ideal[1] / data.scale.divisor).tolist()
    margin = 0.75 * data.gap if len(labels) > 1 else 1.0
    places = [data.place(box.x) for box in boxes]
    title = across or f"{data.key}{', logarithmic' if data.numeric else ''}"
    ends = (min(places) - margin, max(places) + margin)
    return {
        "height": 340,
        "letters": letters(labels.values()),
        "encoding": {
            "x": axis("x", title, ends=ends, ticks=labels, labelOverlap=False),
            "y": _upwards(data, values),
        },
        "layer": [*_ideal_layers(data), *_box_layers(data), *_star_layers(stars)],
    }


def _upwards(data: Sweep, values: Sequence[float]) -> Spec:
    """The axis of the metric, which holds all values."""
    title, top = data.metric.axis_title(data.scale), max(values)
    if not data.logarithmic:
        return axis("y", title, ends=(0.0, 1.06 * top)) if top > 0.0 else axis("y", title)
    low = min(value for value in values if value > 0.0)
    return axis("y", title, ends=(low / 1.2, top * 1.2), log=10, ticks=log_ticks(low, top))


def _ideal_layers(data: Sweep) -> list[Spec]:
    if data.ideal is None:
        return []
    servers, rates = data.ideal
    line = rows(x=[data.place(float(n)) for n in servers], y=rates / data.scale.divisor)
    mark = {"type": "line", "color": GREY, "strokeDash": DASHES[1]}
    return [{"data": line, "mark": mark, "encoding": {"y": {"field": "y"}}}]


def _box_layers(data: Sweep) -> list[Spec]:
    """Boxes where a value has several runs, and every run as a point."""
    names = [name or "runs" for name, _ in data.series]
    named = colours(names, SERIES, legend=len(names) > 1) | {"field": "kind"}
    is_spread = any(box.values.size > 1 for box in data.boxes)
    layers: list[Spec] = []
    if is_spread:
        whisker = {"y": {"field": "low"}, "y2": {"field": "high"}, "color": named}
        ranged = {"x": {"field": "x0"}, "x2": {"field": "x1"}, "color": named}
        box = {"type": "rect", "fillOpacity": 0.22, "strokeWidth": 1.25, "filled": True}
        middle = {"type": "rule", "strokeWidth": 2.5}
        quartiles = {"y": {"field": "q1"}, "y2": {"field": "q3"}, "stroke": named}
        layers = [
            {"mark": {"type": "rule"}, "encoding": whisker},
            {"mark": box, "encoding": ranged | quartiles},
            {"mark": middle, "encoding": ranged | {"y": {"field": "median"}}},
        ]
        boxes = _box_rows(data, names)
        layers = [{"data": boxes, **layer} for layer in layers]
    dots = _dot_rows(data, names)
    encoding = {
        "y": {"field": "y"},
        "color": named,
        "shape": told_apart(names, MARKS, legend=None),
        "tooltip": READ,
    }
    point = {"type": "point", "filled": True, "size": 26 if is_spread else 90, "opacity": 0.85}
    layers.append({"data": dots, "mark": point, "encoding": encoding})
    if not is_spread and len(data.boxes) <= LABELS_ROOM:
        mark = {"type": "text", "dy": -12, "fontSize": 11, "color": GREY}
        told = {"y": {"field": "y"}, "text": {"field": "short", "type": "nominal"}}
        layers.append({"data": dots, "mark": mark, "encoding": told})
    return layers


def _box_rows(data: Sweep, names: Sequence[str]) -> Spec:
    """The five numbers of each box in the unit of the axis, with its place and its series."""
    found = [
        (names[rank], data.place(box.x) + data.offset(rank), box)
        for rank, (_, boxes) in enumerate(data.series)
        for box in boxes
    ]
    five = ("q1", "median", "q3", "low", "high")
    divisor, half = data.scale.divisor, 0.4 * data.slot
    return rows(
        kind=[name for name, _, _ in found],
        x=[x for _, x, _ in found],
        x0=[x - half for _, x, _ in found],
        x1=[x + half for _, x, _ in found],
        **{name: [getattr(box, name) / divisor for _, _, box in found] for name in five},
    )


def _dot_rows(data: Sweep, names: Sequence[str]) -> Spec:
    """A point a run."""
    found = [
        (names[rank], data.place(box.x) + data.offset(rank) + 0.3 * data.slot * aside, box, at)
        for rank, (_, boxes) in enumerate(data.series)
        for box in boxes
        for at, aside in enumerate(jitter(box.values.size).tolist())
    ]
    words = [data.metric.words(float(box.values[at])) for _, _, box, at in found]
    return rows(
        kind=[name for name, _, _, _ in found],
        x=[x for _, x, _, _ in found],
        y=[box.values[at] / data.scale.divisor for _, _, box, at in found],
        short=words,
        text=[
            f"{box.label}, seed {box.seeds[at]}: {word}"
            for (_, _, box, at), word in zip(found, words, strict=True)
        ],
    )


def _star_rows(data: Sweep, published: Sequence[Published]) -> Spec:
    """A source's numbers in the unit of the axis, right of the boxes of their swept value."""
    places = {box.label: data.place(box.x) for box in data.boxes}
    aside = (len(data.series) / 2.0 + 0.35) * data.slot
    unit = data.scale.divisor
    return rows(
        x=[places[one.label] + aside for one in published],
        y=[one.value / unit for one in published],
        low=[(one.value if one.low is None else one.low) / unit for one in published],
        high=[(one.value if one.high is None else one.high) / unit for one in published],
        text=[one.text for one in published],
    )


def _star_layers(stars: Spec) -> list[Spec]:
    band = {"y": {"field": "low"}, "y2": {"field": "high"}}
    star = {"type": "text", "text": "★", "fontSize": 18, "color": PURPLE}
    bar = {"type": "rule", "color": PURPLE, "strokeWidth": 2}
    layers = [
        {"data": stars, "mark": bar, "encoding": band},
        {"data": stars, "mark": star, "encoding": {"y": {"field": "y"}, "tooltip": READ}},
    ]
    return layers if stars["values"] else []


def _one_system(data: Sweep) -> Spec:
    """The runs of one system, lying on their side: there is no other axis to compare them over."""
    box, metric = data.boxes[0], data.metric
    unit = metric.scale(box.median)
    low, high = box.values[0] / unit.divisor, box.values[-1] / unit.divisor
    dots = rows(
        x=box.values / unit.divisor,
        y=0.24 * jitter(box.values.size),
        text=[
            f"seed {seed}: {metric.words(value)}"
            for seed, value in zip(box.seeds, box.values.tolist(), strict=True)
        ],
    )
    five = {name: [getattr(box, name) / unit.divisor] for name in ("q1", "median", "q3")}
    ranged = rows(**five, y=[-0.4], y2=[0.4])
    colour = SERIES[0]
    upright = {"y": {"field": "y"}, "y2": {"field": "y2"}}
    area = {"type": "rect", "color": colour, "fillOpacity": 0.2, "stroke": colour}
    line = {"type": "rule", "color": colour, "strokeWidth": 2.5}
    point = {"type": "point", "filled": True, "size": 45, "color": colour, "opacity": 0.85}
    room = 0.06 * max(high - low, 0.02 * high)
    ends = (max(0.0, low - 4.0 * room), high + 4.0 * room)
    heights = {"domain": [-0.8, 0.8]}
    across = axis("x", metric.axis_title(unit), ends=ends, zero=False)
    plain_y = {"field": "y", "type": "quantitative", "scale": heights, "axis": None}
    return {
        "height": 90,
        "room": (24, 24),
        "encoding": {"x": across, "y": plain_y},
        "layer": [
            {
                "data": ranged,
                "mark": area,
                "encoding": {"x": {"field": "q1"}, "x2": {"field": "q3"}, **upright},
            },
            {"data": ranged, "mark": line, "encoding": {"x": {"field": "median"}, **upright}},
            {
                "data": dots,
                "mark": point,
                "encoding": {"x": {"field": "x"}, "tooltip": READ},
            },
        ],
    }


def over_sweep(data: Sweep) -> Chart | None:
    """A metric by swept value, or over the seeds of one system.

    Args:
        data: The boxes.

    Returns:
        The chart; None where no run has the metric, or none but zeros, or there is one run.
    """
    boxes, metric = data.boxes, data.metric
    if not any(box.values.any() for box in boxes) or sum(box.values.size for box in boxes) < 2:
        return None
    over = f" over {data.key}" if data.key else ""
    text = metric.source.format(over=over)
    if any(box.values.size > 1 for box in boxes):
        text += (
            " A point is a run; a box spans the middle half of the seeds, its line is their median,"
            " and its whiskers reach the last run within 1.5 box heights."
        )
    else:
        text += " A point is the run of the one seed."
    if data.ideal is not None:
        text += " The dashed line grows in proportion to the servers from the smallest median."
    if data.missing:
        rebuilds = metric in (REBUILD_RATE, REBUILD_TIME)
        why = "rebuilt nothing" if rebuilds else "have no such number"
        text += f" Left out: {plural(data.missing, 'run')} that {why}."
    title = f"{metric.noun} by swept value" if data.key else f"{metric.noun} over the seeds"
    return Chart(
        metric.name,
        finding(data),
        text,
        lambda: sweep_spec(data),
        sweep_table(data),
        title,
        metric.is_for_experts and data.ideal is None,
    )
