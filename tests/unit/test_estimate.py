"""What a run will cost is told before it, and what devices hold: `check` says both."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from resilver import Study, catalog
from resilver.analytic.of_groups import analytic_rates, server_bandwidth
from resilver.cli.check import _applies, estimates
from resilver.estimate import estimate
from resilver.estimate.streams import stream_bytes_per_second, strips_in_place
from resilver.spec.capacity import stored_of
from resilver.spec.toml import write_toml
from resilver.study import simulate
from tests.build import FABRIC, STAR, changed, network_run, study_of, system_of
from tests.terminal import Terminal, written

MIB = 2**20
STRIPES = '{ stripe_unit = "4 MiB", stripe_width = "servers // copies" }'
RING = """
cluster.servers = 12
placement = { algorithm = "ring", placement_groups = "none" }
recovery.pipeline_buffer = "16 MiB"
"""
FAULT = "faults = [{ fail.servers = 1 }]\n"


def estimated(population: str, faults: str = FAULT) -> dict[str, Any]:
    return estimate(system_of("bare", f"{RING}{faults}population = {{ {population} }}"))


def test_files_and_later_faults_move_what_follows_from_them() -> None:
    # 130 MiB in chunks of 64 MiB are objects of 64, 64 and 2 MiB, which 4, 4 and 1 buffers of 16
    # MiB carry. A server of 12 holds a quarter of 1,200 files' replicas, three of each.
    found = estimated('file_size = "130 MiB", files = 1200, objects = { chunk = "64 MiB" }')
    assert (found["objects"], found["replicas_to_move"]) == (3600, 900)
    assert (found["buffers"], found["bytes_to_move"]) == (2700, 300 * 130 * MIB)
    # Striped over 12 // 3 objects in units of 4 MiB, 10 MiB touch three of them, of one buffer.
    found = estimated(f'file_size = "10 MiB", files = 1200, objects = {STRIPES}')
    assert (found["objects"], found["replicas_to_move"], found["buffers"]) == (3600, 900, 900)
    # A server, and later two more: three of twelve servers hold three quarters of an object's
    # three replicas.
    population = 'file_size = "1 MiB", files = 1600'
    later = 'faults = [{ fail.servers = 1 }, { at = "10 min", fail.servers = 2 }]\n'
    assert estimated(population)["replicas_to_move"] == 400
    assert estimated(population, later)["replicas_to_move"] == 1200
    found = estimated('file_size = "1 MiB", files = 0')
    assert (found["objects"], found["buffers"], found["events"]) == (0, 0, 0)
    assert 0.0 < found["seconds"] < 1.0


@pytest.mark.parametrize(
    "population",
    [
        'histogram = "genomes1000", bytes_per_server = "2 TiB", objects = { chunk = "64 MiB" }',
        'histogram = { bins = [["4 KiB", "64 KiB", 50], ["1 MiB", "1 GiB", 1]] }, '
        f'bytes_per_server = "1 TiB", objects = {STRIPES}',
    ],
    ids=["chunked", "striped"],
)
def test_a_run_has_the_events_that_were_expected(population: str) -> None:
    # Seven events a buffer. Which server fails decides how much is rebuilt, so what is compared is
    # a replica's share; a mean over the 10^5 replicas of a run strays by less than a hundredth.
    (run,) = study_of("bare", f"{RING}{FAULT}population = {{ {population} }}").runs()
    expected, metrics = estimate(run.system), simulate(run.system, run.seed).metrics
    objects, replicas, events = (
        int(metrics[name] or 0) for name in ("population_objects", "rebuilt_pieces", "events")
    )
    assert expected["objects"] == pytest.approx(objects, rel=0.05)
    share = expected["events"] / expected["replicas_to_move"]
    assert share == pytest.approx(events / replicas, rel=0.05)


# 10 Gb/s are 1.25e9 B/s; a strip of 16 KiB is four packets of 4 KiB, each with 38 B more.
PORT = 1.25e9 * 16384 / (16384 + 4 * 38)


def test_the_bandwidth_and_the_rates_of_groups_are_those_of_their_ports() -> None:
    assert server_bandwidth(system_of("streamed"), 16384) == pytest.approx(2 * PORT)
    assert server_bandwidth(system_of("streamed", cluster__ports=1), 16384) == pytest.approx(PORT)
    rates = analytic_rates(system_of("streamed"))
    # Of 2 groups of 6 servers one rebuilds with a quarter: reads have 4/7 of what is left,
    # k / (2k - 1) for k = 4, and a strip made takes 4.
    assert rates.read == pytest.approx(2 * PORT * 6 * (1 + 0.75) * 4 / 7)
    assert (rates.write, rates.rebuild) == (0.0, pytest.approx(2 * PORT * 6 * 0.25 / 4))
    writes = analytic_rates(system_of("streamed", traffic__reads=0.0, faults=None))
    # k / (2k + p - 1) for k = 4 and p = 2.
    assert (writes.read, writes.write) == (0.0, pytest.approx(2 * PORT * 12 * 4 / 9))
    assert writes.rebuild == 0.0


@pytest.mark.parametrize(
    ("lanes", "share"),
    [
        ({"order": "priority"}, 0.0),
        ({"order": "priority", "classes": ["rebuild", "clients", "bursts"]}, 1.0),
        # What bursts would have is lent to the others by their shares: 0.2 of 0.8.
        ({"clients": 0.6, "rebuild": 0.2, "bursts": 0.2}, 0.25),
    ],
)
def test_the_rebuild_has_what_its_lane_says(lanes: dict[str, Any], share: float) -> None:
    rates = analytic_rates(system_of("streamed", lanes=lanes))
    assert rates.rebuild == pytest.approx(2 * PORT * 6 * share / 4)


@pytest.mark.parametrize(
    "keys",
    [
        {"lanes": None},
        {"traffic__streams__bursts": {"volume": "1 GiB", "every": "1 s"}},
        {"faults": [{"corrupt": {"groups": 1, "strips": 5}}]},
        {"faults": [{"at": "1 ms", "corrupt": {"groups": 1}}]},
    ],
)
def test_without_a_figure_there_is_none(keys: dict[str, Any]) -> None:
    keys = {"lanes": {"clients": 0.5, "rebuild": 0.5}, **keys}
    assert analytic_rates(system_of("streamed", **keys)) is None
    assert analytic_rates(system_of("coded")) is None


def test_rates_and_entries_hold_streams_back() -> None:
    slow = {"window": 4, "rate": "1 MB/s"}
    asked = stream_bytes_per_second(system_of("streamed", traffic__streams=slow, faults=None))
    assert asked.read == pytest.approx(12e6)
    # Twelve servers of one port would read more than four entries of one link each take in.
    fabric = {**FABRIC, "topology": "leaf spine 4x4 hosts 6 entries 1"}
    narrow = system_of("streamed", cluster__ports=1, cluster__fabric=fabric, faults=None)
    assert stream_bytes_per_second(narrow).read == pytest.approx(4 * PORT)
    assert 12 * PORT * 4 / 7 > 4 * PORT


def test_coded_rebuilds_and_strips_in_place_count_what_they_need() -> None:
    faults = [{"corrupt": {"groups": 2, "strips": 5}}]
    # Two groups of six servers, five strips of 16 KiB each.
    assert strips_in_place(system_of("streamed", faults=faults)) == 2 * 6 * 5 * 16384
    assert strips_in_place(system_of("streamed")) == 0
    copies = estimate(system_of("coded", redundancy=None))
    coded = estimate(system_of("coded"))
    # 200 files of 64 MiB on 8 servers, of which one fails: an eighth of all copies or pieces.
    assert copies["replicas_to_move"] == 200 * 3 / 8
    assert coded["replicas_to_move"] == 200 * 6 / 8
    # Each lost piece of 16 MiB is made of four, in buffers of 16 MiB.
    assert coded["bytes_to_move"] == 150 * 4 * 2**24
    assert coded["buffers"] == 150 * 4
    local = estimate(system_of("coded", redundancy__code="lrc 4+2 local 2"))
    assert local["bytes_to_move"] == 150 * 2 * 2**24


def test_open_arrivals_ask_for_what_they_say() -> None:
    # 100 requests a second for 9 s and 1 s before are 1,000, each of which is 512 KiB in 8 packets
    # of 64 KiB and a message of 64 B. Between a router and a host of the star are 2 links under one
    # leaf and 4 over the spine: one host of the 3 is near, so 10/3 on average.
    run = network_run(
        topology=STAR, outstanding=None, interval=None, arrivals={"poisson": "100 /s"},
        warm_up="1 s", duration="9 s",
    )  # fmt: skip
    found = estimate(run.system)
    assert found["requests"] == 1000
    assert found["packet_hops"] == pytest.approx(1000 * 9 * 10 / 3, abs=1)
    assert found["events"] > found["packet_hops"]
    assert found["objects"] == found["buffers"] == 0
    assert found["rebuilding_seconds"] is None and found["serving_seconds"] > 0.0
    # 3 disks at 22 ms do 136.4 requests a second; of 10,000 a second the rest waits.
    change = {"outstanding": None, "interval": None, "warm_up": "0 s", "duration": "10 s"}
    asked = estimate(network_run(arrivals={"poisson": "10000 /s"}, **change).system)
    done = estimate(network_run(arrivals={"poisson": "136.3636 /s"}, **change).system)
    assert asked["requests"] == 100_000
    assert asked["packet_hops"] == pytest.approx(done["packet_hops"], rel=1e-3)


def test_a_closed_loop_asks_for_what_the_narrowest_place_lets_through() -> None:
    # With 10,000 outstanding the 3 disks are it: 22 ms a request are 136.4 requests a second, for
    # 1 s and the warm-up of twice 22 ms.
    crowded = estimate(network_run(outstanding=10_000).system)
    assert crowded["requests"] == pytest.approx(3 / 0.022 * 1.044, abs=1)
    # With one outstanding, half of the requests wait 22 ms for a disk, all for 8 packets of 65,574
    # B (4.197 ms at 1 Gb/s) over 10/3 links, one behind the other (10.33 / 8 of that), and 11 ms
    # until the next.
    alone = estimate(network_run(outstanding=1).system)
    between = 0.011 + 0.004197 * (8 + 10 / 3 - 1) / 8 + 0.011
    assert alone["requests"] == pytest.approx(1.044 / between, abs=1)
    # Of 8 leaves with 2 spines, 8 links join the halves: 2 * 8 * 125 MB/s each way, which half of
    # the requests of 8 * 65,574 B pass, are 7,625 a second, less than the 192 disks at 22 ms do.
    run = network_run(topology="leaf spine 8x2 hosts 32 routers 64", outstanding=100_000)
    found = estimate(run.system)
    assert found["requests"] == pytest.approx(2 * 8 * 125e6 / (8 * 65_574 / 2) * 1.044, rel=1e-3)


def test_what_moves_nothing_shows_no_rebuild() -> None:
    found = estimate(network_run([{"fail": {"disks": 2}}]).system)
    assert (found["replicas_to_move"], found["bytes_to_move"]) == (0, 0)
    (point,) = estimates([network_run()])
    shown = {key for key in point if _applies(key, point)}
    assert {"requests", "packet_hops", "serving_seconds", "servers"} <= shown
    assert not shown & {"buffers", "bytes_to_move", "rebuilding_seconds", "placement_groups"}


def test_clients_of_their_own_sets_are_tried_once_a_set() -> None:
    """18,688 clients of 2,016 sets around a switch that never fills: each set 64 times."""
    study = Path(catalog.__file__).parent / "studies" / "center-spider-2" / "study.toml"
    found = estimate(Study.load(study).runs()[0].system)
    assert found["requests"] == 64 * 2016


TIB = 2**40


@pytest.mark.parametrize(
    ("code", "times"),
    [
        ("copies 3", Fraction(3)),
        ("rs 8+2", Fraction(10, 8)),
        ("lrc 12+2+2", Fraction(16, 12)),
        ("rs 2+1 over rs 4+1", Fraction(15, 8)),
    ],
)
def test_check_shows_raw_bytes_a_device_and_what_one_holds(
    tmp_path: Path, code: str, times: Fraction, terminal: Terminal
) -> None:
    study = changed("filled", redundancy__code=code, population__bytes_per_server="6 TiB")
    path = written(tmp_path / "study.toml", write_toml(study))
    (point,) = terminal.json_output("check", path)["estimate"]
    # All devices hold alike, so one stores what its server counts, with redundancy.
    assert point["raw_bytes_a_device"] == round(6 * TIB * times)
    assert point["capacity_bytes"] == 20 * 10**12
    said = " ".join(terminal.output("check", path).split())
    assert f"Raw data per device {float(6 * times):.1f} TiB with redundancy" in said
    assert "Capacity of a device 20 TB" in said
    volume = terminal.output("check", path, "--set", "cluster.device=jbod10-sata")
    assert "set cluster.capacity for a limit" in " ".join(volume.split())
    assert "Capacity of a device" not in volume


def test_pools_of_a_device_are_added_up_and_classes_told_apart(
    tmp_path: Path, terminal: Terminal
) -> None:
    text = """
faults = [{ fail.hosts = 1 }]
cluster.parts = [
  { level = "host", count = 10 },
  { level = "osd", in = "host", count = 2, class = "hdd", device = "hdd-7k2-4tb" },
  { level = "osd", in = "host", count = 2, class = "ssd", device = "ssd-sata" },
]
[[pools]]
name = "first"
population = { bytes = "12 TB", file_size = "64 MiB" }
placement = { class = "hdd", placement_groups = 256 }
[[pools]]
name = "second"
population = { files = FILES, file_size = "1 GB" }
placement = { class = "hdd", placement_groups = 256 }
redundancy.code = "rs 4+1"
[[pools]]
name = "flash"
population = { bytes = "400 TB", file_size = "64 MiB" }
placement = { class = "ssd", placement_groups = 256 }
"""
    # 20 disks: 12 TB x 3 / 20 = 1.8 TB of one pool, and 35,200 files x 1.25 GB / 20 = 2.2 TB.
    fits = written(tmp_path / "fits.toml", text.replace("FILES", "35200"))
    (point,) = terminal.json_output("check", fits)["estimate"]
    assert (point["raw_bytes_a_device"], point["capacity_bytes"]) == (4 * 10**12, 4 * 10**12)
    more = written(tmp_path / "more.toml", text.replace("FILES", "35201"))
    # What stores most there is named: 35,201 x 1.25 GB against 36 TB.
    said = "pools.1.population.files = 35201: under rs 4+1 each osd stores"
    assert said in terminal.refusal("check", more)


def test_check_refuses_what_durability_refuses_before_its_work(
    tmp_path: Path, terminal: Terminal
) -> None:
    text = """
cluster.servers = 512
population = { bytes_per_server = "4 TiB", file_size = "64 MiB" }
placement = { algorithm = "groups", group_size = 16 }
redundancy.code = "rs 8+2"
[durability]
repair = "10 h"
failures = [{ afr = "1 %" }]
"""
    grouped = text.replace('"groups", group_size = 16', '"crush", placement_groups = 4096')
    weibull = grouped.replace('afr = "1 %"', 'weibull = { scale = "80 y", shape = 1.2 }')
    for wrong, says in (
        # 32 groups of C(16, 10) sets each are 256,256, more than 40,000.
        (text, "place by groups (placement_groups = 4096)"),
        (weibull + 'method = "exact"\n', "a chain's devices fail at a constant rate"),
        (grouped + 'method = "exact"\nreturns = "groups"\n', 'say returns = "devices"'),
    ):
        path = written(tmp_path / "study.toml", wrong)
        said = terminal.refusal("check", path)
        assert says in said and terminal.refusal("durability", path) == said
    path = written(tmp_path / "study.toml", text)
    assert terminal.output("check", path, "--set", "redundancy.code=rs 14+2")


def test_every_shipped_study_fits_its_devices(root: Path) -> None:
    """Where a study names a disk of the catalog, its population is held to the disk's capacity."""
    held = {}
    for path in sorted((root / "studies").glob("*/study.toml")):
        for system in {id(run.system): run.system for run in Study.load(path).runs()}.values():
            for stored in stored_of(system) if system.report is None else ():
                if stored.share is not None:
                    held[path.parent.name] = max(stored.share, held.get(path.parent.name, 0.0))
    assert {"center-enclosures", "center-mixed", "durability-layouts"} <= held.keys()
    assert max(held.values()) <= 1.0
