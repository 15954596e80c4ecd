"""Objects short of copies over time: the means of the table, the sentence, and marks of faults."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from report_fixture import MemoryResults, results

from resilver.report import charts
from resilver.report.charts_data import TIMELINE_INTERVALS_MAX
from resilver.report.degraded import DegradedChart, degraded_chart, degraded_finding
from resilver.report.source import systems
from resilver.report.static import draw


def chart(degraded: list[float], at_risk: list[float]) -> DegradedChart:
    """Intervals of ten seconds."""
    count = len(degraded)
    return DegradedChart(
        10.0 * np.arange(count), np.full(count, 10.0), np.array(degraded), np.array(at_risk), (0.0,)
    )


def with_faults(made: MemoryResults, *moments: float) -> MemoryResults:
    made.study["faults"] = [{"at": at, "fail": {"servers": 1}} for at in moments]
    return made


def test_the_finding_names_the_most_and_when_it_is_half_as_many() -> None:
    # The most is 4,000 in the second interval; the first at or below 2,000 after it begins at 30 s.
    made = chart([1000.0, 4000.0, 2500.0, 1500.0, 0.0], [0.0, 12.0, 3.0, 0.0, 0.0])
    assert degraded_finding(made) == (
        "Up to 4,000 objects are degraded, half as many after 30.0 s; "
        "up to 12 objects are down to one copy"
    )


def test_the_finding_says_so_where_none_is_at_risk_or_few_are_degraded() -> None:
    assert degraded_finding(chart([0.5, 0.5], [0.0, 0.0])) == (
        "Up to 0.5 objects are degraded; none is ever down to one copy"
    )


def test_with_two_copies_every_degraded_object_is_down_to_one() -> None:
    assert degraded_finding(chart([8.0, 2.0], [8.0, 2.0])) == (
        "Up to 8 objects are degraded, half as many after 10.0 s; each is down to one copy"
    )


def test_the_chart_has_the_means_of_its_run() -> None:
    made = results(seeds=3)
    (point,) = systems(made)
    numbers = degraded_chart(made, point)
    assert numbers is not None
    rows = [row for row in made.timeline.to_pylist() if row["run"] == point.median["run"]]
    assert numbers.degraded_objects.tolist() == [row["degraded_objects"] for row in rows]
    # In the beginning nearly every affected object is degraded.
    assert numbers.degraded_objects[0] == pytest.approx(point.median["affected_objects"], rel=0.05)
    assert numbers.fault_seconds == (0.0,)


def test_a_long_timeline_keeps_its_time_mean() -> None:
    made = results(seeds=1)
    count = 3 * TIMELINE_INTERVALS_MAX + 1
    rows = [
        {
            "run": made.runs["run"][0].as_py(), "start_seconds": 2.0 * at, "duration_seconds": 2.0,
            "in_flight_bytes": 0.0, "rebuilt_bytes": 1, "degraded_objects": float(at),
            "at_risk_objects": 1.0,
        }
        for at in range(count)
    ]  # fmt: skip
    made.timeline = made.timeline.from_pylist(rows, schema=made.timeline.schema)
    numbers = degraded_chart(made, systems(made)[0])
    assert numbers is not None and numbers.start_seconds.size <= TIMELINE_INTERVALS_MAX
    area = float((numbers.degraded_objects * numbers.duration_seconds).sum())
    # The mean of 0 .. count - 1.
    assert area / (2.0 * count) == pytest.approx((count - 1) / 2)
    assert numbers.at_risk_objects.tolist() == pytest.approx([1.0] * numbers.start_seconds.size)


def test_a_folder_from_before_the_columns_has_no_such_chart() -> None:
    made = results(seeds=1)
    made.timeline = made.timeline.drop_columns(["degraded_objects", "at_risk_objects"])
    names = [one.name for one in charts.of_system(made, systems(made)[0])]
    assert "timeline" in names and "degraded" not in names


def test_faults_are_marked_where_one_comes_after_the_beginning() -> None:
    for moments, lines in (((0.0, 0.0), 0), ((0.0, 60.0, 120.0), 3)):
        made = with_faults(results(seeds=1), *moments)
        point = systems(made)[0]
        for name in ("timeline", "degraded"):
            one = charts.chart(made, name, point)
            assert len(one.draw().layout.shapes) == lines
            assert (
                "Dashed lines mark faults, at 0 s, 1 min 0 s, 2 min 0 s." in one.description
            ) == (lines > 0)
            dashed = [
                line
                for axes in draw(one).axes
                for line in axes.lines
                if line.get_linestyle() == "--"
            ]
            assert len(dashed) == lines * (2 if name == "timeline" else 1)
