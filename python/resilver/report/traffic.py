"""What clients got of a system: the numbers over time, and the findings in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resilver.report.charts_data import (
    Floats,
    column,
    merged_intervals,
    moments_within,
    rows_of_run,
)
from resilver.report.faults import fault_marks_text, repair_moments, seconds_of
from resilver.report.source import ResultsLike, SystemRuns, number, with_swept
from resilver.report.tables import Column, Table
from resilver.report.words import listed, percent
from resilver.units import format_duration, format_rate

# A change of the goodput that is too small to speak of.
_HARDLY = 0.01


@dataclass(frozen=True, eq=False)
class TrafficCourse:
    """What clients got over the course of one run, one entry an interval.

    Args:
        start_seconds: Start of each interval, from the beginning of the run.
        duration_seconds: Length of each interval.
        completed: Requests completed in it.
        lost: Requests lost in it.
        read_bytes: Bytes of the reads completed in it.
        write_bytes: Bytes of the writes completed in it.
        mean_delay_seconds: Mean delay of the requests completed in it; NaN where there are none.
        packets_dropped: Packets dropped in it.
        backlog: Writes acknowledged and not yet on their device.
        warm_up_seconds: Until when requests do not count for the run's metrics.
        fault_seconds: When something breaks.
        repair_seconds: When something is repaired.
        before_bytes_per_second: Goodput before the first fault; None where there is no such time.
        during_bytes_per_second: Goodput during the faults and their recovery; None likewise.
    """

    start_seconds: Floats
    duration_seconds: Floats
    completed: Floats
    lost: Floats
    read_bytes: Floats
    write_bytes: Floats
    mean_delay_seconds: Floats
    packets_dropped: Floats
    backlog: Floats
    warm_up_seconds: float = 0.0
    fault_seconds: tuple[float, ...] = ()
    repair_seconds: tuple[float, ...] = ()
    before_bytes_per_second: float | None = None
    during_bytes_per_second: float | None = None

    @property
    def edges(self) -> Floats:
        """The ends of all intervals."""
        last = self.start_seconds[-1:] + self.duration_seconds[-1:]
        return np.append(self.start_seconds, last)

    def rate(self, values: Floats) -> Floats:
        """Values of intervals a second."""
        seconds = self.duration_seconds
        return np.divide(values, seconds, out=np.zeros_like(values), where=seconds > 0.0)

    @property
    def counts(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which intervals begin after the warm-up and hold some time."""
        return (self.start_seconds >= self.warm_up_seconds * (1.0 - 1e-9)) & (
            self.duration_seconds > 0.0
        )


def has_traffic(point: SystemRuns) -> bool:
    """Whether clients asked anything of the system."""
    return any(number(row, "requests_completed") is not None for row in point.rows)


def traffic_course(results: ResultsLike, point: SystemRuns) -> TrafficCourse | None:
    """What clients got over the system's median run; where it is long, intervals merged.

    Args:
        results: The study's results.
        point: The system.

    Returns:
        The numbers; None where the run had no clients.
    """
    table = rows_of_run(results.traffic, point.median["run"])
    if not table.num_rows:
        return None
    completed = np.nan_to_num(column(table, "requests_completed"))
    delay = column(table, "mean_delay_seconds")
    sums = [
        completed,
        *(
            np.nan_to_num(column(table, name))
            for name in ("requests_lost", "read_bytes", "write_bytes", "packets_dropped")
        ),
        np.nan_to_num(delay) * completed,
    ]
    start, duration, (backlog,), sums = merged_intervals(
        column(table, "start_seconds"),
        column(table, "duration_seconds"),
        [np.nan_to_num(column(table, "write_backlog_requests"))],
        sums,
    )
    completed, lost, read, written, dropped, delays = sums
    mean = np.divide(delays, completed, out=np.full_like(delays, np.nan), where=completed > 0.0)
    study = with_swept(results.study, point.swept)
    traffic = study.get("traffic")
    end = float((start + duration).max())
    return TrafficCourse(
        start,
        duration,
        completed,
        lost,
        read,
        written,
        mean,
        dropped,
        backlog,
        warm_up_seconds=seconds_of(traffic.get("warm_up")) if isinstance(traffic, dict) else 0.0,
        fault_seconds=moments_within(results, point, start, duration),
        repair_seconds=tuple(at for at in repair_moments(study) if at <= end),
        before_bytes_per_second=number(point.median, "before_throughput_bytes_per_second"),
        during_bytes_per_second=number(point.median, "during_throughput_bytes_per_second"),
    )


def course_finding(course: TrafficCourse) -> str:
    """How steady the goodput is once warm, or what the faults cost it.

    Args:
        course: The numbers.
    """
    rate = course.rate(course.read_bytes + course.write_bytes)
    kept = course.counts
    if not kept.any() or not rate[kept].any():
        return "No request completes after the warm-up"
    before, during = course.before_bytes_per_second, course.during_bytes_per_second
    if before and during is not None:
        change = during / before - 1.0
        if abs(change) < _HARDLY:
            return f"The faults hardly change the goodput: {format_rate(during)} during them"
        verb = "falls" if change < 0.0 else "rises"
        return (
            f"Goodput {verb} by {percent(abs(change))} during the faults and their recovery, from "
            f"{format_rate(before)} to {format_rate(during)}"
        )
    weights = course.duration_seconds[kept]
    mean = float(np.average(rate[kept], weights=weights))
    low, high = (float(np.percentile(rate[kept], at)) for at in (5.0, 95.0))
    return (
        f"Clients get {format_rate(mean)} once the system is warm, between {format_rate(low)} and "
        f"{format_rate(high)} in nine intervals of ten"
    )


def course_text(course: TrafficCourse) -> str:
    """What the chart shows, for its caption.

    Args:
        course: The numbers.
    """
    parts = ["bytes of completed reads and writes a second", "the mean delay of requests completed"]
    if course.lost.any():
        parts.append("requests lost a second")
    if course.backlog.any():
        parts.append("writes acknowledged and not yet on their disks")
    text = f"From top to bottom, over simulated time: {listed(parts)}."
    if course.warm_up_seconds:
        text += f" The first {format_duration(course.warm_up_seconds)}, shaded, warm the system up."
    if any(course.fault_seconds):
        text += f" {fault_marks_text(course.fault_seconds)}"
    elif course.fault_seconds:
        text += " What fails has failed from the beginning."
    if course.repair_seconds:
        moments = [format_duration(at) for at in course.repair_seconds[:6]]
        one = len(course.repair_seconds) == 1
        which = "A dotted line marks the repair" if one else "Dotted lines mark repairs"
        text += f" {which}, at {', '.join(moments)}."
    return text


def course_table(course: TrafficCourse) -> Table:
    """One row an interval.

    Args:
        course: The numbers.
    """
    columns = (
        Column("start_seconds", "from", "seconds"),
        Column("duration_seconds", "for", "seconds"),
        Column("requests_completed", "completed", "count"),
        Column("requests_lost", "lost", "count"),
        Column("read_bytes_per_second", "read", "rate"),
        Column("write_bytes_per_second", "written", "rate"),
        Column("mean_delay_seconds", "mean delay", "seconds"),
        Column("packets_dropped", "packets dropped", "count"),
        Column("write_backlog_requests", "writes waiting", "number"),
    )
    arrays = (
        course.start_seconds,
        course.duration_seconds,
        course.completed,
        course.lost,
        course.rate(course.read_bytes),
        course.rate(course.write_bytes),
        course.mean_delay_seconds,
        course.packets_dropped,
        course.backlog,
    )
    return Table(columns, list(zip(*(values.tolist() for values in arrays), strict=True)))


def traffic_figures(point: SystemRuns) -> list[tuple[str, str, str]]:
    """Which key figures a system with clients has: column, label and unit, first things first.

    Args:
        point: The system.
    """
    if not has_traffic(point):
        return []
    figures = [
        ("during_throughput_bytes_per_second", "Goodput during the faults", "B/s"),
        ("before_throughput_bytes_per_second", "Goodput before them", "B/s"),
        ("during_before_throughput_ratio", "During against before", "share"),
        ("after_throughput_bytes_per_second", "Goodput after them", "B/s"),
        ("throughput_bytes_per_second", "Goodput over all", "B/s"),
        ("analytic_read_bytes_per_second", "Reads by the analytic model", "B/s"),
        ("analytic_write_bytes_per_second", "Writes by the analytic model", "B/s"),
        ("rebuild_bytes_per_second", "Strips made anew", "B/s"),
        ("analytic_rebuild_bytes_per_second", "Strips by the analytic model", "B/s"),
        ("burst_bytes_per_second", "Bursts written", "B/s"),
        ("mean_burst_delay_seconds", "Mean time of a burst", "s"),
        ("during_mean_read_delay_seconds", "Mean read during the faults", "s"),
        ("during_p99_read_delay_seconds", "1 in 100 reads longer than", "s"),
        ("during_mean_write_delay_seconds", "Mean write during the faults", "s"),
        ("during_p99_write_delay_seconds", "1 in 100 writes longer than", "s"),
        ("mean_delay_seconds", "Mean delay over all", "s"),
        ("p99_delay_seconds", "1 in 100 of all longer than", "s"),
        ("requests_completed", "Requests completed", "requests"),
        ("requests_lost", "Requests lost", "requests"),
        ("requests_retried", "Asked again elsewhere", "requests"),
        ("requests_hanging", "Requests that hang", "requests"),
        ("degraded_reads", "Degraded reads", "requests"),
        ("lent_bytes", "Lent among lanes", "B"),
        ("mean_hops", "Mean hops", "hops"),
        ("packets_queued_fraction", "Packets that waited", "share"),
        ("link_busy_fraction_max", "Busiest channel", "share"),
        ("device_busy_fraction", "Devices busy", "share"),
        ("write_backlog_requests", "Writes waiting at the end", "requests"),
    ]
    if not any(number(row, "during_seconds") for row in point.rows):
        # Nothing failed while clients were counted, so that there is one time to speak of.
        whole = {"Goodput over all": "Goodput", "Mean delay over all": "Mean delay"}
        whole["1 in 100 of all longer than"] = "1 in 100 takes longer than"
        figures = [
            (name, whole.get(label, label), unit)
            for name, label, unit in figures
            if not name.startswith(("before_", "during_", "after_"))
        ]
    always = {"requests_lost", "requests_completed"}
    return [
        one for one in figures if one[0] in always or any(number(row, one[0]) for row in point.rows)
    ]
