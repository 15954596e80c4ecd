"""The pictures of an entry, put together: heading, words, table and what draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from resilver.charts.vega import Chart
from resilver.report import NAMES, charts
from resilver.report.boxes import Published as Star
from resilver.report.boxes import sweep_spec
from resilver.report.sweep import Sweep, sweep, sweep_table
from resilver.reproduce.bars import bars
from resilver.reproduce.compare import Comparison
from resilver.reproduce.cumulative import cumulative
from resilver.reproduce.curves import curve
from resilver.reproduce.entries import Entry
from resilver.reproduce.evidence import Evidence
from resilver.reproduce.histograms import histogram
from resilver.reproduce.parallels import parallels
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.study.system_runs import SystemRuns, number
from resilver.units import format_rate

_GIB = 2.0**30
_ACROSS = "servers, of which one fails"


def picture(
    one: Entry,
    spec: PictureSpec,
    evidence: Mapping[str, Evidence],
    tables: Tables | None,
    numbers: Sequence[Comparison],
) -> Chart | None:
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
    return _DRAWN[spec.draw](spec, tables, by_key)


_DRAWN: dict[str, Callable[[PictureSpec, Tables, Mapping[str, Comparison]], Chart | None]] = {
    "curve": curve,
    "parallel": parallels,
    "histogram": histogram,
    "bars": bars,
    "cumulative": cumulative,
}


def _one_run(spec: PictureSpec, evidence: Evidence) -> Chart | None:
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
    heading, title = f"{spec.numbered}{made.heading}", spec.title[0].lower() + spec.title[1:]
    return Chart(spec.name, heading, text, made.make, made.table, title)


def _rate(
    spec: PictureSpec, evidence: Mapping[str, Evidence], numbers: Sequence[Comparison]
) -> Chart | None:
    """Rebuild rate over the number of servers, several entries side by side."""
    points: list[SystemRuns] = []
    for entry, name in spec.series.items():
        rows = evidence[entry].rows if entry in evidence else ()
        for servers in sorted({row["servers"] for row in rows}):
            own = tuple(dict(row) for row in rows if row["servers"] == servers)
            points.append(SystemRuns({"cluster.servers": servers, "case": name}, own, own[0]))
    chart = sweep(points) if points else None
    if chart is None or not chart.series:
        return None
    chart = _named(chart, spec)
    shown = {box.label for box in chart.boxes}
    by_name = {f"{compared.entry}/{compared.key}": compared for compared in numbers}
    marks = [
        (servers, by_name[name])
        for name, servers in spec.stars.items()
        if name in by_name and f"{servers:,}" in shown and by_name[name].paper is not None
    ]
    made = chart
    stars = [
        Star(
            f"{servers:,}",
            (one.paper or 0.0) * _GIB,
            None if one.low is None else one.low * _GIB,
            None if one.high is None else one.high * _GIB,
            f"the paper: {one.paper:,.4g} {one.unit}",
        )
        for servers, one in marks
    ]
    return Chart(
        spec.name,
        _rate_heading(spec, chart, marks),
        _rate_words(chart, marks),
        lambda: sweep_spec(made, _ACROSS, stars),
        sweep_table(made),
        "rebuild rate by number of servers",
    )


def _named(chart: Sweep, spec: PictureSpec) -> Sweep:
    """The chart with plain names of its lines, and the ideal line only where it is wanted."""
    series = tuple((name.removeprefix("case = "), boxes) for name, boxes in chart.series)
    return replace(chart, series=series, ideal=chart.ideal if spec.ideal else None)


def _rate_heading(spec: PictureSpec, chart: Sweep, marks: Sequence[tuple[int, Comparison]]) -> str:
    if len(chart.series) > 1:
        tops = (f"{format_rate(boxes[-1].median)} ({name})" for name, boxes in chart.series)
        return f"{spec.heading}: {', '.join(tops)} at {chart.boxes[-1].label} servers"
    last = chart.boxes[-1]
    paper = "".join(
        f", the paper {compared.paper:,.4g} {compared.unit}"
        for servers, compared in marks
        if servers == round(last.x)
    )
    return f"{spec.heading}: {format_rate(last.median)} at {last.label} servers{paper}"


def _rate_words(chart: Sweep, marks: Sequence[tuple[int, Comparison]]) -> str:
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
