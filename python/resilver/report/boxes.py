"""How a metric over a sweep is drawn: boxes, their runs as points, an ideal line, and stars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resilver.charts.idioms import coloured, curve, points, series, stars
from resilver.charts.scales import log_ticks
from resilver.charts.style import GREY, SERIES
from resilver.charts.vega import Chart, Spec, axis, letters, marks, rows
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
    """
    if not data.key:
        return _one_system(data)
    stars_of = _star_rows(data, published)
    labels, boxes = data.labels, data.boxes
    values = [value / data.scale.divisor for box in boxes for value in box.values.tolist()]
    values += [row[name] for row in stars_of["values"] for name in ("y", "low", "high")]
    if data.ideal is not None:
        values += (data.ideal[1] / data.scale.divisor).tolist()
    margin = 0.75 * data.gap if len(labels) > 1 else 1.0
    places = [data.place(box.x) for box in boxes]
    title = across or f"{data.key}{', logarithmic' if data.numeric else ''}"
    ends = (min(places) - margin, max(places) + margin)
    names = [name or "runs" for name, _ in data.series]
    is_spread = any(box.values.size > 1 for box in data.boxes)
    over = stars(stars_of, 18)
    if not is_spread and len(data.boxes) <= LABELS_ROOM:
        mark = {"type": "text", "dy": -12, "fontSize": 11}
        over.insert(0, coloured(mark, GREY, text={"field": "short", "type": "nominal"}))
    ideal = []
    if data.ideal is not None:
        servers, rates = data.ideal
        ideal = [curve([data.place(float(n)) for n in servers], rates / data.scale.divisor)]
    spec = points(
        _dot_rows(data, names),
        axis("x", title, ends=ends, ticks=labels, labelOverlap=False),
        _upwards(data, values),
        series(names),
        size=26 if is_spread else 90,
        height=340,
        below=[*ideal, *(_box_layers(data, names) if is_spread else [])],
        over=over,
        opacity=0.85,
    )
    return spec | {"letters": letters(labels.values())}


def _upwards(data: Sweep, values: Sequence[float]) -> Spec:
    """The axis of the metric, which holds all values."""
    title, top = data.metric.axis_title(data.scale), max(values)
    if not data.logarithmic:
        return axis("y", title, ends=(0.0, 1.06 * top)) if top > 0.0 else axis("y", title)
    low = min(value for value in values if value > 0.0)
    return axis("y", title, ends=(low / 1.2, top * 1.2), log=10, ticks=log_ticks(low, top))


def _box_layers(data: Sweep, names: Sequence[str]) -> list[Spec]:
    """Whiskers, boxes and medians."""
    named = series(names)
    ranged: Spec = {"x": {"field": "x0"}, "x2": {"field": "x1"}}
    box = {"type": "rect", "fillOpacity": 0.22, "strokeWidth": 1.25, "filled": True}
    layers = [
        coloured({"type": "rule"}, named, y={"field": "low"}, y2={"field": "high"}),
        coloured(box, named, **ranged, y={"field": "q1"}, y2={"field": "q3"}),
        coloured({"type": "rule", "strokeWidth": 2.5}, named, **ranged, y={"field": "median"}),
    ]
    layers[1]["encoding"]["stroke"] = layers[1]["encoding"]["color"]
    boxes = _box_rows(data, names)
    return [{"data": boxes, **layer} for layer in layers]


def _box_rows(data: Sweep, names: Sequence[str]) -> Spec:
    """The five numbers of each box in the unit of the axis, with its place and its series."""
    half, five = 0.4 * data.slot, ("q1", "median", "q3", "low", "high")
    found = []
    for rank, (_, boxes) in enumerate(data.series):
        for box in boxes:
            x = data.place(box.x) + data.offset(rank)
            numbers = (getattr(box, name) / data.scale.divisor for name in five)
            found.append((names[rank], x, x - half, x + half, *numbers))
    return marks(f"kind x x0 x1 {' '.join(five)}", found)


def _dot_rows(data: Sweep, names: Sequence[str]) -> Spec:
    """A point a run."""
    found = []
    for rank, (_, boxes) in enumerate(data.series):
        for box in boxes:
            runs = zip(box.values.tolist(), box.seeds, jitter(box.values.size), strict=True)
            for value, seed, aside in runs:
                x = data.place(box.x) + data.offset(rank) + 0.3 * data.slot * aside
                words = data.metric.words(value)
                text = f"{box.label}, seed {seed}: {words}"
                found.append((names[rank], x, value / data.scale.divisor, words, text))
    return marks("kind x y short text", found)


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
    upright = {"y": {"field": "y"}, "y2": {"field": "y2"}}
    area = {"type": "rect", "fillOpacity": 0.2, "stroke": SERIES[0]}
    line = {"type": "rule", "strokeWidth": 2.5}
    below = [
        coloured(area, SERIES[0], x={"field": "q1"}, x2={"field": "q3"}, **upright),
        coloured(line, SERIES[0], x={"field": "median"}, **upright),
    ]
    room = 0.06 * max(high - low, 0.02 * high)
    ends = (max(0.0, low - 4.0 * room), high + 4.0 * room)
    across = axis("x", metric.axis_title(unit), ends=ends, zero=False)
    spec = points(
        dots, across, axis("y", None, ends=(-0.8, 0.8)), SERIES[0], size=45, height=90,
        below=[{"data": ranged, **layer} for layer in below], opacity=0.85,
    )  # fmt: skip
    return spec | {"room": (24, 24)}


def over_sweep(data: Sweep) -> Chart | None:
    """A metric by swept value, or over the seeds of one system.

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
