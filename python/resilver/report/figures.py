"""The charts as files: PNG, SVG or PDF, all of them or one, of one system or of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from resilver.charts.vega import FORMATS, WIDTH
from resilver.errors import ConfigError
from resilver.report import charts
from resilver.report.clusters import is_of_clusters
from resilver.report.source import ResultsLike, SystemRuns, largest, systems


def write_figures(
    results: ResultsLike,
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
    for name in names:
        if not any(_has(results, name, point) for point in chosen):
            charts.chart(results, name, chosen[0])
    made = [(one.name, one) for one in charts.of_study(results, points)]
    for point in chosen:
        suffix = f"-{_slug(point.label)}" if len(chosen) > 1 else ""
        made += [(f"{one.name}{suffix}", one) for one in charts.of_system(results, point)]
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


def _has(results: ResultsLike, name: str, point: SystemRuns) -> bool:
    """Whether a system has a chart of this name."""
    try:
        charts.chart(results, name, point)
    except ConfigError:
        return False
    return True


def _slug(label: str) -> str:
    """A system's label as a part of a file's name."""
    short = re.sub(r"[\w.]+\.(\w+) = ", r"\1-", label)
    return re.sub(r"[^A-Za-z0-9.+]+", "-", short).strip("-")[:80]
