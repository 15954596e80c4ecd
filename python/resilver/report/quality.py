"""A benchmark over time on a page: its runs, their limits, and what is out of control."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.answer import Answer, Shown, sections_of
from resilver.center.control import DECISION, LIMIT, run_length
from resilver.center.quality import is_correlated
from resilver.charts.idioms import coloured, curve, frame, levels, points, uprights
from resilver.charts.style import BLUE, GREY, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.tables import Table, cell_text, table_of
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
    name: str, found: QualityCharts, value: Callable[[Any], float]
) -> tuple[str, str, str, Callable[[Any], float]]:
    """A column of values, in the unit that was asked for."""
    if found.unit:
        size = float(RATE_UNITS[found.unit])
        return name, f"{name}, {found.unit}", "number", lambda one: value(one) / size
    return name, name, "TB/s" if found.is_rate else "number", value


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
    chance = f"chance alone gives {alarms:.2g}"
    named = len(found.series) > 1
    if found.holds:
        said = [f"{plural(runs, 'run')} are in control."]
    else:
        count = plural(len(found.findings), "finding")
        said = [f"Out of control: {count} in {plural(later, 'run')}, where {chance}."]
        these = found.findings[:_SAID_MOST]
        said += [finding_sentence(one, found, is_named=named) for one in these]
        if len(found.findings) > _SAID_MOST:
            said.append(f"And {plural(len(found.findings) - _SAID_MOST, 'more finding')}.")
    for one in found.series:
        if is_correlated(one):
            said.append(
                f"Neighbouring runs of {one.name} are correlated ({one.correlation:.2f}), so false "
                "alarms are more frequent."
            )
    return said


def series_table(found: QualityCharts) -> Table:
    """The series, a row each."""
    return table_of(
        found.series,
        ("series", "series", "text", attrgetter("name")),
        ("runs", "runs", "count", lambda one: len(one.values)),
        _values("level", found, attrgetter("control.level")),
        _values("deviation", found, attrgetter("control.deviation")),
        (
            "deviation_share",
            "of the level",
            "share",
            lambda one: one.control.deviation / one.control.level,
        ),
        ("findings", "findings", "count", lambda one: len(one.findings)),
        note="Level: the mean of the first runs. Deviation: the standard deviation of a run.",
    )


def findings_table(found: QualityCharts) -> Table:
    """What is out of control, a row each."""
    return table_of(
        found.findings,
        ("time", "time", "text", lambda one: time_of(one.seconds, one.run)),
        ("kind", "what", "text"),
        _values("value", found, attrgetter("value")),
        ("size", "off", "text", lambda one: f"{100 * one.share:+.3g} %"),
        ("found", "found after", "count", attrgetter("runs_until_found")),
        ("series", "series", "text"),
        note="Found after: how many runs, the one that it begins with included.",
    )


def control_chart(found: QualityCharts, rank: int) -> Chart:
    """The runs of one series with the level that holds at each and its limits."""
    one = found.series[rank]
    count = len(one.findings)
    heading = f"{one.name}: {plural(count, 'finding')}" if count else f"{one.name} is in control"
    text = (
        f"A point is a run; the line is the current level, the pale band {LIMIT:g} standard "
        f"deviations around it. The first {one.first} runs, left of the grey line, set the "
        f"baseline. Below, the cumulative sums of how far runs are off: beyond {DECISION:g} the "
        "level has changed."
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
    control = one.control
    seconds = [None] * len(one.values) if one.seconds is None else one.seconds.tolist()
    return table_of(
        range(len(one.values)),
        ("time", "time", "text", lambda at: time_of(seconds[at], at)),
        _values("value", found, lambda at: float(one.values[at])),
        _values("level", found, lambda at: float(control.levels[at])),
        ("upper", "sum upwards", "number", lambda at: control.upper[at]),
        ("lower", "sum downwards", "number", lambda at: control.lower[at]),
    )


def _across(one: Series) -> Spec:
    if one.seconds is None:
        return axis("x", "run", zero=False)
    scale = {"type": "utc"}
    look = {"format": "%Y-%m-%d", "labelOverlap": True, "labelBound": True, "tickCount": 6}
    return {"field": "x", "type": "temporal", "scale": scale, "title": None, "axis": look}


def _drawn(one: Series, found: QualityCharts) -> Spec:
    top = float(one.values.max())
    unit, words = 1.0, found.column
    if found.unit:
        unit, words = float(RATE_UNITS[found.unit]), found.unit
    elif found.is_rate:
        unit, words = (
            (1e12, "TB/s") if top >= 1e12 else (1e9, "GB/s") if top >= 1e9 else (1e6, "MB/s")
        )
    runs, held, wide = len(one.values), one.control.levels, LIMIT * one.control.deviation
    late = set(one.control.outliers)
    seconds = [None] * runs if one.seconds is None else one.seconds.tolist()
    # Times are text: numbers of charts have too few digits for them.
    places = [
        at + 1 if time is None else datetime.fromtimestamp(time, UTC).isoformat()
        for at, time in enumerate(seconds)
    ]
    data = rows(
        x=places,
        y=one.values / unit,
        level=held / unit,
        least=np.maximum(held - wide, 0.0) / unit,
        most=(held + wide) / unit,
        kind=[_KINDS[at in late] for at in range(runs)],
        text=[time_of(seconds[at], at) for at in range(runs)],
    )
    across, steps = _across(one), {"interpolate": "step-after"}
    band = {"y": {"field": "least"}, "y2": {"field": "most"}}
    runs_view = points(
        data,
        across,
        axis("y", words, zero=False),
        dict(zip(_KINDS, (BLUE, VERMILLION), strict=True)),
        size=36,
        marks=("circle", "diamond"),
        height=220,
        read=tip(("text", "run"), ("y", words), ("level", "level")),
        below=[
            coloured({"type": "area", "fillOpacity": 0.18, **steps}, GREY, **band),
            curve(places, held / unit, dash=0, **steps),
            uprights(places[one.first - 1 : one.first], 220, GREY),
        ],
    )
    sums = [curve(places, of, BLUE, dash=0) for of in (one.control.upper, -one.control.lower)]
    limits = levels({DECISION: "", -DECISION: ""}, GREY)
    upwards = axis("y", "sums (deviations)")
    return {"vconcat": [runs_view, frame(data, across, upwards, [*sums, limits], 110)]}


def quality_answer(found: QualityCharts) -> Answer:
    """The answer to whether runs are in control."""
    ranks = sorted(range(len(found.series)), key=lambda rank: -len(found.series[rank].findings))
    charts = [control_chart(found, rank) for rank in ranks[:_CHARTS_MOST]]
    more = len(found.series) - len(charts)
    text = f"{plural(more, 'more series')} with fewer findings are in the table." if more else ""
    findings = Shown("findings", "Findings", findings_table(found)) if found.findings else None
    return Answer(
        f"{found.column} over time",
        quality_sentences(found),
        sections_of(
            ("Runs", charts, text),
            ("Findings", [findings]),
            ("Series", [Shown("series", "Series", series_table(found))]),
        ),
        found.to_dict(),
        found.holds,
        notes=found.notes,
    )
