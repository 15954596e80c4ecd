"""What clients got over the course of a run: goodput, delay, losses and what waits."""

from __future__ import annotations

import numpy as np

from resilver.charts.over_time import Marks, Panel, over_time
from resilver.charts.scales import Scale, rate_scale, time_scale
from resilver.charts.style import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from resilver.charts.vega import Chart, Spec
from resilver.report.arrays import Floats, column, merged_intervals, moments_within, rows_of_run
from resilver.report.faults import fault_marks_text, repair_seconds
from resilver.report.timeline import edges_of, rate_of
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, number
from resilver.tables import table
from resilver.units import format_duration, format_rate
from resilver.words import listed, percent

_HARDLY = 0.01
"""A change of the goodput that is too small to speak of."""
_SUMS = ("requests_completed", "requests_lost", "read_bytes", "write_bytes", "packets_dropped")


def course(results: StudyTables, point: SystemRuns) -> Chart | None:
    """What clients got over the system's median run; None where it had no clients."""
    data = rows_of_run(results.traffic, point.median["run"])
    # Bursts alone are told of elsewhere.
    is_of_bursts = point.system is not None and point.system.has_bursts
    if not data.num_rows or (is_of_bursts and not column(data, "requests_completed").any()):
        return None
    sums = [np.nan_to_num(column(data, name)) for name in _SUMS]
    delay = np.nan_to_num(column(data, "mean_delay_seconds"))
    # Of flows that do not wait for answers no delay is known.
    is_delay_known = not np.isnan(column(data, "mean_delay_seconds")).all()
    start, duration, (backlog,), sums = merged_intervals(
        column(data, "start_seconds"),
        column(data, "duration_seconds"),
        [np.nan_to_num(column(data, "write_backlog_requests"))],
        [*sums, delay * sums[0]],
    )
    completed, lost, read, written, dropped, delays = sums
    has_mean = (completed > 0.0) & is_delay_known
    mean = np.divide(delays, completed, out=np.full_like(delays, np.nan), where=has_mean)
    edges = edges_of(start, duration)
    traffic = point.system.traffic if point.system is not None else None
    marks = Marks(
        moments_within(point, start, duration),
        tuple(at for at in repair_seconds(point) if at <= edges[-1]),
        traffic.warm_up_seconds if traffic is not None else 0.0,
    )
    rates = [rate_of(values, duration) for values in (read, written, lost)]

    def make() -> Spec:
        panels = _panels(rates, mean, backlog)
        shown = marks if any(marks.faults) else Marks((), marks.repairs, marks.warm_up)
        return over_time(edges, panels, "time since the beginning", shown, 130)

    counts = (start >= marks.warm_up * (1.0 - 1e-9)) & (duration > 0.0)
    return Chart(
        "course",
        _finding(point, (rates[0] + rates[1])[counts], duration[counts]),
        _text(marks, mean, has_losses=bool(lost.any()), has_backlog=bool(backlog.any())),
        make,
        table(
            ("start_seconds", "from", "seconds", start),
            ("duration_seconds", "for", "seconds", duration),
            ("requests_completed", "completed", "count", completed),
            ("requests_lost", "lost", "count", lost),
            ("read_bytes_per_second", "read", "rate", rates[0]),
            ("write_bytes_per_second", "written", "rate", rates[1]),
            ("mean_delay_seconds", "mean delay", "seconds", mean),
            ("packets_dropped", "packets dropped", "count", dropped),
            ("write_backlog_requests", "writes waiting", "number", backlog),
        ),
        "what clients got over time",
    )


def _panels(rates: list[Floats], delay: Floats, backlog: Floats) -> list[Panel]:
    """Goodput and delay; losses and the backlog where there are any."""
    read, written, lost = rates
    kinds = (("reads", BLUE, read), ("writes", ORANGE, written))
    shown = tuple(one for one in kinds if one[2].any()) or kinds[:1]
    made = [Panel("goodput", rate_scale(max(float(one[2].max()) for one in shown)), shown)]
    if not np.isnan(delay).all():
        delays = (("mean delay", GREEN, delay),)
        longest = time_scale(float(np.nanmax(delay)))
        made.append(Panel("mean delay", longest, delays, filled=False))
    for title, colour, values in (
        ("lost a second", VERMILLION, lost),
        ("writes waiting", PURPLE, backlog),
    ):
        if values.any():
            made.append(Panel(title, Scale(1.0, ""), ((title, colour, values),)))
    return made


def _finding(point: SystemRuns, rate: Floats, seconds: Floats) -> str:
    """How steady the goodput is once warm, or what the faults cost it."""
    if not rate.any():
        return "No request completes after the warm-up"
    before = number(point.median, "before_throughput_bytes_per_second")
    during = number(point.median, "during_throughput_bytes_per_second")
    if before and during is not None:
        change = during / before - 1.0
        if abs(change) < _HARDLY:
            return f"The faults hardly change the goodput: {format_rate(during)} during them"
        return (
            f"Goodput {'falls' if change < 0.0 else 'rises'} by {percent(abs(change))} during the "
            f"faults and their recovery, from {format_rate(before)} to {format_rate(during)}"
        )
    mean = float(np.average(rate, weights=seconds))
    low, high = (float(np.percentile(rate, at)) for at in (5.0, 95.0))
    return (
        f"Clients get {format_rate(mean)} once the system is warm, between {format_rate(low)} and "
        f"{format_rate(high)} in nine intervals of ten"
    )


def _text(marks: Marks, delay: Floats, *, has_losses: bool, has_backlog: bool) -> str:
    """What the chart shows, for its caption."""
    parts = ["bytes of completed reads and writes a second"]
    parts += [] if np.isnan(delay).all() else ["the mean delay of requests completed"]
    parts += ["requests lost a second"] if has_losses else []
    parts += ["writes acknowledged and not yet on their disks"] if has_backlog else []
    text = f"From top to bottom, over simulated time: {listed(parts)}."
    if marks.warm_up:
        text += f" The first {format_duration(marks.warm_up)}, shaded, warm the system up."
    if any(marks.faults):
        text += f" {fault_marks_text(marks.faults)}"
    elif marks.faults:
        text += " What fails has failed from the beginning."
    if marks.repairs:
        moments = [format_duration(at) for at in marks.repairs[:6]]
        one = len(marks.repairs) == 1
        which = "A dotted line marks the repair" if one else "Dotted lines mark repairs"
        text += f" {which}, at {', '.join(moments)}."
    return text


def has_traffic(point: SystemRuns) -> bool:
    """Whether clients asked anything of the system."""
    return any(number(row, "requests_completed") is not None for row in point.rows)
