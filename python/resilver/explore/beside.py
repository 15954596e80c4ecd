"""The page that computes, beside the report of a run folder: one button opens it."""

from __future__ import annotations

from pathlib import Path

from resilver.browser import browser_file
from resilver.errors import ResilverError
from resilver.study import Results
from resilver.study.provenance import STUDY_FILE

DEVICES_MAX = 4_096
"""Of larger systems no page is written unasked: it takes long, and its runs take longer."""


def explore_beside(results: Results, report: Path) -> str:
    """Write the page that computes of a study's first system beside its report.

    Args:
        results: The study's results, whose folder has the study file.
        report: The report's file.

    Returns:
        The page's name; empty where there is none: its script or the core for browsers is not
        built, the system is large, or a page cannot hold it.
    """
    try:
        for needed in ("page.js", "core.wasm"):
            browser_file(needed)
        points = results.systems
        tree = points[0].system.cluster.tree if points else None
        if tree is None or tree.devices > DEVICES_MAX:
            return ""
        from resilver.answer.document import write_page
        from resilver.explore.page import explore_page
        from resilver.explore.study import study_document

        document = study_document(results.folder / STUDY_FILE)
        page = report.with_name(f"{report.stem}-explore.html")
        return write_page(explore_page(document.to_json()), page, "page").name
    except ResilverError:
        # A report is no worse without it.
        return ""
