"""The pictures of an entry, put together: heading, words, table, and both ways of drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from resilver.report import NAMES, charts
from resilver.report.charts_data import RateChart, RateSeries, rate_chart
from resilver.report.document import Shown
from resilver.report.parallel import parallel_table, parallel_words
from resilver.report.source import SystemRuns, number
from resilver.report.static import COLUMN_INCHES, PAGE_INCHES
from resilver.report.static import draw as draw_chart
from resilver.report.style import PURPLE
from resilver.report.tables import Table
from resilver.reproduce.bars import bars, bars_figure, bars_static, bars_table, bars_words
from resilver.reproduce.compare import Comparison
from resilver.reproduce.cumulative import (
    cumulative,
    cumulative_figure,
    cumulative_static,
    cumulative_table,
    cumulative_words,
)
from resilver.reproduce.curves import curve, curve_figure, curve_static, curve_table, curve_words
from resilver.reproduce.entries import Entry
from resilver.reproduce.evidence import Evidence
from resilver.reproduce.histograms import (
    histogram,
    histogram_figure,
    histogram_static,
    histogram_table,
)
from resilver.reproduce.parallels import parallels
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.units import format_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure as StaticFigure
    from plotly.graph_objects import Figure

_GIB = 2.0**30
_ACROSS = "servers, of which one fails"
# Of more lines, a column of a paper is too narrow for the legend.
_FEW_LINES = 4


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture, not drawn yet.

    Args:
        spec: What it was asked to be.
        shown: What a page needs of it.
        table_title: What its table holds.
        inches: Its size in print.
        static: Draws it with matplotlib into a figure that is given; None where `whole` does.
        whole: Makes the whole matplotlib figure.
    """

    spec: PictureSpec
    shown: Shown
    table_title: str
    inches: tuple[float, float]
    static: Callable[[StaticFigure], None] | None = None
    whole: Callable[[], StaticFigure] | None = None


def picture(
    one: Entry,
    spec: PictureSpec,
    evidence: Mapping[str, Evidence],
    tables: Tables | None,
    numbers: Sequence[Comparison],
) -> Picture | None:
    """One picture of an entry.

    Args:
        one: The entry.
        spec: Which picture.
        evidence: Evidence by entry: this one's, and that of the others its pictures need.
        tables: This one's tables; None of a collection, which has none.
        numbers: The comparisons that it may show beside ours.

    Returns:
        The picture; None where the evidence has nothing that it could show.
    """
    if spec.draw == "rate":
        return _rate(spec, evidence, numbers)
    if spec.draw in NAMES:
        return _one_run(spec, evidence[one.name])
    assert tables is not None
    by_key = {compared.key: compared for compared in numbers}
    if spec.draw == "curve":
        return _curve(spec, tables, by_key)
    if spec.draw == "parallel":
        return _parallel(spec, tables, by_key)
    return {"histogram": _histogram, "bars": _bars, "cumulative": _cumulative}[spec.draw](
        spec, tables
    )


def _drawn(
    spec: PictureSpec,
    words: str,
    table: Table,
    table_title: str,
    draw: Callable[[], Figure],
    static: Callable[[StaticFigure], None],
    inches: tuple[float, float] = (PAGE_INCHES, 2.7),
) -> Picture:
    """A picture that is headed by its figures and its title, with both ways of drawing it."""
    shown = Shown(spec.name, f"{_numbered(spec)}{spec.title}", words, draw, table)
    return Picture(spec, shown, table_title, inches, static)


def _curve(spec: PictureSpec, tables: Tables, numbers: Mapping[str, Comparison]) -> Picture | None:
    made = curve(spec, tables, numbers)
    if made is None:
        return None
    return _drawn(
        spec,
        curve_words(made),
        curve_table(made),
        "the lines' points",
        lambda: curve_figure(made),
        lambda figure: curve_static(figure, made),
        (COLUMN_INCHES, 2.7) if len(made.lines) <= _FEW_LINES else (PAGE_INCHES, 3.4),
    )


def _histogram(spec: PictureSpec, tables: Tables) -> Picture | None:
    made = histogram(spec, tables)
    if made is None:
        return None
    return _drawn(
        spec,
        "Bars side by side for each power of two: the share of the number and of the volume.",
        histogram_table(made),
        "shares by size",
        lambda: histogram_figure(made),
        lambda figure: histogram_static(figure, made),
        (PAGE_INCHES, 3.6),
    )


def _bars(spec: PictureSpec, tables: Tables) -> Picture | None:
    made = bars(spec, tables)
    if made is None:
        return None
    return _drawn(
        spec,
        bars_words(made),
        bars_table(made),
        "the bars",
        lambda: bars_figure(made),
        lambda figure: bars_static(figure, made),
    )


def _cumulative(spec: PictureSpec, tables: Tables) -> Picture | None:
    made = cumulative(spec, tables)
    if made is None:
        return None
    return _drawn(
        spec,
        cumulative_words(made),
        cumulative_table(made),
        "the lines' points",
        lambda: cumulative_figure(made),
        lambda figure: cumulative_static(figure, made),
    )


def _parallel(
    spec: PictureSpec, tables: Tables, numbers: Mapping[str, Comparison]
) -> Picture | None:
    from resilver.report.parallel_plot import parallel_figure, parallel_static

    made = parallels(spec, tables, numbers)
    if made is None:
        return None
    return _drawn(
        spec,
        parallel_words(made),
        parallel_table(made),
        "the lines at each axis",
        lambda: parallel_figure(made),
        lambda figure: parallel_static(figure, made),
        (PAGE_INCHES, 3.4),
    )


def _numbered(spec: PictureSpec) -> str:
    """The figures that a picture answers to, before its title."""
    return f"{' and '.join(spec.figures)}. " if spec.figures else ""


def _one_run(spec: PictureSpec, evidence: Evidence) -> Picture | None:
    """A chart of the slowest run of one size."""
    if evidence.results is None:
        return None
    rows = [row for row in evidence.rows if row.get("servers") == spec.servers]
    if not rows:
        return None
    slowest = max(rows, key=lambda row: (number(dict(row), "rebuild_seconds") or 0.0, -row["seed"]))
    point = SystemRuns({"cluster.servers": spec.servers}, (dict(slowest),), dict(slowest))
    drawn = [made for made in charts.of_system(evidence.results, point) if made.name == spec.draw]
    if not drawn:
        return None
    made = drawn[0]
    text = (
        f"{made.description} The slowest of {len(rows)} runs of {spec.servers} servers: seed "
        f"{slowest['seed']}, in which {slowest['failed_servers']} fails."
    )
    # The page gives charts of transfers their own style by this name.
    name = "transfers" if spec.draw == "transfers" else spec.name
    return Picture(
        spec,
        Shown(name, f"{_numbered(spec)}{made.heading}", text, made.draw, made.table),
        spec.title[0].lower() + spec.title[1:],
        (COLUMN_INCHES, 2.5),
        whole=lambda: draw_chart(made),
    )


def _rate(
    spec: PictureSpec, evidence: Mapping[str, Evidence], numbers: Sequence[Comparison]
) -> Picture | None:
    """Rebuild rate over the number of servers, several entries side by side."""
    points: list[SystemRuns] = []
    for entry, name in spec.series.items():
        rows = evidence[entry].rows if entry in evidence else ()
        for servers in sorted({row["servers"] for row in rows}):
            own = tuple(dict(row) for row in rows if row["servers"] == servers)
            points.append(SystemRuns({"cluster.servers": servers, "case": name}, own, own[0]))
    chart = rate_chart(points) if points else None
    if chart is None or not chart.series:
        return None
    chart = _named(chart, spec)
    shown = {box.label for one in chart.series for box in one.boxes}
    by_name = {f"{compared.entry}/{compared.key}": compared for compared in numbers}
    marks = [
        (servers, by_name[name])
        for name, servers in spec.stars.items()
        if name in by_name and f"{servers:,}" in shown and by_name[name].paper is not None
    ]
    made = chart

    def draw() -> Figure:
        from resilver.report.rate_plot import rate_figure

        figure = rate_figure(made).update_xaxes(title=_ACROSS)
        return _with_marks(figure, made, marks)

    def static(figure: StaticFigure) -> None:
        from resilver.report import static_charts

        static_charts.rate(figure, made)
        figure.axes[0].set_xlabel(_ACROSS)
        _static_marks(figure, made, marks)

    return Picture(
        spec,
        Shown(
            spec.name,
            _rate_heading(spec, chart, marks),
            _rate_words(chart, marks),
            draw,
            charts.of_study(points)[0].table,
        ),
        "rebuild rate by number of servers",
        (COLUMN_INCHES, 2.7),
        static,
    )


def _named(chart: RateChart, spec: PictureSpec) -> RateChart:
    """The chart with plain names of its lines, and the ideal line only where it is wanted."""
    series = tuple(RateSeries(one.name.removeprefix("case = "), one.boxes) for one in chart.series)
    return replace(chart, series=series, ideal=chart.ideal if spec.ideal else None)


def _rate_heading(
    spec: PictureSpec, chart: RateChart, marks: Sequence[tuple[int, Comparison]]
) -> str:
    if len(chart.series) > 1:
        tops = (f"{format_rate(one.boxes[-1].median)} ({one.name})" for one in chart.series)
        return (
            f"{_numbered(spec)}{spec.title}: {', '.join(tops)} at "
            f"{chart.series[-1].boxes[-1].label} servers"
        )
    last = chart.series[-1].boxes[-1]
    paper = "".join(
        f", the paper {compared.paper:,.4g} {compared.unit}"
        for servers, compared in marks
        if servers == round(last.x)
    )
    return (
        f"{_numbered(spec)}{spec.title}: {format_rate(last.median)} at {last.label} servers{paper}"
    )


def _rate_words(chart: RateChart, marks: Sequence[tuple[int, Comparison]]) -> str:
    text = (
        "Rebuilt bytes over rebuild time. A point is a run; a box spans the middle half of the "
        "seeds, its line is their median, and its whiskers reach the last run within 1.5 box "
        "heights."
    )
    if chart.ideal is not None:
        text += " The dashed line grows in proportion to the servers from the smallest median."
    if marks:
        text += " A star is the paper's median, its bar the band that ours should lie in."
    return text


def _mark_places(
    chart: RateChart, marks: Sequence[tuple[int, Comparison]]
) -> list[tuple[float, Comparison]]:
    """Where the published medians stand: right of the boxes of their number of servers."""
    from resilver.report.rate_layout import rate_layout

    layout = rate_layout(chart)
    places = {box.label: layout.place(box.x) for one in chart.series for box in one.boxes}
    aside = (layout.series / 2.0 + 0.35) * layout.slot
    return [(places[f"{servers:,}"] + aside, compared) for servers, compared in marks]


def _with_marks(
    figure: Figure, chart: RateChart, marks: Sequence[tuple[int, Comparison]]
) -> Figure:
    from resilver.report.rate_layout import rate_layout

    unit = rate_layout(chart).scale.divisor / _GIB
    for rank, (x, one) in enumerate(_mark_places(chart, marks)):
        assert one.paper is not None
        bar = None
        if one.low is not None and one.high is not None:
            bar = {
                "type": "data",
                "symmetric": False,
                "array": [(one.high - one.paper) / unit],
                "arrayminus": [(one.paper - one.low) / unit],
                "color": PURPLE,
                "thickness": 2,
            }
        figure.add_scatter(
            x=[x],
            y=[one.paper / unit],
            error_y=bar,
            mode="markers",
            name="the paper",
            legendgroup="the paper",
            showlegend=rank == 0,
            marker={"size": 14, "symbol": "star", "color": PURPLE, "line": {"width": 1}},
            hovertemplate=f"the paper: {one.paper:,.4g} {one.unit}<extra></extra>",
        )
    return figure.update_layout(showlegend=True)


def _static_marks(
    figure: StaticFigure, chart: RateChart, marks: Sequence[tuple[int, Comparison]]
) -> None:
    from resilver.report.rate_layout import rate_layout

    unit = rate_layout(chart).scale.divisor / _GIB
    axes = figure.axes[0]
    for rank, (x, one) in enumerate(_mark_places(chart, marks)):
        assert one.paper is not None
        bar = None
        if one.low is not None and one.high is not None:
            bar = [[(one.paper - one.low) / unit], [(one.high - one.paper) / unit]]
        axes.errorbar(
            [x],
            [one.paper / unit],
            yerr=bar,
            linestyle="",
            marker="*",
            markersize=8,
            color=PURPLE,
            elinewidth=1.2,
            label="the paper" if rank == 0 else None,
        )
    axes.legend(loc="best")
