"""Reports: key figures, charts and one offline page, read from the tables of a study's results.

A report never simulates. A chart is one Vega-Lite specification, which the page, a notebook and
every file draw.
"""

from __future__ import annotations

from resilver.report.chart import Chart
from resilver.report.charts import NAMES, OF_STUDY
from resilver.report.charts import chart as figure
from resilver.report.figures import write_figures
from resilver.report.html import write_html
from resilver.report.source import ResultsLike, SystemRuns, systems
from resilver.report.summary import KeyFigure, key_figures, summary

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
