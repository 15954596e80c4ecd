"""Reports: key figures, charts and one offline page, read from the tables of a study's results.

A report never simulates. A chart is one Vega-Lite specification, which the page, a notebook and
every file draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.on_demand import on_demand

if TYPE_CHECKING:
    from resilver.report.chart import Chart
    from resilver.report.charts import NAMES, OF_STUDY, figure
    from resilver.report.figures import write_figures
    from resilver.report.headline import KeyFigure, key_figures, summary
    from resilver.report.html import write_html
    from resilver.report.source import ResultsLike, SystemRuns, systems

__all__ = [
    "NAMES",
    "OF_STUDY",
    "Chart",
    "KeyFigure",
    "ResultsLike",
    "SystemRuns",
    "figure",
    "key_figures",
    "summary",
    "systems",
    "write_figures",
    "write_html",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "chart": "Chart",
        "charts": "NAMES OF_STUDY figure",
        "figures": "write_figures",
        "headline": "KeyFigure key_figures summary",
        "html": "write_html",
        "source": "ResultsLike SystemRuns systems",
    },
)
