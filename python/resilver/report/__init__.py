"""Reports: key figures, charts and one offline page, read from the tables of a study's results.

A report never simulates. Plotly and matplotlib are imported by the functions that draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.report.charts import NAMES, SWEPT_NAMES, chart
from resilver.report.html import write_html
from resilver.report.source import ResultsLike, SystemRuns, systems
from resilver.report.static import write_figures
from resilver.report.summary import KeyFigure, key_figures, summary
from resilver.report.traffic_charts import NAMES as TRAFFIC_NAMES
from resilver.report.traffic_charts import STREAM_NAMES

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = [
    "NAMES",
    "STREAM_NAMES",
    "SWEPT_NAMES",
    "TRAFFIC_NAMES",
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


def figure(results: ResultsLike, name: str, system: SystemRuns | None = None) -> Figure:
    """One chart as a Plotly figure, titled with what it shows.

    Args:
        results: The study's results.
        name: Of a rebuild "rate", "servers", "finish", "transfers", "timeline", "degraded" or
            "busy"; of clients and the network one of `TRAFFIC_NAMES`, such as "delays"; over a
            sweep with clients one of `SWEPT_NAMES`, such as "goodput"; of streams and lanes one of
            `STREAM_NAMES`.
        system: One of `systems(results)`; the largest swept one by default. "rate" and those of
            `SWEPT_NAMES` show all.

    Returns:
        A figure that a notebook displays as it is.

    Raises:
        ConfigError: There is no such chart, or the system has nothing that it could show.

    Example:
        >>> figure(Results.open("runs/demo"), "finish").show()  # doctest: +SKIP
    """
    from resilver.report.plots import with_title

    made = chart(results, name, system)
    return with_title(made.draw(), made.heading)
