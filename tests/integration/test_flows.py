"""Clients as steady flows by the command: beside events, and what they refuse."""

from pathlib import Path

import pytest

from tests.integration.study_runs import rows, run, study_text

CONTROLLERS, LINKS, PACED = map(study_text, ("controllers", "links", "paced"))
SLOW_SERVER = study_text("slow")
# Every client asks one server of its own: eight share each, and those of the slow one are slow.
OWN_SERVERS = study_text("slow", traffic__targets={"per_client": 1})
# Three copies by CRUSH: each write is at three devices.
WRITES = {"outstanding": 512, "reads": 0.3, "request_size": "4 MiB"}
COPIES = study_text("copied", traffic={**WRITES, "warm_up": "60 s", "duration": "100 s"})
STUDIES = {
    "sets": study_text("raid"),
    "own servers": OWN_SERVERS,
    "paced": PACED,
    "controllers": CONTROLLERS,
    "slow server": SLOW_SERVER,
    "links": LINKS,
    "copies": COPIES,
    "one at a time": study_text("alone"),
}


@pytest.mark.parametrize("name", STUDIES)
def test_flows_and_events_agree_within_5_percent(name: str, tmp_path: Path) -> None:
    events, flows = (run(tmp_path, STUDIES[name], engine) for engine in ("events", "flows"))
    for column in (
        "throughput_bytes_per_second",
        "before_throughput_bytes_per_second",
        "during_throughput_bytes_per_second",
        "read_bytes_per_second",
        "write_bytes_per_second",
        "mean_delay_seconds",
    ):
        if events[column] is None:
            # Nothing fails in this study, so that nothing is during a fault.
            assert flows[column] is None
        else:
            assert flows[column] == pytest.approx(events[column], rel=0.05), column
    # Flows know the mean of delays and no more.
    assert flows["p99_delay_seconds"] is None and events["p99_delay_seconds"] > 0


def test_clients_with_a_server_of_their_own_wait_for_no_other(tmp_path: Path) -> None:
    # Where each client asks all eight servers, the one at half its speed holds all of them up: 8
    # times its half. Where each has one, seven of them go on, and the half is lost: 7.5 of 8.
    everywhere = run(tmp_path / "everywhere", SLOW_SERVER, "flows")
    own = run(tmp_path / "own", OWN_SERVERS, "flows")
    column = "throughput_bytes_per_second"
    assert own[f"before_{column}"] == pytest.approx(everywhere[f"before_{column}"], rel=1e-6)
    ratio = own[f"during_{column}"] / own[f"before_{column}"]
    assert ratio == pytest.approx(7.5 / 8, rel=1e-6)
    ratio = everywhere[f"during_{column}"] / everywhere[f"before_{column}"]
    assert ratio == pytest.approx(0.5, rel=1e-6)


def test_clients_alone_at_their_servers_are_bound_by_their_own_interfaces(tmp_path: Path) -> None:
    found = run(tmp_path, study_text("owned"), "flows")
    # A byte takes an interface 1 ns, and a message 1 us: 0.999 GB/s each.
    assert found["throughput_bytes_per_second"] == pytest.approx(4e9, rel=2e-3)
    assert {row["binding_level"] for row in rows(tmp_path, "flows")} == {"interface"}


def test_clients_that_get_what_they_ask_for_are_bound_by_that(tmp_path: Path) -> None:
    found = run(tmp_path, PACED, "flows")
    # Eight clients of 5 MB/s.
    assert found["throughput_bytes_per_second"] == pytest.approx(40e6, rel=1e-9)
    (row,) = rows(tmp_path, "flows")
    assert (row["binding"], row["binding_level"], row["flows"]) == ("client_rate", "clients", 8)


def test_a_tree_of_links_is_tried_from_every_place(tmp_path: Path) -> None:
    # 16 hosts behind 4 leaves, 4 clients of 4 of the hosts each, in turn: all hosts once. On links
    # 4 places where clients enter, 8 of the 32 hosts each: on links it makes a difference where
    # that is. What binds is the link of each place, whichever hosts are asked.
    study = study_text("links", traffic__targets={"per_client": 8})
    own = run(tmp_path / "own", study, "flows")["throughput_bytes_per_second"]
    everywhere = run(tmp_path / "everywhere", LINKS, "flows")["throughput_bytes_per_second"]
    assert own == pytest.approx(everywhere, rel=0.01)


def test_bytes_are_conserved_in_time(tmp_path: Path) -> None:
    run_row = run(tmp_path, SLOW_SERVER, "flows")
    (server_rows, flow_rows) = (rows(tmp_path, "servers"), rows(tmp_path, "flows"))
    window = run_row["statistics_seconds"]
    moved = run_row["throughput_bytes_per_second"] * window
    # What flows move is what clients get, what devices read, and what traffic tells of the window.
    assert sum(row["bytes"] for row in flow_rows) == pytest.approx(moved, rel=1e-9)
    assert sum(row["device_bytes_read"] for row in server_rows) == pytest.approx(moved, rel=1e-6)
    stretches = {row["start_seconds"]: row for row in rows(tmp_path, "traffic")}
    assert sorted(stretches) == [0.0, 50.0, 170.0]
    # The first stretch of 50 s begins 10 s before statistics do.
    told = sum(row["read_bytes"] for row in stretches.values())
    assert told - stretches[0.0]["read_bytes"] / 5 == pytest.approx(moved, rel=1e-6)
    # A device that binds is busy all the time that it does, and none is busier than the time.
    assert max(row["device_busy_seconds"] for row in server_rows) <= window * (1 + 1e-9)


def test_what_binds_is_named_in_each_stretch_of_time(tmp_path: Path) -> None:
    run(tmp_path, CONTROLLERS, "flows")
    before, during = rows(tmp_path, "flows")
    # Both controllers are as busy, and then the one that is left: 200 MB/s and 100 MB/s.
    assert (before["start_seconds"], during["start_seconds"]) == (0.0, 10.0)
    assert before["binding_level"] == during["binding_level"] == "controller"
    assert during["binding"] == "controller.0"
    assert (before["full_parts"], during["full_parts"]) == (2, 1)
    assert before["bytes_per_second"] == pytest.approx(200e6, rel=1e-6)
    assert during["bytes_per_second"] == pytest.approx(100e6, rel=1e-6)
    assert before["flows"] == during["flows"] == 8
    layers = {row["layer"]: row for row in rows(tmp_path, "layers") if row["start_seconds"] == 0}
    assert list(layers) == ["drive", "controller", "interface", "clients"]
    # 40 drives take 1 ms for 1 MB: 40 GB/s; behind the controllers 200 MB/s are left of it.
    assert layers["drive"]["alone_bytes_per_second"] == pytest.approx(40e9, rel=1e-6)
    assert layers["controller"]["stacked_bytes_per_second"] == pytest.approx(200e6, rel=1e-6)
    assert layers["controller"]["lost_bytes_per_second"] == pytest.approx(39.8e9, rel=1e-6)
    assert layers["controller"]["flows_bound"] == 8
    assert [row["parts"] for row in layers.values()][:2] == [40, 2]
