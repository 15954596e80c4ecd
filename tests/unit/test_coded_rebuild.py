"""Coded rebuilds through study files: what they gather, decode and lose."""

from __future__ import annotations

from typing import Any

import pytest

from resilver.simulate import simulate
from resilver.simulate.lost import lost_objects
from tests.build import CODED, system_of

MEBIBYTE = 1 << 20


def figures(**keys: Any) -> dict[str, float]:
    """What a run of the coded study with keys replaced measures, as far as it is numbers."""
    metrics = simulate(system_of(CODED, **keys), 5).metrics
    return {name: value for name, value in metrics.items() if isinstance(value, (int, float))}


@pytest.mark.parametrize(
    ("code", "data", "pieces", "gathered"),
    [("rs 4+2", 4, 6, 4), ("rs 3+2", 3, 5, 3), ("copies 3", 1, 3, 1)],
)
def test_a_rebuild_gathers_as_many_pieces_as_the_code_has_data(
    code: str, data: int, pieces: int, gathered: int
) -> None:
    metrics = figures(redundancy__code=code)
    # 200 files of 64 MiB: the failed server of eight held 200 x pieces / 8 of their pieces on
    # average, with a standard deviation of sqrt(200 x p x (1 - p)), seven of them on either side.
    held, share = metrics["rebuilt_objects"], pieces / 8
    assert abs(held - 200 * share) < 7 * (200 * share * (1 - share)) ** 0.5
    piece = -(-64 * MEBIBYTE // data)
    assert metrics["rebuilt_bytes"] == held * piece
    assert metrics["gathered_bytes"] == gathered * held * piece
    assert metrics["decoded_bytes"] == (0 if data == 1 else held * piece)
    # A request of 64 bytes asks each source for each buffer of 16 MiB.
    requests = held * gathered * -(-piece // (16 * MEBIBYTE))
    assert metrics["network_bytes"] == gathered * held * piece + 64 * requests
    half, nearly, whole = (metrics[f"rebuild_{name}seconds"] for name in ("p50_", "p99_", ""))
    assert 0 < half <= nearly <= whole


def test_decoding_takes_time() -> None:
    fast = figures()
    slow = figures(redundancy__coding="50 MB/s")
    # Each of seven servers decodes a seventh of what is gathered, at 50 MB/s, or more.
    assert slow["gathered_bytes"] == fast["gathered_bytes"]
    assert slow["rebuild_seconds"] > slow["gathered_bytes"] / 7 / 50e6 > fast["rebuild_seconds"]


def test_a_memory_that_holds_no_buffer_of_each_source_is_refused() -> None:
    recovery: dict[str, Any] = {"receive_memory": "63 MiB"}
    with pytest.raises(Exception, match="receive_memory"):
        simulate(system_of(CODED, recovery=recovery), 5)


@pytest.mark.parametrize("code", ["rs 4+2", "lrc 4+3 local 2"])
def test_failures_at_once_lose_what_placement_says(code: str) -> None:
    servers = [f"server.{number}" for number in (0, 2, 3, 5)]
    faults = [{"fail": {"servers": servers}}]
    system = system_of(CODED, redundancy__code=code, faults=faults)
    counted = lost_objects(system, servers, seed=5)
    metrics = figures(redundancy__code=code, faults=faults)
    assert metrics["unrecoverable_objects"] == counted.unrecoverable_objects > 0
    assert metrics["affected_objects"] == counted.affected_objects
