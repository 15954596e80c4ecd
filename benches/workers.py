"""What a second worker gains: a study of many runs of moderate size on one worker and on two.

Each worker performs one run at a time with one thread, as the workers of a cluster do that share a
node's cores. Both orders are measured in turn, several times, and the medians are compared, since
what else the machine does reaches both.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

# On a machine with two cores that does nothing else.
GOAL_RATIO = 1.9
RUNS, REPEATS = 24, 3

DESCRIPTION = {
    "cluster": {
        "servers": 128,
        "device": "jbod10-sata",
        "fabric": {"model": "loggp", "table": "qdr-infiniband"},
    },
    "population": {
        "histogram": "genomes1000",
        "objects": {"chunk": "64 MiB"},
        "bytes_per_server": "20 TiB",
    },
    "placement": {"algorithm": "crush", "bucket": "straw", "placement_groups": "auto"},
    "redundancy": {"replicas": 3},
    "faults": [{"at": "0 s", "fail": {"servers": 1}}],
    "study": {"seeds": RUNS},
}


def seconds(workers: int) -> float:
    """The time of the whole study, tables included, in an empty folder."""
    from resilver import Study, execute

    study = Study.from_dict(DESCRIPTION)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        execute(study, Path(folder) / "runs", workers=workers)
        return time.perf_counter() - start


def main() -> None:
    """Print the times and their ratio beside the goal."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    pairs = [(seconds(1), seconds(2)) for _ in range(REPEATS)]
    one, two = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"{RUNS} runs of 128 servers: one worker {one:.2f} s, two workers {two:.2f} s, "
        f"ratio {one / two:.2f} (goal {GOAL_RATIO:g} on two idle cores)"
    )


if __name__ == "__main__":
    main()
