"""What streams and coded rebuilds are expected to do and to cost."""

from __future__ import annotations

from typing import Any

import pytest

from resilver.estimate import estimate
from resilver.estimate.streams import (
    analytic_rates,
    server_bandwidth,
    stream_bytes_per_second,
    strips_in_place,
)
from tests.build import CODED, FABRIC, STREAMED, system_of

# 10 Gb/s are 1.25e9 B/s; a strip of 16 KiB is four packets of 4 KiB, each with 38 B more.
PORT = 1.25e9 * 16384 / (16384 + 4 * 38)


def test_the_bandwidth_of_a_server_is_that_of_its_ports_less_overhead() -> None:
    assert server_bandwidth(system_of(STREAMED)) == pytest.approx(2 * PORT)
    assert server_bandwidth(system_of(STREAMED, cluster__ports=1)) == pytest.approx(PORT)


def test_the_analytic_rates_are_those_of_the_groups() -> None:
    rates = analytic_rates(system_of(STREAMED))
    assert rates is not None
    # Of 2 groups of 6 servers one rebuilds with a quarter: reads have 4/7 of what is left,
    # k / (2k - 1) for k = 4, and a strip made takes 4.
    assert rates.read == pytest.approx(2 * PORT * 6 * (1 + 0.75) * 4 / 7)
    assert (rates.write, rates.rebuild) == (0.0, pytest.approx(2 * PORT * 6 * 0.25 / 4))
    writes = analytic_rates(system_of(STREAMED, traffic__reads=0.0, faults=None))
    assert writes is not None
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
    rates = analytic_rates(system_of(STREAMED, lanes=lanes))
    assert rates is not None
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
    assert analytic_rates(system_of(STREAMED, **keys)) is None
    assert analytic_rates(system_of(CODED)) is None


def test_a_rate_holds_streams_back() -> None:
    asked = stream_bytes_per_second(
        system_of(STREAMED, traffic__streams={"window": 4, "rate": "1 MB/s"}, faults=None)
    )
    assert asked.read == pytest.approx(12e6)


def test_entries_hold_streams_back() -> None:
    # Twelve servers of one port would read more than four entries of one link each take in.
    fabric = {**FABRIC, "topology": "leaf spine 4x4 hosts 6 entries 1"}
    narrow = system_of(STREAMED, cluster__ports=1, cluster__fabric=fabric, faults=None)
    assert stream_bytes_per_second(narrow).read == pytest.approx(4 * PORT)
    assert 12 * PORT * 4 / 7 > 4 * PORT


def test_strips_in_place_are_counted_by_server() -> None:
    faults = [{"corrupt": {"groups": 2, "strips": 5}}]
    # Two groups of six servers, five strips of 16 KiB each.
    assert strips_in_place(system_of(STREAMED, faults=faults)) == 2 * 6 * 5 * 16384
    assert strips_in_place(system_of(STREAMED)) == 0


def test_a_coded_rebuild_gathers_what_its_pieces_need() -> None:
    copies = estimate(system_of(CODED, redundancy=None))
    coded = estimate(system_of(CODED))
    # 200 files of 64 MiB on 8 servers, of which one fails: an eighth of all copies or pieces.
    assert copies["replicas_to_move"] == 200 * 3 / 8
    assert coded["replicas_to_move"] == 200 * 6 / 8
    # Each lost piece of 16 MiB is made of four, in buffers of 16 MiB.
    assert coded["bytes_to_move"] == 150 * 4 * 2**24
    assert coded["buffers"] == 150 * 4
    local = estimate(system_of(CODED, redundancy__code="lrc 4+2 local 2"))
    assert local["bytes_to_move"] == 150 * 2 * 2**24
