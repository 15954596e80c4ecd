"""How long exact durability takes: chains, all triples of a cluster, and many codes at once."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

CHAIN_GOAL_SECONDS, TRIPLES_GOAL_SECONDS, SCHEMES_GOAL_SECONDS = 0.010, 0.5, 10.0
REPEATS = 5


def seconds(perform: Callable[[], object]) -> float:
    """The median of some repeats, in seconds."""
    took = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        perform()
        took.append(time.perf_counter() - begun)
    return statistics.median(took)


def main() -> None:
    """Print each figure beside its goal."""
    from resilver import durability, redundancy
    from resilver.data_loss.chains import YEAR_SECONDS, group_chain
    from resilver.placement_quality.lost_sets import LostSets

    rate = 0.0137 / YEAR_SECONDS
    chain = group_chain(11, 3, failure_rate=rate, repair_rate=1 / 36_000)
    generator = np.random.default_rng(1)
    sets = np.array([generator.choice(88, 3, replace=False) for _ in range(4096)])
    survives = redundancy("copies 3").is_survivable
    codes = [f"rs {data}+{parity}" for data in range(4, 54) for parity in range(1, 5)]
    one = seconds(lambda: chain.loss_probability(10 * YEAR_SECONDS))
    triples = seconds(lambda: LostSets(sets, 88, survives).all_lost(3))
    many = seconds(lambda: durability(codes, afr="1.36 %", repair="10 h"))
    print(f"a chain   {1e3 * one:8.2f} ms  goal {1e3 * CHAIN_GOAL_SECONDS:g} ms (ten years)")
    print(f"triples   {triples:8.3f} s   goal {TRIPLES_GOAL_SECONDS:g} s (88 over 4,096 sets)")
    print(f"schemes   {many:8.2f} s   goal {SCHEMES_GOAL_SECONDS:g} s ({len(codes)} codes)")


if __name__ == "__main__":
    main()
