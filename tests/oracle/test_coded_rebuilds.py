"""Coded rebuilds against counts from placement: bytes at every port, time, losses, and copies."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from resilver import Study
from resilver.simulate import RunResult, lost_objects, place_objects
from resilver.spec import System
from resilver.study import simulate
from tests.reference.compare import real

# The parts of lrc 8+5 local 4 that sum to zero: two groups of data with their local parity, and
# all parities together.
SUMS = [{0, 1, 2, 3, 8}, {4, 5, 6, 7, 9}, {8, 9, 10, 11, 12}]
CODES = {"rs 8+3": 8, "rs 4+2": 4, "lrc 8+5 local 4": 8, "copies 3": 1}
# How many losses each survives wherever they are.
TOLERATED = {"rs 8+3": 3, "rs 4+2": 2, "lrc 8+5 local 4": 3, "copies 3": 2}
SEED, FAILED = 1, 5
OBJECTS, PIECE = 1500, 1 << 20
# 10 Gb/s are 1.25e9 B/s, of which 64 KiB in each 64 KiB + 38 B are data.
PORT = 1.25e9 * 65536 / (65536 + 38)
STAR = {
    "model": "switched",
    "topology": "leaf spine 1x1 hosts 24",
    "link_rate": "10 Gb/s",
    "packet_size": "64 KiB",
}
LOGGP = {"model": "loggp", "table": "qdr-infiniband"}
SERVERS = {"servers": 24, "device": {"service": "1 ns"}, "fabric": LOGGP}


def system_of(code: str, **keys: Any) -> System:
    """Objects in pieces of a mebibyte in groups on 24 servers whose disks take no time."""
    object_mebibytes = CODES[code]
    content = {
        "cluster": {"servers": 24, "device": {"service": "1 ns"}, "fabric": STAR},
        # One file, whose objects are numbered from 0.
        "population": {
            "file_size": f"{OBJECTS * object_mebibytes} MiB",
            "files": 1,
            "objects": {"chunk": f"{object_mebibytes} MiB"},
        },
        "placement": {"algorithm": "rendezvous", "placement_groups": 256},
        "redundancy": {"code": code},
        "recovery": {"source": "primary"},
        "faults": [{"fail": {"servers": [f"server.{FAILED}"]}}],
    }
    return Study.from_dict(content | keys).runs()[0].system


@dataclass
class Counted:
    """What a rebuild moves by placement: pieces made, and pieces sent and received by server."""

    made: int
    sent: Counter[int]
    received: Counter[int]


def sources_of(code: str, position: int) -> list[int]:
    """The positions that are gathered for the lost one, the first by number of equally many."""
    if code.startswith("lrc"):
        return sorted(next(group for group in SUMS if position in group) - {position})
    pieces = {"rs 8+3": 11, "rs 4+2": 6, "copies 3": 3}[code]
    return [other for other in range(pieces) if other != position][: CODES[code]]


def places(system: System, failed: list[int]) -> list[tuple[list[int], list[int]]]:
    """Where the pieces of each object are before and after servers fail."""
    before, after = (place_objects(system, SEED, 0, OBJECTS, gone) for gone in ([], failed))
    return list(zip(before.tolist(), after.tolist(), strict=True))


def counted(system: System, code: str) -> Counted:
    """Count every lost piece of every object, from where it is before and after the failure."""
    found = Counted(0, Counter(), Counter())
    for before, after in places(system, [FAILED]):
        if FAILED not in before:
            continue
        # Rendezvous hashing leaves the survivors where they are and takes one server in.
        (home,) = set(after) - set(before)
        found.made += 1
        for position in sources_of(code, before.index(FAILED)):
            found.sent[before[position]] += 1
            found.received[home] += 1
    return found


@pytest.mark.parametrize("code", CODES)
def test_a_rebuild_moves_what_placement_says_and_lasts_as_long_as_its_busiest_port(
    code: str,
) -> None:
    system = system_of(code)
    expected, found = counted(system, code), simulate(system, SEED)
    assert real(found, "rebuilt_objects") == expected.made > 0
    assert real(found, "rebuilt_bytes") == expected.made * PIECE
    gathered = sum(expected.received.values())
    # RS gathers k, a local code its r = 4, and copies one for each piece made.
    each = 4 if code.startswith("lrc") else CODES[code]
    assert gathered == each * expected.made
    assert real(found, "gathered_bytes") == gathered * PIECE
    # Each source is asked for each piece by 64 B, as no piece takes more than one buffer.
    assert real(found, "network_bytes") == gathered * (PIECE + 64)
    sent = dict(zip(range(24), found.servers["sent_bytes"].to_pylist(), strict=True))
    assert {server: count // PIECE for server, count in sent.items() if count} == expected.sent
    # No port is faster than its rate. While a transfer waits, one of its two ports is at work, if
    # homes take any that could go on: then the last ends within the time of the busiest sender and
    # that of the busiest receiver (the bound of greedy schedules of open shops).
    sender, receiver = (
        max(count.values()) * PIECE / PORT for count in (expected.sent, expected.received)
    )
    assert max(sender, receiver) < real(found, "rebuild_seconds") < sender + receiver


@pytest.mark.parametrize("source", ["primary", "least_loaded"])
@pytest.mark.parametrize("fabric", [STAR, LOGGP])
def test_copies_as_a_code_are_rebuilt_as_replicas_are(fabric: dict[str, Any], source: str) -> None:
    # Rule: the code of one piece of data gathers a copy of it, as the pull of replicas does: every
    # figure that both have is the same, times and events included.
    keys: dict[str, Any] = {
        "cluster": {"servers": 24, "device": "jbod10-sata", "fabric": fabric},
        "population": {"file_size": "40 MiB", "files": 300},
        "recovery": {"source": source},
    }
    code, replicas = (
        simulate(system_of("copies 3", **keys, redundancy=redundancy), SEED).metrics
        for redundancy in ({"code": "copies 3"}, {"replicas": 3})
    )
    both = {name for name in code if code[name] is not None and replicas[name] is not None}
    assert {"rebuild_seconds", "rebuilt_bytes", "rebuild_p50_seconds"} <= both
    different = {name for name in both - {"digest", "events"} if code[name] != replicas[name]}
    assert different == set()


@pytest.mark.parametrize("code", ["rs 8+3", "rs 4+2", "lrc 8+5 local 4", "copies 3"])
def test_failures_during_a_rebuild_lose_less_the_more_of_it_is_done(code: str) -> None:
    # Rule: before the first piece is made, later failures lose what all of them at once do; after
    # the last, what they lose with the first ones' pieces at their new homes; in between, less
    # than the former and more than the latter.
    first = ["server.5", "server.6", "server.7"][: 3 if "8" in code else 2]
    later = ["server.0", "server.1", "server.2"][: len(first)]
    numbers = [int(name.split(".")[1]) for name in [*first, *later]]

    def lost(at: float | None) -> RunResult:
        faults: list[dict[str, Any]] = [{"fail": {"servers": first}}]
        if at is not None:
            faults.append({"at": f"{at:.9f} s", "fail": {"servers": later}})
        return simulate(system_of(code, cluster=SERVERS, faults=faults), SEED)

    alone = lost(None)
    assert real(alone, "unrecoverable_objects") == 0
    at_once = lost_objects(system_of(code), numbers, seed=SEED).unrecoverable_objects
    # A mebibyte takes 0.3 ms on QDR InfiniBand; nothing is whole after 0.1 ms.
    assert real(lost(1e-4), "unrecoverable_objects") == at_once > 0
    half = real(lost(real(alone, "rebuild_p50_seconds")), "unrecoverable_objects")
    after = real(lost(real(alone, "rebuild_seconds") * 1.01), "unrecoverable_objects")
    assert after == rebuilt_and_lost(code, numbers[: len(first)], numbers[len(first) :])
    assert after < half < at_once


def rebuilt_and_lost(code: str, first: list[int], later: list[int]) -> int:
    """Objects that `later` failures lose once all pieces of the first are at their new homes."""
    lost = 0
    for before, after in places(system_of(code), first):
        # Lost positions go to the servers gained, in order.
        homes = iter(server for server in after if server not in before)
        row = [next(homes) if server in first else server for server in before]
        lost += sum(server in later for server in row) > TOLERATED[code]
    return lost
