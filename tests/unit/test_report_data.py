"""The numbers behind the charts are those of the tables, and no two charts disagree."""

import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.charts.scales import byte_scale, log_ticks, time_scale
from resilver.charts.vega import NARROW, sized
from resilver.errors import ConfigError
from resilver.report import charts, findings, write_figures
from resilver.report.arrays import TIMELINE_INTERVALS_MAX, merged_intervals
from resilver.report.chord import ARCS_MAX, RIBBONS_MAX, Flows, chord, flows
from resilver.report.findings import at_risk
from resilver.report.metrics import REBUILD_TIME
from resilver.report.population import PopulationSizes, population_spec
from resilver.report.servers import devices
from resilver.report.sweep import Box, sweep
from resilver.report.timeline import degraded, seconds_until, timeline
from resilver.study.system_runs import largest, systems
from tests.browser.report_fixture import MemoryResults, alone, replaced, results
from tests.build import refused


def test_a_box_has_tukey_s_quartiles_and_a_system_its_median_run() -> None:
    # Of 1..8 and 100, linear interpolation puts the quartiles at ranks 2, 4 and 6: 3, 5, 7. The
    # reach is 1.5 * (7 - 3) = 6, so whiskers end at the last values in [-3, 13]: 1 and 8.
    values = [100.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    box = Box.of(4.0, "4", [(value, seed) for seed, value in enumerate(values, 1)])
    assert (box.q1, box.median, box.q3, box.low, box.high) == (3.0, 5.0, 7.0, 1.0, 8.0)
    assert list(box.values) == sorted(values)
    assert box.seeds == (9, 8, 7, 6, 5, 4, 3, 2, 1)
    # Five seeds with times 50, 10, 40, 20, 30: the median is 30, that of seed 5. With the fifth
    # unknown, the two middle ones of 10, 20, 40, 50 are 20 and 40; the lower is seed 4's.
    made = replaced(results(seeds=5), rebuild_seconds=[50.0, 10.0, 40.0, 20.0, 30.0])
    assert systems(made)[0].median["seed"] == 5
    made = replaced(made, rebuild_seconds=[50.0, 10.0, 40.0, 20.0, None])
    assert systems(made)[0].median["seed"] == 4


def test_a_sweep_has_an_axis_series_and_an_ideal() -> None:
    made = results(servers=(4, 8, 32), seeds=3)
    chart = sweep(systems(made))
    base = chart.boxes[0].median
    assert list(chart.ideal[0]) == [4.0, 8.0, 32.0]
    # 8 servers are twice and 32 are eight times the smallest system.
    assert list(chart.ideal[1]) == pytest.approx([base, 2 * base, 8 * base])
    chart = sweep(systems(results(extra_swept={"recovery.source": ["random", "primary"]})))
    assert chart.ideal is None and not chart.numeric
    assert [(box.x, box.label) for box in chart.boxes] == [(0.0, "random"), (1.0, "primary")]
    made = results(servers=(8, 16), seeds=2, extra_swept={"placement.bucket": ["straw", "straw2"]})
    chart = sweep(systems(made))
    assert chart.key == "cluster.servers"
    names = [name for name, _ in chart.series]
    assert names == ["placement.bucket = straw", "placement.bucket = straw2"]
    assert all([box.x for box in boxes] == [8.0, 16.0] for _, boxes in chart.series)
    made = results(seeds=3)
    rates = made.runs["aggregate_bytes_per_second"].to_pylist()
    made = replaced(made, aggregate_bytes_per_second=[None, *rates[1:]])
    chart = sweep(systems(made))
    assert chart.missing == 1
    assert chart.boxes[0].values.size == 2


def test_charts_of_one_run_are_of_its_survivors_and_add_up_to_its_metrics() -> None:
    made = results()
    names = [row[0] for row in charts.chart(made, "servers").table.rows]
    assert len(names) == 63 and "server.0" not in names
    made = results(seeds=1)
    assert charts.of_study(made, systems(made)) == []
    # The fixture's server of most groups, its transfers and its timeline are sums of one list, so
    # every chart's total must be the metric of the run.
    made = results(servers=(300,), groups=None, pairs=900, seeds=1)
    point = largest(systems(made))
    total = point.median["rebuilt_bytes"]
    assert sum(row["rebuilt_bytes"] for row in devices(made, point)) == total
    course = timeline(made, point)
    assert course is not None and sum(row[2] for row in course.table.rows) == total
    assert flows(made, point).matrix.sum() == total


def test_long_courses_are_merged_without_losing_bytes_or_time() -> None:
    count = 4 * TIMELINE_INTERVALS_MAX + 1
    numbers = np.arange(count, dtype=float)
    start, duration, (mean,), (total,) = merged_intervals(
        2.0 * numbers, np.full(count, 2.0), [numbers], [numbers]
    )
    assert start.size <= TIMELINE_INTERVALS_MAX and duration.sum() == 2.0 * count
    # Sums and the time mean are those of 0 .. count - 1.
    assert total.sum() == count * (count - 1) // 2
    assert (mean * duration).sum() / duration.sum() == pytest.approx((count - 1) / 2)


def test_shares_of_a_rebuild_are_reached_within_intervals_and_at_its_last_byte() -> None:
    # 30 bytes in 0..10 s, then 10 bytes in 10..20 s. Half of 40 is reached at 20/30 of the first
    # interval, nine tenths (36) at 6/10 of the second.
    course = np.array([0.0, 10.0]), np.array([10.0, 10.0]), np.array([30.0, 10.0])
    assert seconds_until(0.5, *course) == pytest.approx(20.0 / 3.0)
    assert seconds_until(0.9, *course) == pytest.approx(16.0)
    # 10 bytes in 2..3 s and 10 in 4..5 s; what failures made useless is still under way till 9 s.
    course = (
        np.array([0.0, 2.0, 3.0, 4.0, 5.0]),
        np.array([2.0, 1.0, 1.0, 1.0, 4.0]),
        np.array([0.0, 10.0, 0.0, 10.0, 0.0]),
    )
    assert [seconds_until(share, *course) for share in (0.5, 0.75, 1.0)] == [3.0, 4.5, 5.0]


def test_rebuild_times_of_a_sweep_have_one_axis_and_one_chart() -> None:
    # Times of 10 and 100 s are a decade apart, those of 10 and 99 s are not.
    for longest, is_logarithmic in ((100.0, True), (99.0, False)):
        made = results(servers=(8, 64), seeds=1)
        made = replaced(made, rebuild_seconds=[10.0, longest])
        data = sweep(systems(made), REBUILD_TIME)
        assert data.logarithmic == is_logarithmic
        drawn = charts.chart(made, "rebuild-time")
        scale = drawn.make()["encoding"]["y"]["scale"]
        assert (scale.get("type") == "log") == is_logarithmic
        assert drawn.heading.startswith("Rebuild time is longest, 1 min 40 s" if is_logarithmic else
                                        "Rebuild time is longest, 1 min 39 s")  # fmt: skip
    made = results(servers=(8, 16, 64), seeds=2)
    one = charts.chart(made, "together")
    assert [row[0] for row in one.table.rows] == [f"servers = {n}" for n in (8, 16, 64)]
    ends = [point.median["rebuild_seconds"] for point in systems(made)]
    column = [at.name for at in one.table.columns].index("rebuild_seconds")
    assert [row[column] for row in one.table.rows] == pytest.approx(ends)
    kinds = {row["kind"] for row in one.make()["data"]["values"]}
    assert kinds == {f"servers = {n}" for n in (8, 16, 64)}


@pytest.mark.parametrize(
    ("servers", "groups", "per_host", "kind"),
    [(64, 190, 1, "server"), (88, 140, 8, "host"), (1024, 190, 1, "block of servers"),
     (64, None, 1, "block of servers")],
)  # fmt: skip
def test_a_chord_diagram_stays_legible_and_says_how_it_merges(
    servers: int, groups: int | None, per_host: int, kind: str
) -> None:
    made = results((servers,), seeds=1, groups=groups, per_host=per_host, objects_per_group=50)
    flow = flows(made, systems(made)[0])
    assert flow.kind == kind
    assert len(flow.labels) <= ARCS_MAX and np.count_nonzero(flow.matrix) <= RIBBONS_MAX
    # Merging moves no bytes: the total is the run's.
    assert flow.matrix.sum() == systems(made)[0].median["rebuilt_bytes"]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 10**15)), max_size=40)
)
def test_a_chord_diagram_fills_the_circle_in_proportion(flow_list: list[Any]) -> None:
    matrix = np.zeros((8, 8))
    for source, destination, count in flow_list:
        matrix[source, destination] += count
    arcs, ribbons = chord(Flows(tuple("abcdefgh"), matrix, 1, "server", len(flow_list)))
    if not flow_list:
        assert arcs == [] and ribbons == []
        return
    # Arcs do not overlap and stay within one turn; each is as wide as its share of sent plus
    # received bytes, of which the whole diagram has twice the total.
    ends = [angle for arc in arcs for angle in (arc.start, arc.turn, arc.end)]
    assert ends == sorted(ends) and ends[0] >= 0.0 and ends[-1] <= 2.0 * math.pi + 1e-9
    drawn = sum(arc.end - arc.start for arc in arcs)
    for arc in arcs:
        own = (matrix[arc.index].sum() + matrix[:, arc.index].sum()) / (2.0 * matrix.sum())
        assert arc.end - arc.start == pytest.approx(own * drawn, abs=1e-9)
    assert sum(ribbon.bytes for ribbon in ribbons) == matrix.sum()
    for ribbon in ribbons:
        points = re.findall(r"(-?[\d.]+),(-?[\d.]+)", re.sub(r"A\S+ 0 \d \d ", " ", ribbon.path))
        assert points and all(math.hypot(float(x), float(y)) < 1.0 for x, y in points)


def test_axes_and_blocks_are_named_readably() -> None:
    assert (byte_scale(3 * 2**30).unit, byte_scale(1023).unit) == ("GiB", "B")
    assert [time_scale(one).unit for one in (7200.0, 7199.0, 1e-9)] == ["h", "min", "µs"]
    ticks = log_ticks(0.9, 30.0)
    assert ticks[0] <= 0.9 and ticks[-1] >= 30.0 and 20.0 in ticks
    made = results((64,), seeds=1, groups=None, objects_per_group=50)
    flow = flows(made, systems(made)[0])
    # 63 servers that all exchange data make 63 * 62 ribbons, so blocks double until at most 400
    # ribbons remain: blocks of 4 give 16 * 16 = 256, blocks of 2 would give 32 * 32 less one.
    assert flow.servers_per_arc == 4
    assert flow.labels[0] == "server.0-3" and flow.labels[-1] == "server.60-63"


def test_what_cannot_be_drawn_says_why() -> None:
    with pytest.raises(ConfigError, match=r"figure = 'pie': there is no such chart; valid charts"):
        charts.chart(results(seeds=1), "pie")
    made, point = alone(results(objects_per_group=0))
    assert charts.of_system(made, point) == [] and charts.of_study(made, [point]) == []
    assert "stores no objects" in str(findings.nothing_rebuilt(point))
    for name in ("timeline", "rate", "network"):
        assert "cannot be drawn" in refused(charts.chart, made, name)
    made = results(seeds=1)
    made.runs = made.runs.slice(0, 0)
    assert "holds no finished run" in refused(systems, made)


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        ({"unrecoverable_objects": 7}, "held every copy of 7 objects"),
        ({"undersized_replicas": 1}, "1 lost replica has no target"),
        ({}, "held no replica of any object"),
    ],
)
def test_why_nothing_was_rebuilt_is_told_apart(metrics: dict[str, int], reason: str) -> None:
    made = results(objects_per_group=0, seeds=1)
    made = replaced(made, population_objects=100, **metrics)
    assert reason in str(findings.nothing_rebuilt(systems(made)[0]))


# The charts as files: all of them or one, readable, and the same bytes for the same results.


def test_every_chart_becomes_a_file_and_none_of_an_empty_system(tmp_path: Path) -> None:
    made = results(servers=(16,), groups=20, seeds=3)
    files = write_figures(made, tmp_path, format="svg")
    names = ["rebuild-time", "rate", *charts.OF_REBUILD, "busy"]
    assert [path.name for path in files] == [f"{name}.svg" for name in names]
    for path in files:
        assert path.stat().st_size > 4_000
        ElementTree.parse(path)
    assert write_figures(results(objects_per_group=0), tmp_path) == []
    with pytest.raises(ConfigError, match="'timeline' cannot be drawn"):
        write_figures(results(objects_per_group=0), tmp_path, names=["timeline"])
    with pytest.raises(ConfigError, match="'gif' is not known; choose one of png, svg, pdf"):
        write_figures(results(seeds=1), tmp_path, format="gif")


@pytest.mark.parametrize(
    ("format", "first"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_equal_results_make_equal_files(tmp_path: Path, format: str, first: bytes) -> None:
    made = results(servers=(16,), groups=20, seeds=3)
    one, other = (
        write_figures(made, tmp_path / name, format=format, names=["finish"])[0].read_bytes()
        for name in "ab"
    )
    assert one.startswith(first) and len(one) == len(other)
    # A PDF names the parts of a page in an order of chance.
    assert one == other or format == "pdf"


def test_one_chart_by_name_of_every_system_has_the_width_of_its_picture(tmp_path: Path) -> None:
    made = results(servers=(8, 16), seeds=1, groups=10)
    files = write_figures(made, tmp_path, "svg", names=["timeline", "together"], every=True)
    assert [path.name for path in files] == [
        "together.svg", "timeline-servers-8.svg", "timeline-servers-16.svg",
    ]  # fmt: skip
    assert "Half of the data is back" in files[1].read_text(encoding="utf-8")
    made = results(servers=(8,), seeds=1, groups=10)
    for width in (500, 1000):
        (path,) = write_figures(made, tmp_path, "svg", names=["timeline"], width=width)
        drawn = float(ElementTree.parse(path).getroot().attrib["width"])
        assert drawn == pytest.approx(width + 20, abs=25)


def test_what_stands_side_by_side_stands_below_each_other_in_a_narrow_window() -> None:
    made, point = alone(results(seeds=1))
    spec = charts.chart(made, "finish", point).make()
    wide, narrow = sized(spec, NARROW), sized(spec, NARROW - 1)
    assert "hconcat" in wide and "vconcat" in narrow
    # Two views share a wide window and its gap; one has a narrow window for itself.
    assert 2 * wide["hconcat"][0]["width"] < NARROW < 2 * narrow["vconcat"][0]["width"]


def test_bars_of_a_population_stand_on_the_axis() -> None:
    # Three files of 1 KiB and one of 2 KiB, uncut: 75 % and 25 % of the number, 3/5 of the volume.
    classes = [
        {"min_bytes": 1024, "files": 3, "file_bytes": 3072, "objects": 3, "object_bytes": 3072},
        {"min_bytes": 2048, "files": 1, "file_bytes": 2048, "objects": 1, "object_bytes": 2048},
    ]
    sizes = PopulationSizes("p", "whole files", classes)
    for view in population_spec([sizes])["vconcat"]:
        (bars,) = view["layer"]
        assert bars["mark"]["type"] == "rect" and bars["encoding"]["y2"] == {"datum": 0}
        heights = {(row["kind"], row["y"]) for row in view["data"]["values"]}
        assert heights == {
            ("by count", 75.0), ("by count", 25.0), ("by volume", 60.0), ("by volume", 40.0),
        }  # fmt: skip


# Objects short of pieces over time: the means of the table, the sentence, and marks of faults.


@pytest.mark.parametrize(
    ("short", "last", "text"),
    [
        # The most is 4,000 in the second interval; the first at or below 2,000 begins at 30 s.
        ([1000.0, 4000.0, 2500.0, 1500.0, 0.0], [0.0, 12.0, 3.0, 0.0, 0.0],
         "4,000 objects are degraded, half as many after 30.0 s; up to 12 objects are down to one"),
        ([0.5, 0.5], [0.0, 0.0], "0.5 objects are degraded; none is ever down to one"),
        # With two copies every degraded object is down to one.
        ([8.0, 2.0], [8.0, 2.0],
         "8 objects are degraded, half as many after 10.0 s; each is down to one"),
    ],
)  # fmt: skip
def test_the_finding_names_the_most_and_when_it_is_half_as_many(
    short: list[float], last: list[float], text: str
) -> None:
    """Of intervals of ten seconds."""
    made = results(seeds=1)
    known = {"run": made.runs["run"][0].as_py(), "duration_seconds": 10.0}
    known |= {"in_flight_bytes": 0.0, "rebuilt_bytes": 1}
    rows = [
        {"start_seconds": 10.0 * at, "degraded_objects": one, "at_risk_objects": other, **known}
        for at, (one, other) in enumerate(zip(short, last, strict=True))
    ]
    made.timeline = made.timeline.from_pylist(rows, schema=made.timeline.schema)
    assert degraded(made, systems(made)[0]).heading == f"Up to {text} replica"


def test_the_chart_has_the_means_of_its_run_and_is_none_of_an_earlier_folder() -> None:
    made, point = alone(results(seeds=3))
    found = degraded(made, point)
    rows = [row for row in made.timeline.to_pylist() if row["run"] == point.median["run"]]
    short = [row[2] for row in found.table.rows]
    assert short == [row["degraded_objects"] for row in rows]
    # In the beginning nearly every affected object is degraded.
    assert short[0] == pytest.approx(point.median["affected_objects"], rel=0.05)
    # The headline is of the same table: one object in fifty of the fixture has one replica left.
    most = max(row["at_risk_objects"] for row in rows)
    said = f"No data is lost; up to {most:,.0f} objects at a time are down to one replica."
    assert at_risk(made, point)[1] == said
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
