"""Lines over a logarithmic axis, with the published numbers as stars."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resilver.charts.idioms import lines, stars
from resilver.charts.scales import log_ticks
from resilver.charts.style import DASHES, GREY, MARKS, SERIES
from resilver.charts.vega import Chart, Spec, axis, letters, rows
from resilver.reproduce.compare import DIVISORS, Comparison, published_of
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


def curve(spec: PictureSpec, tables: Tables, numbers: Mapping[str, Comparison]) -> Chart | None:
    """The lines of a picture; None where no row has what it needs.

    Args:
        spec: What to draw.
        tables: The entry's tables.
        numbers: The entry's comparisons by key.
    """
    divisor = DIVISORS[spec.y.unit]
    names, records = tables.ask(spec.query)
    given = len(names) - (1 if spec.level_name else 0)
    points_of: dict[str, _Points] = {}
    expected: _Points = {}
    for row in records:
        *line, x, y = row[:given]
        if x is not None and y is not None:
            points = points_of.setdefault(str(line[0]) if line else "ours", {})
            points.setdefault(float(x), []).append(float(y) / divisor)
            if spec.level_name and row[-1] is not None:
                expected.setdefault(float(x), []).append(float(row[-1]) / divisor)
    if not points_of:
        return None
    shown = [_line(name, points) for name, points in points_of.items()]
    if expected:
        shown.append(_line(spec.level_name, expected, is_expected=True))
    published = [
        (float(x), height)
        for key, x in spec.stars.items()
        if (height := published_of(numbers, key, divisor)) is not None
    ]
    unit = spec.y.unit.replace("/s", "_per_second").replace(" ", "_").lower()
    text = _words(spec, shown)
    return Chart(
        spec.name,
        spec.heading,
        f"{text} A star is a number of the paper's." if published else text,
        lambda: _drawn(spec, shown, published),
        Table(
            (
                Column("line", "line", "text"),
                Column(names[given - 2], spec.x.title, _X_KINDS.get(spec.x.unit, "count")),
                Column(f"{spec.y.title.replace(' ', '_')}_{unit}", spec.y.label, "number"),
            ),
            [(line.name, *at) for line in shown for at in zip(line.xs, line.ys, strict=True)],
        ),
        "the lines' points",
    )


def _line(name: str, points: _Points, *, is_expected: bool = False) -> Line:
    """The medians of the points at each place."""
    places = sorted(points)
    middles = tuple(float(statistics.median(points[place])) for place in places)
    return Line(name, tuple(places), middles, is_expected)


def _label(spec: PictureSpec, x: float) -> str:
    """A place on the axis across, in words."""
    if spec.x.unit == "bytes":
        return exact_bytes(round(x))
    return f"{x / DIVISORS.get(spec.x.unit, 1.0):,.0f}"


def _words(spec: PictureSpec, shown: Sequence[Line]) -> str:
    """What a curve shows, for its caption."""
    across = " %" if spec.x.unit == "%" else ""
    text = f"{spec.y.title.capitalize()} over {spec.x.title}; a point is a median. Most: "
    tops = [
        (line, max(range(len(line.ys)), key=line.ys.__getitem__))
        for line in shown
        if not line.is_expected
    ]
    text += ", ".join(
        f"{number_words(line.ys[top], spec.y.unit)} at {_label(spec, line.xs[top])}{across}"
        + (f" ({line.name})" if len(tops) > 1 or line.name != "ours" else "")
        for line, top in tops
    )
    return f"{text}." + (f" The line without marks is {spec.level_name}." * bool(spec.level_name))


def _ticks(spec: PictureSpec, shown: Sequence[Line]) -> list[float]:
    """The places on the axis across, thinned to what fits; of a share, tenths."""
    xs = sorted({x for line in shown for x in line.xs})
    if spec.x.unit == "%":
        xs = [tenth / 10.0 for tenth in range(math.ceil(10.0 * xs[-1]) + 1)]
    return xs[:: max(1, -(-len(xs) // 12))]


def _drawn(
    spec: PictureSpec, shown: Sequence[Line], published: Sequence[tuple[float, float]]
) -> Spec:
    """The lines as a specification: marks at points of runs, a source's numbers as stars."""
    unit = unit_words(spec.y.unit)

    def place(x: float) -> float:
        return math.log2(x) if spec.x.logarithmic else x

    points = [
        (line.name, place(x), y, line.is_expected, f"{_label(spec, x)}: {y:,.4g} {unit}")
        for line in shown
        for x, y in zip(line.xs, line.ys, strict=True)
    ]
    kinds, xs, ys, expected, words = zip(*points, strict=True)
    heights = [*ys, *(y for _, y in published)]
    starred = rows(
        x=[place(x) for x, _ in published],
        y=[y for _, y in published],
        text=[f"the paper: {y:,.4g} {unit}" for _, y in published],
    )
    upwards = axis("y", spec.y.label, ends=(0.0, 1.12 * max(heights) or 1.0))
    if spec.y.logarithmic:
        low, high = min(y for y in heights if y > 0.0), max(heights)
        ticks = log_ticks(low, high)
        upwards = axis("y", spec.y.label, ends=(low / 1.2, 1.2 * high), log=10, ticks=ticks)
    room = 0.03 * (max(xs) - min(xs)) or 0.5
    labels = {place(x): _label(spec, x) for x in _ticks(spec, shown)}
    # A line beyond the colours has another mark than the line of the same colour before it.
    count = len(SERIES)
    shades = {
        line.name: GREY if line.is_expected else SERIES[at % count] for at, line in enumerate(shown)
    }
    view = lines(
        rows(kind=kinds, x=xs, y=ys, told=expected, text=words),
        axis("x", spec.x.title, ends=(min(xs) - room, max(xs) + room), ticks=labels),
        upwards,
        shades,
        dots="!datum.told",
        dashes=DASHES[:4],
        marks=[MARKS[(at + at // count) % len(MARKS)] for at in range(len(shown))],
        height=320,
        over=stars(starred),
    )
    return view | {"letters": letters(labels.values())}
