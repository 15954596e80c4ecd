"""Parallel coordinates: several quantities over axes that stand side by side, one a kind of system.

On each axis a line stands at the mean over all runs of that kind, with their spread: what the axes
do not tell apart, such as the share of a lane, is what the spread is made of.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resilver.charts.idioms import coloured, levels, lines, series
from resilver.charts.style import GREY
from resilver.charts.vega import READ, UPRIGHT, Chart, Spec, axis, letters, marks, rows
from resilver.reproduce.compare import DIVISORS, Comparison, published_of
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import unit_words
from resilver.tables import table_of

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
        axis: The axis's name.
        x: Where the line crosses it, beside it, so that the spreads of several can be seen.
        values: The value of each run there.
        published: What the source has there; None where it says nothing.
    """

    name: str
    axis: str
    x: float
    values: tuple[float, ...]
    published: float | None = None

    @property
    def mean(self) -> float:
        """The mean over the runs."""
        return statistics.fmean(self.values)


def parallels(spec: PictureSpec, tables: Tables, numbers: Mapping[str, Comparison]) -> Chart | None:
    """The lines of a picture; None where no row has what it needs.

    Args:
        spec: What to draw.
        tables: The entry's tables.
        numbers: The entry's comparisons by key.
    """
    divisor = DIVISORS[spec.y.unit]
    records = tables.ask(spec.query)[1]
    axes = list(dict.fromkeys(str(system) for _, system, _ in records))
    values_of: dict[str, dict[str, list[float]]] = {}
    for line, system, value in records:
        if value is not None:
            own = values_of.setdefault(str(line), {})
            own.setdefault(str(system), []).append(float(value) / divisor)
    if not values_of:
        return None
    order = [
        name for name in dict.fromkeys(str(line) for line, _, _ in records) if name in values_of
    ]
    places = []
    for rank, name in enumerate(order):
        aside = 0.0 if len(order) < 2 else _ROOM * (rank / (len(order) - 1) - 0.5)
        keys = spec.stars.get(name, ())
        for at, system in enumerate(axes):
            if values := values_of[name].get(system):
                star = published_of(numbers, keys[at], divisor) if at < len(keys) else None
                places.append(Place(name, system, at + aside, tuple(values), star))
    level = 1.0 / divisor if spec.level_name else None
    unit = unit_words(spec.y.unit)
    return Chart(
        spec.name,
        spec.heading,
        _words(spec, places, level),
        lambda: _drawn(spec, axes, places, level),
        table_of(
            places,
            ("quantity", "quantity", "text", lambda place: place.name),
            ("system", "system", "text", lambda place: place.axis),
            ("mean", f"mean ({unit})" if unit else "mean", "number"),
            ("least", "least", "number", lambda place: min(place.values)),
            ("most", "most", "number", lambda place: max(place.values)),
            ("published", "the paper", "number"),
            ("runs", "runs", "count", lambda place: len(place.values)),
        ),
        "the lines at each axis",
    )


def _words(spec: PictureSpec, places: Sequence[Place], level: float | None) -> str:
    """What is drawn, for the caption."""
    counts = [len(place.values) for place in places]
    few, many = min(counts), max(counts)
    runs = f"{many:,}" if few == many else f"{few:,} to {many:,}"
    text = f"Each upright axis is one kind of system, each line one quantity: {spec.y.label}."
    if many > 1:
        text += (
            f" A mark is the mean of {runs} runs, its bar reaches from the least to the greatest of"
            " them, and each faint dot is a run."
        )
    if level is not None:
        at = f"{level:,.4g} {unit_words(spec.y.unit)}"
        text += f" The dashed line, at {at}, is {spec.level_name}."
    if any(place.published is not None for place in places):
        text += " A star is what the paper says, in the colour of its line."
    return text


def _drawn(
    spec: PictureSpec, axes: Sequence[str], places: Sequence[Place], level: float | None
) -> Spec:
    """The axes, a line a quantity through its means, spreads, runs and the source's stars."""
    unit = f" {unit_words(spec.y.unit)}".rstrip()
    means = rows(
        kind=[place.name for place in places],
        x=[place.x for place in places],
        y=[place.mean for place in places],
        low=[min(place.values) for place in places],
        high=[max(place.values) for place in places],
        told=[place.published for place in places],
        text=[
            f"{place.name}, {place.axis}: mean {place.mean:,.4g}{unit}, "
            f"min {min(place.values):,.4g}, max {max(place.values):,.4g} of "
            f"{len(place.values):,} runs"
            + (f"; the paper: {place.published:,.4g}{unit}" if place.published is not None else "")
            for place in places
        ],
    )
    labels = {float(at): name.replace(", ", ",\n") for at, name in enumerate(axes)}
    named = series(place.name for place in places)
    upright = {"type": "rule", "strokeWidth": 1.25}
    below = [{"data": rows(x=range(len(axes))), **coloured(upright, GREY, **UPRIGHT)}]
    if level is not None:
        below.append(levels({level: ""}, GREY))
    if any(len(place.values) > 1 for place in places):
        runs = [(one.name, one.x + ASIDE, value) for one in places for value in one.values]
        dot = {"type": "point", "filled": True, "size": 16, "opacity": 0.35}
        below.append({"data": marks("kind x y", runs), **coloured(dot, named)})
    star = {"type": "text", "text": "☆", "fontSize": 20}
    view = lines(
        means,
        axis("x", "", ends=(-0.4, len(axes) - 0.6), ticks=labels, labelOverlap=False),
        axis("y", spec.y.label, ends=_limits(places, level), zero=False),
        named,
        dots="true",
        interval="rule",
        width=2.25,
        size=75,
        height=340,
        below=below,
        over=[coloured(star, named, y={"field": "told"}, tooltip=READ)],
    )
    return view | {"letters": letters(labels.values())}


def _limits(places: Sequence[Place], level: float | None) -> tuple[float, float]:
    """The least and the greatest value that the axes show, at whole tens."""
    values = [value for place in places for value in place.values]
    values += [place.published for place in places if place.published is not None]
    values += [] if level is None else [level]
    low = _STEP * math.floor((min(values) - _MARGIN) / _STEP)
    return (
        max(low, 0.0) if min(values) >= 0.0 else low,
        _STEP * math.ceil((max(values) + _MARGIN) / _STEP),
    )
