"""A benchmark over time on a page: its runs, their limits, and what is out of control."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from resilver.answer.document import Document
from resilver.center.control import DECISION, LIMIT, run_length
from resilver.center.quality import is_correlated
from resilver.charts.chart import Chart
from resilver.charts.idioms import coloured, points
from resilver.charts.style import BLUE, DASHES, GREY, VERMILLION
from resilver.charts.vega import Spec, number, rows, tip
from resilver.report.judged import PageSection, write_judged
from resilver.tables import Table, cell_text, table
from resilver.units import RATE_UNITS
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.center.quality import Finding, QualityCharts, Series

_SAID_MOST = 6
_CHARTS_MOST = 12
_BY_CHANCE = 370.0
_KINDS = ("in control", "outlier")


def time_of(seconds: float | None, run: int) -> str:
    """When a run was, to the minute; its number where that is not known."""
    if seconds is None:
        return f"run {run + 1}"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def value_of(value: float, found: QualityCharts) -> str:
    """A value for people, in the unit that was asked for."""
    if found.unit:
        return f"{value / float(RATE_UNITS[found.unit]):,.4g} {found.unit}"
    return cell_text(value, "TB/s" if found.is_rate else "number")


def _values(
    name: str, values: Iterable[float], found: QualityCharts
) -> tuple[str, str, str, list[float]]:
    """A column of values, in the unit that was asked for."""
    if found.unit:
        size = float(RATE_UNITS[found.unit])
        return name, f"{name}, {found.unit}", "number", [value / size for value in values]
    return name, name, "TB/s" if found.is_rate else "number", list(values)


def finding_sentence(one: Finding, found: QualityCharts, *, is_named: bool) -> str:
    """One finding as a sentence."""
    when = time_of(one.seconds, one.run)
    way = f"{100 * abs(one.share):.3g} % {'below' if one.share < 0 else 'above'}"
    value = value_of(one.value, found)
    if one.kind == "outlier":
        text = f"{when}: outlier, {value}, {way} its level"
    elif one.kind == "step":
        after = plural(one.runs_until_found, "run")
        text = f"{when}: step to {value}, {way} the level before; found after {after}"
    else:
        text = f"{when}: drift to {value}, {way} the level before"
        if one.share_in_30_days is not None:
            text += f", {100 * one.share_in_30_days:+.3g} % in 30 days"
    return f"{f'{one.series}, ' if is_named else ''}{text}."


def quality_sentences(found: QualityCharts) -> list[str]:
    """What is out of control, a sentence each."""
    runs = sum(len(one.values) for one in found.series)
    later = sum(len(one.values) - one.first for one in found.series)
    alarms = later / _BY_CHANCE + later / run_length()
    chance = f"chance alone makes {alarms:.2g} in so many"
    named = len(found.series) > 1
    if found.holds:
        said = [f"{plural(runs, 'run')} are in control."]
    else:
        count = plural(len(found.findings), "finding")
        said = [f"Out of control: {count} in {plural(later, 'run')}; {chance}."]
        these = found.findings[:_SAID_MOST]
        said += [finding_sentence(one, found, is_named=named) for one in these]
        if len(found.findings) > _SAID_MOST:
            said.append(f"And {plural(len(found.findings) - _SAID_MOST, 'more finding')}.")
    for one in found.series:
        if is_correlated(one):
            said.append(
                f"Neighbouring runs of {one.name} hang together (correlation "
                f"{one.correlation:.2f}), so that false alarms are more often."
            )
    return said


def series_table(found: QualityCharts) -> Table:
    """The series, a row each."""
    these = found.series
    return table(
        ("series", "series", "text", [one.name for one in these]),
        ("runs", "runs", "count", [len(one.values) for one in these]),
        _values("level", [one.control.level for one in these], found),
        _values("deviation", [one.control.deviation for one in these], found),
        (
            "deviation_share",
            "of it",
            "share",
            [one.control.deviation / one.control.level for one in these],
        ),
        ("findings", "findings", "count", [len(one.findings) for one in these]),
        note="Level: of the first runs. Deviation: of a run from the level that holds.",
    )


def findings_table(found: QualityCharts) -> Table:
    """What is out of control, a row each."""
    these = found.findings
    return table(
        ("time", "time", "text", [time_of(one.seconds, one.run) for one in these]),
        ("kind", "what", "text", [one.kind for one in these]),
        _values("value", [one.value for one in these], found),
        ("size", "off", "text", [f"{100 * one.share:+.3g} %" for one in these]),
        ("found", "found after", "count", [one.runs_until_found for one in these]),
        ("series", "series", "text", [one.series for one in these]),
        note="Found after: runs, the one that it begins with among them.",
    )


def quality_tables(found: QualityCharts) -> list[tuple[str, Table]]:
    """All tables, with their titles."""
    made = [("Series", series_table(found))]
    return [("Findings", findings_table(found)), *made] if found.findings else made


def control_chart(found: QualityCharts, rank: int) -> Chart:
    """The runs of one series with the level that holds at each and its limits.

    Args:
        found: The charts.
        rank: Which series.
    """
    one = found.series[rank]
    count = len(one.findings)
    heading = f"{one.name}: {plural(count, 'finding')}" if count else f"{one.name} is in control"
    text = (
        f"A point is a run; the line is the level that holds, the pale band {LIMIT:g} deviations "
        f"around it. The first {one.first} runs, left of the grey line, say what is usual. Below, "
        f"the cumulative sums of what runs are off: beyond {DECISION:g} the level has changed."
    )
    return Chart(
        f"quality-{rank}",
        heading,
        text,
        lambda: _drawn(one, found),
        _runs_table(one, found),
        "runs",
    )


def _runs_table(one: Series, found: QualityCharts) -> Table:
    numbers = range(len(one.values))
    seconds = [None] * len(one.values) if one.seconds is None else one.seconds.tolist()
    return table(
        ("time", "time", "text", [time_of(seconds[at], at) for at in numbers]),
        _values("value", one.values.tolist(), found),
        _values("level", one.control.levels.tolist(), found),
        ("upper", "sum upwards", "number", one.control.upper.tolist()),
        ("lower", "sum downwards", "number", one.control.lower.tolist()),
    )


def _across(one: Series) -> Spec:
    if one.seconds is None:
        return number("x", "run", zero=False)
    scale = {"type": "utc"}
    axis = {"format": "%Y-%m-%d", "labelOverlap": True, "labelBound": True, "tickCount": 6}
    return {"field": "x", "type": "temporal", "scale": scale, "title": None, "axis": axis}


def _drawn(one: Series, found: QualityCharts) -> Spec:
    top = float(one.values.max())
    unit, words = 1.0, found.column
    if found.unit:
        unit, words = float(RATE_UNITS[found.unit]), found.unit
    elif found.is_rate:
        unit, words = (
            (1e12, "TB/s") if top >= 1e12 else (1e9, "GB/s") if top >= 1e9 else (1e6, "MB/s")
        )
    runs = len(one.values)
    places = np.arange(1, runs + 1) if one.seconds is None else one.seconds * 1e3
    levels, wide = one.control.levels, LIMIT * one.control.deviation
    late = set(one.control.outliers)
    seconds = [None] * runs if one.seconds is None else one.seconds.tolist()
    data = rows(
        x=places.tolist(),
        value=(one.values / unit).tolist(),
        level=(levels / unit).tolist(),
        least=(np.maximum(levels - wide, 0.0) / unit).tolist(),
        most=((levels + wide) / unit).tolist(),
        kind=[_KINDS[at in late] for at in range(runs)],
        text=[time_of(seconds[at], at) for at in range(runs)],
        upper=one.control.upper.tolist(),
        lower=(-one.control.lower).tolist(),
    )
    # Times keep all their digits, unlike numbers of charts.
    for row, place in zip(data["values"], places.tolist(), strict=True):
        row["x"] = place
    across, steps = _across(one), {"interpolate": "step-after"}
    begun = {"values": [{"x": places.tolist()[one.first - 1]}]}
    rule = {"type": "rule", "strokeDash": DASHES[1]}
    edges: Spec = {"y": {"value": 0}, "y2": {"value": 220}}
    band = {"y": {"field": "least"}, "y2": {"field": "most"}}
    runs_view = points(
        data,
        across,
        number("value", words, zero=False),
        dict(zip(_KINDS, (BLUE, VERMILLION), strict=True)),
        size=36,
        marks=("circle", "diamond"),
        height=220,
        read=tip(("text", "run"), ("value", words), ("level", "level")),
        below=[
            coloured({"type": "area", "fillOpacity": 0.18, **steps}, GREY, **band),
            coloured({"type": "line", "strokeWidth": 1.5, **steps}, GREY, y={"field": "level"}),
            {"data": begun, **coloured(rule, GREY, **edges)},
        ],
    )
    return {"vconcat": [runs_view, {"height": 110, "data": data, "layer": _sums(across)}]}


def _sums(across: Spec) -> list[Spec]:
    """The cumulative sums upwards and downwards, and where they signal."""
    title = "sums (deviations)"
    line = {"type": "line", "color": BLUE, "strokeWidth": 1.5}
    made: list[Spec] = [
        {"mark": line, "encoding": {"x": across, "y": number(name, title)}}
        for name in ("upper", "lower")
    ]
    mark = {"type": "rule", "color": GREY, "strokeDash": [2, 2]}
    for place in (DECISION, -DECISION):
        alone = {"values": [{"y": place}]}
        made.append({"data": alone, "mark": mark, "encoding": {"y": number("y", title)}})
    return made


def write_quality(found: QualityCharts, path: str | Path, command: str = "") -> Path:
    """Write the page.

    Args:
        found: The charts.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page = Document()
    sections = [
        PageSection(heading, (), [page.shown(f"table-{rank}", heading, made)])
        for rank, (heading, made) in enumerate(quality_tables(found))
    ]
    ranks = sorted(range(len(found.series)), key=lambda rank: -len(found.series[rank].findings))
    figures = [page.figure(control_chart(found, rank)) for rank in ranks[:_CHARTS_MOST]]
    more = len(found.series) - len(figures)
    texts = [f"{plural(more, 'more series')} with fewer findings are in the table."] if more else []
    sections.insert(0, PageSection("Runs", texts, figures))
    if found.notes:
        sections.append(PageSection("What was left out", found.notes))
    title = f"{found.column} over time"
    return write_judged(page, path, title, quality_sentences(found), sections, {"Made by": command})
