"""The page of a sweep under way, made from the runs that are finished so far."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Protocol, Self

from resilver.answer.document import write_page
from resilver.answer.standing import Standing
from resilver.report.clusters import is_of_clusters
from resilver.report.html import render, render_waiting
from resilver.report.source import ResultsLike, systems
from resilver.report.study import systems_shown


class FinishedRuns(ResultsLike, Protocol):
    """Results that hold the large tables of some runs; `resilver.study.PartialResults` is one."""

    def holding(self, keys: list[str]) -> Self:
        """The same results with the servers, transfers and timelines of these runs."""
        ...


def write_live(results: FinishedRuns, path: str | Path, standing: Standing) -> Path:
    """Write the page of a sweep of which some runs are finished, or none.

    Args:
        results: The finished runs.
        path: The file to write, as in `write_html`.
        standing: How far the sweep is.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    if is_of_clusters(results) or not results.runs.num_rows:
        return write_page(render_waiting(results, standing), path, "report")
    shown = [str(point.median["run"]) for point in systems_shown(systems(results))]
    return write_page(render(results.holding(shown), standing), path, "report")


def this_moment() -> str:
    """The present moment as a page shows it."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z").strip()
