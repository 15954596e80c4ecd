"""Every chart of a report, put together: its finding, its words, its figure and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from resilver.errors import ConfigError
from resilver.report import findings
from resilver.report.chart import Chart
from resilver.report.charts_data import (
    RateChart,
    ServerChart,
    TimelineChart,
    descending,
    rate_chart,
    server_chart,
    timeline_chart,
)
from resilver.report.chord import Flows, flows
from resilver.report.degraded import (
    DegradedChart,
    degraded_chart,
    degraded_finding,
    degraded_table,
    degraded_text,
    draw_degraded,
)
from resilver.report.faults import fault_marks_text
from resilver.report.metrics import REBUILD_RATE, STREAM_METRICS, TRAFFIC_METRICS
from resilver.report.source import ResultsLike, SystemRuns, largest, systems
from resilver.report.tables import Column, Table
from resilver.report.traffic import has_traffic
from resilver.report.traffic_charts import NAMES as TRAFFIC_NAMES
from resilver.report.traffic_charts import STREAM_NAMES, of_traffic
from resilver.report.words import plural

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

NAMES = ("rate", "servers", "finish", "transfers", "timeline", "degraded", "busy")
"""The charts of a rebuild in the order of the page. "rate" is about the study, the others about one
run."""
SWEPT_NAMES = tuple(metric.name for metric in TRAFFIC_METRICS)
"""The charts about the whole of a swept study with clients."""
STREAM_SWEPT_NAMES = tuple(metric.name for metric in STREAM_METRICS)
"""Those about the whole of a swept study with streams."""
ALL_NAMES = (*NAMES, *SWEPT_NAMES, *STREAM_SWEPT_NAMES, *STREAM_NAMES, *TRAFFIC_NAMES)
"""Every chart there is."""


def of_study(points: list[SystemRuns]) -> list[Chart]:
    """The charts about the whole study: its rebuild rate, and what clients get over a sweep."""
    made = [over_sweep(rate_chart(points))]
    if points[0].swept and any(has_traffic(point) for point in points):
        metrics = (*TRAFFIC_METRICS, *STREAM_METRICS)
        made += [over_sweep(rate_chart(points, metric)) for metric in metrics]
    return [one for one in made if one is not None]


def over_sweep(data: RateChart) -> Chart | None:
    """A metric by swept value.

    Args:
        data: The boxes.

    Returns:
        The chart; None where no run has the metric, or none but zeros.
    """
    boxes = [box for series in data.series for box in series.boxes]
    if not any(box.values.any() for box in boxes):
        return None
    metric = data.metric
    over = f" over {data.key}" if data.key else ""
    text = (
        f"{metric.source.format(over=over)} A point is a run; a box "
        "spans the middle half of the seeds, its line is their median, and its whiskers reach the "
        "last run within 1.5 box heights."
    )
    if data.ideal is not None:
        text += " The dashed line grows in proportion to the servers from the smallest median."
    if data.missing:
        why = "rebuilt nothing" if metric is REBUILD_RATE else "have no such number"
        text += f" Left out: {plural(data.missing, 'run')} that {why}."

    def draw() -> Figure:
        from resilver.report.rate_plot import rate_figure

        return rate_figure(data)

    title = f"{metric.noun} by swept value" if data.key else f"{metric.noun} over the seeds"
    heading = findings.rate_finding(data)
    return Chart(metric.name, heading, text, data, draw, _rate_table(data), title)


def of_system(results: ResultsLike, point: SystemRuns) -> list[Chart]:
    """The charts about one system's median run: its rebuild, then its clients and network."""
    return [*of_rebuild(results, point), *of_traffic(results, point)]


def of_rebuild(results: ResultsLike, point: SystemRuns) -> list[Chart]:
    """The charts about the rebuild of one system's median run; none where it rebuilt nothing."""
    if findings.nothing_rebuilt(point) is not None:
        return []
    servers = server_chart(results, point)
    flow = flows(results, point)
    timeline = timeline_chart(results, point)
    made = [_servers(servers), _finish(servers), _transfers(flow)]
    if timeline.rebuilt_bytes.sum() > 0.0:
        made.append(_timeline(timeline))
    if (degraded := degraded_chart(results, point)) is not None:
        made.append(_degraded(degraded))
    if not np.isnan(servers.device_share).all():
        made.append(_busy(servers))
    return made


def chart(results: ResultsLike, name: str, system: SystemRuns | None = None) -> Chart:
    """One chart by its name.

    Args:
        results: The study's results.
        name: One of `ALL_NAMES`.
        system: Which system to draw; the largest swept one by default.

    Raises:
        ConfigError: There is no such chart, or the system has nothing that it could show.
    """
    points = systems(results)
    if name not in ALL_NAMES:
        known = ", ".join(ALL_NAMES)
        raise ConfigError(f"figure = {name!r} is not a chart; choose one of {known}")
    point = system or largest(points)
    whole = name == NAMES[0] or name in SWEPT_NAMES
    for made in of_study(points) if whole else of_system(results, point):
        if made.name == name:
            return made
    reason = findings.nothing_rebuilt(point) or "Its tables hold no such data."
    raise ConfigError(f"figure = {name!r} cannot be drawn for {point.label}: {reason}")


def _servers(data: ServerChart) -> Chart:
    """Rebuilt replicas and placement groups by server."""

    def draw() -> Figure:
        from resilver.report.plots import servers_figure

        return servers_figure(data)

    text = "Replicas rebuilt on each surviving server, most first"
    if data.groups is not None:
        text += ", and on the right axis how many placement groups it gained"
    return Chart(
        "servers",
        findings.servers_finding(data),
        f"{text}.",
        data,
        draw,
        _server_table(data, descending(data.rebuilt_objects)),
    )


def _finish(data: ServerChart) -> Chart:
    """Finishing time by server."""

    def draw() -> Figure:
        from resilver.report.plots import finish_figure

        return finish_figure(data)

    text = (
        "When each server has written its last rebuilt byte: sorted (left), and against how much "
        "it rebuilds (right). Servers on one line through the origin write at one rate."
    )
    return Chart(
        "finish",
        findings.finish_finding(data),
        text,
        data,
        draw,
        _server_table(data, descending(data.finish_seconds)),
    )


def _busy(data: ServerChart) -> Chart:
    """Busy shares by server."""

    def draw() -> Figure:
        from resilver.report.plots import busy_figure

        return busy_figure(data)

    text = "The share of the rebuild time for which each server's device and link were busy."
    if data.share_of != "rebuild":
        text = (
            "The share of the time from the end of the warm-up on for which each server's device "
            "and link were busy, with the rebuild or with clients."
        )
    return Chart(
        "busy",
        findings.busy_finding(data),
        text,
        data,
        draw,
        _server_table(data, descending(data.device_share)),
    )


def _transfers(data: Flows) -> Chart:
    """Who sends to whom."""

    def draw() -> Figure:
        from resilver.report.chord_plot import chord_figure

        return chord_figure(data)

    text = (
        "Each ribbon is data that flows from a source (blue part of its arc) to a destination "
        "(orange part), as wide as the bytes it carries; what the busiest destination receives is "
        "red."
    )
    note = ""
    if data.kind == "host":
        note = "Servers are merged by host."
    elif data.servers_per_arc > 1:
        note = f"Servers are merged in blocks of {data.servers_per_arc:,} neighbouring ones."
    columns = (
        Column("source", "source", "text"),
        Column("destination", "destination", "text"),
        Column("bytes", "data", "bytes"),
        Column("share", "share of all", "share"),
    )
    total = float(data.matrix.sum()) or 1.0
    pairs = [(int(i), int(j)) for i, j in zip(*np.nonzero(data.matrix), strict=True)]
    pairs.sort(key=lambda pair: (-data.matrix[pair], pair))
    rows = [
        (data.labels[i], data.labels[j], int(data.matrix[i, j]), float(data.matrix[i, j]) / total)
        for i, j in pairs
    ]
    return Chart(
        "transfers",
        findings.transfers_finding(data),
        f"{text} {note}".strip(),
        data,
        draw,
        Table(columns, rows, note),
    )


def _timeline(data: TimelineChart) -> Chart:
    """The course of the rebuild."""

    def draw() -> Figure:
        from resilver.report.plots import timeline_figure

        return timeline_figure(data)

    text = (
        "Above, the bytes written a second by all servers together; below, the bytes requested "
        "and not yet written."
    )
    text = f"{text} {fault_marks_text(data.fault_seconds)}".strip()
    columns = (
        Column("start_seconds", "from", "seconds"),
        Column("duration_seconds", "for", "seconds"),
        Column("rebuilt_bytes", "data rebuilt", "bytes"),
        Column("rebuilt_bytes_per_second", "rebuild rate", "rate"),
        Column("in_flight_bytes", "in flight", "bytes"),
    )
    rows = list(
        zip(
            data.start_seconds.tolist(),
            data.duration_seconds.tolist(),
            data.rebuilt_bytes.astype(int).tolist(),
            data.rate.tolist(),
            data.in_flight_bytes.tolist(),
            strict=True,
        )
    )
    return Chart(
        "timeline", findings.timeline_finding(data), text, data, draw, Table(columns, rows)
    )


def _degraded(data: DegradedChart) -> Chart:
    """Objects short of copies over time."""
    heading, text = degraded_finding(data), degraded_text(data)
    return Chart("degraded", heading, text, data, lambda: draw_degraded(data), degraded_table(data))


def _rate_table(data: RateChart) -> Table:
    """One row a box."""
    ending, kind = data.metric.ending, data.metric.kind
    columns = [
        Column("value", data.key or "system", "text"),
        Column("other_values", "with", "text"),
        Column("runs", "runs", "count"),
        Column(f"low_{ending}", "lowest", kind),
        Column(f"q1_{ending}", "lower quartile", kind),
        Column(f"median_{ending}", "median", kind),
        Column(f"q3_{ending}", "upper quartile", kind),
        Column(f"high_{ending}", "highest", kind),
        Column("share_of_ideal", "share of ideal", "share"),
    ]
    ideal = {} if data.ideal is None else dict(zip(*(a.tolist() for a in data.ideal), strict=True))
    rows = [
        [
            box.label,
            series.name,
            int(box.values.size),
            float(box.values[0]),
            box.q1,
            box.median,
            box.q3,
            float(box.values[-1]),
            box.median / ideal[box.x] if ideal else None,
        ]
        for series in data.series
        for box in series.boxes
    ]
    kept = [
        at
        for at, column in enumerate(columns)
        if not (column.name == "other_values" and len(data.series) < 2)
        and not (column.name == "share_of_ideal" and not ideal)
    ]
    return Table(tuple(columns[at] for at in kept), [[row[at] for at in kept] for row in rows])


def _server_table(data: ServerChart, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Table:
    """One row a surviving server, in the order of its chart."""
    columns = (
        Column("name", "server", "text"),
        Column("rebuilt_objects", "replicas rebuilt", "count"),
        Column("rebuilt_bytes", "data rebuilt", "bytes"),
        Column("placement_groups_gained", "groups gained", "count"),
        Column("finish_seconds", "finished after", "seconds"),
        Column("device_busy_share", "device busy", "share"),
        Column("link_busy_share", "link busy", "share"),
    )
    rows = [
        (
            data.names[i],
            int(data.rebuilt_objects[i]),
            int(data.rebuilt_bytes[i]),
            None if data.groups is None else int(data.groups[i]),
            float(data.finish_seconds[i]),
            float(data.device_share[i]),
            float(data.link_share[i]),
        )
        for i in order
    ]
    return Table(columns, rows)
