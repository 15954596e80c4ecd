"""Charts over time: the course of a rebuild, objects short of pieces, and systems together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from resilver.charts.idioms import lines, series
from resilver.charts.over_time import Marks, Panel, over_time
from resilver.charts.scales import Scale, byte_scale, rate_scale, time_scale, time_title
from resilver.charts.style import BLUE, GREEN, ORANGE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, marks
from resilver.report.arrays import Floats, intervals_of, moments_within, rows_of_run
from resilver.report.faults import fault_marks_text
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, number
from resilver.tables import table
from resilver.units import format_duration
from resilver.words import percent

SYSTEMS_TOGETHER_MAX = 8
"""Systems in one chart over time: more lines than this are not told apart."""


def edges_of(start: Floats, duration: Floats) -> Floats:
    """The ends of all intervals, one more than there are."""
    return np.append(start, start[-1:] + duration[-1:])


def rate_of(amounts: Floats, duration: Floats) -> Floats:
    """Amounts of intervals a second; 0 where an interval is empty."""
    return np.divide(amounts, duration, out=np.zeros_like(amounts), where=duration > 0.0)


def seconds_until(share: float, start: Floats, duration: Floats, rebuilt: Floats) -> float:
    """When `share` of all rebuilt bytes were written, linear within an interval."""
    done = np.concatenate(([0.0], np.cumsum(rebuilt)))
    target = share * done[-1]
    # The first interval that reaches it: later ones may write nothing more.
    at = max(int(np.searchsorted(done, target)) - 1, 0)
    part = float(target - done[at]) / float(rebuilt[at]) if rebuilt[at] else 0.0
    return float(start[at] + part * duration[at])


def timeline(results: StudyTables, point: SystemRuns) -> Chart | None:
    """The rebuild rate and the bytes in flight over the median run; None without a rebuild."""
    data = rows_of_run(results.timeline, point.median["run"])
    start, duration, (flight,), (rebuilt,) = intervals_of(
        data, ["in_flight_bytes"], ["rebuilt_bytes"]
    )
    if not rebuilt.sum() > 0.0:
        return None
    faults = moments_within(point, start, duration)
    edges, rate = edges_of(start, duration), rate_of(rebuilt, duration)

    def make() -> Spec:
        panels = (
            Panel("rebuild rate", rate_scale(float(rate.max())), (("rebuilt", BLUE, rate),)),
            Panel("in flight", byte_scale(float(flight.max())), (("in flight", GREEN, flight),)),
        )
        marks = Marks(faults if any(faults) else ())
        return over_time(edges, panels, time_title(faults), marks, 170)

    # Durations count from the first fault, as the rebuild time does.
    begin = min(faults, default=0.0)
    half, most, end = (
        seconds_until(share, start, duration, rebuilt) - begin for share in (0.5, 0.9, 1.0)
    )
    text = (
        "Above, the bytes written a second by all servers together; below, the bytes requested and "
        f"not yet written. {fault_marks_text(faults)}"
    )
    return Chart(
        "timeline",
        f"Half of the data is back after {format_duration(half)}; the last tenth takes "
        f"{percent((end - most) / end if end > 0.0 else 0.0)} of the {format_duration(end)}",
        text.strip(),
        make,
        table(
            ("start_seconds", "from", "seconds", start),
            ("duration_seconds", "for", "seconds", duration),
            ("rebuilt_bytes", "data rebuilt", "bytes", rebuilt),
            ("rebuilt_bytes_per_second", "rebuild rate", "rate", rate),
            ("in_flight_bytes", "in flight", "bytes", flight),
        ),
        "rebuild over time",
    )


def degraded(results: StudyTables, point: SystemRuns) -> Chart | None:
    """Objects short of pieces over the median run; None where none ever is, or nobody counted."""
    data = rows_of_run(results.timeline, point.median["run"])
    start, duration, (short, at_risk), _ = intervals_of(
        data, ["degraded_objects", "at_risk_objects"]
    )
    if not short.any():
        return None
    faults = moments_within(point, start, duration)
    edges = edges_of(start, duration)
    one, last = f"a {point.piece} missing", point.last_words
    # A line along zero would say less than no line.
    series = [(one, ORANGE, short)]
    series += [(last, VERMILLION, at_risk)] if at_risk.max() > 0.0 else []

    def make() -> Spec:
        panel = Panel("objects", Scale(1.0, ""), tuple(series))
        marks = Marks(faults if any(faults) else ())
        return over_time(edges, (panel,), time_title(faults), marks, 260)

    heading = f"Up to {_objects(short)} are degraded"
    below = np.flatnonzero(short[int(np.argmax(short)) :] <= short.max() / 2.0)
    if below.size:
        half = float(start[int(np.argmax(short)) + below[0]]) - min(faults, default=0.0)
        heading += f", half as many after {format_duration(half)}"
    if np.allclose(at_risk, short):
        heading += f"; each is {last}"
    elif at_risk.max() > 0.0:
        heading += f"; up to {_objects(at_risk)} are {last}"
    else:
        heading += f"; none is ever {last}"
    text = f"Objects with {one}, and among them those {last}, over time."
    return Chart(
        "degraded",
        heading,
        f"{text} {fault_marks_text(faults)}".strip(),
        make,
        table(
            ("start_seconds", "from", "seconds", start),
            ("duration_seconds", "for", "seconds", duration),
            ("degraded_objects", "objects degraded", "number", short),
            ("at_risk_objects", last, "number", at_risk),
            note="Numbers of objects are means over each interval.",
        ),
        f"objects short of {point.piece}s over time",
    )


def _objects(values: Floats) -> str:
    # A mean of half an object must not be called none.
    most = float(values.max())
    count = f"{most:,.0f}" if most >= 10.0 or most == round(most) else f"{most:.2g}"
    return f"{count} object{'' if most == 1.0 else 's'}"


def together(results: StudyTables, points: Sequence[SystemRuns]) -> Chart | None:
    """What is rebuilt over time, a line a system; None for one system, or too many, or none."""
    found = [(point, *course) for point in points if (course := _progress(results, point))]
    if len(found) < 2 or len(found) > SYSTEMS_TOGETHER_MAX:
        return None
    names = [point.short_label for point, _, _ in found]
    ends = [float(times[np.searchsorted(done, 1.0 - 1e-9)]) for _, times, done in found]
    lines = [(name, times, done) for name, (_, times, done) in zip(names, found, strict=True)]
    quick, slow = (pick(range(len(ends)), key=ends.__getitem__) for pick in (min, max))
    heading = f"All need about {format_duration(max(ends))}"
    if ends[slow] > 1.02 * ends[quick]:
        heading = (
            f"{names[quick]} is fully redundant first, after {format_duration(ends[quick])}, "
            f"{names[slow]} last, after {format_duration(ends[slow])}"
        )
    shares = (25, 50, 75, 90, 99)
    passed = [[float(np.interp(at / 100.0, done, t)) for _, t, done in lines] for at in shares]
    rebuilt = [number(point.median, "rebuilt_bytes") for point, _, _ in found]
    return Chart(
        "together",
        heading,
        "The share of what is rebuilt that is back, over the time since the failure, for the run "
        "of median rebuild time of each system.",
        lambda: _together_spec(lines, ends),
        table(
            ("system", "system", "text", names),
            *(
                (f"seconds_until_{at}_percent", f"{at} % back", "seconds", column)
                for at, column in zip(shares, passed, strict=True)
            ),
            ("rebuild_seconds", "all back", "seconds", ends),
            ("rebuilt_bytes", "data rebuilt", "bytes", rebuilt),
        ),
        "how fast each system heals",
    )


def _progress(results: StudyTables, point: SystemRuns) -> tuple[Floats, Floats] | None:
    """When which share of what is rebuilt is back, from the first fault; None for nothing."""
    data = rows_of_run(results.timeline, point.median["run"])
    start, duration, _, (rebuilt,) = intervals_of(data, sums=["rebuilt_bytes"])
    if not rebuilt.sum() > 0.0:
        return None
    begin = min(moments_within(point, start, duration), default=0.0)
    done = np.append(0.0, np.cumsum(rebuilt)) / rebuilt.sum()
    return np.maximum(edges_of(start, duration) - begin, 0.0), done


def _together_spec(courses: Sequence[tuple[str, Floats, Floats]], ends: Sequence[float]) -> Spec:
    """A line a system over one axis of time, which is logarithmic where the times span a decade."""
    is_wide = max(ends) > 10.0 * max(min(ends), 1e-9)
    time = time_scale(min(ends) if is_wide else max(ends))
    # A logarithmic axis has no zero; it begins within a hundredth of the shortest.
    low = min(ends) / 100.0 if is_wide else 0.0
    names = [name for name, _, _ in courses]
    points = [
        (name, seconds / time.divisor, 100.0 * share)
        for name, times, done in courses
        for seconds, share in zip(times, done, strict=True)
        if seconds >= low
    ]
    title = f"time since the failure ({time.unit}{', logarithmic' if is_wide else ''})"
    between = (low / time.divisor, max(ends) / time.divisor)
    across = axis("x", title, ends=between, log=10 if is_wide else 0)
    upwards = axis("y", "of what is rebuilt (%)", ends=(0.0, 100.0))
    data, named = marks("kind x y", points), series(names)
    return lines(data, across, upwards, named, noun="system", width=2.25, height=300, zooms="zoom")
