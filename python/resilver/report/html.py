"""The report page of a study: one HTML file that needs no network, with tables for its charts."""

from __future__ import annotations

import datetime
from pathlib import Path

from resilver.answer import Answer
from resilver.answer import page as answer_page
from resilver.answer.document import write_page
from resilver.answer.model import Standing
from resilver.report.clusters import clusters_answer, is_of_clusters
from resilver.report.study import QUESTION, page_answer, systems_shown
from resilver.study.results import PartialResults, StudyTables
from resilver.study.system_runs import systems


def write_html(results: StudyTables, path: str | Path, explore: str = "") -> Path:
    """Write the report page of a study.

    Args:
        results: The study's results.
        path: The file to write; it is replaced in one step, so that no half page is ever read. A
            link is followed, and what is no file (a pipe, a device) is written into.
        explore: The name of the page beside it that computes (`resilver.explore`); empty for none.

    Raises:
        ConfigError: There is no finished run, or the file cannot be written.
    """
    if is_of_clusters(results):
        return answer_page.write(clusters_answer(results), path, "resilver run study.toml")
    return write_page(render(results, explore=explore), path)


def render(results: StudyTables, standing: Standing | None = None, explore: str = "") -> str:
    """The report page of a study as text, of the same as `write_html`.

    Raises:
        ConfigError: There is no finished run.
    """
    return answer_page.render(page_answer(results), standing=standing, explore=explore)


def render_waiting(results: StudyTables, standing: Standing) -> str:
    """The page of a study of which no run is finished.

    Args:
        results: The study's results, without runs.
        standing: How far it is.
    """
    return answer_page.render(Answer(results.title or QUESTION, ()), standing=standing)


def write_live(results: PartialResults, path: str | Path, standing: Standing) -> Path:
    """Write the page of a sweep of which some runs are finished, or none.

    Args:
        results: The finished runs.
        path: The file to write, as in `write_html`.
        standing: How far the sweep is.

    Raises:
        ConfigError: The file cannot be written.
    """
    if is_of_clusters(results) or not results.runs.num_rows:
        return write_page(render_waiting(results, standing), path, "report")
    shown = [str(point.median["run"]) for point in systems_shown(results, systems(results))]
    return write_page(render(results.holding(shown), standing), path, "report")


def this_moment() -> str:
    """The present moment as a page shows it."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z").strip()
