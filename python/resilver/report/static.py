"""The charts as files for papers, drawn with matplotlib: the page's numbers, a column's width.

Equal results give equal files: no dates or versions are written into them, and the ids inside an
SVG are salted with a constant.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from resilver.errors import ConfigError
from resilver.report import charts
from resilver.report.charts_data import RateChart, ServerChart, TimelineChart
from resilver.report.chord import Flows
from resilver.report.degraded import DegradedChart
from resilver.report.rate_layout import rate_layout
from resilver.report.sensitivity import sensitivity_chart
from resilver.report.source import ResultsLike, SystemRuns, largest, systems

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from resilver.report.chart import Chart

FORMATS = ("png", "svg")
COLUMN_INCHES = 3.5
"""The width of one column of a two-column paper."""
PAGE_INCHES = 7.1
"""The width of both columns."""

# matplotlib types its settings by their names, one by one, which a dictionary built here is not.
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "svg.hashsalt": "resilver",
    "svg.fonttype": "path",
}
_SIZES = {
    "rate": (COLUMN_INCHES, 2.7),
    "servers": (COLUMN_INCHES, 2.5),
    "finish": (PAGE_INCHES, 2.5),
    "transfers": (5.0, 5.3),
    "timeline": (COLUMN_INCHES, 3.2),
    "degraded": (COLUMN_INCHES, 2.5),
    "busy": (COLUMN_INCHES, 2.4),
}
CHARACTERS_PER_INCH = 14
"""Letters of a title that fit an inch."""


def write_figures(
    results: ResultsLike,
    folder: str | Path,
    format: Literal["png", "svg"] = "png",
    system: SystemRuns | None = None,
) -> list[Path]:
    """Write every chart of a study as a file of its own.

    Args:
        results: The study's results.
        folder: Where the files go, one a chart, named by it; made if it does not exist.
        format: "png" (300 dots an inch) or "svg".
        system: Which system the charts about one run show; the largest swept one by default.

    Returns:
        The files, in the order of the page. Charts for which the system has no data are left out.

    Raises:
        ConfigError: The format is unknown, there is no finished run, or a file cannot be written.
    """
    if format not in FORMATS:
        raise ConfigError(f"format = {format!r} is not known; choose one of {', '.join(FORMATS)}")
    points = systems(results)
    made = [*charts.of_study(points), *charts.of_system(results, system or largest(points))]
    if (tornado := sensitivity_chart(results)) is not None:
        made.append(tornado)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        return [_write(one, target / f"{one.name}.{format}", format) for one in made]
    except OSError as error:
        raise ConfigError(
            f"figures = {str(target)!r} cannot be written ({error.strerror}); choose another folder"
        ) from error


def _write(made: Chart, path: Path, format: str) -> Path:
    """Draw one chart into a file."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = draw(made)
        metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
        figure.savefig(path, format=format, dpi=300, metadata=metadata)
    return path


def draw(made: Chart) -> Figure:
    """One chart as a matplotlib figure, titled with its finding.

    Args:
        made: The chart.
    """
    from matplotlib.figure import Figure

    from resilver.report import degraded_plot, static_charts

    if made.whole is not None:
        return made.whole()
    # A chart of a metric over a sweep is drawn as that of the rebuild rate.
    size = made.inches if made.static is not None else _SIZES.get(made.name, _SIZES["rate"])
    if isinstance(made.data, RateChart):
        if not made.data.key:
            size = (COLUMN_INCHES, 1.3)
        elif rate_layout(made.data).needs_room:
            size = (PAGE_INCHES, 3.3)
    figure = Figure(figsize=size, layout="constrained")
    title = "\n".join(wrap(made.heading, round(size[0] * CHARACTERS_PER_INCH)))
    figure.suptitle(title, x=0.02, ha="left", fontsize=8, fontweight="bold")
    data = made.data
    if made.static is not None:
        made.static(figure)
    elif isinstance(data, RateChart):
        static_charts.rate(figure, data)
    elif isinstance(data, Flows):
        static_charts.transfers(figure, data)
    elif isinstance(data, TimelineChart):
        static_charts.timeline(figure, data)
    elif isinstance(data, DegradedChart):
        degraded_plot.degraded(figure, data)
    elif isinstance(data, ServerChart):
        by_server = {
            "servers": static_charts.servers,
            "finish": static_charts.finish,
            "busy": static_charts.busy,
        }
        by_server[made.name](figure, data)
    return figure
