"""A declustered RAID's rebuild: closed forms, and refusals that say what would fit."""

from dataclasses import replace

import pytest

from resilver.analytic import Declustered
from tests.build import refused

LOT = Declustered(disks=21, capacity_bytes=8e9, segment_bytes=1e6, rate=1e8)


def test_a_rebuild_takes_its_transfers_and_its_overheads() -> None:
    # Without overhead, k + 1 bytes move for each byte lost, over all survivors.
    for data in (1, 4, 10, 20):
        assert LOT.rebuild_seconds(data) == pytest.approx((data + 1) * 8e9 / 1e8 / 20, rel=1e-12)
    # k times as many chunks, each of k + 1 requests: overhead alone is k (k + 1) of them.
    slow = replace(LOT, rate=1e30, overhead_seconds=0.01)
    assert slow.rebuild_seconds(10) / slow.rebuild_seconds(1) == pytest.approx(110 / 2)
    # Chunks of 62.5 kB, two of which fit 131,072 B, cost half an overhead each.
    slow = replace(LOT, rate=1e30, overhead_seconds=0.01)
    merged = replace(slow, merged_bytes=131072)
    assert merged.rebuild_seconds(16) == pytest.approx(slow.rebuild_seconds(16) / 2)
    # Chunks of 83 kB do not fit twice.
    assert merged.rebuild_seconds(12) == slow.rebuild_seconds(12)
    # The overhead is found again from a rebuild that has it.
    known = replace(LOT, overhead_seconds=0.0123)
    fitted = LOT.fitted(8, known.rebuild_seconds(8))
    assert fitted.overhead_seconds == pytest.approx(0.0123)
    # A group wider than the survivors, and a rebuild faster than its transfers.
    assert "data = 21" in refused(LOT.rebuild_seconds, 21)
    assert "transfers alone take 36 s" in refused(LOT.fitted, 8, 1.0)
