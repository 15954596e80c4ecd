"""Codes, lanes, streams and soft errors of a system, in the words that the core reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from resilver import describe
from resilver.describe_streams import corrupted_groups
from resilver.errors import ConfigError
from resilver.spec import System
from tests.unit.striped_studies import CODED, STREAMED, system_of

ORDERED = [
    {"at": "2 us", "corrupt": {"groups": 1}},
    {"at": "1 us", "corrupt": {"groups": 1, "strips": 9, "window": 3, "code": "lrc 4+2 local 4"}},
]


def core(system: System, **more: Any) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(describe.core_json(system, 7, {}, **more))
    return described


def last(seed: int, fault: int, among: int, count: int) -> list[int]:
    """Draws the last ones there are."""
    return list(range(among - count, among))


def test_streams_over_groups_name_their_servers_and_entries() -> None:
    made = core(system_of(STREAMED), corrupted={0: [1]})
    assert (made["pools"], made["traffic"]) == ([], [])
    assert made["redundancy"] == {
        "code": "rs 4+2",
        "strip_bytes": 16384,
        "coding_bytes_per_second": None,
    }
    assert made["lanes"] == {
        "shares": [0.75, 0.25, 0.0],
        "order": "shares",
        "priority": [0, 1, 2],
        "devices": True,
    }
    assert made["streams"] == {
        "over": "groups",
        "groups": [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]],
        # The 24 hosts come first, and then 6 entries at each of 4 switches.
        "entries": list(range(24, 48)),
        "pairing": "paired",
        "window": 4,
        "rate_bytes_per_second": None,
        "read_share": 1.0,
        "control_bytes": 64,
        "bursts": None,
        "warm_up_seconds": 200e-6,
        "duration_seconds": 1e-3,
    }
    # A server has 4 operations under way at each of its 2 ports, and as many strips to rebuild.
    rebuilt = {"at_seconds": 0.0, "groups": [1], "strips_per_server": None, "window": 8}
    assert made["corrupt"] == [{**rebuilt, "code": None}]
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
    assert made["streams"]["over"] == "placement" and "groups" not in made["streams"]
    assert made["streams"]["entries"] == [8, 9, 10]
    assert made["streams"]["rate_bytes_per_second"] == 2e9
    assert made["streams"]["duration_seconds"] is None
    assert made["streams"]["bursts"] == {
        "first_seconds": 1.0,
        "every_seconds": 10.0,
        "bytes": 2**30,
    }
    (pool,) = made["pools"]
    assert pool["redundancy"]["coding_bytes_per_second"] == 5e9
    assert (made["lanes"], made["corrupt"]) == (None, [])
    assert pool["placement"]["ring"]["copies"] == 6


def test_a_pool_of_pieces_is_erasure_coded() -> None:
    made = core(system_of(CODED, placement={"algorithm": "crush"}))
    pool = made["pools"][0]["placement"]["crush"]["pool"]
    assert (pool["size"], pool["erasure"]) == (6, True)
    plain = core(system_of(CODED, placement={"algorithm": "crush"}, redundancy=None))
    pool = plain["pools"][0]["placement"]["crush"]["pool"]
    assert (pool["size"], pool["erasure"]) == (3, False)


def test_groups_are_drawn_in_the_order_of_time_among_those_that_are_left() -> None:
    system = system_of(STREAMED, faults=ORDERED)
    # The fault at 1 us draws group 1, the last of two, and the other has group 0 left.
    assert corrupted_groups(system, 7, last) == {1: [1], 0: [0]}
    made = core(system, corrupted=corrupted_groups(system, 7, last))
    assert [fault["groups"] for fault in made["corrupt"]] == [[0], [1]]
    named = made["corrupt"][1]
    assert (named["strips_per_server"], named["window"]) == (9, 3)
    assert (named["code"], named["at_seconds"]) == ("lrc 4+2 local 4", 1e-6)


def test_a_named_group_is_not_drawn() -> None:
    faults = [{"corrupt": {"groups": 1}}, {"corrupt": {"groups": [1]}}]
    assert corrupted_groups(system_of(STREAMED, faults=faults), 7, last) == {0: [0], 1: [1]}
    assert corrupted_groups(system_of(CODED), 7, last) == {}


def test_more_groups_than_there_are_cannot_be_drawn() -> None:
    # The study's own check keeps this from users; the draw does not rely on it.
    system = system_of(STREAMED)
    wider = system.model_copy(update={"placement": None})
    with pytest.raises(ConfigError, match=r"faults\.0\.corrupt\.groups = 1: 0 groups are left"):
        corrupted_groups(wider, 7, last)
