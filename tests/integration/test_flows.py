"""Clients as steady flows by the command: beside events, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.study_runs import COPIED, rows, run

# Two controllers pass 100 MB/s each, and take over for each other; 40 drives would read 40 GB/s.
CONTROLLERS = """
[[cluster.parts]]
level = "unit"
count = 1
[[cluster.parts]]
level = "controller"
in = "unit"
count = 2
carries = "drive"
service = "100 MB/s"
partner = true
[[cluster.parts]]
level = "drive"
in = "unit"
count = 40
device = { service = "1 ms" }
[cluster.fabric]
routers = 8
[traffic]
outstanding = 64
reads = 1.0
request_size = "1 MB"
duration = "20 s"
[[faults]]
at = "10 s"
fail = { controllers = ["controller.1"] }
"""
# Eight servers, of which one works at half its speed for two minutes.
SLOW_SERVER = """
[cluster]
servers = 8
device = "jbod10-sata"
fabric = { routers = 64 }
[traffic]
outstanding = 256
reads = 1.0
request_size = "1 MiB"
warm_up = "10 s"
duration = "200 s"
[[faults]]
at = "50 s"
until = "170 s"
part = { servers = ["server.3"] }
health = 0.5
"""
# Quick devices behind links of 1 Gb/s: those of the 4 places where 64 clients enter are full.
LINKS = """
[cluster]
device = { service = "0.01 ms" }
fabric = { model = "switched", topology = "leaf spine 4x4 hosts 8 entries 1", link_rate = "1 Gb/s" }
[traffic]
outstanding = 256
reads = 1.0
request_size = "512 KiB"
warm_up = "1 s"
duration = "4 s"
"""
# Three copies by CRUSH: each write is at three devices.
COPIES = f"""{COPIED}outstanding = 512
reads = 0.3
request_size = "4 MiB"
warm_up = "60 s"
duration = "100 s"
"""
# One request a client at a time: what limits clients is the time of a request alone.
ONE_AT_A_TIME = """
[cluster]
servers = 64
device = "jbod10-sata"
fabric = { routers = 4 }
[traffic]
outstanding = 4
interval = "10 ms"
reads = 1.0
request_size = "64 KiB"
duration = "20 s"
"""
# Every client asks one server of its own: eight share each, and those of the slow one are slow.
OWN_SERVERS = SLOW_SERVER.replace(
    'request_size = "1 MiB"', 'request_size = "1 MiB"\ntargets = { per_client = 1 }'
)
# Clients that ask for 5 MB/s each, of servers that read some 150 MB/s each, so that few wait.
PACED = """
[cluster]
servers = 4
device = "jbod10-sata"
fabric = { routers = 8 }
[traffic]
outstanding = 64
client_rate = "5 MB/s"
targets = { per_client = 2, dealt = "random" }
reads = 1.0
request_size = "1 MiB"
warm_up = "10 s"
duration = "100 s"
"""
# Four RAID sets of 8+2 behind two servers and a couplet, each written by two clients of its own; a
# disk of one set is slow from 20 s on.
SETS = """
[cluster]
parts = [
  { level = "couplet", count = 1, ports = 4, service = "2 GB/s" },
  { level = "server", in = "couplet", count = 2, carries = "ost", service = "900 MB/s" },
  { level = "enclosure", in = "couplet", count = 10 },
  { level = "drive", in = "enclosure", count = 4, device = { service = "2 ms" } },
  { level = "ost", in = "couplet", of = "drive", size = 10, across = "enclosure" },
]
[cluster.fabric]
routers = 8
[population]
file_size = "64 MiB"
files = 4000
[placement]
algorithm = "sets"
level = "ost"
[redundancy]
code = "rs 8+2"
[traffic]
outstanding = 256
targets = { per_client = 1 }
reads = 0.0
request_size = "1 MiB"
warm_up = "2 s"
duration = "38 s"
[[faults]]
at = "20 s"
part = { drives = ["drive.5"] }
health = 0.5
"""
STUDIES = {
    "sets": SETS,
    "own servers": OWN_SERVERS,
    "paced": PACED,
    "controllers": CONTROLLERS,
    "slow server": SLOW_SERVER,
    "links": LINKS,
    "copies": COPIES,
    "one at a time": ONE_AT_A_TIME,
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
    # Four clients with one of eight quick servers each: what binds is where each client enters.
    study = """
[cluster]
servers = 8
device = { service = "0.01 ms" }
fabric = { routers = 4, table = { rows = [["1 B", "2 us", "1 us", "1 ns"]] } }
[traffic]
outstanding = 256
reads = 1.0
request_size = "1 MB"
targets = { per_client = 1 }
duration = "1 s"
"""
    found = run(tmp_path, study, "flows")
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
    study = LINKS.replace("outstanding = 256", "outstanding = 256\ntargets = { per_client = 8 }")
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
