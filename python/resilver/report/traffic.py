"""What clients got of a system: the numbers over time, and the findings in words."""

from __future__ import annotations

import re
import statistics
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
from resilver.report.source import ResultsLike, Row, SystemRuns, number, serves_only, with_swept
from resilver.report.tables import Column, Table
from resilver.report.words import listed, percent, plural
from resilver.units import format_duration, format_rate

_NAMES_SHOWN_MAX = 3


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
    before, after = _around_first_fault(course, rate)
    if before is not None and after is not None and before > 0.0:
        lower = percent(abs(1.0 - after / before))
        if abs(1.0 - after / before) < 0.01:
            return f"The faults hardly change the goodput: {format_rate(after)} after them"
        verb = "falls" if after < before else "rises"
        return (
            f"Goodput {verb} by {lower} after the first fault, from {format_rate(before)} to "
            f"{format_rate(after)}"
        )
    weights = course.duration_seconds[kept]
    mean = float(np.average(rate[kept], weights=weights))
    low, high = (float(np.percentile(rate[kept], at)) for at in (5.0, 95.0))
    return (
        f"Clients get {format_rate(mean)} once the system is warm, between {format_rate(low)} and "
        f"{format_rate(high)} in nine intervals of ten"
    )


def _around_first_fault(course: TrafficCourse, rate: Floats) -> tuple[float | None, float | None]:
    """The mean goodput between the warm-up and the first later fault, and after that fault."""
    later = [at for at in course.fault_seconds if at > course.warm_up_seconds]
    if not later:
        return None, None
    sides = (course.start_seconds < min(later), course.start_seconds >= min(later))
    means = []
    for side in sides:
        kept = course.counts & side
        weights = course.duration_seconds[kept]
        means.append(float(np.average(rate[kept], weights=weights)) if kept.any() else None)
    return means[0], means[1]


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


def traffic_sentence(results: ResultsLike, point: SystemRuns) -> str:
    """What clients got of a system: medians over its seeds, in two or three sentences.

    Args:
        results: The study's results.
        point: A system with clients.
    """
    rate, mean, tail = (
        _middle(point, name)
        for name in ("throughput_bytes_per_second", "mean_delay_seconds", "p99_delay_seconds")
    )
    beside = " beside the rebuild" if not serves_only(point.rows) else ""
    if not rate or mean is None:
        return f"No request of a client completes{beside}. {losses_sentence(results, point)}"
    text = f"Clients get {format_rate(rate)}{beside}; a request takes {format_duration(mean)}"
    text += " on average"
    if tail is not None:
        text += f", and 1 in 100 takes longer than {format_duration(tail)}"
    return f"{text}. {losses_sentence(results, point)}"


def _stuck(results: ResultsLike, point: SystemRuns) -> str:
    """What waits at the end where disks are dead and no timeout ever gives a request up."""
    traffic = with_swept(results.study, point.swept).get("traffic")
    timeout = traffic.get("timeout") if isinstance(traffic, dict) else None
    waiting = number(point.median, "requests_outstanding")
    if timeout is not None or not waiting or not point.median.get("failed_disks"):
        return ""
    verb = "waits" if waiting == 1.0 else "wait"
    return (
        f" {plural(waiting, 'request')} {verb} at the end: failed disks never answer, and without "
        "a timeout no request is given up."
    )


def losses_sentence(results: ResultsLike, point: SystemRuns) -> str:
    """Which requests were lost, of which servers, and what became of packets, in the median run.

    Args:
        results: The study's results.
        point: A system with clients.
    """
    lost = [number(row, "requests_lost") or 0.0 for row in point.rows]
    row = point.median
    if not any(lost):
        dropped = _drops(row)
        though = f", though packets are: {listed(dropped)}" if dropped else ""
        return f"No request is lost{though}.{_stuck(results, point)}"
    count = number(row, "requests_lost") or 0.0
    if not count:
        return f"Requests are lost in {sum(map(bool, lost)):,} of {len(lost):,} seeds."
    total = count + (number(row, "requests_completed") or 0.0)
    verb = "is" if count == 1.0 else "are"
    text = f"{plural(count, 'request')} ({percent(count / total)}) {verb} lost"
    named = losses_by_server(results, point)
    if named:
        shown = [name for name, _ in named[:_NAMES_SHOWN_MAX]]
        more = len(named) - len(shown)
        if more:
            shown.append(f"{more:,} more")
        text += f", asked of {listed(shown)}"
        gone = failed_disks(results, point)
        if all(name in gone for name, _ in named):
            return f"{text}, whose {'disk' if len(named) == 1 else 'disks'} had failed."
    causes = _drops(row)
    if causes:
        return f"{text}: {listed(causes)}."
    late = number(row, "requests_late")
    return f"{text}: their time ran out" + (f"; {late:,.0f} answers came late." if late else ".")


def _drops(row: Row) -> list[str]:
    """How many packets of a run were dropped, and why, in words."""
    return [
        f"{plural(packets, 'packet')} {why}"
        for name, why in (
            ("packets_dropped_cut", "cut off by what failed"),
            ("packets_dropped_no_link", "left without a link to go on"),
            ("packets_dropped_hop_limit", "gone too many hops"),
        )
        if (packets := number(row, name))
    ]


def failed_disks(results: ResultsLike, point: SystemRuns) -> set[str]:
    """The servers whose disks had failed by the end of the median run.

    Args:
        results: The study's results.
        point: The system.
    """
    table = rows_of_run(results.servers, point.median["run"])
    names, failed = table["name"].to_pylist(), table["failed"].to_pylist()
    gone = {str(name) for name, is_failed in zip(names, failed, strict=True) if is_failed}
    return gone | set(re.split(r"[,\s]+", str(point.median.get("failed_disks") or "")))


def losses_by_server(results: ResultsLike, point: SystemRuns) -> list[tuple[str, int]]:
    """The servers whose requests were lost in the median run, with how many, most first.

    Args:
        results: The study's results.
        point: The system.
    """
    table = rows_of_run(results.servers, point.median["run"])
    lost = np.nan_to_num(column(table, "requests_lost"))
    names = table["name"].to_pylist()
    order = np.argsort(-lost, kind="stable")
    return [(str(names[at]), int(lost[at])) for at in order if lost[at] > 0.0]


def _middle(point: SystemRuns, name: str) -> float | None:
    """The median of a metric over the seeds; None where no run has it."""
    values = [value for row in point.rows if (value := number(row, name)) is not None]
    return float(statistics.median(values)) if values else None


def traffic_figures(point: SystemRuns) -> list[tuple[str, str, str]]:
    """Which key figures a system with clients has: column, label and unit, first things first.

    Args:
        point: The system.
    """
    if not has_traffic(point):
        return []
    figures = [
        ("throughput_bytes_per_second", "Goodput", "B/s"),
        ("analytic_read_bytes_per_second", "Reads by the analytic model", "B/s"),
        ("analytic_write_bytes_per_second", "Writes by the analytic model", "B/s"),
        ("rebuild_bytes_per_second", "Strips made anew", "B/s"),
        ("analytic_rebuild_bytes_per_second", "Strips by the analytic model", "B/s"),
        ("burst_bytes_per_second", "Bursts written", "B/s"),
        ("mean_burst_delay_seconds", "Mean time of a burst", "s"),
        ("mean_delay_seconds", "Mean delay", "s"),
        ("p99_delay_seconds", "1 in 100 takes longer than", "s"),
        ("requests_completed", "Requests completed", "requests"),
        ("requests_lost", "Requests lost", "requests"),
        ("degraded_reads", "Reads that decoded", "requests"),
        ("lent_bytes", "Lent among lanes", "B"),
        ("mean_hops", "Mean hops", "hops"),
        ("packets_queued_fraction", "Packets that waited", "share"),
        ("link_busy_fraction_max", "Busiest channel", "share"),
        ("device_busy_fraction", "Devices busy", "share"),
        ("write_backlog_requests", "Writes waiting at the end", "requests"),
    ]
    always = {"requests_lost", "requests_completed"}
    return [
        one for one in figures if one[0] in always or any(number(row, one[0]) for row in point.rows)
    ]
