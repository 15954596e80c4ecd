"""Parallel coordinates: several quantities over axes that stand side by side, one a kind of system.

On each axis a line stands at the mean over all runs of that kind, with their spread: what the axes
do not tell apart, such as the share of a lane, is what the spread is made of.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resilver.report.style import DASHES, GREY, MARKS, SERIES
from resilver.report.tables import Cell, Column, Table
from resilver.report.vega import UPRIGHT, Spec, colours, letters, rows
from resilver.report.vega import number as channel

_STEP = 10.0
_MARGIN = 2.0
_ROOM = 0.24
ASIDE = 0.028
"""How far right of its line's bar the dots of the runs stand."""


@dataclass(frozen=True)
class Place:
    """Where a line crosses an axis, in the unit of the axes.

    Args:
        axis: The axis's number, from 0.
        values: The value of each run there.
        published: What the source has there; None where it says nothing.
    """

    axis: int
    values: tuple[float, ...]
    published: float | None = None

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return statistics.fmean(self.values)

    @property
    def least(self) -> float:
        """The least of the runs."""
        return min(self.values)

    @property
    def most(self) -> float:
        """The greatest of the runs."""
        return max(self.values)


@dataclass(frozen=True)
class ParallelLine:
    """One quantity.

    Args:
        name: What it is.
        places: Where it crosses the axes, in their order; axes without a run are left out.
    """

    name: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Parallel:
    """A chart of parallel coordinates.

    Args:
        axes: The names of the axes, left to right.
        lines: The quantities.
        title: What the values are, with their unit.
        unit: The unit; may be empty.
        level: A value to compare with, drawn across; None for none.
        level_name: What it is.
    """

    axes: tuple[str, ...]
    lines: tuple[ParallelLine, ...]
    title: str
    unit: str = ""
    level: float | None = None
    level_name: str = ""

    def offset(self, rank: int) -> float:
        """How far a line stands beside its axis, so that the spreads of several can be seen."""
        count = len(self.lines)
        return 0.0 if count < 2 else _ROOM * (rank / (count - 1) - 0.5)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value that the axes show, at whole tens."""
        values = [value for line in self.lines for place in line.places for value in place.values]
        values += [
            place.published
            for line in self.lines
            for place in line.places
            if place.published is not None
        ]
        values += [] if self.level is None else [self.level]
        low = _STEP * math.floor((min(values) - _MARGIN) / _STEP)
        return (
            max(low, 0.0) if min(values) >= 0.0 else low,
            _STEP * math.ceil((max(values) + _MARGIN) / _STEP),
        )

    @property
    def runs(self) -> tuple[int, int]:
        """The fewest and the most runs of a place."""
        counts = [len(place.values) for line in self.lines for place in line.places]
        return min(counts), max(counts)


def parallel(
    axes: Sequence[str],
    lines: Mapping[str, Mapping[int, Sequence[float]]],
    title: str,
    unit: str = "",
    level: float | None = None,
    level_name: str = "",
    published: Mapping[tuple[str, int], float] | None = None,
) -> Parallel | None:
    """Put a chart together.

    Args:
        axes: The names of the axes, left to right.
        lines: For each quantity the values of its runs by the number of the axis.
        title: What the values are, with their unit.
        unit: The unit; may be empty.
        level: A value to compare with.
        level_name: What it is.
        published: What a source has, by quantity and axis.

    Returns:
        The chart; None where no quantity has a run.

    >>> made = parallel(("full", "half"), {"read": {0: [98.0, 100.0], 1: [70.0]}}, "share (%)")
    >>> [(place.axis, place.mean) for place in made.lines[0].places], made.limits
    ([(0, 99.0), (1, 70.0)], (60.0, 110.0))
    """
    known = published or {}
    found = []
    for name, by_axis in lines.items():
        places = tuple(
            Place(axis, tuple(by_axis[axis]), known.get((name, axis)))
            for axis in range(len(axes))
            if by_axis.get(axis)
        )
        if places:
            found.append(ParallelLine(name, places))
    if not found:
        return None
    return Parallel(tuple(axes), tuple(found), title, unit, level, level_name)


def parallel_words(made: Parallel) -> str:
    """What is drawn, for the caption.

    Args:
        made: The chart.
    """
    few, many = made.runs
    runs = f"{many:,}" if few == many else f"{few:,} to {many:,}"
    text = f"Each upright axis is one kind of system, each line one quantity: {made.title}."
    if many > 1:
        text += (
            f" A mark is the mean of {runs} runs, its bar reaches from the least to the greatest of"
            " them, and each faint dot is a run."
        )
    if made.level is not None:
        text += f" The dashed line, at {made.level:,.4g} {made.unit}, is {made.level_name}."
    if any(place.published is not None for line in made.lines for place in line.places):
        text += " A star is what the paper says, in the colour of its line."
    return text


def parallel_spec(made: Parallel) -> Spec:
    """The axes, a line a quantity through its means, its spread, its runs and the source's stars.

    Args:
        made: The chart.
    """
    names = [line.name for line in made.lines]
    unit = f" {made.unit}" if made.unit else ""
    places = [
        (line.name, rank, place) for rank, line in enumerate(made.lines) for place in line.places
    ]
    means = rows(
        kind=[name for name, _, _ in places],
        x=[place.axis + made.offset(rank) for _, rank, place in places],
        y=[place.mean for _, _, place in places],
        low=[place.least for _, _, place in places],
        high=[place.most for _, _, place in places],
        told=[place.published for _, _, place in places],
        text=[
            f"{name}, {made.axes[place.axis]}: mean {place.mean:,.4g}{unit}, {place.least:,.4g} to "
            f"{place.most:,.4g} in {len(place.values):,} runs"
            + (f"; the paper: {place.published:,.4g}{unit}" if place.published is not None else "")
            for name, _, place in places
        ],
    )
    layers = [*_frame_layers(made), *_line_layers(made, names, means, places)]
    labels = {float(at): name.replace(", ", ",\n") for at, name in enumerate(made.axes)}
    ends = (-0.4, len(made.axes) - 0.6)
    return {
        "height": 340,
        "letters": letters(labels.values()),
        "encoding": {
            "x": channel("x", "", ends=ends, ticks=labels, labelOverlap=False),
            "y": channel("y", made.title, ends=made.limits, zero=False),
        },
        "layer": layers,
    }


def _frame_layers(made: Parallel) -> list[Spec]:
    """An upright line an axis, and the level to compare with."""
    mark = {"type": "rule", "color": GREY, "strokeWidth": 1.25}
    axes = rows(x=range(len(made.axes)))
    layers: list[Spec] = [
        {"data": axes, "mark": mark, "encoding": {"x": {"field": "x"}, **UPRIGHT}}
    ]
    if made.level is not None:
        dashed = mark | {"strokeDash": DASHES[1]}
        ends: Spec = {"x": {"value": 0}, "x2": {"value": {"expr": "width"}}}
        height = {"y": {"field": "y"}}
        layers.append({"data": rows(y=[made.level]), "mark": dashed, "encoding": ends | height})
    return layers


def _line_layers(
    made: Parallel, names: list[str], means: Spec, places: list[tuple[str, int, Place]]
) -> list[Spec]:
    """The runs as faint dots, and for each line its spread, its means and its stars."""
    named = colours(names, SERIES) | {"field": "kind"}
    runs = [
        (name, place.axis + made.offset(rank) + ASIDE, value)
        for name, rank, place in places
        for value in place.values
    ]
    kinds, xs, ys = zip(*runs, strict=True)
    read = {"field": "text", "type": "nominal"}
    dashes = {"domain": names, "range": [DASHES[at % len(DASHES)] for at in range(len(names))]}
    marks = {"domain": names, "range": [MARKS[at % len(MARKS)] for at in range(len(names))]}
    shape = {"field": "kind", "type": "nominal", "scale": marks}
    dash = {"field": "kind", "type": "nominal", "scale": dashes}
    layers: list[Spec] = []
    if made.runs[1] > 1:
        dot = {"type": "point", "filled": True, "size": 16, "opacity": 0.35}
        plain = {"y": {"field": "y"}, "color": named}
        layers.append({"data": rows(kind=kinds, x=xs, y=ys), "mark": dot, "encoding": plain})
    spread = {"y": {"field": "low"}, "y2": {"field": "high"}, "color": named}
    line = {"type": "line", "strokeWidth": 2.25}
    point = {"type": "point", "filled": True, "size": 75, "opacity": 1}
    star = {"type": "text", "text": "☆", "fontSize": 20}
    for mark, encoding in (
        ({"type": "rule", "strokeWidth": 1.5}, spread),
        (line, {"y": {"field": "y"}, "color": named, "strokeDash": dash}),
        (point, {"y": {"field": "y"}, "color": named, "shape": shape, "tooltip": read}),
        (star, {"y": {"field": "told"}, "color": named, "tooltip": read}),
    ):
        layers.append({"data": means, "mark": mark, "encoding": encoding})
    return layers


def parallel_table(made: Parallel) -> Table:
    """A row for each quantity and axis.

    Args:
        made: The chart.
    """
    columns = (
        Column("quantity", "quantity", "text"),
        Column("system", "system", "text"),
        Column("mean", f"mean ({made.unit})" if made.unit else "mean", "number"),
        Column("least", "least", "number"),
        Column("most", "most", "number"),
        Column("published", "the paper", "number"),
        Column("runs", "runs", "count"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            line.name,
            made.axes[place.axis],
            place.mean,
            place.least,
            place.most,
            place.published,
            len(place.values),
        )
        for line in made.lines
        for place in line.places
    ]
    return Table(columns, rows)
