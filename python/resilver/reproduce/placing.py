"""How fast placements are calculated, over the number of servers in one bucket."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

_THREADS = "RAYON_NUM_THREADS"
_ROUNDS = 3
# Long enough that the clock and the call cost nothing beside it, short enough for a table of them.
_SECONDS_A_ROUND = 0.15
_INPUTS_MIN = 256
_INPUTS_MAX = 1 << 22


def placement_rates(
    items: Sequence[int], buckets: Sequence[str], copies: int
) -> list[dict[str, Any]]:
    """Measure the placement rate of flat CRUSH maps on one thread of this machine.

    Args:
        items: Numbers of servers in the bucket.
        buckets: Kinds of bucket.
        copies: How many servers each input is placed on.

    Returns:
        A row a kind and number, with ``bucket``, ``items`` and ``placements_per_second``: the
        median of three rounds.
    """
    # The core starts its threads once a process, so one thread needs a process of its own.
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            points = [(bucket, count, copies) for bucket in buckets for count in items]
            rates = list(pool.map(_rate, points))
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
    return [
        {"bucket": bucket, "items": count, "placements_per_second": rate}
        for (bucket, count, _), rate in zip(points, rates, strict=True)
    ]


def _rate(point: tuple[str, int, int]) -> float:
    """Placements a second of one map."""
    import numpy as np

    from resilver.simulate import CrushMap

    bucket, items, copies = point
    # The paper's Ceph is 0.94, "hammer".
    crush = CrushMap.flat(items, bucket, "hammer")
    generator = np.random.default_rng(items)

    def seconds(count: int) -> float:
        inputs = generator.integers(0, 2**32, count, dtype=np.uint32)
        begun = time.perf_counter()
        crush.map_rule(0, inputs, copies)
        return time.perf_counter() - begun

    count = _INPUTS_MIN
    while (took := seconds(count)) < _SECONDS_A_ROUND / 4 and count < _INPUTS_MAX:
        count *= 4
    count = min(_INPUTS_MAX, max(_INPUTS_MIN, round(count * _SECONDS_A_ROUND / max(took, 1e-6))))
    return statistics.median(count / seconds(count) for _ in range(_ROUNDS))
