"""Parallel coordinates: several quantities over axes that stand side by side, one a kind of system.

On each axis a line stands at the mean over all runs of that kind, with their spread: what the axes
do not tell apart, such as the share of a lane, is what the spread is made of.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resilver.charts.idioms import Kinds, coloured, levels, lines, series
from resilver.charts.style import GREY
from resilver.charts.vega import READ, UPRIGHT, Spec, axis, letters, marks, rows
from resilver.tables import Table, table_of

_STEP = 10.0
_MARGIN = 2.0
_ROOM = 0.24
ASIDE = 0.028
"""How far right of its line's bar the dots of the runs stand."""


@dataclass(frozen=True)
class Place:
    """Where a line crosses an axis, in the unit of the axes.

    Args:
        name: The quantity that the line is of.
        rank: The line's number, from 0.
        axis: The axis's number, from 0.
        values: The value of each run there.
        published: What the source has there; None where it says nothing.
    """

    name: str
    rank: int
    axis: int
    values: tuple[float, ...]
    published: float | None = None

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return statistics.fmean(self.values)


@dataclass(frozen=True)
class Parallel:
    """A chart of parallel coordinates.

    Args:
        axes: The names of the axes, left to right.
        places: Where the lines cross them, line by line; axes without a run are left out.
        title: What the values are, with their unit.
        unit: The unit; may be empty.
        level: A value to compare with, drawn across; None for none.
        level_name: What it is.
    """

    axes: tuple[str, ...]
    places: tuple[Place, ...]
    title: str
    unit: str = ""
    level: float | None = None
    level_name: str = ""

    @property
    def names(self) -> list[str]:
        """The quantities."""
        return list(dict.fromkeys(place.name for place in self.places))

    def x(self, place: Place) -> float:
        """Where a line crosses its axis, beside it, so that the spreads of several can be seen."""
        count = len(self.names)
        aside = 0.0 if count < 2 else _ROOM * (place.rank / (count - 1) - 0.5)
        return place.axis + aside

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value that the axes show, at whole tens."""
        values = [value for place in self.places for value in place.values]
        values += [place.published for place in self.places if place.published is not None]
        values += [] if self.level is None else [self.level]
        low = _STEP * math.floor((min(values) - _MARGIN) / _STEP)
        return (
            max(low, 0.0) if min(values) >= 0.0 else low,
            _STEP * math.ceil((max(values) + _MARGIN) / _STEP),
        )

    @property
    def runs(self) -> tuple[int, int]:
        """The fewest and the most runs of a place."""
        counts = [len(place.values) for place in self.places]
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
    """Put a chart together, of which `Parallel` says the rest; None where no quantity has a run.

    Args:
        lines: For each quantity the values of its runs by the number of the axis.
        published: What a source has, by quantity and axis.

    >>> made = parallel(("full", "half"), {"read": {0: [98.0, 100.0], 1: [70.0]}}, "share (%)")
    >>> [(place.axis, place.mean) for place in made.places], made.limits
    ([(0, 99.0), (1, 70.0)], (60.0, 110.0))
    """
    known, drawn = published or {}, [name for name, values in lines.items() if any(values.values())]
    places = tuple(
        Place(name, rank, axis, tuple(lines[name][axis]), known.get((name, axis)))
        for rank, name in enumerate(drawn)
        for axis in range(len(axes))
        if lines[name].get(axis)
    )
    return Parallel(tuple(axes), places, title, unit, level, level_name) if places else None


def parallel_words(made: Parallel) -> str:
    """What is drawn, for the caption."""
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
    if any(place.published is not None for place in made.places):
        text += " A star is what the paper says, in the colour of its line."
    return text


def parallel_spec(made: Parallel) -> Spec:
    """The axes, a line a quantity through its means, spreads, runs and the source's stars."""
    unit = f" {made.unit}" if made.unit else ""
    means = rows(
        kind=[place.name for place in made.places],
        x=[made.x(place) for place in made.places],
        y=[place.mean for place in made.places],
        low=[min(place.values) for place in made.places],
        high=[max(place.values) for place in made.places],
        told=[place.published for place in made.places],
        text=[
            f"{place.name}, {made.axes[place.axis]}: mean {place.mean:,.4g}{unit}, "
            f"min {min(place.values):,.4g}, max {max(place.values):,.4g} of "
            f"{len(place.values):,} runs"
            + (f"; the paper: {place.published:,.4g}{unit}" if place.published is not None else "")
            for place in made.places
        ],
    )
    labels = {float(at): name.replace(", ", ",\n") for at, name in enumerate(made.axes)}
    named = series(made.names)
    star = {"type": "text", "text": "☆", "fontSize": 20}
    spec = lines(
        means,
        axis("x", "", ends=(-0.4, len(made.axes) - 0.6), ticks=labels, labelOverlap=False),
        axis("y", made.title, ends=made.limits, zero=False),
        named,
        dots="true",
        interval="rule",
        width=2.25,
        size=75,
        height=340,
        below=[*_frame_layers(made), *_run_layers(made, named)],
        over=[coloured(star, named, y={"field": "told"}, tooltip=READ)],
    )
    return spec | {"letters": letters(labels.values())}


def _frame_layers(made: Parallel) -> list[Spec]:
    """An upright line an axis, and the level to compare with."""
    rule = {"type": "rule", "strokeWidth": 1.25}
    axes = {"data": rows(x=range(len(made.axes))), **coloured(rule, GREY, **UPRIGHT)}
    return [axes] if made.level is None else [axes, levels({made.level: ""}, GREY)]


def _run_layers(made: Parallel, named: Kinds) -> list[Spec]:
    """The runs as faint dots, where an axis has several."""
    if made.runs[1] < 2:
        return []
    runs = [(one.name, made.x(one) + ASIDE, value) for one in made.places for value in one.values]
    dot = {"type": "point", "filled": True, "size": 16, "opacity": 0.35}
    return [{"data": marks("kind x y", runs), **coloured(dot, named)}]


def parallel_table(made: Parallel) -> Table:
    """A row for each quantity and axis."""
    return table_of(
        made.places,
        ("quantity", "quantity", "text", lambda place: place.name),
        ("system", "system", "text", lambda place: made.axes[place.axis]),
        ("mean", f"mean ({made.unit})" if made.unit else "mean", "number"),
        ("least", "least", "number", lambda place: min(place.values)),
        ("most", "most", "number", lambda place: max(place.values)),
        ("published", "the paper", "number"),
        ("runs", "runs", "count", lambda place: len(place.values)),
    )
