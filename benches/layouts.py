"""Objects placed by every layout on one core, at 64 and at 1,024 servers, beside a goal.

Three copies, objects of consecutive identifiers, and what the array costs included. The time to
build a layout is taken off: a run pays it once.
"""

from __future__ import annotations

import os
import statistics
import time

# Objects a second at 1,024 servers, on a core of the machine whose figures docs/models/layouts.md
# gives. A rendezvous hashes once for every server, which bounds it.
GOALS = {
    "ring": 15e6,
    "multi_ring": 2e6,
    "rendezvous": 0.7e6,
    "xor": 2.5e6,
    "modulo": 50e6,
    "jump": 6e6,
    "declustered": 10e6,
    "copysets": 40e6,
    "groups": 10e6,
}
OBJECTS, REPEATS = 300_000, 5


def rate(algorithm: str, servers: int) -> float:
    """Objects placed a second, the median of some repeats."""
    from resilver import Study
    from resilver.simulate import place_objects

    description = {
        "cluster": {"servers": servers},
        "population": {"file_size": "1 MiB", "files": 1},
        "placement": {"algorithm": algorithm}
        | ({"group_size": 32} if algorithm == "groups" else {}),
    }
    system = Study.from_dict(description).runs()[0].system
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        place_objects(system, seed=1, first=0, count=0)
        built = time.process_time()
        place_objects(system, seed=1, first=0, count=OBJECTS)
        seconds.append(time.process_time() - built - (built - start))
    return OBJECTS / statistics.median(seconds)


def main() -> None:
    """Print the rates, a line a layout."""
    # The core's threads are made at its first use.
    os.environ["RAYON_NUM_THREADS"] = "1"
    for algorithm, goal in GOALS.items():
        small, large = rate(algorithm, 64), rate(algorithm, 1024)
        print(
            f"{algorithm:12} 64 servers: {small / 1e6:6.1f} million objects/s; "
            f"1,024 servers: {large / 1e6:6.1f} (goal {goal / 1e6:g})"
        )


if __name__ == "__main__":
    main()
