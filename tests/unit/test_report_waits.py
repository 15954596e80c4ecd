"""What held a run back, in words, from rows of the tables ``limits`` and ``flows`` alone."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from resilver.columns import SHARD_SCHEMAS
from resilver.report.faults import fault_seconds, fault_sentences
from resilver.report.sentence import (
    cluster_words,
    describe,
    device_words,
    fabric_words,
    lanes_words,
    traffic_words,
)
from resilver.report.traffic_sentence import binding_sentence
from resilver.report.waits import run_records, wait_records, wait_sentence
from resilver.spec import System
from resilver.study.system_runs import SystemRuns, systems
from tests.browser.report_fixture import MemoryResults, results
from tests.build import system_of


def row(run: str, kind: str = "reading", **values: Any) -> dict[str, Any]:
    """The limit of a run: osd.87's disk, which osd.45 waited for, unless something else is said."""
    known = {
        "destination": "osd.45", "window_seconds": 132.0, "kind": kind, "name": "osd.87",
        "level": None, "parts": 1, "busy_fraction": 0.9999, "waited_fraction": 0.83,
        "waited_seconds": 110.0, "buffer_seconds": 0.5, "buffers": 4.0, "destinations": 8,
        "rebuild_fraction": 1.0, "lane_share": None, "is_limit": True,
    }  # fmt: skip
    return {"run": run, **known, **values}


def made(*rows: dict[str, Any], seeds: int = 1) -> MemoryResults:
    """A study of so many seeds, whose runs are numbered in the order of their rows."""
    held = results(seeds=seeds)
    keys = held.runs["run"].to_pylist()
    numbered = [{**one, "run": keys[int(one["run"])]} for one in rows]
    held.limits = pa.Table.from_pylist(numbered, schema=SHARD_SCHEMAS["limits"])
    return held


def sentence(*rows: dict[str, Any], seeds: int = 1) -> str:
    held = made(*rows, seeds=seeds)
    return wait_sentence(held, systems(held)[0])


BEGIN = "osd.45, the last to finish after 2 min 12 s, waited 83 % of that time for "


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "osd.87's disk, 100 % busy reading for 8 OSDs"),
        ({"kind": "writing", "name": "osd.45", "destinations": 1},
         "osd.45's own disk, 100 % busy"),
        ({"kind": "sending", "name": "host.2", "busy_fraction": 0.934},
         "host.2's port, 93 % busy sending for 8 OSDs"),
        ({"kind": "link", "name": "switch.4 to switch.0"},
         "the link switch.4 to switch.0, 100 % busy for 8 OSDs"),
        ({"kind": "link", "name": None, "parts": 12, "busy_fraction": 0.8},
         "the network, at 12 ports and links, 80 % busy on average for 8 OSDs"),
        ({"name": None, "parts": 40, "busy_fraction": 0.95},
         "the disks of 40 sources, 95 % busy on average for 8 OSDs"),
        ({"level": "controller", "name": "controller.3"},
         "controller.3, 100 % busy reading for 8 OSDs"),
        ({"kind": "coding", "name": "osd.45", "destinations": 1},
         "osd.45's computation, 100 % busy"),
        ({"rebuild_fraction": 0.36},
         "osd.87's disk, 100 % busy reading for 8 OSDs, of which the rebuild has 36 %"),
        ({"rebuild_fraction": 0.12, "lane_share": 0.1},
         "the rebuild's lane at osd.87's disk, 100 % busy reading for 8 OSDs, of which "
         "the rebuild has 12 % and is guaranteed 10 %"),
        ({"kind": "send_memory", "busy_fraction": None},
         "osd.87's send memory for 8 OSDs, while no disk and no port of theirs is busy "
         "all the time"),
        ({"kind": "loss", "name": None, "busy_fraction": None},
         "lost messages for 8 OSDs, until they are asked for again"),
        ({"kind": "bandwidth", "name": None, "busy_fraction": None},
         "recovery.bandwidth"),
    ],
)  # fmt: skip
def test_each_kind_of_wait_has_its_sentence(changes: dict[str, Any], words: str) -> None:
    said = sentence({**row("0"), **changes})
    assert said == f"{BEGIN}{words}."
    # Who waits names no bottleneck.
    assert "limit" not in said and "bottleneck" not in said


def test_where_nothing_is_busy_or_of_rows_it_says_so() -> None:
    other = row("0", is_limit=False, busy_fraction=0.41, waited_fraction=0.5)
    idle = row("0", "receive_memory", name=None, busy_fraction=None, buffer_seconds=0.024)
    text = sentence({**idle, "buffers": 1.0}, other)
    assert text == (
        "Nothing is busy all the time: each buffer of osd.45, the last to finish, waits for its "
        "round trip of 24.0 ms, and recovery.receive_memory allows 1.0 under way at a time; the "
        "busiest part it waits for, osd.87's disk, is 41 % busy."
    )
    # The fixture's runs take longer by their seed: of four the second is the lower median.
    held = made(*(row(str(at), name=f"osd.{at}") for at in range(4)), seeds=4)
    (point,) = systems(held)
    at = held.runs["run"].to_pylist().index(point.median["run"])
    text = wait_sentence(held, point)
    assert f"for osd.{at}'s disk" in text
    assert text.endswith(f" (seed {point.median['seed']}, the median run).")
    held = made(row("0"), seeds=2)
    first, second = run_records(held, held.runs.to_pylist())
    assert first["waited_for"] == "osd.87's disk" and "osd.45, the" in first["waited_sentence"]
    assert (second["waited_for"], second["waited_sentence"]) == (None, None)
    (of_system,) = wait_records(held)
    assert of_system["waited_for"] == "osd.87's disk"
    assert sentence() == ""


def bound(start: float, flows: int, name: str, level: str, full: int) -> dict[str, Any]:
    names = {"binding": name, "binding_level": level, "full_parts": full}
    return {"start_seconds": start, "flows": flows, **names}


SLOW = bound(0.0, 8, "server.3", "server", 1)
ALL = bound(0.0, 8, "server.0", "server", 4)
OWN = bound(0.0, 8, "outstanding", "clients", 0)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], ""),
        ([SLOW], "All clients are bound by server.3, which is full."),
        # Of several that are as full none is to blame.
        ([ALL], "All clients are bound by 4 servers, which are full."),
        ([OWN], "All clients get what they ask for, one answer after another."),
        ([SLOW, {**OWN, "flows": 2}], "8 of 10 clients are bound by server.3, which is full."),
        # What is asked for a volume or at a rate may be several flows of a client.
        (
            [
                {**bound(0.0, 96, "arrivals", "clients", 0), "backlog_bytes": 0},
                {**bound(0.0, 32, "server.3", "server", 1), "backlog_bytes": 5},
            ],
            "96 of 128 flows have the rate that they ask for.",
        ),
        # A stretch that changes nothing is not told.
        (
            [ALL, {**ALL, "start_seconds": 5.0}, {**SLOW, "start_seconds": 50.0}],
            "From 0 s on all clients are bound by 4 servers, which are full; "
            "from 50.0 s on all clients are bound by server.3, which is full.",
        ),
    ],
)
def test_what_binds_most_clients_is_told_for_each_change(
    rows: list[dict[str, Any]], text: str
) -> None:
    table = pa.Table.from_pylist([{"run": "a", **row} for row in rows], SHARD_SCHEMAS["flows"])
    results: Any = SimpleNamespace(flows=table)
    point: Any = SimpleNamespace(median={"run": "a"})
    assert binding_sentence(results, point) == text
    assert binding_sentence(SimpleNamespace(), point) == ""  # type: ignore[arg-type]


# What a report's first sentences say of a system is what its study says.


def point_of(system: System) -> SystemRuns:
    """Runs of a system, as far as words need them."""
    row = {"placement_groups": 8, "population_objects": 1}
    return SystemRuns({}, (row,), row, system)


def described(system: System) -> str:
    """The paragraph about one run of a system."""
    runs = pa.table({"run": ["a"], "seed": [1]})
    results: Any = SimpleNamespace(runs=runs, provenance={})
    return describe(results, point_of(system))


def faults(system: System) -> str:
    return " ".join(fault_sentences(point_of(system)))


def clients(system: System) -> str:
    return traffic_words(system.traffic)


def devices(system: System) -> str:
    return device_words(system.cluster)


def network(system: System) -> str:
    return fabric_words(system.cluster)


def cluster(system: System) -> str:
    return cluster_words(system.cluster)


TIMES = "cluster.device = {{ read_service = {}, write_service = {} }}"
OWN_DEVICES = 'cluster.parts = { 2.device = "hdd-7k2-2tb", 3.device = "ssd-sata" }'
ONE = '{ level = "osd", in = "host", count = 2, device.service = "2 ms" }'
OPEN = 'outstanding = "(absent)", interval = "(absent)", arrivals.poisson = "1000/s"'
POISSON = f'traffic = {{ {OPEN}, request_size = "4 KiB", reads = 1.0 }}'


@pytest.mark.parametrize(
    ("words", "study", "change", "text"),
    [
        (described, "coded", "", "rs 4+2, each piece on another server"),
        (described, "coded", 'redundancy = "(absent)"', "3 replicas, each on another server"),
        (lanes_words, "streamed", "", "of shares: 75 % for clients, 25 % for rebuild"),
        (
            lanes_words, "streamed",
            'lanes = { clients = "(absent)", order = "priority", '
            'classes = ["rebuild", "clients", "bursts"] }',
            "by priority: rebuild, clients, bursts",
        ),
        (
            clients, "streamed", "",
            "Clients stream reads of whole stripes, 4 under way in each stream",
        ),
        (
            clients, "streamed",
            'traffic = { reads = 0.0, streams = { rate = "2 MB/s", '
            'bursts = { volume = "1 GiB", every = "10 s" } } }\nlanes = "(absent)"',
            "Clients stream writes of whole stripes at 1.9 MiB/s each, 4 under way in each stream, "
            "and bursts of 1 GiB every 10 s",
        ),
        (
            clients, "streamed", "traffic = { reads = 0.25, streams.window = 1 }",
            "Clients stream reads (25 %) and writes of whole stripes, 1 under",
        ),
        (
            clients, "clients", POISSON,
            "Clients issue 1,000 requests of 4 KiB a second at random moments, all of them reads",
        ),
        (
            clients, "clients", "traffic.targets = { hot_servers = 0.1, hot_requests = 0.9 }",
            "Clients keep 32 requests of 512 KiB outstanding, half of them reads, 90 % of them to "
            "10 % of the servers",
        ),
        (
            clients, "clients", "traffic.targets.zipf = 0.99",
            "Clients keep 32 requests of 512 KiB outstanding, half of them reads, servers by "
            "Zipf's law with exponent 0.99",
        ),
        (
            faults, "streamed",
            'faults = [{ corrupt = { groups = 1, code = "copies 2" } }, '
            '{ at = "100 us", corrupt.groups = [1] }]',
            "Soft errors: 1 group rebuilds strips in place (copies 2); group 1 rebuilds strips in "
            "place from 100 us on.",
        ),
        (
            faults, "streamed", "faults.0.corrupt.groups = 2",
            "Soft errors: 2 groups rebuild strips in place.",
        ),
        # What is slow is not lost.
        (
            faults, "tree",
            'faults = [{ part.osds = ["osd.3"], health = 0.1, at = "1 h", until = "3 h" }, '
            "{ part.racks = 1, health = 0.5 }, { part.hosts = 2, health = 0.25 }, "
            "{ fail.osds = 1 }]",
            "Lost at time zero: 1 OSD at random. "
            "Slow: osd.3 works at 10 % of the speed from 1 h 0 min on until 3 h 0 min; 1 rack at "
            "random works at 50 % of the speed; 2 hosts at random work at 25 % of the speed.",
        ),
        (
            network, "clients", "",
            "Network: torus 4x4 routers 4, links of 1 Gb/s, packets of up to 64 KiB, adaptive "
            "routing",
        ),
        (network, "small", "", "Network: qdr-infiniband, LogGP"),
        (devices, "small", TIMES.format('"0 s"', '"0 s"'), "devices that take no time"),
        (devices, "small", TIMES.format('"22 ms"', '"22 ms"'), "devices that take 22 ms a request"),
        (
            devices, "small", TIMES.format('"1 ms"', '"0 s"'),
            "devices that take 1 ms a read and 0 s a write",
        ),
        # The cluster's own device, a default, is no device of a system whose parts name theirs.
        (
            devices, "tree", f'cluster.parts = [{{ level = "host", count = 3 }}, {ONE}]',
            "devices that take 2 ms a request",
        ),
        (
            devices, "tree", OWN_DEVICES,
            "devices of classes hdd (hdd-7k2-2tb) and ssd (ssd-sata)",
        ),
        (
            cluster, "tree", 'cluster.parts.3.device = "(absent)"',
            "100 devices in a tree of parts, levels osd in host in rack (4 hdd and 1 ssd in each "
            "host), with jbod10-sata devices",
        ),
    ],
)  # fmt: skip
def test_a_system_in_words(
    words: Callable[[System], str], study: str, change: str, text: str
) -> None:
    said = words(system_of(study, change))
    assert text in said if words is described or text.endswith("under") else said == text


def test_slow_parts_are_lost_at_no_time() -> None:
    point = point_of(
        system_of("tree", "faults = [{ part.racks = 1, health = 0.5 }, { fail.osds = 1 }]")
    )
    assert fault_seconds(point) == (0.0,)
    assert point.holder == "OSD"
    assert (point.classes.count("hdd"), point.classes.count("ssd")) == (80, 20)
