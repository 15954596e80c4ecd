"""The numbers behind the charts are those of the tables, and no two charts disagree."""

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.charts.scales import byte_scale, log_ticks, time_scale
from resilver.errors import ConfigError
from resilver.report import charts, findings
from resilver.report.arrays import TIMELINE_INTERVALS_MAX, merged_intervals
from resilver.report.chord import ARCS_MAX, RIBBONS_MAX, Flows, chord, flows
from resilver.report.metrics import REBUILD_TIME
from resilver.report.servers import servers
from resilver.report.sweep import Box, sweep
from resilver.report.timeline import seconds_until, timeline
from resilver.study.system_runs import largest, systems
from tests.browser.report_fixture import replaced, results
from tests.build import refused


def test_a_box_has_the_quartiles_and_whiskers_of_tukey() -> None:
    # Of 1..8 and 100, linear interpolation puts the quartiles at ranks 2, 4 and 6: 3, 5, 7. The
    # reach is 1.5 * (7 - 3) = 6, so whiskers end at the last values in [-3, 13]: 1 and 8.
    values = [100.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    box = Box.of(4.0, "4", [(value, seed) for seed, value in enumerate(values, 1)])
    assert (box.q1, box.median, box.q3, box.low, box.high) == (3.0, 5.0, 7.0, 1.0, 8.0)
    assert list(box.values) == sorted(values)
    assert box.seeds == (9, 8, 7, 6, 5, 4, 3, 2, 1)


def test_the_run_that_stands_for_a_system_has_the_median_rebuild_time() -> None:
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
    assert servers(made, point).bytes.sum() == total
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


def test_rebuild_times_over_a_decade_stand_on_a_logarithmic_axis() -> None:
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


def test_every_system_of_a_sweep_is_in_one_chart_over_time() -> None:
    made = results(servers=(8, 16, 64), seeds=2)
    one = charts.chart(made, "together")
    assert [row[0] for row in one.table.rows] == [f"servers = {n}" for n in (8, 16, 64)]
    ends = [point.median["rebuild_seconds"] for point in systems(made)]
    column = [at.name for at in one.table.columns].index("rebuild_seconds")
    assert [row[column] for row in one.table.rows] == pytest.approx(ends)
    assert {row["kind"] for row in one.make()["data"]["values"]} == {
        f"servers = {n}" for n in (8, 16, 64)
    }


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


def test_blocks_are_named_by_their_first_and_last_server() -> None:
    made = results((64,), seeds=1, groups=None, objects_per_group=50)
    flow = flows(made, systems(made)[0])
    # 63 servers that all exchange data make 63 * 62 ribbons, so blocks double until at most 400
    # ribbons remain: blocks of 4 give 16 * 16 = 256, blocks of 2 would give 32 * 32 less one.
    assert flow.servers_per_arc == 4
    assert flow.labels[0] == "server.0-3" and flow.labels[-1] == "server.60-63"


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


def test_axes_have_units_in_which_numbers_are_readable() -> None:
    assert (byte_scale(3 * 2**30).unit, byte_scale(1023).unit) == ("GiB", "B")
    assert (time_scale(7200.0).unit, time_scale(7199.0).unit, time_scale(1e-9).unit) == (
        "h", "min", "µs",
    )  # fmt: skip
    ticks = log_ticks(0.9, 30.0)
    assert ticks[0] <= 0.9 and ticks[-1] >= 30.0 and 20.0 in ticks


def test_what_cannot_be_drawn_says_why() -> None:
    with pytest.raises(ConfigError, match=r"figure = 'pie': there is no such chart; valid charts"):
        charts.chart(results(seeds=1), "pie")
    made = results(objects_per_group=0)
    point = systems(made)[0]
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
