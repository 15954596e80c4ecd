"""How long the dumps of a large cluster take to read: 2,000 OSDs, 100,000 groups, 238 MB."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

READ_GOAL_SECONDS, MEMORY_GOAL_GIB = 5.0, 1.0


def main() -> None:
    """Print each figure beside its goal."""
    # The cluster is the tests' own.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from resilver.importers import read_cluster
    from tests.reference.ceph_cluster import write_cluster

    with tempfile.TemporaryDirectory() as folder:
        dumps = write_cluster(Path(folder, "dumps"))
        begun = time.perf_counter()
        cluster = read_cluster(dumps)
        loads = cluster.loads
        took = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"read    {took:6.2f} s    goal {READ_GOAL_SECONDS:g} s ({len(loads):,} groups)")
    print(f"memory  {memory:6.2f} GiB  goal {MEMORY_GOAL_GIB:g} GiB")


if __name__ == "__main__":
    main()
