"""How busy the devices behind clients' requests are, and what each of them completed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.report.charts_data import Floats, column, descending, rows_of_run
from resilver.report.source import ResultsLike, SystemRuns, number
from resilver.report.tables import Column, Table
from resilver.report.traffic_sentence import failed_disks
from resilver.report.words import percent, plural


@dataclass(frozen=True, eq=False)
class DevicesChart:
    """The devices of one run, one entry a device, busiest first.

    Args:
        names: The names of their servers.
        failed: Which failed.
        busy_share: Share of the time each was serving.
        completed: Clients' requests that each completed.
        lost: Clients' requests to it that were lost.
        backlog: Writes acknowledged and not yet on it at the end.
    """

    names: tuple[str, ...]
    failed: npt.NDArray[np.bool_]
    busy_share: Floats
    completed: Floats
    lost: Floats
    backlog: Floats


def devices_chart(results: ResultsLike, point: SystemRuns) -> DevicesChart | None:
    """The devices of the system's median run.

    Args:
        results: The study's results.
        point: The system.

    Returns:
        The numbers; None where the results do not say how busy the devices were.
    """
    table = rows_of_run(results.servers, point.median["run"])
    seconds = number(point.median, "statistics_seconds")
    busy = column(table, "device_busy_seconds")
    if not seconds or not busy.size or np.isnan(busy).all():
        return None
    order = descending(busy)
    names, gone = table["name"].to_pylist(), failed_disks(results, point)
    completed, lost, backlog = (
        np.nan_to_num(column(table, name))[order]
        for name in ("requests_completed", "requests_lost", "write_backlog_requests")
    )
    return DevicesChart(
        names=tuple(str(names[at]) for at in order),
        failed=np.array([names[at] in gone for at in order], dtype=bool),
        busy_share=busy[order] / seconds,
        completed=completed,
        lost=lost,
        backlog=backlog,
    )


def devices_finding(chart: DevicesChart) -> str:
    """How busy the mean and the busiest device are.

    Args:
        chart: The devices.
    """
    share = chart.busy_share
    text = (
        f"Devices serve {percent(float(np.nanmean(share)))} of the time on average, the busiest, "
        f"{chart.names[0]}'s, {percent(float(share[0]))}"
    )
    if waiting := float(chart.backlog.sum()):
        text += f"; {plural(waiting, 'acknowledged write')} still wait for them at the end"
    return text


def devices_table(chart: DevicesChart) -> Table:
    """One row a device, busiest first.

    Args:
        chart: The devices.
    """
    columns = (
        Column("name", "server", "text"),
        Column("busy_share", "device busy", "share"),
        Column("requests_completed", "requests completed", "count"),
        Column("requests_lost", "requests lost", "count"),
        Column("write_backlog_requests", "writes waiting at the end", "count"),
        Column("state", "state", "text"),
    )
    rows = [
        (
            chart.names[at],
            float(chart.busy_share[at]),
            int(chart.completed[at]),
            int(chart.lost[at]),
            int(chart.backlog[at]),
            "failed" if chart.failed[at] else "works",
        )
        for at in range(len(chart.names))
    ]
    return Table(columns, rows)
