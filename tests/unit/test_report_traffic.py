"""What a report says of clients and of the network: numbers by hand, and words that are true."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from report_fixture import MemoryResults, results
from traffic_fixture import beside_rebuild, traffic_results

from resilver.cli import summary as cli_summary
from resilver.errors import ConfigError
from resilver.report import SWEPT_NAMES, TRAFFIC_NAMES, charts, figure, key_figures, write_figures
from resilver.report.charts_data import TIMELINE_INTERVALS_MAX, rate_chart
from resilver.report.distributions import (
    ChannelsBusy,
    Delays,
    Histogram,
    Hops,
    by_ratios,
    channels_finding,
    delays_finding,
    histogram,
    hops_finding,
)
from resilver.report.faults import moments_of, repair_moments
from resilver.report.html import render
from resilver.report.metrics import TRAFFIC_METRICS
from resilver.report.network import fates_table, link_map, links_table, losses_table, nodes_table
from resilver.report.rate_layout import rate_layout
from resilver.report.sentence import describe
from resilver.report.source import largest, systems
from resilver.report.static import draw
from resilver.report.traffic import TrafficCourse, course_finding, traffic_course
from resilver.report.traffic_sentence import losses_sentence, traffic_sentence
from resilver.report.traffic_words import fabric_sentence, traffic_clause
from resilver.report.words import listed, plural

MIB = 2**20


def bins(low: list[float], high: list[float], count: list[float]) -> Histogram:
    return Histogram(np.array(low), np.array(high), np.array(count))


def course(rates: list[float], **changes: object) -> TrafficCourse:
    """Intervals of one second that read so many MiB each."""
    size = len(rates)
    zeros = np.zeros(size)
    values: dict[str, object] = {
        "start_seconds": np.arange(size, dtype=float), "duration_seconds": np.ones(size),
        "completed": np.array(rates), "lost": zeros, "read_bytes": MIB * np.array(rates),
        "write_bytes": zeros, "mean_delay_seconds": zeros, "packets_dropped": zeros,
        "backlog": zeros,
    }  # fmt: skip
    return TrafficCourse(**(values | changes))  # type: ignore[arg-type]


def test_the_course_says_what_a_fault_costs() -> None:
    # The run says what clients got before the fault at 3 s, and until all was recovered at 4 s.
    rates = {"before_bytes_per_second": 10 * MIB, "during_bytes_per_second": 8 * MIB}
    made = course([2.0, 10.0, 10.0, 8.0, 12.0], warm_up_seconds=1.0, fault_seconds=(3.0,), **rates)
    assert course_finding(made) == (
        "Goodput falls by 20 % during the faults and their recovery, from 10.0 MiB/s to 8.0 MiB/s"
    )
    # A fault within the warm-up has no time before it to compare with.
    early = course([2.0, 10.0, 10.0, 10.0], warm_up_seconds=1.0, fault_seconds=(0.5,))
    assert course_finding(early).startswith("Clients get 10.0 MiB/s once the system is warm")


def test_the_course_says_so_where_nothing_completes() -> None:
    assert course_finding(course([0.0, 0.0])) == "No request completes after the warm-up"
    assert course_finding(course([5.0, 5.0], warm_up_seconds=9.0)).startswith("No request")


def test_the_course_adds_up_to_the_requests_of_its_run() -> None:
    made = traffic_results(seeds=1, faults=("2 disks",))
    (point,) = systems(made)
    data = traffic_course(made, point)
    assert data is not None
    assert data.completed.sum() == point.median["requests_completed"]
    assert data.lost.sum() == point.median["requests_lost"] > 0
    total = data.read_bytes.sum() + data.write_bytes.sum()
    # The fixture's statistics last 1 s, so its goodput is the sum of the bytes.
    assert total == pytest.approx(point.median["throughput_bytes_per_second"])
    assert (data.warm_up_seconds, data.fault_seconds) == (0.044, (0.5,))


def test_merged_intervals_keep_the_mean_delay_of_all_requests() -> None:
    made = traffic_results(seeds=1)
    (point,) = systems(made)
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
    data = traffic_course(made, point)
    assert data is not None and data.start_seconds.size <= TIMELINE_INTERVALS_MAX
    assert data.mean_delay_seconds == pytest.approx(2.5)
    assert data.completed.sum() == 2 * rows and data.backlog == pytest.approx(4.0)


def test_a_study_without_clients_has_no_course_and_no_map() -> None:
    made = results(seeds=1)
    (point,) = systems(made)
    assert traffic_course(made, point) is None and link_map(made, point) is None
    assert [one.name for one in charts.of_system(made, point)] == list(charts.NAMES[1:])
    with pytest.raises(ConfigError, match="cannot be drawn"):
        figure(made, "network")


def test_quantiles_and_shares_of_a_histogram() -> None:
    # Ten from 0 to 2 and thirty from 2 to 4: half of the forty lie below 2 + 2 * 10 / 30.
    one = bins([0.0, 2.0], [2.0, 4.0], [10.0, 30.0])
    assert one.quantile(0.5) == pytest.approx(2.0 + 2.0 / 3.0)
    assert one.share_above(3.0) == pytest.approx(15.0 / 40.0)
    assert one.mean == pytest.approx((10 * 1.0 + 30 * 3.0) / 40.0)
    nothing = bins([], [], [])
    assert np.isnan(nothing.quantile(0.5)) and np.isnan(nothing.mean)


def test_shares_by_ratios_are_flat_over_bins_left_out() -> None:
    # Half from 1 to 2 and half from 8 to 16; the bins from 2 to 8 are not in the table.
    one = bins([1.0, 8.0], [2.0, 16.0], [7.0, 7.0])
    shares = by_ratios(one, np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    assert shares == pytest.approx([0.5, 0.0, 0.0, 0.5])


def test_findings_of_histograms() -> None:
    # 100 reads spread evenly from 0 to 1 s: half take at most 0.5 s, one in 100 more than 0.99 s.
    reads = bins([0.0], [1.0], [100.0])
    made = Delays(reads, bins([], [], []))
    assert delays_finding(made) == (
        "Half of the reads take at most 500 ms, 1 in 100 more than 990 ms"
    )
    # (3 * 1 + 1 * 2) / 4 hops.
    hops = Hops(bins([1.0, 2.0], [2.0, 3.0], [3.0, 1.0]))
    assert hops_finding(hops) == "A packet takes 1.25 hops on average, the farthest 2 hops"
    # Eight idle-ish channels below 10 % and two between 90 and 100 %: two in ten above half; the
    # median lies at 5/8 of the first bin, and the busiest tenth is the upper half of the second.
    busy = ChannelsBusy(bins([0.0, 0.9], [0.1, 1.0], [8.0, 2.0]))
    assert channels_finding(busy) == (
        "20 % of the channels are busy more than half of the time; the median one 6.2 %, "
        "the busiest tenth more than 95 %"
    )


def test_histograms_of_a_run_are_its_own() -> None:
    made = traffic_results(seeds=2)
    (point,) = systems(made)
    both = [histogram(made, point, f"{kind}_delay_seconds").total for kind in ("read", "write")]
    assert sum(both) == point.median["requests_completed"]
    assert histogram(made, point, "hops").total == point.median["packets_delivered"]
    assert histogram(made, point, "nothing").total == 0.0


def test_links_and_nodes_add_up_to_the_packets_of_all_hops() -> None:
    made = traffic_results(seeds=1)
    (point,) = systems(made)
    links = link_map(made, point)
    assert links is not None
    hops = histogram(made, point, "hops")
    assert links.packets.sum() == (hops.low * hops.count).sum()
    assert len(links.node_names) == 64 and links.name(int(links.hottest[0])) in {
        row[0] for row in links_table(links).rows
    }
    shares = [row[1] for row in links_table(links).rows]
    assert shares == sorted(shares, reverse=True) and len(shares) == 10
    assert shares[0] == pytest.approx(point.median["link_busy_fraction_max"])
    nodes = nodes_table(links)
    # Every node of a torus has four ports.
    assert {row[1] for row in nodes.rows} == {4}
    counts = [row[3] for row in nodes.rows]
    assert counts == sorted(counts, reverse=True)


def test_losses_name_the_failed_disks() -> None:
    made = traffic_results(seeds=1, faults=("2 disks",))
    (point,) = systems(made)
    table = losses_table(made, point)
    assert table is not None and sum(row[1] for row in table.rows) == point.median["requests_lost"]
    names = [row[0] for row in table.rows]
    assert set(names) == set(point.median["failed_disks"].split(", "))
    text = losses_sentence(made, point)
    assert text.endswith(f"asked of {names[0]} and {names[1]}, whose disks had failed.")
    assert losses_table(traffic_results(seeds=1), systems(traffic_results(seeds=1))[0]) is None


def test_the_sentence_tells_of_requests_that_nothing_ever_answers() -> None:
    made = traffic_results(seeds=1)
    (point,) = systems(made)
    point.median.update(requests_lost=0, requests_hanging=32, requests_retried=0)
    text = losses_sentence(made, point)
    assert text.startswith("32 requests hang at the end: ") and "No request is lost" not in text
    point.median.update(requests_hanging=0, requests_retried=3)
    assert losses_sentence(made, point) == (
        "No request is lost. 3 requests were asked again elsewhere when a server failed."
    )


def test_the_sentence_gives_causes_of_packets() -> None:
    made = traffic_results(seeds=1)
    (point,) = systems(made)
    assert traffic_sentence(made, point).endswith("No request is lost.")
    point.median.update(requests_lost=3, packets_dropped_cut=2, packets_dropped_no_link=1)
    total = 3 + point.median["requests_completed"]
    assert losses_sentence(made, point) == (
        f"3 requests ({100 * 3 / total:.1f} %) are lost: 2 packets cut off by what failed and "
        "1 packet left without a link to go on."
    )


def test_fates_add_up_and_leave_out_what_did_not_happen() -> None:
    row = {"packets_delivered": 90, "packets_dropped": 10, "packets_dropped_cut": 10,
           "packets_dropped_no_link": 0, "packets_deviated": 45}  # fmt: skip
    table = fates_table(row)
    assert table is not None
    assert [(one[1], one[2]) for one in table.rows] == [(90, 0.9), (45, 0.45), (10, 0.1), (10, 0.1)]
    assert fates_table({"packets_delivered": None}) is None


def test_the_study_in_words() -> None:
    made = traffic_results(faults=("2 links",))
    assert describe(made, largest(systems(made))) == (
        "60 servers with cheetah-15k devices. Network: torus 8x8 routers 4; links of 1 Gb/s, "
        "packets of up to 64 KiB, adaptive routing. Clients keep 400 requests of 512 KiB "
        "outstanding, half of them reads, each given up after 0.4 s. Lost at 500 ms: 2 links at "
        "random. 3 runs, 3 seeds."
    )


@pytest.mark.parametrize(
    ("traffic", "words"),
    [
        ({}, ""),
        ({"arrivals": {"poisson": 1000.0}, "request_size": 4096, "reads": 1.0},
         "Clients issue 1,000 requests of 4 KiB a second at random moments, all of them reads."),
        ({"arrivals": {"trace": {"label": "day.csv", "requests": 12}}},
         "Clients issue the 12 requests of day.csv."),
        ({"outstanding": 8, "targets": {"hot_servers": 0.1, "hot_requests": 0.9}},
         "Clients keep 8 requests outstanding, 90 % of them to 10 % of the servers."),
        ({"outstanding": 8, "targets": {"zipf": 0.99}},
         "Clients keep 8 requests outstanding, servers by Zipf's law with exponent 0.99."),
    ],
)  # fmt: skip
def test_clients_in_words(traffic: dict[str, object], words: str) -> None:
    assert traffic_clause(traffic) == words


def test_a_network_that_is_not_switched_has_no_sentence() -> None:
    assert fabric_sentence({"fabric": {"model": "loggp"}}) == ""
    assert fabric_sentence({}) == ""


def test_faults_of_a_sweep_are_read_back_from_their_words() -> None:
    study = {"faults": "8 links + 1 switch at 10 min for 30 s"}
    assert [(one.seconds, one.lost) for one in moments_of(study)] == [
        (0.0, ("8 links",)), (600.0, ("1 switch",)),
    ]  # fmt: skip
    assert repair_moments(study) == (630.0,)
    assert moments_of({"faults": "none"}) == ()
    told = {"faults": [{"at": 1.0, "fail": {"switches": 2}, "repair_after": 2.0}]}
    assert moments_of(told)[0].lost == ("2 switches at random",)
    assert repair_moments(told) == (3.0,)


def test_a_sweep_shows_every_metric_that_is_not_zero_everywhere() -> None:
    made = traffic_results(loads=(100, 200), faults=("none", "2 disks"), seeds=2)
    points = systems(made)
    # These runs do not tell what clients got during their faults.
    known = [name for name in SWEPT_NAMES if not name.startswith("goodput-")]
    assert [one.name for one in charts.of_study(points)] == known
    without = traffic_results(loads=(100, 200), seeds=2)
    names = [one.name for one in charts.of_study(systems(without))]
    assert names == [name for name in known if name != "lost"]
    # Runs without a loss count as zeros where others have losses.
    lost = next(metric for metric in TRAFFIC_METRICS if metric.name == "lost")
    chart = rate_chart(points, lost)
    assert chart.missing == 0 and sum(len(one.boxes) for one in chart.series) == 4


def test_shares_and_delays_have_axes_of_their_units() -> None:
    points = systems(traffic_results(loads=(100, 200), seeds=2))
    layouts = {one.name: rate_layout(rate_chart(points, one)) for one in TRAFFIC_METRICS}
    assert (layouts["queued"].scale.unit, layouts["queued"].scale.divisor) == ("%", 0.01)
    assert layouts["mean-delay"].scale.unit == "ms"
    assert not any(layout.logarithmic for layout in layouts.values())


def test_the_run_of_median_goodput_stands_for_a_system() -> None:
    made = traffic_results(seeds=5)
    (point,) = systems(made)
    rates = sorted(row["throughput_bytes_per_second"] for row in point.rows)
    assert point.median["throughput_bytes_per_second"] == rates[2]


def test_key_figures_are_those_of_clients() -> None:
    figures = {one.label: one for one in key_figures(traffic_results(seeds=1))}
    assert figures["Goodput"].unit == "B/s" and figures["Requests lost"].value == 0.0
    assert "Rebuild time" not in figures
    assert figures["Mean hops"].text == f"{figures['Mean hops'].value:.2f}"


def test_the_page_of_clients_alone_speaks_of_no_rebuild() -> None:
    page = render(traffic_results(seeds=1))
    body = page[page.index("<main>") : page.index("</main>")]
    assert "One run in detail" in body and "ebuild" not in body


def test_beside_a_rebuild_clients_have_a_sentence_and_figures_of_their_own() -> None:
    made = beside_rebuild()
    (point,) = systems(made)
    text = traffic_sentence(made, point)
    assert " during the rebuild, 80 % of the " in text and " before; a read takes " in text
    labels = [one.label for one in key_figures(made)]
    assert labels.index("Rebuild time") < labels.index("Goodput during the faults")
    names = [one.name for one in charts.of_system(made, point)]
    assert names == [*charts.NAMES[1:], *TRAFFIC_NAMES]


@pytest.mark.parametrize("format", ["png", "svg"])
def test_every_chart_becomes_a_file_and_equal_results_equal_bytes(
    tmp_path: Path, format: str
) -> None:
    made = traffic_results(seeds=1, faults=("2 links",))
    first = write_figures(made, tmp_path / "a", format=format)  # type: ignore[arg-type]
    second = write_figures(made, tmp_path / "b", format=format)  # type: ignore[arg-type]
    assert [path.name for path in first] == [f"{name}.{format}" for name in TRAFFIC_NAMES]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_no_text_leaves_the_picture() -> None:
    made = traffic_results(loads=(100, 200), faults=("none", "2 disks"), seeds=2)
    points = systems(made)
    for chart in [*charts.of_study(points), *charts.of_system(made, points[-1])]:
        picture = draw(chart)
        picture.draw_without_rendering()
        frame = picture.bbox
        texts = [*picture.texts, picture._suptitle]
        for axes in picture.axes:
            texts += [*axes.texts, axes.xaxis.label, axes.yaxis.label]
        for text in texts:
            if text is None or not text.get_visible() or not text.get_text():
                continue
            box = text.get_window_extent()
            where = f"{chart.name}: {text.get_text()!r}"
            assert box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1, where
            assert box.y0 >= frame.y0 - 1 and box.y1 <= frame.y1 + 1, where


def test_words() -> None:
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b and c" and listed([]) == ""
    assert plural(1, "switch") == "1 switch" and plural(2, "switch") == "2 switches"


def summary_of(made: MemoryResults, monkeypatch: pytest.MonkeyPatch, width: int) -> str:
    """What `resilver run` prints at its end."""
    console = Console(width=width, file=io.StringIO(), color_system=None)
    monkeypatch.setattr(cli_summary, "output", lambda: console)
    keys = [name for name in made.study["study"]["sweep"]]
    shown = SimpleNamespace(**vars(made), folder=Path("runs/net"), swept_keys=keys)
    cli_summary.print_summary(shown)  # type: ignore[arg-type]
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_states_clients_by_swept_point(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    made = traffic_results(loads=(100, 200), faults=("none", "2 disks"), seeds=2)
    text = summary_of(made, monkeypatch, width)
    heading = next(line for line in text.splitlines() if "outstanding" in line and "runs" in line)
    assert heading.split() == ["outstanding", "faults", "runs", "goodput", "mean", "delay", "lost"]
    assert "rebuild" not in text and "Goodput" in text and "Clients get" in text
    # A row a point: two loads times two cases of faults.
    rows = [line for line in text.splitlines() if line.split()[:1] in (["100"], ["200"])]
    assert len(rows) == 4


def test_the_terminal_states_clients_of_one_system(monkeypatch: pytest.MonkeyPatch) -> None:
    made = traffic_results(seeds=1, faults=("2 disks",))
    text = summary_of(made, monkeypatch, 100)
    lost = int(systems(made)[0].median["requests_lost"])
    assert ["Requests", "lost", str(lost)] in [line.split() for line in text.splitlines()]
    assert "whose disks had" in text
