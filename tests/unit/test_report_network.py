"""The map of a network and its words: what nodes are, and what counts as busy."""

import json
from pathlib import Path

import pytest

from resilver.charts.vega import sized
from resilver.report import charts
from resilver.report.network import link_map
from resilver.report.sentence import describe
from resilver.report.servers import servers
from resilver.study.system_runs import largest, systems
from tests.browser.traffic_fixture import beside_rebuild, traffic_results


def test_nodes_are_what_their_graph_says(tmp_path: Path) -> None:
    made = traffic_results(seeds=1)
    (point,) = systems(made)
    by_name = link_map(made, point)
    # The fixture's torus of 64 nodes has 4 routers, and names say which.
    assert by_name.node_kinds.count("router") == 4 and by_name.node_kinds.count("host") == 60
    # In a graph node 0 is the router whatever it is called, and node 63 neither.
    kinds = ["router", *["host"] * 62, "switch"]
    nodes = [{"id": at, "kind": kind} for at, kind in enumerate(kinds)]
    links = [{"source": at, "target": (at + 1) % 64} for at in range(64)]
    path = tmp_path / "lab.json"
    path.write_text(json.dumps({"nodes": nodes, "links": links}), encoding="utf-8")
    made.study["cluster"]["fabric"]["topology"] = {"graph": str(path)}
    said = link_map(made, systems(made)[0])
    assert said.node_kinds[0] == "router" and said.node_kinds[63] == "switch"
    assert set(said.node_kinds[1:63]) == {"host"}


def test_busy_shares_beside_clients_are_of_the_time_that_counts() -> None:
    made = beside_rebuild()
    point = largest(systems(made))
    seconds = point.median["statistics_seconds"]
    rows = [row for row in made.servers.to_pylist() if row["run"] == point.median["run"]]
    expected = [row["device_busy_seconds"] / seconds for row in rows]
    assert seconds and servers(made, point).device_share == pytest.approx(expected)
    busy = charts.chart(made, "busy")
    assert " of the time on average" in busy.heading and "or with clients" in busy.description


def test_one_fault_and_its_repair_read_as_one() -> None:
    made = traffic_results(seeds=1, faults=("2 links",))
    made.study["faults"][0]["repair_after"] = "0.25 s"
    text = charts.chart(made, "course").description
    assert "A dashed line marks the fault, at 500 ms." in text
    assert "A dotted line marks the repair, at 750 ms." in text
    assert "Repaired at 750 ms." in describe(made, systems(made)[0])


def test_labels_of_a_sweep_that_have_no_room_are_turned() -> None:
    made = traffic_results(seeds=1, faults=("none", "2 disks"))
    spec = charts.chart(made, "goodput").make()
    # Two labels, the longer of which has 16 letters of 6 pixels, and 10 pixels between: 212.
    assert spec["letters"] == 2 * (len("2 disks at 0.5 s") * 6 + 10)
    for width, is_turned in ((400, False), (200, True)):
        axis = sized(spec, width)["encoding"]["x"]["axis"]
        assert ("labelAngle" in axis) == is_turned
