"""Coded rebuilds against counts from placement: bytes at every port, time, losses, and copies."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from resilver import Study
from resilver.simulate import place_objects
from resilver.spec import System
from resilver.study import simulate
from tests.reference.compare import real

# The parts of lrc 8+5 local 4 that sum to zero: two groups of data with their local parity, and
# all parities together.
SUMS = [{0, 1, 2, 3, 8}, {4, 5, 6, 7, 9}, {8, 9, 10, 11, 12}]
CODES = {"rs 8+3": 8, "rs 4+2": 4, "lrc 8+5 local 4": 8, "copies 3": 1}
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
