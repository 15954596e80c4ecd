"""Codes, lanes, streams and soft errors of a system, in the words that the core reads."""

from __future__ import annotations

import json
from typing import Any

from resilver import core_input
from resilver.simulate import simulate
from resilver.spec import System
from tests.build import CODED, STREAMED, system_of

ORDERED = [
    {"at": "2 us", "corrupt": {"groups": 1}},
    {"at": "1 us", "corrupt": {"groups": 1, "strips": 9, "window": 3, "code": "lrc 4+2 local 4"}},
]


def core(system: System) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(core_input.core_json(system, 7))
    return described


def rebuilding(system: System, seed: int) -> list[int]:
    """The groups that rebuild in a run."""
    rows = simulate(system, seed).stripe_groups.to_pylist()
    return [row["group"] for row in rows if row["is_rebuilding"]]


def test_streams_over_groups_name_their_servers_and_entries() -> None:
    made = core(system_of(STREAMED, faults=[{"corrupt": {"groups": [1]}}]))
    assert (made["pools"], made["traffic"]) == ([], [])
    assert made["redundancy"] == {"code": "rs 4+2", "strip": 16384, "coding": None}
    lanes = {"shares": [0.75, 0.25, 0.0], "order": "shares"}
    assert made["lanes"] == {"lanes": lanes, "devices": True}
    assert made["streams"] == {
        "over": {"groups": [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]},
        # The 24 hosts come first, and then 6 entries at each of 4 switches.
        "entries": list(range(24, 48)),
        "pairing": "paired",
        "window": 4,
        "rate": None,
        "read_share": 1.0,
        "control": 64,
        "bursts": None,
        "jobs": [],
        "is_flow": False,
        "warm_up": 200e-6,
        "duration": 1e-3,
    }
    # A server has 4 operations under way at each of its 2 ports, and as many strips to rebuild.
    (fault,) = made["faults"]["faults"]
    assert fault["corrupt"] == {"groups": [1], "strips": None, "window": 8, "code": None}
    # Two first-level switches of six hosts hold servers 0 to 5, a port at each.
    assert made["ports_of"][:2] == [[0, 6], [1, 7]]


def test_streams_over_objects_name_no_groups() -> None:
    streams = {
        "window": 2,
        "rate": "2 GB/s",
        "entries": "random",
        "bursts": {"volume": "1 GiB", "every": "10 s", "first": "1 s"},
    }
    system = system_of(
        CODED,
        cluster__fabric={"routers": 3},
        redundancy={"code": "rs 4+2", "strip": "64 KiB", "coding": "5 GB/s"},
        traffic={"streams": streams, "reads": 0.25},
    )
    made = core(system)
    assert made["streams"]["over"] == "placement"
    assert made["streams"]["entries"] == [8, 9, 10]
    assert made["streams"]["rate"] == 2e9
    assert made["streams"]["duration"] is None
    assert made["streams"]["bursts"] == {"first": 1.0, "every": 10.0, "volume": 2**30}
    (pool,) = made["pools"]
    assert pool["redundancy"]["coding"] == 5e9
    assert made["lanes"] is None
    assert pool["placement"]["ring"]["copies"] == 6


def test_a_pool_of_pieces_is_erasure_coded() -> None:
    made = core(system_of(CODED, placement={"algorithm": "crush"}))
    pool = made["pools"][0]["placement"]["crush"]["pool"]
    assert (pool["size"], pool["kind"]) == (6, "erasure")
    plain = core(system_of(CODED, placement={"algorithm": "crush"}, redundancy=None))
    pool = plain["pools"][0]["placement"]["crush"]["pool"]
    assert (pool["size"], pool["kind"]) == (3, "replicated")


def test_groups_are_drawn_among_those_that_no_other_fault_has() -> None:
    # Two groups and two faults: each has its own, whatever the seed and whichever comes first.
    for seed in range(1, 6):
        assert rebuilding(system_of(STREAMED, faults=ORDERED), seed) == [0, 1]
    named = system_of(STREAMED, faults=[{"corrupt": {"groups": [1], "strips": 2}}])
    assert rebuilding(named, 1) == [1]
    drawn = system_of(STREAMED, faults=[{"corrupt": {"groups": 1, "strips": 2}}])
    # Of 20 draws of one of two, all are alike once in 500,000 tries.
    assert {number for seed in range(20) for number in rebuilding(drawn, seed)} == {0, 1}
