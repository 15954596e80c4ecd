"""How long a job waits for advice: on targets alone, and by the routers of a whole machine."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np

TARGETS_GOAL_SECONDS, CLIENTS_GOAL_SECONDS = 0.010, 0.3
TARGETS, FILES, REPEATS = 2016, 1008, 7


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
    import resilver

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    streams = np.random.default_rng(1).poisson(1.0, TARGETS)
    state = resilver.LoadState.of(TARGETS, streams=streams)
    titan = resilver.route(resilver.machine("titan"))
    clients = len(titan.machine.clients)
    alone = seconds(lambda: resilver.advise(state, files=FILES))
    by_routers = seconds(lambda: resilver.advise(state, files=clients, machine=titan))
    few = seconds(lambda: resilver.advise(state, files=FILES, machine=titan))
    print(f"targets   {1e3 * alone:8.2f} ms  goal {1e3 * TARGETS_GOAL_SECONDS:g} ms")
    print(f"clients   {by_routers:8.3f} s   goal {CLIENTS_GOAL_SECONDS:g} s ({clients:,} clients)")
    print(f"writers   {few:8.3f} s   goal {CLIENTS_GOAL_SECONDS:g} s ({FILES:,} of them)")


if __name__ == "__main__":
    main()
