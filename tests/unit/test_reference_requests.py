"""Requests on stored objects equal those of the plain-Python twin, to the picosecond."""

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import RunResult, Study
from resilver.spec import System
from resilver.study import simulate
from tests.reference.network_twin import Figures, Network, Request
from tests.reference.request_twin import Outcome, Requests
from tests.scale import times

# Files of many objects, so that few draws fill the sample; the last object of each is short.
FILES = {"file_size": "150 MiB", "objects": {"chunk": "400 KiB"}, "files": 40}
LOOP = {"outstanding": 12, "interval": "2 ms", "warm_up": "0 s", "duration": "300 ms"}
RING = {"algorithm": "ring", "ring_points": 64}


def described(servers: int, **sections: Any) -> dict[str, Any]:
    """A study of clients of a small cluster of which nothing fails."""
    return {
        "cluster": {"servers": servers, "fabric": {"routers": 3}},
        "population": FILES,
        "placement": RING,
        "redundancy": {"replicas": 3},
        "traffic": LOOP,
        **sections,
    }


# Name: the study, and what must occur in it for the case to be worth its name.
CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "copies": (described(6), {"disk busy", "receive interface busy"}),
    "at-once": (
        described(5, traffic={**LOOP, "interval": "0 s", "duration": "60 ms"}),
        {"disk busy", "send interface busy", "receive interface busy"},
    ),
    "a-code-that-takes-time": (
        described(7, redundancy={"code": "rs 3+2", "coding": "40 MB/s"}),
        {"coder busy", "disk busy"},
    ),
    "local-pieces": (described(12, redundancy={"code": "lrc 6+4 local 2"}), {"disk busy"}),
    "one-copy-and-reads-alone": (
        described(4, redundancy={"replicas": 1}, traffic={**LOOP, "reads": 1.0}),
        {"disk busy"},
    ),
}


def assert_equal(description: dict[str, Any], seed: int) -> Outcome:
    """Run both sides and compare them exactly."""
    system: System = Study.from_dict(description).runs()[0].system
    core, twin = simulate(system, seed), Requests(system, seed).run()
    done = {kind: len(delays) for kind, delays in twin.delays.items()}
    expected = {
        "requests_issued": twin.issued,
        "requests_completed": sum(done.values()),
        "requests_outstanding": twin.outstanding,
        "client_device_bytes_read": twin.bytes_asked["read"],
        "client_device_bytes_written": twin.bytes_asked["write"],
    }
    assert {name: core.metrics[name] for name in expected} == expected
    for kind, delays in twin.delays.items():
        # The sum is a whole number of picoseconds; a double of its mean is off by 2^-53 of it.
        mean = core.metrics[f"mean_{kind}_delay_seconds"]
        assert mean is None if not delays else round(mean * 1e12 * len(delays)) == sum(delays)
    busy = [round(row["device_busy_seconds"] * 1e12) for row in core.servers.to_pylist()]
    assert busy == twin.busy
    return twin


@pytest.mark.parametrize("name", CASES)
def test_requests_equal_those_of_the_twin(name: str) -> None:
    description, must_occur = CASES[name]
    twin = assert_equal(description, seed=7)
    assert must_occur <= set(+twin.seen)
    assert min(twin.issued - twin.outstanding, twin.outstanding) > 0


@settings(max_examples=times(2), deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(6, 11),
    st.sampled_from(["rs 2+1", "rs 4+2", "copies 2", "copies 3"]),
    st.floats(0, 1, allow_subnormal=False),
    st.integers(1, 40),
)
def test_drawn_loops_equal_those_of_the_twin(
    seed: int, servers: int, code: str, reads: float, outstanding: int
) -> None:
    loop = {**LOOP, "reads": reads, "outstanding": outstanding, "duration": "100 ms"}
    assert_equal(described(servers, redundancy={"code": code}, traffic=loop), seed)


# The core's packets equal those of the plain-Python twin: every delay, hop and busy picosecond.


PICOSECONDS = 10**12
# 1 Gb/s is 8,000 ps a byte.
FABRIC = {
    "model": "switched",
    "link_rate": "1 Gb/s",
    "link_latency": "1 us",
    "switch_latency": "6 us",
    "hop_limit": 24,
}
FIGURES = Figures(
    picoseconds_per_byte=8_000,
    latency=1_000_000,
    switch_latency=6_000_000,
    overhead=38,
    packet=65_536,
    request=200_000,
    control=64,
    service=3_000_000_000,
    hop_limit=24,
)


def ports_of(sides: list[int], wraps: bool) -> list[list[int]]:
    """Of each node of a grid the far ends of its ports: next and previous in each dimension.

    Without sides, of a hypercube of five dimensions: port i leads across binary digit i.
    """
    if not sides:
        return [[node ^ 1 << digit for digit in range(5)] for node in range(32)]
    ports = []
    for place in itertools.product(*(range(side) for side in sides)):
        around: list[int] = []
        for dimension, side in enumerate(sides):
            for step in (1, -1):
                there = place[dimension] + step
                if not wraps and not 0 <= there < side:
                    continue
                other = list(place)
                other[dimension] = there % side
                number = 0
                for at, length in zip(other, sides, strict=True):
                    number = number * length + at
                # With two nodes on a side, the next and the previous one are one.
                if not (side == 2 and step == -1):
                    around.append(number)
        ports.append(around)
    return ports


def trace(path: Path, count: int, servers: int) -> list[tuple[int, bool, int]]:
    """Write a trace of requests that come faster than the network serves them.

    Returns:
        The time in picoseconds, whether it reads, and the server, of each.
    """
    draw = random.Random(path.name)
    times = sorted(draw.randrange(0, 40_000_000_000, 1_000) for _ in range(count))
    rows = [(time, draw.random() < 0.5, draw.randrange(servers)) for time in times]
    lines = ["seconds,kind,size,target"]
    for time, is_read, server in rows:
        seconds = f"0.{time:012d}"
        kind = "read" if is_read else "write"
        lines.append(f"{seconds},{kind},{FIGURES.request},server.{server}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


def core_run(topology: str, trace_file: Path, faults: list[dict[str, Any]]) -> RunResult:
    """Run the core on a trace, with all statistics from time zero."""
    study = Study.from_dict(
        {
            "cluster": {
                "device": {"service": "3 ms"},
                "queue": "reads_first",
                "fabric": {**FABRIC, "topology": topology},
            },
            "traffic": {
                "arrivals": {"trace": str(trace_file)},
                "control_message": "64 B",
                "warm_up": "0 s",
                "duration": "60 s",
                # Longer than the run, so that what is lost is not tried again.
                "timeout": "100 s",
            },
            "faults": faults,
        }
    )
    run = study.runs()[0]
    return simulate(run.system, run.seed)


NETWORKS = {
    "torus": ("torus 4x3x4 routers 4", [4, 3, 4], True, 0),
    "torus-with-side-of-two": ("torus 2x5x3 routers 3", [2, 5, 3], True, 0),
    "mesh": ("mesh 5x6 routers 3 wiring inside", [5, 6], False, 0),
    "hypercube": ("hypercube 5 routers 4", [], True, 0),
    "torus-with-failed-links": ("torus 5x5 routers 4", [5, 5], True, 6),
    "mesh-with-failed-links": ("mesh 6x5 routers 2 wiring inside", [6, 5], False, 4),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_core_equals_its_twin(name: str, tmp_path: Path) -> None:
    """Every request's delay, every packet's hops and every channel's use are the same."""
    topology, sides, wraps, broken = NETWORKS[name]
    rows = trace(tmp_path / f"{name}.csv", 400, 20)
    whole = core_run(topology, tmp_path / f"{name}.csv", [])
    names = list(zip(*(whole.links[c].to_pylist() for c in ("from_name", "to_name")), strict=True))
    chosen = random.Random(name).sample(range(len(names)), broken)
    faults = [{"fail": {"links": [f"{names[link][0]}-{names[link][1]}" for link in chosen]}}]
    ours = core_run(topology, tmp_path / f"{name}.csv", faults if chosen else [])

    ends = list(zip(*(ours.links[c].to_pylist() for c in ("from", "to")), strict=True))
    number_of: dict[str, int] = {}
    for (one, other), (one_name, other_name) in zip(ends, names, strict=True):
        number_of |= {one_name: one, other_name: other}
    hosts, routers = (
        [
            number
            for _, number in sorted(
                (int(n.split(".")[1]), i) for n, i in number_of.items() if n.startswith(kind)
            )
        ]
        for kind in ("host", "router")
    )
    twin = Network(ports_of(sides, wraps), FIGURES)
    for link in chosen:
        twin.fail_link(*ends[link])
    for index, (time, is_read, server) in enumerate(rows):
        request = Request(time, is_read, routers[index % len(routers)], hosts[server])
        twin.at(time, lambda index=index, request=request: twin.issue(index, request))
    twin.run()

    delays = [delay for _, delay in twin.delays]
    assert ours.metrics["requests_completed"] == len(delays)
    assert ours.metrics["packets_dropped"] == sum(twin.dropped.values())
    mean = sum(delays) / len(delays) / PICOSECONDS
    assert ours.metrics["mean_delay_seconds"] == pytest.approx(mean, rel=1e-12)
    reads = [delay for number, delay in twin.delays if rows[number][1]]
    assert ours.metrics["mean_read_delay_seconds"] == pytest.approx(
        sum(reads) / len(reads) / PICOSECONDS, rel=1e-12
    )
    hops = Counter(twin.hops)
    found = ours.distributions.filter(
        [quantity == "hops" for quantity in ours.distributions["quantity"].to_pylist()]
    )
    counted = zip(found["low"].to_pylist(), found["count"].to_pylist(), strict=True)
    assert {round(low): count for low, count in counted if count} == dict(hops)
    for direction, pairs in (("forward", ends), ("backward", [(b, a) for a, b in ends])):
        channels = [
            next(c for c in twin.channels[source] if c.peer == peer) for source, peer in pairs
        ]
        assert ours.links[f"{direction}_packets"].to_pylist() == [c.packets for c in channels]
        assert ours.links[f"{direction}_queued"].to_pylist() == [c.queued for c in channels]
        busy = [c.busy / PICOSECONDS for c in channels]
        assert ours.links[f"{direction}_busy_seconds"].to_pylist() == pytest.approx(busy, rel=1e-12)
    # The case is worth its name: packets wait, and where links failed some leave the shortest ways.
    assert sum(c.queued for node in twin.channels for c in node) > 1_000
    assert (ours.metrics["packets_deviated"] > 0) == (broken > 0)
