"""What a report says of clients and of the network: numbers by hand, and words that are true."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from resilver.charts.vega import Chart
from resilver.report import charts, figure, key_figures
from resilver.report.arrays import TIMELINE_INTERVALS_MAX
from resilver.report.clients import course
from resilver.report.distributions import Histogram, by_ratios, channels, delays, histogram, hops
from resilver.report.html import render
from resilver.report.metrics import TRAFFIC_METRICS
from resilver.report.network import (
    fates_table,
    link_rows,
    links_table,
    losses_table,
    node_rows,
    nodes_table,
)
from resilver.report.sentence import describe
from resilver.report.study import study_answer
from resilver.report.sweep import sweep
from resilver.report.traffic_sentence import losses_sentence, traffic_sentence
from resilver.study.system_runs import largest, systems
from resilver.words import listed, plural
from tests.browser.report_fixture import alone, replaced, results
from tests.browser.traffic_fixture import beside_rebuild, traffic_results
from tests.build import refused
from tests.terminal import printed

MIB = 2**20
CLIENTS = ("course", "delays", "hops", "channels", "busy", "network")


def bins(low: list[float], high: list[float], count: list[float]) -> Histogram:
    return Histogram(np.array(low), np.array(high), np.array(count))


def course_of(rates: list[float], warm_up: str = "0 s", **metrics: float) -> Chart:
    """The course of intervals of one second that read so many MiB each, a fault at 0.5 s."""
    made = traffic_results(seeds=1, faults=("2 disks",))
    made.study["traffic"]["warm_up"] = warm_up
    unknown = {f"{when}_throughput_bytes_per_second": None for when in ("before", "during")}
    made = replaced(made, **{**unknown, **metrics})
    intervals = [
        {
            "run": made.runs["run"][0].as_py(), "start_seconds": float(at), "duration_seconds": 1.0,
            "requests_completed": int(rate), "requests_lost": 0, "read_bytes": int(MIB * rate),
            "write_bytes": 0, "mean_delay_seconds": 0.0, "packets_dropped": 0,
            "write_backlog_requests": 0,
        }
        for at, rate in enumerate(rates)
    ]  # fmt: skip
    made.traffic = pa.Table.from_pylist(intervals, schema=made.traffic.schema)
    return course(made, systems(made)[0])


def test_the_course_says_what_a_fault_costs_and_where_nothing_completes() -> None:
    rates = {"before": 10.0 * MIB, "during": 8.0 * MIB}
    metrics = {f"{when}_throughput_bytes_per_second": rate for when, rate in rates.items()}
    made = course_of([2.0, 10.0, 10.0, 8.0, 12.0], "1 s", **metrics)
    said = (
        "Goodput falls by 20 % during the faults and their recovery, from 10.0 MiB/s to 8.0 MiB/s"
    )
    assert made.heading == said
    assert "A dashed line marks the fault, at 500 ms." in made.description
    # Where nothing was measured before the faults there is nothing to compare with.
    early = course_of([2.0, 10.0, 10.0, 10.0], "1 s")
    assert early.heading.startswith("Clients get 10.0 MiB/s once the system is warm")
    assert course_of([0.0, 0.0]).heading == "No request completes after the warm-up"
    assert course_of([5.0, 5.0], "9 s").heading.startswith("No request")


def columns_of(made: Chart) -> dict[str, list[Any]]:
    """The table of a chart by column."""
    names = [column.name for column in made.table.columns]
    return dict(zip(names, map(list, zip(*made.table.rows, strict=True)), strict=True))


def test_the_course_adds_up_to_the_requests_of_its_run() -> None:
    made, point = alone(traffic_results(seeds=1, faults=("2 disks",), warm_up="0 s"))
    found = columns_of(charts.chart(made, "course"))
    assert sum(found["requests_completed"]) == point.median["requests_completed"]
    assert sum(found["requests_lost"]) == point.median["requests_lost"] > 0
    seconds = np.array(found["duration_seconds"])
    rates = (found[f"{kind}_bytes_per_second"] for kind in ("read", "write"))
    bytes_moved = sum(float(seconds @ np.array(column)) for column in rates)
    # The statistics last 1 s from the start, so the goodput is the sum of the bytes.
    assert seconds.sum() == pytest.approx(1.0)
    assert bytes_moved == pytest.approx(point.median["throughput_bytes_per_second"])


def test_merged_intervals_keep_the_mean_delay_of_all_requests() -> None:
    made, point = alone(traffic_results(seeds=1))
    rows = TIMELINE_INTERVALS_MAX + 100
    # One request of 1 s in even intervals, three of 3 s in odd ones: (1 + 9) / 4 = 2.5 s.
    table = {
        "run": [point.median["run"]] * rows, "start_seconds": np.arange(rows, dtype=float),
        "duration_seconds": np.ones(rows), "requests_completed": [1, 3] * (rows // 2),
        "requests_lost": [0] * rows, "read_bytes": [0] * rows, "write_bytes": [0] * rows,
        "mean_delay_seconds": [1.0, 3.0] * (rows // 2), "packets_dropped": [0] * rows,
        "write_backlog_requests": [4] * rows,
    }  # fmt: skip
    made.traffic = pa.table(table)
    found = columns_of(charts.chart(made, "course"))
    assert len(found["start_seconds"]) <= TIMELINE_INTERVALS_MAX
    assert found["mean_delay_seconds"] == pytest.approx([2.5] * len(found["start_seconds"]))
    assert sum(found["requests_completed"]) == 2 * rows
    assert set(found["write_backlog_requests"]) == {4.0}


def test_quantiles_and_shares_of_a_histogram_are_by_hand() -> None:
    # Ten from 0 to 2 and thirty from 2 to 4: half of the forty lie below 2 + 2 * 10 / 30.
    one = bins([0.0, 2.0], [2.0, 4.0], [10.0, 30.0])
    assert one.quantile(0.5) == pytest.approx(2.0 + 2.0 / 3.0)
    assert one.share_above(3.0) == pytest.approx(15.0 / 40.0)
    assert one.mean == pytest.approx((10 * 1.0 + 30 * 3.0) / 40.0)
    nothing = bins([], [], [])
    assert np.isnan(nothing.quantile(0.5)) and np.isnan(nothing.mean)
    # Half from 1 to 2 and half from 8 to 16; the bins from 2 to 8 are not in the table.
    one = bins([1.0, 8.0], [2.0, 16.0], [7.0, 7.0])
    shares = by_ratios(one, np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    assert shares == pytest.approx([0.5, 0.0, 0.0, 0.5])


def test_findings_of_histograms() -> None:
    made, point = alone(traffic_results(seeds=1))
    run = point.median["run"]
    rows = [
        # 100 reads spread evenly from 0 to 1 s: half take at most 0.5 s, 1 in 100 more than 0.99 s.
        ("read_delay_seconds", 0.0, 1.0, 100),
        # (3 * 1 + 1 * 2) / 4 hops.
        ("hops", 1.0, 2.0, 3),
        ("hops", 2.0, 3.0, 1),
        # Eight idle-ish channels below 10 % and two between 90 and 100 %: two in ten above half;
        # the median lies at 5/8 of the first bin, the busiest tenth in the second's upper half.
        ("channel_busy_fraction", 0.0, 0.1, 8),
        ("channel_busy_fraction", 0.9, 1.0, 2),
    ]
    names = ("quantity", "low", "high", "count")
    made.distributions = pa.Table.from_pylist(
        [{"run": run, **dict(zip(names, row, strict=True))} for row in rows],
        schema=made.distributions.schema,
    )
    found = [make(made, point) for make in (delays, hops, channels)]
    assert [one.heading for one in found if one is not None] == [
        "Half of the reads take at most 500 ms, 1 in 100 more than 990 ms",
        "A packet takes 1.25 hops on average, the farthest 2 hops",
        "20 % of the channels are busy more than half of the time; the median one 6.2 %, "
        "the busiest tenth more than 95 %",
    ]


def test_histograms_links_and_nodes_of_a_run_are_its_own_and_add_up() -> None:
    made, point = alone(traffic_results(seeds=2))
    both = [histogram(made, point, f"{kind}_delay_seconds").total for kind in ("read", "write")]
    assert sum(both) == point.median["requests_completed"]
    assert histogram(made, point, "hops").total == point.median["packets_delivered"]
    assert histogram(made, point, "nothing").total == 0.0
    made, point = alone(traffic_results(seeds=1))
    links = link_rows(made, point)
    hops = histogram(made, point, "hops")
    rows = made.links.to_pylist()
    packets = sum(row["forward_packets"] + row["backward_packets"] for row in rows)
    assert sum(one["packets"] for link in links for one in link["channels"]) == packets
    # Packets that begin or end outside of the statistics have some of their hops within them.
    assert packets == pytest.approx((hops.low * hops.count).sum(), rel=1e-3)
    ends = node_rows(links, point)
    busiest = max((link["channels"][0] for link in links), key=lambda one: one["busy_share"])
    assert len(ends) == 64 and busiest["name"] == links_table(links).rows[0][0]
    shares = [row[1] for row in links_table(links).rows]
    assert shares == sorted(shares, reverse=True) and len(shares) == 10
    assert shares[0] == pytest.approx(point.median["link_busy_fraction_max"])
    nodes = nodes_table(links, ends)
    # Every node of a torus has four ports.
    assert {row[1] for row in nodes.rows} == {4}
    counts = [row[3] for row in nodes.rows]
    assert counts == sorted(counts, reverse=True)


def test_losses_their_causes_and_fates_are_named_and_what_did_not_happen_is_not() -> None:
    made, point = alone(traffic_results(seeds=1, faults=("2 disks",)))
    table = losses_table(made, point)
    assert table is not None and sum(row[1] for row in table.rows) == point.median["requests_lost"]
    names = [row[0] for row in table.rows]
    assert set(names) == set(point.median["failed_disks"].split(","))
    text = losses_sentence(made, point)
    assert text.endswith(f"sent to {names[0]} and {names[1]}, whose disks had failed.")
    assert losses_table(traffic_results(seeds=1), systems(traffic_results(seeds=1))[0]) is None
    made, point = alone(traffic_results(seeds=1))
    assert traffic_sentence(made, point).endswith("No request is lost.")
    point.median.update(requests_lost=0, requests_hanging=32, requests_retried=0)
    text = losses_sentence(made, point)
    assert text.startswith("32 requests hang at the end, ") and "No request is lost" not in text
    point.median.update(requests_hanging=0, requests_retried=3)
    assert losses_sentence(made, point) == (
        "No request is lost. 3 requests were retried after a failure."
    )
    (point,) = systems(made)
    point.median.update(requests_lost=3, packets_dropped_cut=2, packets_dropped_no_link=1)
    total = 3 + point.median["requests_completed"]
    assert losses_sentence(made, point) == (
        f"3 requests ({100 * 3 / total:.1f} %) are lost: 2 packets cut off by a failure and "
        "1 packet without a live link."
    )
    row = {"packets_delivered": 90, "packets_dropped": 10, "packets_dropped_cut": 10,
           "packets_dropped_no_link": 0, "packets_deviated": 45}  # fmt: skip
    table = fates_table(row)
    assert [(one[1], one[2]) for one in table.rows] == [(90, 0.9), (45, 0.45), (10, 0.1), (10, 0.1)]
    assert fates_table({"packets_delivered": None}) is None
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b and c" and listed([]) == ""
    assert plural(1, "switch") == "1 switch" and plural(2, "switch") == "2 switches"


def test_clients_are_stated_by_the_study_and_the_terminal() -> None:
    made = traffic_results(faults=("2 links",))
    assert describe(made, largest(systems(made))) == (
        "60 servers with cheetah-15k devices. Network: torus 8x8 routers 4, links of 1 Gb/s, "
        "packets of up to 64 KiB, adaptive routing. Clients keep 100 requests of 512 KiB "
        "outstanding, half of them reads, each with a timeout of 0.4 s. Lost at 500 ms: 2 links at "
        "random. 3 runs, 3 seeds."
    )
    made = traffic_results(seeds=1, faults=("2 disks",))
    text = printed(study_answer(made), 100)
    lost = int(systems(made)[0].median["requests_lost"])
    assert ["Requests", "lost", str(lost)] in [line.split() for line in text.splitlines()]
    assert "whose disks had" in text


def test_a_sweep_shows_metrics_that_are_not_zero_in_their_units() -> None:
    made = traffic_results(loads=(50, 100), faults=("none", "2 disks"), seeds=2)
    points = systems(made)
    known = [one.name for one in TRAFFIC_METRICS]
    assert [one.name for one in charts.of_study(made, points)] == known
    # Without faults nothing is lost, and there is no goodput during them.
    without = traffic_results(loads=(50, 100), seeds=2)
    names = [one.name for one in charts.of_study(without, systems(without))]
    assert names == [name for name in known if name != "lost" and name[:8] != "goodput-"]
    # Runs without a loss count as zeros where others have losses.
    lost = next(metric for metric in TRAFFIC_METRICS if metric.name == "lost")
    chart = sweep(points, lost)
    assert chart.missing == 0 and len(chart.boxes) == 4
    made = traffic_results(seeds=1, loads=(100, 400), faults=("none", "2 disks"))
    heading = charts.chart(made, "goodput").heading
    assert heading.count(" with faults = ") + heading.count(" with traffic.outstanding = ") == 2
    assert "is highest, " in heading and ", and lowest, " in heading
    points = systems(without)
    data = {one.name: sweep(points, one) for one in TRAFFIC_METRICS if one.name[:8] != "goodput-"}
    assert (data["queued"].scale.unit, data["queued"].scale.divisor) == ("%", 0.01)
    assert data["mean-delay"].scale.unit == "ms"
    assert not any(one.logarithmic for one in data.values() if one.boxes)


def test_clients_alone_and_beside_a_rebuild_have_figures_of_their_own() -> None:
    figures = {one.label: one for one in key_figures(traffic_results(seeds=1))}
    assert figures["Goodput"].unit == "B/s" and figures["Requests lost"].value == 0.0
    assert "Rebuild time" not in figures
    assert figures["Mean hops"].text == f"{figures['Mean hops'].value:.2f}"
    page = render(traffic_results(seeds=1))
    body = page[page.index("<main ") : page.index("</main>")]
    assert "One run in detail" in body and "ebuild" not in body
    made, point = alone(traffic_results(seeds=5))
    rates = sorted(row["throughput_bytes_per_second"] for row in point.rows)
    assert point.median["throughput_bytes_per_second"] == rates[2]
    made, point = alone(beside_rebuild())
    text = traffic_sentence(made, point)
    share = np.median([row["during_before_throughput_ratio"] for row in point.rows])
    assert (
        f" during the rebuild, {100 * share:.0f} % of the " in text
        and " before; mean read latency " in text
    )
    labels = [one.label for one in key_figures(made)]
    assert labels.index("Rebuild time") < labels.index("Goodput during faults")
    names = [one.name for one in charts.of_system(made, point)]
    assert names == [*charts.OF_REBUILD, *CLIENTS]
    # The rebuild's chart of busy devices and that of the clients' are one.
    assert names.count("busy") == 1
    made, point = alone(results(seeds=1))
    assert course(made, point) is None and not link_rows(made, point)
    names = [one.name for one in charts.of_system(made, point)]
    assert names == [*charts.OF_REBUILD, "busy"]
    assert "cannot be drawn" in refused(figure, made, "network")


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_states_clients_by_swept_point(width: int) -> None:
    made = traffic_results(loads=(100, 200), faults=("none", "2 disks"), seeds=2)
    text = printed(study_answer(made), width)
    heading = next(line for line in text.splitlines() if line.startswith("outstanding"))
    assert heading.split()[:2] == ["outstanding", "faults"]
    assert "rebuild" not in text and "Goodput" in text and "Clients get" in text
    # A row a point: two loads times two cases of faults.
    rows = [line for line in text.splitlines() if line.split()[:1] in (["100"], ["200"])]
    assert len(rows) == 4
