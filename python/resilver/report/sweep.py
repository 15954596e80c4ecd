"""A metric of runs over a sweep: boxes over the swept values, a series a combination of others."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap

import numpy as np

from resilver.charts.scales import Scale
from resilver.report.arrays import Floats
from resilver.report.metrics import REBUILD_RATE, Metric
from resilver.study.system_runs import SystemRuns, format_swept, number
from resilver.tables import Table, table
from resilver.words import percent

LABELS_ROOM = 16
"""The most tick labels that fit below the chart."""
_LINE_LETTERS = 16
SAME = 1.02
"""Medians within this factor are called the same: few seeds differ by as much by chance."""
_SPREADS = frozenset({"rate", "rebuild-time", "mean-delay", "p99-delay"})
"""Metrics that get a logarithmic axis where they span a decade, as does an ideal line. Others begin
at 0: goodput saturates, and a share has an end."""


@dataclass(frozen=True, eq=False)
class Box:
    """The five numbers of one box, and the runs it stands for.

    Whiskers end at the last value within 1.5 interquartile ranges of the box (Tukey's rule).

    Args:
        x: Where the box stands: the swept value itself, or its rank.
        label: The swept value in words.
        values: The runs' values, sorted.
        seeds: The seed of each value.
    """

    x: float
    label: str
    values: Floats
    seeds: tuple[int, ...]
    q1: float
    median: float
    q3: float
    low: float
    high: float

    @classmethod
    def of(cls, x: float, label: str, pairs: Sequence[tuple[float, int]]) -> Box:
        """The box of one ensemble of (value, seed); quartiles by linear interpolation."""
        ordered = sorted(pairs)
        values = np.array([value for value, _ in ordered])
        q1, median, q3 = (float(q) for q in np.percentile(values, (25, 50, 75)))
        reach = 1.5 * (q3 - q1)
        inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
        low, high = (inside[0], inside[-1]) if inside.size else (q1, q3)
        seeds = tuple(seed for _, seed in ordered)
        return cls(x, label, values, seeds, q1, median, q3, float(low), float(high))


@dataclass(frozen=True, eq=False)
class Sweep:
    """A metric of runs over a swept axis.

    Args:
        key: The swept key on the axis across, empty for a study of one system.
        numeric: Whether x is the swept value itself (on a logarithmic axis) or a rank.
        series: For each combination of the other swept keys its name, and its boxes left to right.
        ideal: For a sweep of the number of servers, (servers, rate) from the smallest system's
            median in proportion to the servers; else None.
        missing: Runs that have no value of the metric, such as those that rebuilt nothing.
        metric: What the boxes are of.
    """

    key: str
    numeric: bool
    series: tuple[tuple[str, tuple[Box, ...]], ...]
    ideal: tuple[Floats, Floats] | None
    missing: int
    metric: Metric = REBUILD_RATE

    @property
    def boxes(self) -> list[Box]:
        """All boxes."""
        return [box for _, boxes in self.series for box in boxes]

    def place(self, x: float) -> float:
        """The position of a swept value on the linear axis across: boxes need equal widths."""
        return math.log2(x) if self.numeric else x

    @property
    def labels(self) -> dict[float, str]:
        """The labelled positions, at most `LABELS_ROOM`, each with its words broken into lines."""
        named = {self.place(box.x): box.label for box in self.boxes}
        xs = sorted(named)
        # A number stays with the word before it: "routers 128" is one thing.
        kept = {x: re.sub(r"(?<=[a-z]) (?=\d)", "\u00a0", named[x]) for x in xs}
        shown = xs[:: max(1, -(-len(xs) // LABELS_ROOM))]
        return {x: "\n".join(wrap(kept[x], _LINE_LETTERS)) or kept[x] for x in shown}

    @property
    def gap(self) -> float:
        """The least distance of two positions."""
        xs = sorted({self.place(box.x) for box in self.boxes})
        return min((b - a for a, b in pairwise(xs)), default=1.0)

    @property
    def slot(self) -> float:
        """The width of one series at one value."""
        return 0.6 * self.gap / max(1, len(self.series))

    def offset(self, rank: int) -> float:
        """How far the series of this rank stands from its value's position."""
        return (rank - (len(self.series) - 1) / 2.0) * self.slot

    @property
    def scale(self) -> Scale:
        """The unit of the metric; that of the least where it differs by orders of magnitude."""
        medians = [box.median for box in self.boxes]
        return self.metric.scale(min(medians) if self.logarithmic else max(medians))

    @property
    def logarithmic(self) -> bool:
        """Whether the axis of the metric is logarithmic: it spans a decade, or has an ideal."""
        low, high = (pick(box.median for box in self.boxes) for pick in (min, max))
        wide = low > 0.0 and high >= 10.0 * low and self.metric.name in _SPREADS
        return self.ideal is not None or wide


def _axis_key(points: Sequence[SystemRuns]) -> str:
    """The swept key for the horizontal axis: numbers before words, then the most values."""
    keys = list(points[0].swept)

    def merit(key: str) -> tuple[bool, int, int]:
        values = {point.swept[key] for point in points}
        return (len(values) > 1 and _positive(values), len(values), -keys.index(key))

    return max(keys, key=merit, default="")


def _positive(values: set[object]) -> bool:
    """Whether every value is a number above zero, so that a logarithmic axis can hold it."""
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        for value in values
    )


def sweep(points: Sequence[SystemRuns], metric: Metric = REBUILD_RATE) -> Sweep:
    """A metric of every system, by default the rebuild rate, over the swept axis.

    Args:
        points: The systems, at least one.
    """
    key = _axis_key(points)
    values = list(dict.fromkeys(point.swept.get(key) for point in points))
    numeric = key != "" and len(values) > 1 and _positive(set(values))
    position = {value: float(rank) for rank, value in enumerate(values)}
    series: dict[str, list[Box]] = {}
    missing = 0
    for point in points:
        found = [(number(row, metric.column), int(row["seed"])) for row in point.rows]
        pairs = [(v, seed) for v, seed in found if v is not None and (metric.zero or v > 0.0)]
        missing += len(found) - len(pairs)
        if not pairs:
            continue
        value = point.swept.get(key)
        x = float(value) if numeric and value is not None else position[value]
        label = format_swept(key, value) if key else "the system"
        name = ", ".join(
            f"{other} = {format_swept(other, given)}"
            for other, given in point.swept.items()
            if other != key
        )
        series.setdefault(name, []).append(Box.of(x, label, pairs))
    made = tuple((name, tuple(sorted(own, key=lambda box: box.x))) for name, own in series.items())
    grows = metric is REBUILD_RATE and numeric and key == "cluster.servers"
    return Sweep(key, numeric, made, _ideal(made) if grows else None, missing, metric)


def _ideal(series: Sequence[tuple[str, tuple[Box, ...]]]) -> tuple[Floats, Floats] | None:
    """The line through the best median of the smallest system, in proportion to the servers."""
    boxes = [box for _, own in series for box in own]
    if len({box.x for box in boxes}) < 2:
        return None
    smallest = min(box.x for box in boxes)
    base = max(box.median for box in boxes if box.x == smallest)
    servers = np.unique([box.x for box in boxes])
    return servers, base * servers / smallest


def sweep_table(data: Sweep) -> Table:
    """One row a box."""
    boxes, kind = data.boxes, data.metric.kind
    ending = "bytes_per_second" if kind == "rate" else kind
    columns: list[tuple[str, str, str, list[object]]] = [
        ("value", data.key or "system", "text", [box.label for box in boxes]),
        ("runs", "runs", "count", [box.values.size for box in boxes]),
        (f"low_{ending}", "lowest", kind, [box.values[0] for box in boxes]),
        (f"q1_{ending}", "lower quartile", kind, [box.q1 for box in boxes]),
        (f"median_{ending}", "median", kind, [box.median for box in boxes]),
        (f"q3_{ending}", "upper quartile", kind, [box.q3 for box in boxes]),
        (f"high_{ending}", "highest", kind, [box.values[-1] for box in boxes]),
    ]
    if len(data.series) > 1:
        names: list[object] = [name for name, own in data.series for _ in own]
        columns.insert(1, ("other_values", "with", "text", names))
    if data.ideal is not None:
        ideal = dict(zip(*(values.tolist() for values in data.ideal), strict=True))
        shares: list[object] = [box.median / ideal[box.x] for box in boxes]
        columns.append(("share_of_ideal", "share of ideal", "share", shares))
    return table(*columns)


def finding(data: Sweep) -> str:
    """How the metric changes over the swept axis, and its share of the ideal where it has one.

    Args:
        data: The boxes, at least one.
    """
    boxes, metric, words = data.boxes, data.metric, data.metric.words
    subject = metric.noun[0].upper() + metric.noun[1:]
    if len(boxes) == 1:
        box = boxes[0]
        text = f"The {metric.noun} is {words(box.median)}"
        if box.values.size == 1:
            return f"{text} (one seed)"
        low, high = words(float(box.values[0])), words(float(box.values[-1]))
        return f"{text}; its {box.values.size} seeds lie between {low} and {high}"
    best, worst = max(boxes, key=lambda one: one.median), min(boxes, key=lambda one: one.median)
    same = best.median <= SAME * worst.median
    if len(data.series) > 1:
        if same:
            return f"{subject} hardly changes over the sweep: about {words(best.median)}"
        named = [
            f"{words(box.median)}, at {box.label} with {name}"
            for box in (best, worst)
            for name, own in data.series
            if any(box is one for one in own)
        ]
        return f"{subject} is {metric.most}, {named[0]}, and {metric.least}, {named[1]}"
    first, last = boxes[0], boxes[-1]
    if data.ideal is not None:
        share = last.median / float(data.ideal[1][-1])
        verb = "grows" if last.median > first.median else "falls"
        return (
            f"{subject} {verb} to {words(last.median)} at {last.label} servers, "
            f"{percent(share)} of ideal"
        )
    if same:
        return f"{data.key} hardly changes the {metric.noun}: about {words(best.median)}"
    return (
        f"{subject} is {metric.most}, {words(best.median)}, at {data.key} = {best.label}, and "
        f"{metric.least}, {words(worst.median)}, at {worst.label}"
    )
