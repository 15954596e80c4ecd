"""From a report of the core to tables: every column where it belongs, ratios as derived by hand."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from resilver import _core
from resilver.analytic.of_groups import analytic_rates
from resilver.columns import SHARD_SCHEMAS, TABLE_NAMES
from resilver.simulate.network import topology_of
from resilver.simulate.result import _analytic, _rebuilds_in_place, result_of
from resilver.study import simulate
from resilver.study.tables import run_row, shard_table
from tests.build import network_run, system_of

HOSTS, LINKS, WINDOW = 3, 6, 2.0
TABLES = (*TABLE_NAMES[1:], "interfaces")


def topology() -> _core.Topology:
    """The small network."""
    return topology_of(network_run().system, 1)


def reported() -> dict[str, Any]:
    """What the core tells of a run of traffic over the small network, with made-up figures."""
    first, second = topology().ends()
    zeros = np.zeros(HOSTS, dtype=np.int64)
    servers: dict[str, Any] = dict.fromkeys(
        ("rebuilt_objects", "rebuilt_bytes", "remapped_objects", "remapped_bytes",
         "sent_objects", "sent_bytes"), zeros,
    )  # fmt: skip
    servers |= {
        "failed": np.zeros(HOSTS, dtype=bool),
        "finish_seconds": pa.nulls(HOSTS, pa.float64()),
        "device_busy_seconds": np.array([0.5, 1.0, 1.5]),
        "device_bytes_read": np.array([10, 20, 30]),
        "device_bytes_written": np.array([1, 2, 3]),
    }
    counts = ("requests_completed", "requests_lost", "requests_read", "requests_written")
    for number, name in enumerate((*counts, "write_backlog_requests")):
        servers[name] = np.array([number, number + 1, number + 2])
    links: dict[str, Any] = {
        "link": np.arange(LINKS),
        "from": first,
        "to": second,
        "failed": np.zeros(LINKS, dtype=bool),
    }
    for direction, base in (("forward", 0.1), ("backward", 0.2)):
        links[f"{direction}_busy_seconds"] = base * np.arange(1, LINKS + 1)
        for name in ("packets", "queued", "bytes"):
            links[f"{direction}_{name}"] = np.arange(LINKS)
    interval = {
        "start_seconds": np.array([0.0, 1.0]),
        "duration_seconds": np.array([1.0, 1.0]),
        "mean_delay_seconds": pa.array([0.03, None]),
    }
    for name in ("requests_completed", "requests_lost", "read_bytes", "write_bytes",
                 "packets_dropped", "write_backlog_requests"):  # fmt: skip
        interval[name] = np.array([5, 0])
    return {
        "digest": "00",
        "events": 1000,
        "simulated_seconds": 2.044,
        "statistics_seconds": WINDOW,
        "rebuilt_bytes": 0,
        "rebuild_seconds": None,
        "requests_completed": 5,
        "mean_hops": 4.0,
        "servers": servers,
        "transfers": {n: np.zeros(0, np.int64) for n in SHARD_SCHEMAS["transfers"].names[1:]},
        "timeline": {n: np.zeros(0) for n in SHARD_SCHEMAS["timeline"].names[1:]},
        "interfaces": {"send_busy_seconds": np.zeros(0), "receive_busy_seconds": np.zeros(0)},
        "links": links,
        "distributions": {
            "quantity": ["hops"], "low": np.array([4.0]), "high": np.array([5.0]),
            "count": np.array([45]),
        },
        "traffic": interval,
        "parts": {"name": [], "busy_seconds": np.zeros(0)},
        "pools": {"objects": np.zeros(1, np.int64)},
    }  # fmt: skip


def result(report: dict[str, Any]) -> Any:
    """The result of the run whose metrics and columns these are."""
    metrics = {name: value for name, value in report.items() if name not in TABLES}
    tables = {name: report.get(name) for name in TABLES}
    found = {name: pa.table(columns) if columns else None for name, columns in tables.items()}
    return result_of(network_run().system, 1, metrics, found)


def test_every_table_fits_its_schema_and_is_stored() -> None:
    found = result(reported())
    for name in TABLE_NAMES[1:]:
        table = shard_table(name, "k", getattr(found, name))
        assert table.schema.equals(SHARD_SCHEMAS[name])
    assert run_row("k", 1, found.metrics)["mean_hops"].to_pylist() == [4.0]
    assert [found.servers.num_rows, found.links.num_rows, found.traffic.num_rows] == [3, 6, 2]
    # An interval in which no request ended has no mean delay.
    assert found.traffic["mean_delay_seconds"].to_pylist() == [0.03, None]
    assert found.servers["requests_lost"].to_pylist() == [1, 2, 3]
    assert found.servers["finish_seconds"].null_count == 3


def test_links_have_the_names_and_places_of_their_ends() -> None:
    names, places = topology().node_names(), topology().positions()
    for row in result(reported()).links.to_pylist():
        assert (row["from_name"], row["to_name"]) == (names[row["from"]], names[row["to"]])
        assert [row["from_x"], row["from_y"]] == places[row["from"]].tolist()
        assert [row["to_x"], row["to_y"]] == places[row["to"]].tolist()
        assert 0.0 <= row["to_x"] <= 1.0 and 0.0 <= row["to_y"] <= 1.0


def test_busy_shares_are_of_the_window() -> None:
    metrics = result(reported()).metrics
    # Twelve channels: 0.1 and 0.2 s times 1 to 6 are 0.3 * 21 s over 12, of a window of 2 s.
    assert metrics["link_busy_fraction"] == pytest.approx(0.3 * 21 / 12 / 2)
    assert metrics["link_busy_fraction_max"] == pytest.approx(0.2 * 6 / 2)
    assert metrics["device_busy_fraction"] == pytest.approx(1.0 / 2)
    assert metrics["device_busy_fraction_max"] == pytest.approx(1.5 / 2)
    assert (metrics["device_bytes_read"], metrics["device_bytes_written"]) == (60, 6)
    assert metrics["aggregate_bytes_per_second"] is None


def test_a_host_is_as_busy_as_its_ports_on_average() -> None:
    first, second = (ends.tolist() for ends in topology().ends())
    busy = result(reported()).servers["link_busy_seconds"].to_pylist()
    for host, node in enumerate(topology().hosts):
        (link,) = [at for at in range(LINKS) if node in (first[at], second[at])]
        # Link i is busy for 0.1 (i + 1) s one way and twice that the other.
        assert busy[host] == pytest.approx(0.15 * (link + 1))


def test_what_failed_is_named_in_the_metrics() -> None:
    run = network_run(
        [
            {"fail": {"disks": 3}},
            {"fail": {"switches": 1}},
            {"part": {"link": 1}, "health": 0.5},
            {"part": {"server": ["server.1"]}, "health": 0.9},
        ]
    )
    metrics = simulate(run.system, 1).metrics
    slow_link, slow_server = str(metrics["slow_parts"]).split(",")
    assert slow_link.count("switch") == 2 and slow_server == "server.1"
    assert metrics["failed_disks"] == "server.0,server.1,server.2"
    assert str(metrics["failed_switches"]).startswith("switch.")
    assert metrics["failed_servers"] is None
    assert metrics.get("failed_links") is None


def test_a_run_of_traffic_alone_says_nothing_of_a_rebuild() -> None:
    # The core counts zeros of what is not there; a zero would read as a rebuild that took no time.
    report = reported() | {"affected_objects": 0, "rebuild_seconds": 0.0}
    report["timeline"] = {name: np.zeros(2) for name in SHARD_SCHEMAS["timeline"].names[1:]}
    found = result(report)
    for name in ("population_objects", "rebuild_seconds", "rebuilt_bytes", "affected_objects"):
        assert found.metrics[name] is None, name
    assert found.timeline.num_rows == found.transfers.num_rows == 0
    for name in ("rebuilt_bytes", "sent_objects", "finish_seconds"):
        assert found.servers[name].null_count == HOSTS
    assert found.servers["failed"].null_count == 0


def lanes_reported() -> dict[str, Any]:
    """What the core tells of two lanes at links and devices, of which the clients' lends."""
    return {
        "part": ["links", "links", "devices", "devices"],
        "class": ["clients", "rebuild"] * 2,
        "share": np.array([0.75, 0.25] * 2),
        "units": np.array([9, 3, 1, 0]),
        "bytes": np.array([900, 300, 50, 0]),
        "busy_seconds": np.array([0.9, 0.3, 0.1, 0.0]),
        # No request of the rebuild came to a device, so that none waited.
        "mean_wait_seconds": pa.array([0.5, 0.25, 0.0, None]),
        "lent_bytes": np.array([120, 30, 7, 0]),
        "borrowed_bytes": np.array([30, 120, 0, 7]),
    }


def test_lanes_are_stored_and_what_they_lent_is_summed_over_the_network() -> None:
    lending = {"part": ["links"], "lender": ["clients"], "borrower": ["rebuild"], "bytes": [120]}
    found = result(reported() | {"lanes": lanes_reported(), "lending": lending})
    # What devices lent is not the network's: 120 + 30.
    assert found.metrics["lent_bytes"] == 150
    assert shard_table("lanes", "k", found.lanes)["mean_wait_seconds"].null_count == 1
    assert shard_table("lending", "k", found.lending).num_rows == 1
    without = result(reported())
    assert (without.metrics["lent_bytes"], without.lanes.num_rows) == (None, 0)


def test_streams_over_groups_stand_beside_the_analytic_model() -> None:
    system = system_of("streamed")
    metrics = _analytic(system)
    rates = analytic_rates(system)
    assert metrics["analytic_read_bytes_per_second"] == rates.read > 0
    assert metrics["analytic_rebuild_bytes_per_second"] == rates.rebuild > 0
    assert _analytic(network_run().system) == {}


def test_what_is_rebuilt_in_place_has_a_time_where_it_comes_to_an_end() -> None:
    assert not _rebuilds_in_place(system_of("streamed"))
    assert _rebuilds_in_place(system_of("streamed", "faults.0.corrupt.strips = 5"))


@pytest.mark.parametrize("absent", [None, {}])
def test_parts_that_a_system_has_not_are_tables_without_rows(absent: dict[str, Any] | None) -> None:
    report = reported()
    for name in ("links", "distributions", "traffic"):
        report[name] = absent
    report["interfaces"] = {
        "send_busy_seconds": np.array([0.2, 0.4, 0.6]),
        "receive_busy_seconds": np.array([0.4, 0.8, 1.2]),
    }
    found = result(report)
    assert [getattr(found, n).num_rows for n in ("links", "distributions", "traffic")] == [0, 0, 0]
    # The interfaces stand in for links: the mean of both directions, and all six for the shares.
    assert found.servers["link_busy_seconds"].to_pylist() == pytest.approx([0.3, 0.6, 0.9])
    assert found.metrics["link_busy_fraction"] == pytest.approx(3.6 / 6 / 2)
