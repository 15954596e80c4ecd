"""How full OSDs get: over time, and the fullest at the start, at their peak and at the end."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from resilver.charts.idioms import coloured, curve, lines, series
from resilver.charts.named import dots
from resilver.charts.scales import time_scale
from resilver.charts.style import BLUE, GREEN, GREY, INK, PURPLE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, told_apart
from resilver.report.arrays import Floats
from resilver.report.whatif.capacity import percent_of, ratio_words
from resilver.report.whatif.course import shown_moments
from resilver.report.whatif.source import LEVELS, Facts, share
from resilver.report.whatif.tables import osds_table
from resilver.tables import table
from resilver.words import plural

_NAMED = (BLUE, VERMILLION, GREEN, PURPLE)
"""The fullest OSDs have a line of their own colour each."""
_POINTS_MAX = 6_000
"""Points of thin lines on one chart: a page carries each as some 40 bytes."""
_MOMENTS = 160
_MOMENTS_MIN = 40
_LISTED = 24
_HEADS = (
    ("least", "least full"),
    ("percentile_5", "5 % below"),
    ("median", "median"),
    ("percentile_95", "95 % below"),
    ("most", "fullest"),
)
_RATIO_DASHES = ([2, 2], [6, 3], [12, 3], [8, 2, 2, 2])
# Its dashes need length to be told apart.
_RATIO_LEGEND = {"orient": "bottom", "symbolType": "stroke", "symbolSize": 900}
_ENDS = (
    ("start", "at the start", GREY, "circle"),
    ("peak", "peak", VERMILLION, "triangle-up"),
    ("end", "at the end", BLUE, "diamond"),
)


def fills(facts: Facts) -> Floats:
    """How full each OSD is over time.

    Returns:
        The share of each OSD's bytes, in the order of `Facts.osds`, shape (moments, OSDs); NaN
        where an OSD is not there.
    """
    capacity = facts.by_osd("capacity_bytes")
    return facts.by_osd("used_bytes") / np.where(capacity > 0.0, capacity, np.nan)


def fill_chart(facts: Facts) -> Chart | None:
    """How full every OSD is over time, with the ratios; None where there is no course.

    A line an OSD, the fullest of them named; of many OSDs the range of all, that of the middle
    90 %, and the fullest.
    """
    at = shown_moments(facts.moments, _MOMENTS)
    if at.size < 2 or not facts.osds:
        return None
    moments, found = facts.moments[at], fills(facts)[at]
    is_few = found.shape[1] * _MOMENTS_MIN <= _POINTS_MAX
    each = "a line each" if is_few else "dark the middle 90 % of them, pale all"
    text = (
        f"How full each of {plural(found.shape[1], 'OSD')} is by the bytes on its disk, {each}, "
        f"the {len(_NAMED)} fullest by name, and the ratios of the OSD map. A PG's old copies "
        "stay until it is clean, so that OSDs may fill before they empty."
    )
    return Chart(
        "fill",
        _heading(facts),
        text,
        lambda: _fill_spec(facts, moments, found, is_few),
        table(
            ("time_seconds", "at", "seconds", moments),
            *(
                (name, heading, "share", values)
                for (name, heading), values in zip(_HEADS, _quantiles(found), strict=True)
            ),
        ),
        "how full OSDs are over time",
    )


def _heading(facts: Facts) -> str:
    first = facts.osds[0]
    text = f"No OSD gets fuller than {percent_of(first, 'peak_used_bytes')} ({first['name']})"
    passed = [(level, len(found)) for level in LEVELS if (found := facts.passing(level))]
    if not passed:
        return f"{text}; none gets to {facts.lowest_level}"
    level_, count = passed[-1]
    return f"{text}; {plural(count, 'OSD')} {'gets' if count == 1 else 'get'} to {level_}"


def _quantiles(found: Floats) -> Floats:
    """Least, 5 %, median, 95 % and most of the OSDs at each moment, shape (5, moments)."""
    return np.asarray(np.nanpercentile(found, [0, 5, 50, 95, 100], axis=1))


def _fill_spec(facts: Facts, moments: Floats, found: Floats, is_few: bool) -> Spec:
    time = time_scale(float(moments[-1]))
    x, y = moments / time.divisor, 100.0 * found
    ratios = facts.answer.cluster.ratios
    ends = _ends(y, ratios)
    names = [osd["name"] for osd in facts.osds[: len(_NAMED)]]
    data = _lines(names, x, y[:, : len(names)])
    for row in data["values"]:
        row["kind"] = row["part"]
    return lines(
        data,
        axis("x", f"time since the start ({time.unit})", ends=(0.0, float(x[-1]))),
        axis("y", "full (%)", ends=ends),
        series(names, _NAMED),
        noun="OSD",
        dashes=(),
        width=2.25,
        height=320,
        zooms="zoom",
        below=_thin_lines(facts, x, y) if is_few else _bands(x, y),
        over=ratio_rules(ratios, ends),
    )


def _ends(percents: Floats, ratios: Mapping[str, float]) -> tuple[float, float]:
    """The ends of an axis of percentages: all that is seen, and the next ratio above it."""
    least, most = float(np.nanmin(percents)), float(np.nanmax(percents))
    top = min((100.0 * one for one in ratios.values() if 100.0 * one >= most), default=most)
    room = 0.05 * max(top - least, 5.0)
    return max(0.0, least - room), top + room


def _lines(names: list[str], x: Floats, y: Floats) -> Spec:
    """Data of lines, one after the other."""
    return rows(part=np.repeat(names, x.size), x=np.tile(x, len(names)), y=y.T.ravel())


def _thin_lines(facts: Facts, x: Floats, y: Floats) -> list[Spec]:
    """A thin line for each OSD that has no colour of its own."""
    names = [osd["name"] for osd in facts.osds[len(_NAMED) :]]
    if not names:
        return []
    at = shown_moments(x, max(_MOMENTS_MIN, _POINTS_MAX // len(names)) - 1)
    data = _lines(names, x[at], y[at][:, len(_NAMED) :])
    mark = {"type": "line", "color": GREY, "opacity": 0.45, "strokeWidth": 1, "clip": True}
    detail = {"field": "part", "type": "nominal"}
    return [{"data": data, "mark": mark, "encoding": {"detail": detail}}]


def _bands(x: Floats, y: Floats) -> list[Spec]:
    """The range of all OSDs, that of the middle 90 %, and the median."""
    least, low, middle, high, most = _quantiles(y)
    made: list[Spec] = []
    for lower, upper, opacity in ((least, most, 0.16), (low, high, 0.32)):
        mark = {"type": "area", "fillOpacity": opacity, "clip": True}
        area = coloured(mark, GREY, y2={"field": "y2"})
        made.append({"data": rows(x=x, y=upper, y2=lower), **area})
    return [*made, curve(x.tolist(), middle.tolist(), dash=0, clip=True)]


def ratio_rules(
    ratios: Mapping[str, float], ends: tuple[float, float], *, upright: bool = False
) -> list[Spec]:
    """A dashed line for each ratio within an axis of percentages, named in the legend.

    Args:
        ratios: The ratio of each of `LEVELS`.
        ends: The ends of the axis.
        upright: Whether that axis goes across, so that the lines stand.
    """
    named = {f"{of} {ratio_words(ratios[of])}": 100.0 * ratios[of] for of in LEVELS if of in ratios}
    shown = [(name, at) for name, at in named.items() if ends[0] <= at <= ends[1]]
    if not shown:
        return []
    names = [name for name, _ in shown]
    along, across = ("x", "y") if upright else ("y", "x")
    whole = {"value": {"expr": "height"}} if upright else {"value": {"expr": "width"}}
    place = {"field": "ratio", "type": "quantitative"}
    encoding = {
        along: place,
        across: {"value": 0},
        f"{across}2": whole,
        # Below the chart: beside the other legend there is no room in a narrow window.
        "strokeDash": told_apart(names, _RATIO_DASHES, legend=_RATIO_LEGEND),
    }
    mark = {"type": "rule", "color": INK, "strokeWidth": 1.25, "clip": True}
    data = rows(kind=names, ratio=[at for _, at in shown])
    return [{"data": data, "mark": mark, "encoding": encoding}]


def fullest_chart(facts: Facts) -> Chart | None:
    """The fullest OSDs at the start, at their peak and at the end; None without any."""
    osds = [osd for osd in facts.osds if osd["capacity_bytes"]][:_LISTED]
    if not osds:
        return None
    grown = max(
        osds, key=lambda osd: share(osd, "peak_used_bytes") - share(osd, "used_start_bytes")
    )
    gain = 100 * (share(grown, "peak_used_bytes") - share(grown, "used_start_bytes"))
    heading = f"Of the {plural(len(osds), 'fullest OSD')}, {grown['name']} grows most: by "
    heading += f"{gain:.1f} % of its capacity"
    if gain < 0.05:
        heading = f"The fullest OSD is {percent_of(osds[0], 'peak_used_bytes')} full"
    text = "How full they are before the first change, at their peak, and at the end of the run."
    return Chart(
        "fullest",
        heading,
        text,
        lambda: _fullest_spec(facts, osds),
        osds_table(facts),
        "every OSD, the fullest first",
    )


def _fullest_spec(facts: Facts, osds: list[dict[str, object]]) -> Spec:
    names = [str(osd["name"]) for osd in osds]
    columns = {"start": "used_start_bytes", "peak": "peak_used_bytes", "end": "used_end_bytes"}
    at = {key: [100.0 * share(osd, name) for osd in osds] for key, name in columns.items()}
    ends = _ends(np.array(list(at.values())), facts.answer.cluster.ratios)
    lowest = [min(pair) for pair in zip(at["start"], at["end"], strict=True)]
    rest = [None] * (2 * len(names))
    points = rows(
        part=names * len(_ENDS),
        name=names * len(_ENDS),
        kind=np.repeat([kind for _, kind, _, _ in _ENDS], len(names)),
        x=[value for key, *_ in _ENDS for value in at[key]],
        low=[*lowest, *rest],
        high=[*at["peak"], *rest],
    )
    return dots(
        points,
        axis("x", "full (%)", ends=ends),
        {kind: colour for _, kind, colour, _ in _ENDS},
        noun="OSD",
        room=110,
        marks=[mark for *_, mark in _ENDS],
        large="peak",
        over=ratio_rules(facts.answer.cluster.ratios, ends, upright=True),
    )
