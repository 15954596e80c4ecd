"""How many objects are short of copies over time: the numbers, the finding and the chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resilver.report.charts_data import (
    Floats,
    column,
    merged_intervals,
    moments_within,
    rows_of_run,
)
from resilver.report.faults import fault_marks_text
from resilver.report.source import ResultsLike, SystemRuns
from resilver.report.tables import Column, Table
from resilver.units import format_duration

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, eq=False)
class DegradedChart:
    """Objects that are short of copies, over the course of one run.

    Args:
        start_seconds: Start of each interval.
        duration_seconds: Length of each interval.
        degraded_objects: Time mean of the objects with a copy missing.
        at_risk_objects: Time mean of the objects with one copy left, which are among the former.
        fault_seconds: When something breaks, from the beginning of the run.
    """

    start_seconds: Floats
    duration_seconds: Floats
    degraded_objects: Floats
    at_risk_objects: Floats
    fault_seconds: tuple[float, ...]

    @property
    def edges(self) -> Floats:
        """The ends of all intervals."""
        last = self.start_seconds[-1:] + self.duration_seconds[-1:]
        return np.append(self.start_seconds, last)

    def seconds_until_half(self) -> float | None:
        """When the mean has fallen to half of the largest, after that; None if it never does."""
        top = int(np.argmax(self.degraded_objects))
        half = self.degraded_objects[top] / 2.0
        below = np.flatnonzero(self.degraded_objects[top:] <= half)
        return float(self.start_seconds[top + below[0]]) if below.size else None


def degraded_chart(results: ResultsLike, point: SystemRuns) -> DegradedChart | None:
    """The degraded objects of the system's median run.

    Args:
        results: The study's results.
        point: The system.

    Returns:
        The numbers; None where the timeline does not have them, or nothing is ever degraded.
    """
    table = rows_of_run(results.timeline, point.median["run"])
    degraded = column(table, "degraded_objects")
    if not degraded.size or not np.nansum(degraded) > 0.0:
        return None
    at_risk = np.nan_to_num(column(table, "at_risk_objects"))
    start, duration, (degraded, at_risk), _ = merged_intervals(
        column(table, "start_seconds"),
        column(table, "duration_seconds"),
        [np.nan_to_num(degraded), at_risk],
        [],
    )
    moments = moments_within(results, point, start, duration)
    return DegradedChart(start, duration, degraded, at_risk, moments)


def degraded_finding(chart: DegradedChart) -> str:
    """How many objects are degraded at the most, when it is half as many, how many at risk.

    Args:
        chart: The numbers.
    """
    text = f"Up to {_objects(chart.degraded_objects)} are degraded"
    half = chart.seconds_until_half()
    if half is not None:
        text += f", half as many after {format_duration(half)}"
    if np.allclose(chart.at_risk_objects, chart.degraded_objects):
        return f"{text}; each is down to one copy"
    if chart.at_risk_objects.max() > 0.0:
        return f"{text}; up to {_objects(chart.at_risk_objects)} are down to one copy"
    return f"{text}; none is ever down to one copy"


def _objects(values: Floats) -> str:
    # A mean of half an object must not be called none.
    most = float(values.max())
    count = f"{most:,.0f}" if most >= 10.0 or most == round(most) else f"{most:.2g}"
    return f"{count} object{'' if most == 1.0 else 's'}"


def degraded_text(chart: DegradedChart) -> str:
    """What the chart shows, for its caption.

    Args:
        chart: The numbers.
    """
    text = "Objects with a copy missing, and among them those with one copy left, over time."
    return f"{text} {fault_marks_text(chart.fault_seconds)}".strip()


def degraded_table(chart: DegradedChart) -> Table:
    """One row an interval.

    Args:
        chart: The numbers.
    """
    columns = (
        Column("start_seconds", "from", "seconds"),
        Column("duration_seconds", "for", "seconds"),
        Column("degraded_objects", "objects degraded", "number"),
        Column("at_risk_objects", "down to one copy", "number"),
    )
    arrays = (
        chart.start_seconds,
        chart.duration_seconds,
        chart.degraded_objects,
        chart.at_risk_objects,
    )
    rows = list(zip(*(values.tolist() for values in arrays), strict=True))
    return Table(columns, rows, "Numbers of objects are means over each interval.")


def draw_degraded(chart: DegradedChart) -> Figure:
    """The chart as a Plotly figure.

    Args:
        chart: The numbers.
    """
    from resilver.report.degraded_plot import degraded_figure

    return degraded_figure(chart)
