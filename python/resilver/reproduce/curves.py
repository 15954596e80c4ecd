"""Lines over a logarithmic axis, with the published numbers as stars."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from resilver.charts.idioms import lines, stars
from resilver.charts.scales import log_ticks
from resilver.charts.style import DASHES, GREY, MARKS, SERIES
from resilver.charts.vega import Spec, axis, letters, rows
from resilver.reproduce.compare import DIVISORS, Comparison
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import number_words, unit_words
from resilver.tables import Column, Table
from resilver.units import exact_bytes

_X_KINDS = {"bytes": "bytes", "%": "share", "ms": "seconds"}
"""What a table writes the numbers of the axis across as, by their unit; others are counts."""


_Points = dict[float, list[float]]
"""By the place on the axis across: the heights of its rows."""


@dataclass(frozen=True)
class Line:
    """One line: medians over the rows of each place on the axis across.

    Args:
        name: What it is.
        xs: The places, in the unit of the axis across.
        ys: The medians, in the unit of the axis upwards.
        is_expected: Whether a formula says so, and no run.
    """

    name: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    is_expected: bool = False


@dataclass(frozen=True)
class Curve:
    """Lines and published points, in the units of the axes.

    Args:
        spec: What is drawn.
        lines: The lines.
        published: (x, y) of published numbers.
        x_name: The column of the places on the axis across.
    """

    spec: PictureSpec
    lines: tuple[Line, ...]
    published: tuple[tuple[float, float], ...]
    x_name: str

    def place(self, x: float) -> float:
        """Where a number stands on the axis across."""
        return math.log2(x) if self.spec.x.logarithmic else x

    @property
    def ticks(self) -> list[float]:
        """The places on the axis across, thinned to what fits; of a share, tenths."""
        if self.spec.x.unit == "%":
            most = max(x for line in self.lines for x in line.xs)
            xs = [tenth / 10.0 for tenth in range(math.ceil(10.0 * most) + 1)]
        else:
            xs = sorted({x for line in self.lines for x in line.xs})
        return xs[:: max(1, -(-len(xs) // 12))]

    def label(self, x: float) -> str:
        """A place on the axis across, in words."""
        if self.spec.x.unit == "bytes":
            return exact_bytes(round(x))
        return f"{x / DIVISORS.get(self.spec.x.unit, 1.0):,.0f}"


def curve(spec: PictureSpec, tables: Tables, numbers: Mapping[str, Comparison]) -> Curve | None:
    """The lines of a picture.

    Args:
        spec: What to draw.
        tables: The entry's tables.
        numbers: The entry's comparisons by key.

    Returns:
        The curve; None where no row has what it needs.
    """
    divisor = DIVISORS[spec.y.unit]
    names, rows = tables.ask(spec.query)
    given = len(names) - (1 if spec.level_name else 0)
    lines: dict[str, _Points] = {}
    expected: _Points = {}
    for row in rows:
        *line, x, y = row[:given]
        if x is not None and y is not None:
            points = lines.setdefault(str(line[0]) if line else "ours", {})
            points.setdefault(float(x), []).append(float(y) / divisor)
            if spec.level_name and row[-1] is not None:
                expected.setdefault(float(x), []).append(float(row[-1]) / divisor)
    found = tuple(_line(name, points) for name, points in lines.items())
    if expected:
        found = (*found, _line(spec.level_name, expected, is_expected=True))
    published = tuple(
        (float(x), compared.paper * DIVISORS[compared.unit] / divisor)
        for key, x in spec.stars.items()
        if (compared := numbers.get(key)) is not None and compared.paper is not None
    )
    return Curve(spec, found, published, names[given - 2]) if found else None


def _line(name: str, points: _Points, *, is_expected: bool = False) -> Line:
    """The medians of the points at each place."""
    places = sorted(points)
    middles = tuple(float(statistics.median(points[place])) for place in places)
    return Line(name, tuple(places), middles, is_expected)


def curve_words(made: Curve) -> str:
    """What a curve shows, for its caption."""
    across = " %" if made.spec.x.unit == "%" else ""
    text = f"{made.spec.y.title.capitalize()} over {made.spec.x.title}; a point is a median. Most: "
    tops = [
        (line, max(range(len(line.ys)), key=line.ys.__getitem__))
        for line in made.lines
        if not line.is_expected
    ]
    text += ", ".join(
        f"{number_words(line.ys[top], made.spec.y.unit)} at {made.label(line.xs[top])}{across}"
        + (f" ({line.name})" if len(tops) > 1 or line.name != "ours" else "")
        for line, top in tops
    )
    text += "."
    if made.spec.level_name:
        text += f" The line without marks is {made.spec.level_name}."
    return f"{text} A star is a number of the paper's." if made.published else text


def curve_table(made: Curve) -> Table:
    """The points of the lines as rows."""
    spec = made.spec
    unit = spec.y.unit.replace("/s", "_per_second").replace(" ", "_").lower()
    columns = (
        Column("line", "line", "text"),
        Column(made.x_name, spec.x.title, _X_KINDS.get(spec.x.unit, "count")),
        Column(f"{spec.y.title.replace(' ', '_')}_{unit}", made.spec.y.label, "number"),
    )
    rows = [(line.name, x, y) for line in made.lines for x, y in zip(line.xs, line.ys, strict=True)]
    return Table(columns, rows)


def curve_drawn(made: Curve) -> Spec:
    """The lines as a specification: marks at points of runs, a source's numbers as stars."""
    spec, unit = made.spec, unit_words(made.spec.y.unit)
    found = [
        (line.name, made.place(x), y, line.is_expected, f"{made.label(x)}: {y:,.4g} {unit}")
        for line in made.lines
        for x, y in zip(line.xs, line.ys, strict=True)
    ]
    kinds, xs, ys, expected, words = zip(*found, strict=True)
    heights = [*ys, *(y for _, y in made.published)]
    published = rows(
        x=[made.place(x) for x, _ in made.published],
        y=[y for _, y in made.published],
        text=[f"the paper: {y:,.4g} {unit}" for _, y in made.published],
    )
    upwards = axis("y", spec.y.label, ends=(0.0, 1.12 * max(heights) or 1.0))
    if spec.y.logarithmic:
        low, high = min(y for y in heights if y > 0.0), max(heights)
        ticks = log_ticks(low, high)
        upwards = axis("y", spec.y.label, ends=(low / 1.2, 1.2 * high), log=10, ticks=ticks)
    room = 0.03 * (max(xs) - min(xs)) or 0.5
    labels = {made.place(x): made.label(x) for x in made.ticks}
    # A line beyond the colours has another mark than the line of the same colour before it.
    count = len(SERIES)
    marks = [MARKS[(at + at // count) % len(MARKS)] for at in range(len(made.lines))]
    drawn = lines(
        rows(kind=kinds, x=xs, y=ys, told=expected, text=words),
        axis("x", spec.x.title, ends=(min(xs) - room, max(xs) + room), ticks=labels),
        upwards,
        {
            line.name: GREY if line.is_expected else SERIES[at % count]
            for at, line in enumerate(made.lines)
        },
        dots="!datum.told",
        dashes=DASHES[:4],
        marks=marks,
        height=320,
        over=stars(published),
    )
    return drawn | {"letters": letters(labels.values())}
