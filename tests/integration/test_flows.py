"""Clients as flows by the command: beside events, and by closed forms."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.study_runs import rows, run, study_text

CONTROLLERS, LINKS, PACED = map(study_text, ("controllers", "links", "paced"))
SLOW_SERVER = study_text("slow")
# Every client asks one server of its own: eight share each, and those of the slow one are slow.
OWN_SERVERS = study_text("slow", traffic__targets={"per_client": 1})
# Three copies by CRUSH: each write is at three devices.
WRITES = {"outstanding": 512, "reads": 0.3, "request_size": "4 MiB"}
COPIES = study_text("copied", traffic={**WRITES, "warm_up": "60 s", "duration": "100 s"})
CLOSED = {
    "sets": study_text("raid"),
    "own servers": OWN_SERVERS,
    "paced": PACED,
    "controllers": CONTROLLERS,
    "slow server": SLOW_SERVER,
    "links": LINKS,
    "copies": COPIES,
    "one at a time": study_text("alone"),
}


# Three copies by CRUSH under 64 clients: the servers differ by what they hold, and the one that
# holds most binds once what the others wait with has run dry.
WINDOWS = {"warm_up": "300 s", "duration": "100 s"}
STREAMS = study_text("copied", traffic={"streams": {"window": 8}, "reads": 0.3, **WINDOWS})
# 4 MB/s of each of 64 clients, and 80 GB over all of them every 80 s.
BURSTS = {"volume": "80 GB", "every": "80 s", "first": "10 s"}
OF_RATE = {"streams": {"window": 8, "rate": "4 MB/s", "bursts": BURSTS}, "reads": 0.0}
BURSTING = study_text("copied", traffic={**OF_RATE, "warm_up": "0 s", "duration": "240 s"})
# Requests at random moments to servers of which one works at 0.3 of its speed for 50 s: what comes
# to it then waits, and is done after it.
SLOW_FOR_50 = {"faults__0__until": "100 s", "faults__0__health": 0.3}


def arriving(arrivals: dict[str, Any], **keys: Any) -> str:
    """The study of the slow server, with requests that arrive and these keys replaced."""
    return study_text("slow", traffic__outstanding=None, traffic__arrivals=arrivals, **keys)


ARRIVALS = arriving({"poisson": "800 /s"}, **SLOW_FOR_50)
PARETO = arriving({"pareto": "800 /s", "shape": 2.5}, **SLOW_FOR_50)
HOT_SERVERS = {"hot_servers": 0.25, "hot_requests": 0.4}
HOT = arriving({"poisson": "800 /s"}, traffic__targets=HOT_SERVERS, **SLOW_FOR_50)
OVER_TIME = {
    "streams": STREAMS,
    "bursts": BURSTING,
    "turns": study_text("turns"),
    "poisson": ARRIVALS,
    "pareto": PARETO,
    "hot": HOT,
}
COLUMNS = (
    "throughput_bytes_per_second",
    "before_throughput_bytes_per_second",
    "during_throughput_bytes_per_second",
    "after_throughput_bytes_per_second",
    "read_bytes_per_second",
    "write_bytes_per_second",
    "burst_bytes_per_second",
    "mean_burst_delay_seconds",
    "device_busy_fraction",
)


@pytest.mark.parametrize("name", CLOSED | OVER_TIME)
def test_flows_and_events_agree_within_5_percent(name: str, tmp_path: Path) -> None:
    study = (CLOSED | OVER_TIME)[name]
    events, flows = (run(tmp_path, study, engine) for engine in ("events", "flows"))
    for column in (*COLUMNS, *(["mean_delay_seconds"] if name in CLOSED else [])):
        if events[column] is None:
            # Nothing fails in this study, so that nothing is during a fault.
            assert flows[column] is None, column
        else:
            assert flows[column] == pytest.approx(events[column], rel=0.05), column
    # Flows know the mean of delays and no more.
    assert flows["p99_delay_seconds"] is None and (name in OVER_TIME or events["p99_delay_seconds"])


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


def test_clients_are_bound_by_their_own_interfaces_or_by_what_they_ask_for(tmp_path: Path) -> None:
    found = run(tmp_path / "owned", study_text("owned"), "flows")
    # A byte takes an interface 1 ns, and a message 1 us: 0.999 GB/s each.
    assert found["throughput_bytes_per_second"] == pytest.approx(4e9, rel=2e-3)
    assert {row["binding_level"] for row in rows(tmp_path / "owned", "flows")} == {"interface"}
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


def test_bursts_over_a_bound_take_their_volume_over_that_one_behind_the_other(
    tmp_path: Path,
) -> None:
    # Each of two copies passes one of the controllers, so that 100 MB/s of data are written. The
    # coordinator sends the other copy, which passes no controller but its own: 2 GB take 20 s.
    found = run(tmp_path, study_text("bound"), "flows")
    assert found["mean_burst_delay_seconds"] == pytest.approx(20.0, rel=1e-3)
    # Two bursts of 2 GB in 60 s.
    assert found["burst_bytes_per_second"] == pytest.approx(4e9 / 60, rel=1e-9)
    flows = rows(tmp_path, "flows")
    assert {row["traffic"] for row in flows} == {"bursts"}
    assert {row["binding_level"] for row in flows} == {"controller"}
    assert [row["start_seconds"] for row in flows] == pytest.approx([5.0, 35.0])
    # All of it has moved, and nothing waits.
    assert sum(row["bytes"] for row in flows) == 4_000_000_000
    assert [row["backlog_bytes"] for row in flows] == [0, 0]

    # They are served one behind the other where they overlap: one every 15 s, of which each takes
    # 20, begins at 5, 20, 35 and 50 s and would end at 25, 45, 65 and 85 s. Two end within 60 s,
    # after 20 and 25 s; 5.5 GB have moved, of 8 GB.
    study = study_text("bound", traffic__streams__bursts__every="15 s")
    found = run(tmp_path / "more", study, "flows")
    assert found["mean_burst_delay_seconds"] == pytest.approx(22.5, rel=1e-3)
    assert found["burst_bytes_per_second"] == pytest.approx(5.5e9 / 60, rel=1e-3)
    assert rows(tmp_path / "more", "flows")[-1]["backlog_bytes"] == pytest.approx(2.5e9, rel=2e-3)


def test_what_is_asked_for_and_not_got_is_a_backlog_that_is_worked_off(tmp_path: Path) -> None:
    # 1,400 requests of 1 MiB a second to eight servers that read 158.3 a second each: 133.4 too
    # many, for 210 s.
    study = arriving({"poisson": "1400 /s"}, faults=None)
    events, flows = (run(tmp_path, study, engine) for engine in ("events", "flows"))
    assert flows["throughput_bytes_per_second"] == pytest.approx(
        events["throughput_bytes_per_second"], rel=0.01
    )
    asked, lasts = 1400 * 2**20, 210.0
    left = (asked - flows["throughput_bytes_per_second"]) * lasts
    assert flows["backlog_bytes"] == pytest.approx(left, rel=1e-6)
    assert flows["requests_outstanding"] == pytest.approx(events["requests_outstanding"], rel=0.05)
    told = sum(row["backlog_bytes"] for row in rows(tmp_path, "flows"))
    assert told == pytest.approx(flows["backlog_bytes"], abs=len(rows(tmp_path, "flows")))
    assert flows["mean_delay_seconds"] is None and flows["mean_read_delay_seconds"] is None
    # Server 3 gets 100 requests of 1 MiB a second. At 0.3 of 158.3 a second it reads 47.5: 2,625 of
    # them wait after 50 s, and are done within 2,625 / 58.3 = 45 s.
    run(tmp_path / "slow", ARRIVALS, "flows")
    later = rows(tmp_path / "slow", "flows")
    starts = sorted({row["start_seconds"] for row in later})
    assert starts == pytest.approx([0.0, 50.0, 100.0, 145.0], abs=0.1)
    (waiting,) = {row["backlog_bytes"] for row in later} - {0}
    assert waiting == pytest.approx(2625 * 2**20, rel=1e-3)


def test_a_trace_is_a_flow_until_its_last_request(tmp_path: Path) -> None:
    # 1,000 requests within 10 s, all to server 1, of a run of 20 s: 100 MB/s for half of it.
    lines = [f"{0.01 * (number + 1):g},read,1 MB,server.1" for number in range(1000)]
    trace = "\n".join(["seconds,kind,size,target", *lines])
    (tmp_path / "trace.csv").write_text(trace + "\n", encoding="utf-8")
    events, flows = (run(tmp_path, study_text("traced"), engine) for engine in ("events", "flows"))
    for found in (events, flows):
        assert found["throughput_bytes_per_second"] == pytest.approx(50e6, rel=1e-6)
    busy = [row["device_bytes_read"] for row in rows(tmp_path, "servers")]
    assert busy == pytest.approx([0, 1e9, 0, 0], abs=1)


def test_flows_over_time_conserve_bytes_and_have_a_digest(tmp_path: Path) -> None:
    found = run(tmp_path / "one", BURSTING, "flows")
    again = run(tmp_path / "again", BURSTING, "flows")
    assert found["digest"] == again["digest"]
    flows, window = rows(tmp_path / "one", "flows"), found["statistics_seconds"]
    moved = sum(row["bytes"] for row in flows)
    told = found["throughput_bytes_per_second"] + found["burst_bytes_per_second"]
    assert moved == pytest.approx(told * window, rel=1e-9)
    # Each byte is written three times, and no server is busier than the time.
    servers = rows(tmp_path / "one", "servers")
    written = sum(row["device_bytes_written"] for row in servers)
    assert written == pytest.approx(3 * moved, rel=1e-6)
    assert max(row["device_busy_seconds"] for row in servers) <= window * (1 + 1e-9)
    # What clients get in each stretch is what they get in all.
    told_of = sum(row["write_bytes"] for row in rows(tmp_path / "one", "traffic"))
    assert told_of == pytest.approx(found["write_bytes_per_second"] * window, rel=1e-6)
