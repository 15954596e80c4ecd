"""Lines over a logarithmic axis, with the published numbers as stars: both ways of drawing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resilver.report.plots import empty_figure
from resilver.report.scales import log_ticks, significant
from resilver.report.static_charts import logarithmic_upwards
from resilver.report.style import GREY, PURPLE, SERIES, SERIES_MARKS, SERIES_MARKS_STATIC
from resilver.report.tables import Column, Table
from resilver.reproduce.compare import DIVISORS, Comparison, Row
from resilver.reproduce.published import PictureSpec, Published, matches
from resilver.reproduce.words import unit_words
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as StaticFigure
    from plotly.graph_objects import Figure

_DASHES = ("solid", "dash", "dot", "dashdot")
_DASHES_STATIC = ("-", "--", ":", "-.")
_X_KINDS = {"bytes": "bytes", "%": "share", "ms": "seconds"}
"""What a table writes the numbers of the axis across as, by their unit; others are counts."""


_Points = dict[float, list[tuple[float, float]]]
"""By the place on the axis across: (x, y) of its rows."""


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
    """

    spec: PictureSpec
    lines: tuple[Line, ...]
    published: tuple[tuple[float, float], ...]

    def place(self, x: float) -> float:
        """Where a number stands on the axis across."""
        return x if self.spec.x_linear else math.log2(x)

    @property
    def ticks(self) -> list[float]:
        """The places on the axis across, thinned to what fits; of a share, tenths."""
        if self.spec.x_unit == "%":
            most = max(x for line in self.lines for x in line.xs)
            xs = [tenth / 10.0 for tenth in range(math.ceil(10.0 * most) + 1)]
        else:
            xs = sorted({x for line in self.lines for x in line.xs})
        return xs[:: max(1, -(-len(xs) // 12))]

    def name(self, line: Line) -> str:
        """What a legend calls a line."""
        return line.name if self.spec.by or line.is_expected else "ours"

    def label(self, x: float) -> str:
        """A place on the axis across, in words."""
        if self.spec.x_unit == "bytes":
            return exact_bytes(round(x))
        return f"{x / DIVISORS.get(self.spec.x_unit, 1.0):,.0f}"

    @property
    def y_title(self) -> str:
        """The title of the axis upwards."""
        unit = unit_words(self.spec.y_unit)
        return f"{self.spec.y_title} ({unit})" if unit else self.spec.y_title


def curve(
    spec: PictureSpec,
    rows: Sequence[Row],
    numbers: Sequence[tuple[Published, Comparison]],
) -> Curve | None:
    """The lines of a picture.

    Args:
        spec: What to draw.
        rows: The rows to draw it from.
        numbers: The entry's published numbers, each with its comparison.

    Returns:
        The curve; None where no row has what it needs.
    """
    divisor = DIVISORS[spec.y_unit]
    groups: dict[str, _Points] = {}
    expected: _Points = {}
    for row in rows:
        if not matches(row, spec.at):
            continue
        x, y = row.get(spec.x), row.get(spec.y)
        if isinstance(x, int | float) and isinstance(y, int | float):
            name = spec.names.get(_word(row.get(spec.by)), _word(row.get(spec.by)))
            place = float(row[spec.each]) if spec.each else float(x)
            groups.setdefault(name, {}).setdefault(place, []).append((float(x), y / divisor))
            formula = row.get(spec.expected) if spec.expected else None
            if isinstance(formula, int | float):
                expected.setdefault(place, []).append((float(x), formula / divisor))
    lines = tuple(_line(name, points) for name, points in groups.items())
    if expected:
        lines = (*lines, _line(spec.level_name, expected, is_expected=True))
    published = tuple(
        (float(number.at[spec.x]), compared.paper * DIVISORS[number.unit] / divisor)
        for number, compared in numbers
        if number.metric == spec.y
        if isinstance(number.at.get(spec.x), int | float) and not number.over_at
        if compared.paper is not None
    )
    return Curve(spec, lines, published) if lines else None


def _line(name: str, points: _Points, *, is_expected: bool = False) -> Line:
    """The medians of the points at each place."""
    return Line(
        name,
        tuple(statistics.median(x for x, _ in points[place]) for place in sorted(points)),
        tuple(statistics.median(y for _, y in points[place]) for place in sorted(points)),
        is_expected,
    )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def curve_table(made: Curve) -> Table:
    """The points of the lines as rows."""
    spec = made.spec
    unit = spec.y_unit.replace("/s", "_per_second").replace(" ", "_").lower()
    columns = (
        Column("line", "line", "text"),
        Column(spec.x, spec.x_title, _X_KINDS.get(spec.x_unit, "count")),
        Column(f"{spec.y_title.replace(' ', '_')}_{unit}", made.y_title, "number"),
    )
    rows = [(line.name, x, y) for line in made.lines for x, y in zip(line.xs, line.ys, strict=True)]
    return Table(columns, rows)


def curve_figure(made: Curve) -> Figure:
    """The lines, drawn with Plotly."""
    spec = made.spec
    figure = empty_figure(420)
    for rank, line in enumerate(made.lines):
        figure.add_scatter(
            x=[made.place(x) for x in line.xs],
            y=[significant(y) for y in line.ys],
            text=[
                f"{made.label(x)}: {y:,.4g} {unit_words(spec.y_unit)}"
                for x, y in zip(line.xs, line.ys, strict=True)
            ],
            hoverinfo="text",
            mode="lines" if line.is_expected else "lines+markers",
            name=made.name(line),
            line={
                "color": _colour(rank, line),
                "width": 2,
                "dash": _DASHES[rank % len(_DASHES)],
            },
            marker={"size": 7, "symbol": SERIES_MARKS[_mark(rank)]},
        )
    if made.published:
        figure.add_scatter(
            x=[made.place(x) for x, _ in made.published],
            y=[y for _, y in made.published],
            text=[f"the paper: {y:,.4g} {unit_words(spec.y_unit)}" for _, y in made.published],
            hoverinfo="text",
            mode="markers",
            name="the paper",
            marker={"size": 15, "symbol": "star", "color": PURPLE, "line": {"width": 1}},
        )
    figure.update_xaxes(
        title=spec.x_title,
        tickvals=[made.place(x) for x in made.ticks],
        ticktext=[made.label(x) for x in made.ticks],
    )
    if spec.y_logarithmic:
        ys = _heights(made)
        ticks = log_ticks(min(ys), max(ys))
        figure.update_yaxes(
            title=made.y_title, type="log", tickvals=ticks, ticktext=[f"{t:,.10g}" for t in ticks]
        )
    else:
        figure.update_yaxes(title=made.y_title, range=[0, 1.12 * max(_heights(made)) or 1.0])
    figure.update_layout(
        hovermode="closest", showlegend=len(made.lines) > 1 or bool(made.published)
    )
    return figure


def curve_static(figure: StaticFigure, made: Curve) -> None:
    """The lines, drawn with matplotlib."""
    spec = made.spec
    axes = figure.subplots()
    for rank, line in enumerate(made.lines):
        axes.plot(
            line.xs,
            line.ys,
            color=_colour(rank, line),
            linestyle=_DASHES_STATIC[rank % len(_DASHES_STATIC)],
            marker="" if line.is_expected else SERIES_MARKS_STATIC[_mark(rank)],
            markersize=3.5,
            label=made.name(line),
        )
    if made.published:
        axes.plot(
            [x for x, _ in made.published],
            [y for _, y in made.published],
            linestyle="",
            marker="*",
            markersize=9,
            color=PURPLE,
            markeredgecolor=GREY,
            markeredgewidth=0.5,
            label="the paper",
        )
    if not spec.x_linear:
        axes.set_xscale("log", base=2)
    axes.set_xticks(made.ticks, [made.label(x) for x in made.ticks])
    if spec.x_unit == "bytes":
        axes.tick_params(axis="x", rotation=45)
    axes.minorticks_off()
    if spec.y_logarithmic:
        logarithmic_upwards(axes)
    else:
        axes.set_ylim(0.0, 1.12 * max(_heights(made)) or 1.0)
    axes.set_xlabel(spec.x_title)
    axes.set_ylabel(made.y_title)
    if len(made.lines) > 1 or made.published:
        axes.legend(loc="best")


def _colour(rank: int, line: Line) -> str:
    """The colour of a line: grey where a formula says so."""
    return GREY if line.is_expected else SERIES[rank % len(SERIES)]


def _mark(rank: int) -> int:
    """Which mark a line has: another one than the line of the same colour before it."""
    return (rank + rank // len(SERIES)) % len(SERIES_MARKS)


def _heights(made: Curve) -> list[float]:
    """Everything that the axis upwards must reach."""
    return [y for line in made.lines for y in line.ys] + [y for _, y in made.published]
