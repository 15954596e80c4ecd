"""From what the core reports to tables: every column where it belongs, ratios of the tables."""

from typing import Any

import numpy as np
import pytest

from resilver.analytic.of_groups import analytic_rates
from resilver.columns import SHARD_SCHEMAS, TABLE_NAMES
from resilver.simulate import RunResult
from resilver.simulate.network import topology_of
from resilver.simulate.result import _analytic, _rebuilds_in_place
from resilver.study import simulate
from resilver.study.tables import run_row, shard_table
from tests.build import network_run, system_of
from tests.reference.compare import real


def columns(found: RunResult, table: str, *names: str) -> list[Any]:
    """Columns of a table of a run."""
    return [np.array(getattr(found, table)[name].to_pylist()) for name in names]


@pytest.fixture(scope="module")
def served() -> RunResult:
    """Clients of three hosts, three switches and six links, for 1.5 s after a warm-up."""
    run = network_run(warm_up="0.5 s", duration="1.5 s")
    return simulate(run.system, run.seed)


def test_every_table_fits_its_schema_and_links_have_named_ends(served: RunResult) -> None:
    for name in TABLE_NAMES[1:]:
        table = shard_table(name, "k", getattr(served, name))
        assert table.schema.equals(SHARD_SCHEMAS[name])
    assert run_row("k", 1, served.metrics)["mean_hops"].to_pylist() == [served.metrics["mean_hops"]]
    assert [served.servers.num_rows, served.links.num_rows] == [3, 6] and served.traffic.num_rows
    # A run of traffic alone says nothing of a rebuild, where the core counts zeros: a zero would
    # read as a rebuild that took no time.
    for name in ("population_objects", "rebuild_seconds", "rebuilt_bytes", "affected_objects"):
        assert served.metrics[name] is None, name
    assert served.timeline.num_rows == served.transfers.num_rows == 0
    for name in ("rebuilt_bytes", "sent_objects", "finish_seconds"):
        assert served.servers[name].null_count == 3
    assert served.servers["failed"].to_pylist() == [False] * 3
    assert (served.metrics["lent_bytes"], served.lanes.num_rows) == (None, 0)
    network = topology_of(network_run().system, 1)
    names, places = network.node_names(), network.positions()
    for row in served.links.to_pylist():
        for end in ("from", "to"):
            assert row[f"{end}_name"] == names[row[end]]
            assert [row[f"{end}_x"], row[f"{end}_y"]] == places[row[end]].tolist()
            assert 0.0 <= row[f"{end}_x"] <= 1.0 and 0.0 <= row[f"{end}_y"] <= 1.0


def test_each_way_of_a_link_is_counted_by_itself() -> None:
    """Of reads one at a time a packet asks, and of eight that answer seven wait for the first."""
    run = network_run(reads=1.0, request_size="512 KiB", outstanding=1, warm_up="0 s")
    found = simulate(run.system, run.seed)
    rows = [row for row in found.links.to_pylist() if row["from_name"].startswith("host")]
    for row in rows:
        asked, answered = row["backward_packets"], row["forward_packets"] // 8
        # The end of the run may come between the two.
        assert 0 < answered <= asked <= answered + 1
        assert (row["forward_packets"], row["forward_queued"]) == (8 * answered, 7 * answered)
        assert row["backward_queued"] == 0
        # 38 B of a packet are not data, of which 64 B ask; a byte takes 8 ns.
        sizes = {"forward": answered * (2**19 + 8 * 38), "backward": asked * (64 + 38)}
        for way, size in sizes.items():
            assert row[f"{way}_bytes"] == size
            assert row[f"{way}_busy_seconds"] == pytest.approx(8e-9 * size)


def test_busy_shares_are_of_the_window_and_of_ports_on_average(served: RunResult) -> None:
    window = real(served, "statistics_seconds")
    assert window == pytest.approx(1.5) and real(served, "simulated_seconds") >= 2.0
    both = columns(served, "links", "forward_busy_seconds", "backward_busy_seconds")
    devices, read, written = columns(
        served, "servers", "device_busy_seconds", "device_bytes_read", "device_bytes_written"
    )
    for part, busy in (("link", np.concatenate(both)), ("device", devices)):
        assert 0 < real(served, f"{part}_busy_fraction") == pytest.approx(busy.mean() / window)
        assert real(served, f"{part}_busy_fraction_max") == pytest.approx(busy.max() / window)
    assert real(served, "device_bytes_read") == read.sum() > 0
    assert real(served, "device_bytes_written") == written.sum() > 0
    assert served.metrics["aggregate_bytes_per_second"] is None
    # A host has one link, whose two directions are its port's.
    (of_ports,) = columns(served, "servers", "link_busy_seconds")
    ends = columns(served, "links", "from", "to")
    for node, busy in zip(topology_of(network_run().system, 1).hosts, of_ports, strict=True):
        (link,) = np.flatnonzero((ends[0] == node) | (ends[1] == node))
        assert busy == pytest.approx((both[0][link] + both[1][link]) / 2)


def test_interfaces_stand_where_a_system_has_no_links() -> None:
    """A port is as busy as both its directions on average; without clients, of the whole run."""
    found = simulate(system_of("coded"), 1)
    assert found.links.num_rows == found.distributions.num_rows == found.traffic.num_rows == 0
    (busy,) = columns(found, "servers", "link_busy_seconds")
    share = busy.mean() / real(found, "simulated_seconds")
    assert 0 < real(found, "link_busy_fraction") == pytest.approx(share)
    rate = real(found, "rebuilt_bytes") / real(found, "rebuild_seconds")
    assert real(found, "aggregate_bytes_per_second") == pytest.approx(rate)
    (device,) = columns(found, "servers", "device_busy_seconds")
    # What failed is none of the devices whose shares are told.
    alive = np.delete(device, 3).mean() / real(found, "simulated_seconds")
    assert real(found, "device_busy_fraction") == pytest.approx(alive)


def test_what_failed_is_named_in_the_metrics() -> None:
    slow = [{"part": {"link": 1}, "health": 0.5}, {"part": {"server": ["server.1"]}, "health": 0.9}]
    run = network_run([{"fail": {"disks": 3}}, {"fail": {"switches": 1}}, *slow])
    metrics = simulate(run.system, 1).metrics
    slow_link, slow_server = str(metrics["slow_parts"]).split(",")
    assert slow_link.count("switch") == 2 and slow_server == "server.1"
    assert metrics["failed_disks"] == "server.0,server.1,server.2"
    assert str(metrics["failed_switches"]).startswith("switch.")
    assert metrics["failed_servers"] is None
    assert metrics.get("failed_links") is None


def test_streams_have_lanes_that_lend_and_stand_beside_the_analytic_model() -> None:
    system = system_of("streamed", "lanes.devices = true")
    found = simulate(system, 1)
    # What devices lent is not the network's.
    parts, lent = columns(found, "lanes", "part", "lent_bytes")
    assert found.metrics["lent_bytes"] == lent[parts != "devices"].sum() > 0
    assert lent[parts == "devices"].size and found.lending.num_rows
    for name in ("lanes", "lending"):
        assert shard_table(name, "k", getattr(found, name)).num_rows
    rates = analytic_rates(system)
    assert rates is not None and rates.read > 0 and rates.rebuild > 0
    assert found.metrics["analytic_read_bytes_per_second"] == rates.read
    assert found.metrics["analytic_rebuild_bytes_per_second"] == rates.rebuild
    assert _analytic(network_run().system) == {}
    # What is rebuilt in place has a time where it comes to an end.
    assert not _rebuilds_in_place(system_of("streamed"))
    assert _rebuilds_in_place(system_of("streamed", "faults.0.corrupt.strips = 5"))
