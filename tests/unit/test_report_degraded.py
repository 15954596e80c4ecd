"""Objects short of pieces over time: the means of the table, the sentence, and marks of faults."""

import json
import re

import pytest

from resilver.report import charts
from resilver.report.findings import at_risk
from resilver.report.timeline import degraded
from resilver.study.system_runs import systems
from tests.browser.report_fixture import MemoryResults, results


def heading(short: list[float], last: list[float]) -> str:
    """What the chart of intervals of ten seconds says."""
    made = results(seeds=1)
    rows = [
        {
            "run": made.runs["run"][0].as_py(), "start_seconds": 10.0 * at,
            "duration_seconds": 10.0, "in_flight_bytes": 0.0, "rebuilt_bytes": 1,
            "degraded_objects": one, "at_risk_objects": other,
        }
        for at, (one, other) in enumerate(zip(short, last, strict=True))
    ]  # fmt: skip
    made.timeline = made.timeline.from_pylist(rows, schema=made.timeline.schema)
    found = degraded(made, systems(made)[0])
    return found.heading


@pytest.mark.parametrize(
    ("short", "last", "text"),
    [
        # The most is 4,000 in the second interval; the first at or below 2,000 begins at 30 s.
        (
            [1000.0, 4000.0, 2500.0, 1500.0, 0.0],
            [0.0, 12.0, 3.0, 0.0, 0.0],
            "Up to 4,000 objects are degraded, half as many after 30.0 s; "
            "up to 12 objects are down to one replica",
        ),
        (
            [0.5, 0.5],
            [0.0, 0.0],
            "Up to 0.5 objects are degraded; none is ever down to one replica",
        ),
        # With two copies every degraded object is down to one.
        (
            [8.0, 2.0],
            [8.0, 2.0],
            "Up to 8 objects are degraded, half as many after 10.0 s; each is down to one replica",
        ),
    ],
)
def test_the_finding_names_the_most_and_when_it_is_half_as_many(
    short: list[float], last: list[float], text: str
) -> None:
    assert heading(short, last) == text


def test_the_chart_has_the_means_of_its_run_and_is_none_of_an_earlier_folder() -> None:
    made = results(seeds=3)
    (point,) = systems(made)
    found = degraded(made, point)
    rows = [row for row in made.timeline.to_pylist() if row["run"] == point.median["run"]]
    short = [row[2] for row in found.table.rows]
    assert short == [row["degraded_objects"] for row in rows]
    # In the beginning nearly every affected object is degraded.
    assert short[0] == pytest.approx(point.median["affected_objects"], rel=0.05)
    # The headline is of the same table: one object in fifty of the fixture has one replica left.
    most = max(row["at_risk_objects"] for row in rows)
    assert at_risk(made, point)[1] == (
        f"No data is lost; up to {most:,.0f} objects at a time are down to one replica."
    )
    made = results(seeds=1)
    made.timeline = made.timeline.drop_columns(["degraded_objects", "at_risk_objects"])
    names = [one.name for one in charts.of_system(made, systems(made)[0])]
    assert "timeline" in names and "degraded" not in names


def with_faults(made: MemoryResults, *moments: str) -> MemoryResults:
    made.study["faults"] = [{"at": at, "fail": {"servers": 1}} for at in moments]
    return made


def test_faults_are_marked_from_the_top_of_each_panel_to_its_bottom() -> None:
    dashed = '"strokeDash": [6, 3], "strokeWidth": 1.5'
    for moments, lines in ((("0 s", "0 s"), 0), (("0 s", "60 s", "120 s"), 3)):
        made = with_faults(results(seeds=1), *moments)
        for name, panels in (("timeline", 2), ("degraded", 1)):
            one = charts.chart(made, name)
            assert json.dumps(one.make()).count(dashed) == panels * (lines > 0)
            marked = "Dashed lines mark faults, at 0 s, 1 min 0 s, 2 min 0 s."
            assert (marked in one.description) == (lines > 0)
    # Two panels of 170 pixels each, or one of 260, with a line a fault.
    for name, heights in (("timeline", ["170"] * 6), ("degraded", ["260"] * 3)):
        made = with_faults(results(seeds=1), "0 s", "60 s", "120 s")
        drawn = charts.chart(made, name).drawn("svg").decode()
        lines = re.findall(r"<line [^>]*stroke-dasharray=\"6,3\"[^>]*>", drawn)
        ends = [re.search(r' y2="(\d+)"', line) for line in lines]
        assert [end[1] for end in ends if end is not None] == heights
