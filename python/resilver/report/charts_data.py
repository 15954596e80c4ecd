"""The numbers behind every chart: tables in, arrays out. Both ways of drawing read only these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.report.faults import fault_moments
from resilver.report.metrics import REBUILD_RATE, Metric
from resilver.report.source import ResultsLike, SystemRuns, format_swept, number

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]

TIMELINE_INTERVALS_MAX = 600
"""Intervals of a drawn timeline: about two a pixel of a chart on a laptop would be wasted."""


@dataclass(frozen=True, eq=False)
class BoxSummary:
    """The five numbers of one box, and the values it stands for.

    Whiskers end at the last value within 1.5 interquartile ranges of the box (Tukey's rule).

    Args:
        x: Where the box stands, as the axis has it (see `RateChart.numeric`).
        label: The swept value in words.
        values: The runs' values, sorted.
        seeds: The seed of each value.
    """

    x: float
    label: str
    values: Floats
    seeds: tuple[int, ...]
    q1: float
    median: float
    q3: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class RateSeries:
    """The boxes of one line of the rate chart, from left to right."""

    name: str
    boxes: tuple[BoxSummary, ...]


@dataclass(frozen=True, eq=False)
class RateChart:
    """A metric of runs, the aggregate rebuild rate or another, over a swept axis.

    Args:
        key: The swept key on the horizontal axis, empty for a study of one system.
        numeric: Whether x is the swept value itself (drawn on a logarithmic axis) or a rank.
        series: One series for each combination of the other swept keys.
        ideal: For a sweep of the number of servers, (servers, rate) from the smallest system's
            median in proportion to the servers; else None.
        missing: Runs that have no value of the metric, such as those that rebuilt nothing.
        metric: What the boxes are of.
    """

    key: str
    numeric: bool
    series: tuple[RateSeries, ...]
    ideal: tuple[Floats, Floats] | None
    missing: int
    metric: Metric = REBUILD_RATE


@dataclass(frozen=True, eq=False)
class ServerChart:
    """What each surviving server took part in, one entry a server, by index.

    Args:
        names: Server names.
        rebuilt_objects: Replicas rebuilt on the server.
        rebuilt_bytes: Their bytes.
        groups: Placement groups gained; None where the system has no groups.
        finish_seconds: When its last rebuilt byte was written; NaN if it rebuilt nothing.
        device_share: Share of the time its device was busy; NaN if unknown.
        link_share: Share of the time its link was busy; NaN if unknown.
        share_of: Which time: that of the rebuild, or all that counts where clients are served too.
    """

    names: tuple[str, ...]
    rebuilt_objects: Floats
    rebuilt_bytes: Floats
    groups: Floats | None
    finish_seconds: Floats
    device_share: Floats
    link_share: Floats
    share_of: str = "rebuild"


@dataclass(frozen=True, eq=False)
class TimelineChart:
    """The course of one rebuild.

    Args:
        start_seconds: Start of each interval.
        duration_seconds: Length of each interval.
        in_flight_bytes: Time mean of bytes requested and not yet written.
        rebuilt_bytes: Bytes written in the interval.
        fault_seconds: When something breaks, from the beginning of the run.
    """

    start_seconds: Floats
    duration_seconds: Floats
    in_flight_bytes: Floats
    rebuilt_bytes: Floats
    fault_seconds: tuple[float, ...] = ()

    @property
    def rate(self) -> Floats:
        """Bytes written a second in each interval."""
        return np.divide(
            self.rebuilt_bytes,
            self.duration_seconds,
            out=np.zeros_like(self.rebuilt_bytes),
            where=self.duration_seconds > 0.0,
        )

    def seconds_until(self, share: float) -> float:
        """When `share` of all rebuilt bytes were written, linear within an interval."""
        done = np.concatenate(([0.0], np.cumsum(self.rebuilt_bytes)))
        target = share * done[-1]
        # The first interval that reaches it: later ones may write nothing more.
        at = max(int(np.searchsorted(done, target)) - 1, 0)
        written = float(self.rebuilt_bytes[at])
        part = float(target - done[at]) / written if written else 0.0
        return float(self.start_seconds[at] + part * self.duration_seconds[at])


def rows_of_run(table: pa.Table, run: str) -> pa.Table:
    """The rows of one run in a table whose column `run` names it."""
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["run"], run))


def column(table: pa.Table, name: str) -> Floats:
    """A column as float64, NaN where it is null or where the table has no such column."""
    if name not in table.column_names:
        return np.full(table.num_rows, np.nan)
    import pyarrow as pa

    filled = table[name].cast(pa.float64()).fill_null(float("nan"))
    return np.asarray(filled.to_numpy(), dtype=np.float64)


def box_summary(x: float, label: str, pairs: list[tuple[float, int]]) -> BoxSummary:
    """Quartiles (linear interpolation) and whiskers of one ensemble of (value, seed)."""
    pairs = sorted(pairs)
    values = np.array([value for value, _ in pairs])
    q1, median, q3 = (float(q) for q in np.percentile(values, (25, 50, 75)))
    reach = 1.5 * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, high = (inside[0], inside[-1]) if inside.size else (q1, q3)
    seeds = tuple(seed for _, seed in pairs)
    return BoxSummary(x, label, values, seeds, q1, median, q3, float(low), float(high))


def _axis_key(points: list[SystemRuns]) -> str:
    """The swept key for the horizontal axis: numbers before words, then the most values."""
    keys = list(points[0].swept)
    if not keys:
        return ""

    def merit(key: str) -> tuple[bool, int, int]:
        values = {point.swept[key] for point in points}
        return (len(values) > 1 and _positive(values), len(values), -keys.index(key))

    return max(keys, key=merit)


def _positive(values: set[object]) -> bool:
    """Whether every value is a number above zero, so that a logarithmic axis can hold it."""
    return all(
        isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        for value in values
    )


def rate_chart(points: list[SystemRuns], metric: Metric = REBUILD_RATE) -> RateChart:
    """A metric of every system, by default the rebuild rate, as boxes over the swept axis."""
    key = _axis_key(points)
    values = list(dict.fromkeys(point.swept.get(key) for point in points))
    numeric = key != "" and len(values) > 1 and _positive(set(values))
    position = {value: float(rank) for rank, value in enumerate(values)}
    by_series: dict[str, list[BoxSummary]] = {}
    missing = 0
    for point in points:
        rates = [number(row, metric.column) for row in point.rows]
        pairs = [
            (rate, int(row["seed"]))
            for rate, row in zip(rates, point.rows, strict=True)
            if rate is not None and (metric.zero or rate > 0.0)
        ]
        missing += len(rates) - len(pairs)
        if not pairs:
            continue
        value = point.swept.get(key)
        x = float(value) if numeric and value is not None else position[value]
        label = format_swept(key, value) if key else "the system"
        name = ", ".join(
            f"{other} = {format_swept(other, point.swept[other])}"
            for other in point.swept
            if other != key
        )
        by_series.setdefault(name, []).append(box_summary(x, label, pairs))
    series = tuple(
        RateSeries(name, tuple(sorted(boxes, key=lambda box: box.x)))
        for name, boxes in by_series.items()
    )
    grows = metric is REBUILD_RATE and numeric and key == "cluster.servers"
    ideal = _ideal(series) if grows else None
    return RateChart(key, numeric, series, ideal, missing, metric)


def _ideal(series: tuple[RateSeries, ...]) -> tuple[Floats, Floats] | None:
    """The line through the best median of the smallest system, in proportion to the servers."""
    boxes = [box for one in series for box in one.boxes]
    if len({box.x for box in boxes}) < 2:
        return None
    smallest = min(box.x for box in boxes)
    base = max(box.median for box in boxes if box.x == smallest)
    servers = np.unique([box.x for box in boxes])
    return servers, base * servers / smallest


def server_chart(results: ResultsLike, point: SystemRuns) -> ServerChart:
    """The surviving servers of the system's median run."""
    table = rows_of_run(results.servers, point.median["run"])
    failed = np.array(table["failed"].to_pylist(), dtype=bool)
    alive = np.flatnonzero(~failed)
    names = table["name"].to_pylist()
    # Beside clients, busy times begin with the warm-up's end and hold more than the rebuild.
    window = number(point.median, "statistics_seconds")
    seconds = window or number(point.median, "rebuild_seconds") or np.nan
    groups = column(table, "placement_groups_gained")[alive]
    return ServerChart(
        names=tuple(str(names[index]) for index in alive),
        rebuilt_objects=column(table, "rebuilt_objects")[alive],
        rebuilt_bytes=column(table, "rebuilt_bytes")[alive],
        groups=None if np.isnan(groups).all() else groups,
        finish_seconds=column(table, "finish_seconds")[alive],
        device_share=column(table, "device_busy_seconds")[alive] / seconds,
        link_share=column(table, "link_busy_seconds")[alive] / seconds,
        share_of="time" if window else "rebuild",
    )


def descending(values: Floats) -> npt.NDArray[np.int64]:
    """The order from the largest value to the smallest, ties by index, NaN last."""
    return np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable")


def timeline_chart(results: ResultsLike, point: SystemRuns) -> TimelineChart:
    """The timeline of the system's median run; where it is long, neighbouring intervals merged."""
    table = rows_of_run(results.timeline, point.median["run"])
    start = column(table, "start_seconds")
    duration = column(table, "duration_seconds")
    in_flight = np.nan_to_num(column(table, "in_flight_bytes"))
    rebuilt = np.nan_to_num(column(table, "rebuilt_bytes"))
    start, duration, (in_flight,), (rebuilt,) = merged_intervals(
        start, duration, [in_flight], [rebuilt]
    )
    moments = moments_within(results, point, start, duration)
    return TimelineChart(start, duration, in_flight, rebuilt, moments)


def moments_within(
    results: ResultsLike, point: SystemRuns, start: Floats, duration: Floats
) -> tuple[float, ...]:
    """The moments of the system's faults that a chart over time can mark.

    Args:
        results: The study's results.
        point: The system.
        start: Start of each interval of the chart.
        duration: Length of each interval.
    """
    end = float((start + duration).max()) if start.size else 0.0
    moments = [moment.seconds for moment in fault_moments(results, point)]
    return tuple(seconds for seconds in moments if seconds <= end)


def merged_intervals(
    start: Floats, duration: Floats, means: list[Floats], sums: list[Floats]
) -> tuple[Floats, Floats, list[Floats], list[Floats]]:
    """Neighbouring intervals put together until there are few enough to draw.

    Args:
        start: Start of each interval.
        duration: Length of each interval.
        means: Quantities that are means over an interval.
        sums: Quantities that are sums over an interval.

    Returns:
        The same four, with at most `TIMELINE_INTERVALS_MAX` intervals.
    """
    if start.size <= TIMELINE_INTERVALS_MAX:
        return start, duration, means, sums
    stride = -(-start.size // TIMELINE_INTERVALS_MAX)
    first = np.arange(0, start.size, stride)
    merged = np.add.reduceat(duration, first)
    areas = [np.add.reduceat(values * duration, first) for values in means]
    return (
        start[first],
        merged,
        [np.divide(a, merged, out=np.zeros_like(a), where=merged > 0.0) for a in areas],
        [np.add.reduceat(values, first) for values in sums],
    )
