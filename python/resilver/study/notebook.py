"""Results as a notebook shows them: a table of systems with a bar a row, without any library."""

from __future__ import annotations

from resilver.answer.document import rendered
from resilver.study.results import StudyTables
from resilver.study.system_runs import format_swept, swept_keys, systems
from resilver.tables import cell_text

_ROWS_MAX = 100
_COLUMNS = (
    ("rebuild time", "rebuild_seconds", "seconds"),
    ("rebuild rate", "aggregate_bytes_per_second", "rate"),
    ("rebuilt", "rebuilt_bytes", "bytes"),
    ("goodput", "throughput_bytes_per_second", "rate"),
)
"""Headings with their metrics; a bar stands for the first that there is."""


def results_html(results: StudyTables) -> str:
    """A table of the systems of a study.

    Returns:
        HTML: a row a system with medians over its seeds, as far as they have any, and a bar for the
        first of them; everything that comes from files is escaped.
    """
    points = systems(results)
    shown = [one for one in _COLUMNS if any(point.known(one[1]) for point in points)]
    bars = [point.middle(shown[0][1]) or 0.0 for point in points] if shown else []
    most = max(bars, default=0.0)
    rows = [
        (
            [*(format_swept(*one) for one in point.swept.items()), len(point.rows)],
            (bars[at] / most if most else 0.0) if shown else None,
            [cell_text(point.middle(name), kind) for _, name, kind in shown],
        )
        for at, point in enumerate(points[:_ROWS_MAX])
    ]
    return rendered(
        "notebook.html",
        said=repr(results),
        heads=[*swept_keys(results), "runs", "", *(heading for heading, _, _ in shown)],
        rows=rows,
        more=len(points) - _ROWS_MAX,
    )
