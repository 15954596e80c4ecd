"""How fast placements are calculated, over the number of servers in one bucket."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from resilver.crush import CrushMap
from resilver.study.pool import LocalPool
from resilver.study.worker import Report

_RATE = "resilver.reproduce.placing:rate"
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
    points = [(bucket, count, copies) for bucket in buckets for count in items]
    # The core starts its threads once a process, so one thread needs a process of its own.
    pool = LocalPool(1, {_THREADS: "1"})
    try:
        tasks = [pool.submit(_RATE, *point) for point in points]
        rates = [task.result() for task in tasks]
    except BaseException:
        pool.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return [
        {"bucket": bucket, "items": count, "placements_per_second": rate}
        for (bucket, count, _), rate in zip(points, rates, strict=True)
    ]


def rate(bucket: str, items: int, copies: int, _report: Report) -> float:
    """Measure the placement rate of one map, as a task of a pool.

    Args:
        bucket: The kind of its one bucket.
        items: Servers in it.
        copies: How many of them each input is placed on.

    Returns:
        Placements a second.
    """
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
