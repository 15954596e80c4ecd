"""Reports of streams and lanes: numbers by hand, true words, and both drawings."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from resilver.charts.vega import Chart, sized
from resilver.report import charts
from resilver.report.html import render
from resilver.report.lanes import lanes
from resilver.report.network import link_rows, node_rows
from resilver.report.sentence import describe
from resilver.report.servers import devices
from resilver.report.streams import streams
from resilver.study.system_runs import SystemRuns, largest, systems
from tests.browser.report_fixture import MemoryResults, alone, replaced
from tests.browser.traffic_fixture import beside_rebuild, traffic_results

GIB = 2**30


def streaming() -> tuple[MemoryResults, SystemRuns]:
    """Four groups, of which the last rebuilds: 3 x 8 + 4 GiB/s are read, of 30 expected."""
    made = traffic_results(seeds=1)
    run = made.runs["run"][0].as_py()
    metrics = {
        "read_bytes_per_second": 28.0 * GIB, "analytic_read_bytes_per_second": 30.0 * GIB,
        "rebuild_bytes_per_second": 1.1 * GIB, "analytic_rebuild_bytes_per_second": 1.0 * GIB,
        "write_bytes_per_second": 0.0, "analytic_write_bytes_per_second": 0.0,
    }  # fmt: skip
    made = replaced(made, **metrics)
    reads = [8.0 * GIB, 8.0 * GIB, 8.0 * GIB, 4.0 * GIB]
    rows: list[dict[str, Any]] = [
        {
            "run": run, "group": group, "is_rebuilding": group == 3, "servers": 24,
            "ports_working": 48, "read_bytes_per_second": rate, "write_bytes_per_second": 0.0,
            "burst_bytes_per_second": 0.0,
            "rebuild_bytes_per_second": 1.1 * GIB if group == 3 else 0.0,
            "mean_delay_seconds": 1e-3,
        }
        for group, rate in enumerate(reads)
    ]  # fmt: skip
    made.stripe_groups = pa.Table.from_pylist(rows)
    # Clients carry 86 GiB, 6 of them in the rebuild's share; rebuilds 14 GiB of their own.
    lanes = [
        ("clients", 0.8, 86, 6, 0, 2e-6),
        ("rebuild", 0.2, 14, 0, 6, 9e-6),
        ("bursts", 0.0, 0, 0, 0, None),
    ]
    made.lanes = pa.Table.from_pylist(
        [
            {
                "run": run, "part": "links", "class": name, "share": share, "units": size * 1024,
                "bytes": size * GIB, "busy_seconds": float(size), "mean_wait_seconds": wait,
                "lent_bytes": lent * GIB, "borrowed_bytes": borrowed * GIB,
            }
            for name, share, size, borrowed, lent, wait in lanes
        ]
    )  # fmt: skip
    loan = {"run": run, "part": "links", "lender": "rebuild", "borrower": "clients"}
    made.lending = pa.Table.from_pylist([{**loan, "bytes": 6 * GIB}])
    return made, systems(made)[0]


def drawn(name: str) -> Chart:
    return charts.chart(streaming()[0], name)


def values(view: dict[str, Any], column: str) -> list[Any]:
    """A column of the data of a view."""
    return [row[column] for row in view["data"]["values"]]


def test_lanes_and_streams_are_what_they_carried_beside_the_model_and_on_the_page() -> None:
    """86 of 100 GiB are clients', 6 borrowed: 80 % by their own share."""
    made = drawn("lanes")
    assert made.heading == (
        "On links, clients get 86 % (guaranteed 80 %) and rebuilds get 14 % (guaranteed 20 %); "
        "rebuilds lend 6.0 GiB to clients"
    )
    assert "rebuilds, links 9.00 us" in made.description
    assert [row[5] for row in made.table.rows] == [6 * GIB, 0]
    bars, loans = made.make()["hconcat"]
    assert values(bars, "x") == pytest.approx([80.0, 14.0])
    assert values(bars, "x2") == pytest.approx([86.0, 14.0])
    assert values(bars, "mark") == [80.0, 20.0] and values(loans, "x") == [6.0]
    # 28 of 30 are 6.7 % below, 1.1 of 1 are 10 % above; writes are left out.
    made = drawn("streams")
    assert made.heading == (
        "Reads get 28.0 GiB/s, 6.7 % below the analytic rate; rebuilds get 1.1 GiB/s, 10 % above "
        "the analytic rate"
    )
    assert "the 1 group that rebuilds: 3." in made.description
    # A row a kind, then four groups for each of the two kinds that have any.
    assert len(made.table.rows) == 2 + 2 * 4
    bars, groups = made.make()["vconcat"]
    assert values(bars, "x") == pytest.approx([28.0, 1.1])
    assert values(bars, "mark") == pytest.approx([30.0, 1.0])
    # A group that does not rebuild has no mark at zero for it.
    assert values(groups, "y") == pytest.approx([8.0, 8.0, 8.0, 4.0, 1.1])
    assert values(groups, "ring") == [False] * 3 + [True, True]
    made, point = streaming()
    assert [one.name for one in charts.of_system(made, point)][:2] == ["streams", "lanes"]
    page = render(made)
    assert "On links, clients get 86 %" in page and "Reads get 28.0 GiB/s" in page
    made, point = alone(traffic_results(seeds=1))
    assert lanes(made, point) is None and streams(made, point) is None


# The map of a network and its words: what nodes are, and what counts as busy.


def test_nodes_are_what_their_graph_says(tmp_path: Path) -> None:
    made, point = alone(traffic_results(seeds=1))
    by_name = [node["kind"] for node in node_rows(link_rows(made, point), point).values()]
    # The fixture's torus of 64 nodes has 4 routers, and names say which.
    assert by_name.count("router") == 4 and by_name.count("host") == 60
    # In a graph node 0 is the router whatever it is called, and node 63 neither.
    kinds = ["router", *["host"] * 62, "switch"]
    nodes = [{"id": at, "kind": kind} for at, kind in enumerate(kinds)]
    links = [{"source": at, "target": (at + 1) % 64} for at in range(64)]
    path = tmp_path / "lab.json"
    path.write_text(json.dumps({"nodes": nodes, "links": links}), encoding="utf-8")
    made.study["cluster"]["fabric"]["topology"] = {"graph": str(path)}
    (point,) = systems(made)
    said = {at: node["kind"] for at, node in node_rows(link_rows(made, point), point).items()}
    assert said[0] == "router" and said[63] == "switch"
    assert {said[at] for at in range(1, 63)} == {"host"}


def test_busy_shares_beside_clients_are_of_the_time_that_counts() -> None:
    made = beside_rebuild()
    point = largest(systems(made))
    seconds = point.median["statistics_seconds"]
    rows = [row for row in made.servers.to_pylist() if row["run"] == point.median["run"]]
    expected = [row["device_busy_seconds"] / seconds for row in rows]
    shares = [row["device_share"] for row in devices(made, point)]
    assert seconds and shares == pytest.approx(expected)
    busy = charts.chart(made, "busy")
    assert " of the time on average" in busy.heading and "or with clients" in busy.description


def test_faults_repairs_and_labels_fit_their_charts() -> None:
    made = traffic_results(seeds=1, faults=("2 links",))
    made.study["faults"][0]["repair_after"] = "0.25 s"
    text = charts.chart(made, "course").description
    assert "A dashed line marks the fault, at 500 ms." in text
    assert "A dotted line marks the repair, at 750 ms." in text
    assert "Repaired at 750 ms." in describe(made, systems(made)[0])
    made = traffic_results(seeds=1, faults=("none", "2 disks"))
    spec = charts.chart(made, "goodput").make()
    # Two labels, the longer of which has 16 letters of 6 pixels, and 10 pixels between: 212.
    assert spec["letters"] == 2 * (len("2 disks at 0.5 s") * 6 + 10)
    for width, is_turned in ((400, False), (200, True)):
        axis = sized(spec, width)["encoding"]["x"]["axis"]
        assert ("labelAngle" in axis) == is_turned
