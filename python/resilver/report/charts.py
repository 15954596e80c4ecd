"""Every chart of a report by name, and as files: adding one is its function and a line here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from resilver.charts.vega import FORMATS, WIDTH, Chart
from resilver.errors import ConfigError, name_remedy
from resilver.report import distributions
from resilver.report.boxes import over_sweep
from resilver.report.chord import transfers
from resilver.report.clients import course, has_traffic
from resilver.report.clusters import is_of_clusters
from resilver.report.counterfactuals import SENSITIVITY, sensitivity_chart
from resilver.report.findings import nothing_rebuilt
from resilver.report.jobs import jobs
from resilver.report.lanes import lanes
from resilver.report.metrics import (
    DETECTION_METRICS,
    REBUILD_RATE,
    REBUILD_TIME,
    STREAM_METRICS,
    TRAFFIC_METRICS,
)
from resilver.report.network import network
from resilver.report.servers import busy, by_server, devices, finishing
from resilver.report.streams import streams
from resilver.report.sweep import sweep
from resilver.report.timeline import degraded, timeline, together
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, largest, systems

Make = Callable[[StudyTables, SystemRuns], Chart | None]

OF_REBUILD: dict[str, Make] = {
    "timeline": timeline,
    "degraded": degraded,
    "servers": lambda results, point: by_server(devices(results, point), point),
    "finish": lambda results, point: finishing(devices(results, point), point),
    "transfers": transfers,
}
"""The charts of one run in which something was rebuilt, in the order of the page."""
OF_RUN: dict[str, Make] = {
    "streams": streams,
    "lanes": lanes,
    "jobs": jobs,
    "course": course,
    "delays": distributions.delays,
    "hops": distributions.hops,
    "channels": distributions.channels,
    "busy": lambda results, point: busy(devices(results, point), point),
    "network": network,
}
"""The charts of one run whatever it did, after those of its rebuild."""
_OF_REBUILDS = {metric.name: metric for metric in (REBUILD_TIME, REBUILD_RATE, *DETECTION_METRICS)}
_OF_CLIENTS = {metric.name: metric for metric in (*TRAFFIC_METRICS, *STREAM_METRICS)}
OF_STUDY = (SENSITIVITY, *_OF_REBUILDS, "together", *_OF_CLIENTS)
"""The charts of the whole study."""
NAMES = (*OF_STUDY, *OF_REBUILD, *OF_RUN)
"""Every chart there is."""


def of_study(results: StudyTables, points: Sequence[SystemRuns]) -> list[Chart]:
    """The charts about the whole study: its rebuilds, and what clients get over a sweep."""
    made = [over_sweep(sweep(points, metric)) for metric in _OF_REBUILDS.values()]
    made.insert(1, together(results, points))
    made.insert(0, sensitivity_chart(results))
    if points[0].swept and any(has_traffic(point) for point in points):
        made += [over_sweep(sweep(points, metric)) for metric in _OF_CLIENTS.values()]
    return [one for one in made if one is not None]


def of_system(results: StudyTables, point: SystemRuns) -> list[Chart]:
    """The charts about one system's median run: its rebuild, then its clients and network."""
    makes = [*OF_RUN.values()]
    if nothing_rebuilt(point) is None:
        makes = [*OF_REBUILD.values(), *makes]
    made = [make(results, point) for make in makes]
    return [one for one in made if one is not None]


def chart(results: StudyTables, name: str, system: SystemRuns | None = None) -> Chart:
    """One chart by its name.

    Args:
        results: The study's results.
        name: One of `NAMES`.
        system: Which system to draw; the largest swept one by default.

    Raises:
        ConfigError: There is no such chart, or the system has nothing that it could show.
    """
    points = systems(results)
    if name not in NAMES:
        remedy = name_remedy(name, list(NAMES), "charts")
        raise ConfigError(f"figure = {name!r}: there is no such chart; {remedy}")
    point = system or largest(points)
    made = of_study(results, points) if name in OF_STUDY else of_system(results, point)
    for one in made:
        if one.name == name:
            return one
    reason = nothing_rebuilt(point) or "Its tables hold no such data."
    raise ConfigError(f"figure = {name!r} cannot be drawn for {point.label}: {reason}")


figure = chart
"""What the package calls it, whose module `chart` is of charts."""


def write_figures(
    results: StudyTables,
    folder: str | Path,
    format: str = "png",
    system: SystemRuns | None = None,
    *,
    names: Sequence[str] = (),
    every: bool = False,
    width: int = WIDTH,
) -> list[Path]:
    """Write the charts of a study as files, one a chart, named by it.

    Args:
        results: The study's results.
        folder: Where the files go; made if it does not exist.
        format: "png", "svg" or "pdf".
        system: Which system the charts about one run show; the largest swept one by default.
        names: Which charts; all of them by default.
        every: Whether charts about one run are written for each system, whose swept values then
            stand in the files' names.
        width: The width of a chart in pixels; a PNG has 2.5 dots to each.

    Returns:
        The files, in the order of the page. Charts for which a system has no data are left out.

    Raises:
        ConfigError: The format or a chart is not known, none of the charts has data, there is no
            finished run, or a file cannot be written.
    """
    if format not in FORMATS:
        raise ConfigError(f"format = {format!r} is not known; choose one of {', '.join(FORMATS)}")
    if is_of_clusters(results):
        rule = "the charts of a real Ceph cluster stand on its page, each with its own download"
        raise ConfigError(f"figures = {str(folder)!r}: {rule}; leave it out")
    points = systems(results)
    chosen = points if every else [system or largest(points)]
    made = [(one.name, one) for one in of_study(results, points)]
    for point in chosen:
        suffix = f"-{_slug(point.label)}" if len(chosen) > 1 else ""
        made += [(f"{one.name}{suffix}", one) for one in of_system(results, point)]
    for name in names:
        if all(name != one.name for _, one in made):
            # It says which charts there are, or why none of these systems has it.
            chart(results, name, chosen[0])
    target = Path(folder)
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, one in made:
            if not names or one.name in names:
                path = target / f"{name}.{format}"
                path.write_bytes(one.drawn(format, width))
                written.append(path)
    except OSError as error:
        raise ConfigError(
            f"figures = {str(target)!r} cannot be written ({error.strerror}); choose another folder"
        ) from error
    return written


def _slug(label: str) -> str:
    """A system's label as a part of a file's name."""
    short = re.sub(r"[\w.]+\.(\w+) = ", r"\1-", label)
    return re.sub(r"[^A-Za-z0-9.+]+", "-", short).strip("-")[:80]
