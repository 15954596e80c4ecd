"""What a report's first sentences say of a system is what its study says."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from resilver.report.faults import fault_seconds, fault_sentences
from resilver.report.sentence import (
    cluster_words,
    describe,
    device_words,
    fabric_words,
    lanes_words,
    traffic_words,
)
from resilver.spec import System
from resilver.study.system_runs import SystemRuns
from tests.build import system_of


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
OWN = 'cluster.parts = { 2.device = "hdd-7k2-2tb", 3.device = "ssd-sata" }'
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
            devices, "tree", OWN,
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
