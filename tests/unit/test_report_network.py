"""The map of a network and its words: what nodes are, which names fit, and what counts as busy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from traffic_fixture import beside_rebuild, traffic_results

from resilver.report import charts
from resilver.report.charts_data import rate_chart, server_chart
from resilver.report.metrics import TRAFFIC_METRICS
from resilver.report.network import LinkMap, link_map
from resilver.report.network_plot import network_figure
from resilver.report.rate_layout import rate_layout
from resilver.report.sentence import describe
from resilver.report.source import largest, systems
from resilver.report.traffic import course_text, traffic_course
from resilver.report.traffic_words import fabric_sentence


def star(names: tuple[str, ...], kinds: tuple[str, ...], xs: list[float]) -> LinkMap:
    """Leaves in a row below a hub, which is the first node; link k leads down to leaf k."""
    count = len(names) - 1
    load = np.arange(count, 0, -1) / (2 * count)
    return LinkMap(
        ends=np.array([(0, leaf) for leaf in range(1, count + 1)]),
        node_names=names,
        node_kinds=kinds,
        positions=np.array([(0.5, 1.0), *((x, 0.0) for x in xs)]),
        failed=np.zeros(count, dtype=bool),
        busy_share=np.stack([load, load / 2], axis=1),
        packets=np.ones((count, 2)),
        queued=np.zeros((count, 2)),
        bytes=np.ones((count, 2)),
    )


def test_names_that_would_cover_each_other_stay_under_the_pointer() -> None:
    # The first two leaves are a hundredth of the width apart, which a name of six letters is not.
    names = ("switch", "host.0", "host.1", "host.2")
    figure = network_figure(star(names, ("switch", "host", "host", "host"), [0.0, 0.01, 1.0]))
    (nodes,) = [trace for trace in figure.data if trace.name == "nodes"]
    assert nodes.text == ("switch", "host.0", "", "host.2")
    assert nodes.hovertext == names
    # All links of a leaf lead up, so that its name stands below it.
    assert nodes.textposition == ("top center", *["bottom center"] * 3)


def test_circles_mark_at_most_a_quarter_of_the_links() -> None:
    names = ("switch", *(f"host.{at}" for at in range(8)))
    made = star(names, ("switch", *["host"] * 8), [at / 7 for at in range(8)])
    (circles,) = [trace for trace in network_figure(made).data if "busiest" in str(trace.name)]
    # Of eight links two, the first of which leads to host.0 and is 8 / 16 busy.
    assert circles.name == "the 2 busiest links" and len(circles.x) == 2
    assert circles.text[0] == "switch to host.0<br>busy 50 %"


def test_nodes_are_what_their_graph_says() -> None:
    made = traffic_results(seeds=1)
    (point,) = systems(made)
    by_name = link_map(made, point)
    assert by_name is not None
    # The fixture's torus of 64 nodes has 4 routers, and names say which.
    assert by_name.node_kinds.count("router") == 4 and by_name.node_kinds.count("host") == 60
    # In a graph node 0 is the router whatever it is called, and node 63 neither.
    made.study["cluster"]["fabric"]["topology"] = {
        "kind": "graph", "label": "graph lab.json", "routers": [0], "hosts": list(range(1, 63)),
    }  # fmt: skip
    said = link_map(made, point)
    assert said is not None
    assert said.node_kinds[0] == "router" and said.node_kinds[63] == "switch"
    assert set(said.node_kinds[1:63]) == {"host"}


def test_rates_of_single_links_are_a_range() -> None:
    fabric = {"model": "switched", "topology": "graph lab.json", "link_rate": 125e6}
    assert fabric_sentence({"fabric": fabric}) == "Network: graph lab.json; links of 1 Gb/s."
    both = fabric | {"link_rates": [125e6, 1250e6, 125e6]}
    assert "links of 1 Gb/s to 10 Gb/s" in fabric_sentence({"fabric": both})


def test_busy_shares_beside_clients_are_of_the_time_that_counts() -> None:
    made = beside_rebuild()
    point = largest(systems(made))
    seconds = point.median["statistics_seconds"]
    table = made.servers.to_pylist()
    rows = [row for row in table if row["run"] == point.median["run"] and not row["failed"]]
    data = server_chart(made, point)
    expected = [row["device_busy_seconds"] / seconds for row in rows]
    assert seconds and data.device_share == pytest.approx(expected)
    (busy,) = [one for one in charts.of_system(made, point) if one.name == "busy"]
    assert " of the time on average" in busy.heading and "end of the warm-up" in busy.description


def test_one_fault_and_its_repair_read_as_one() -> None:
    made = traffic_results(seeds=1, faults=("2 links",))
    made.study["faults"][0]["repair_after"] = 0.25
    (point,) = systems(made)
    data = traffic_course(made, point)
    assert data is not None
    text = course_text(data)
    assert "A dashed line marks the fault, at 500 ms." in text
    assert "A dotted line marks the repair, at 750 ms." in text
    assert "Repaired at 750 ms." in describe(made, point)


def test_a_sweep_over_two_keys_names_its_highest_and_its_lowest() -> None:
    made = traffic_results(seeds=1, loads=(100, 400), faults=("none", "2 disks"))
    heading = next(one for one in charts.of_study(systems(made)) if one.name == "goodput").heading
    assert heading.count(" with faults = ") + heading.count(" with traffic.outstanding = ") == 2
    assert "is highest, " in heading and ", and lowest, " in heading


def test_long_labels_of_a_sweep_make_room() -> None:
    made = traffic_results(seeds=1, faults=("none", "2 disks"))
    goodput = next(metric for metric in TRAFFIC_METRICS if metric.name == "goodput")
    layout = rate_layout(rate_chart(systems(made), goodput))
    # Lines have up to 16 letters, and the number stays with "at": "2 disks at 500" has 14. Two
    # values of 14 letters and one of room, of 7 pixels each, beside 112 pixels of margins.
    assert layout.narrowest_pixels == 112 + 7 * 15 * 2
