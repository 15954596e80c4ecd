"""One of 1,024 servers fails: what one run costs on this machine, beside its goal.

The system is the largest of the rebuild study: flat straw CRUSH, 64 MiB chunks of genome files,
20 TiB a server before replication, three replicas, placement groups. It runs in a process of its
own, so that its peak memory is its own. Starting Python is not timed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

# Once built, on a machine of 2 cores.
GOAL_SECONDS, GOAL_GIB = 8.0, 1.0

DESCRIPTION = {
    "cluster": {
        "servers": 1024,
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
    "study": {"seeds": 1},
}


def measure() -> None:
    """Simulate once; print the cost and the outcome as one JSON object."""
    from resilver import Study
    from resilver.study import simulate

    (run,) = Study.from_dict(DESCRIPTION).runs()
    start = time.perf_counter()
    metrics = simulate(run.system, run.seed).metrics
    seconds = time.perf_counter() - start
    # Linux gives the peak in KiB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak, **metrics}))


def main() -> None:
    """Print time, memory and rate of events, the first two beside their goals."""
    command = [sys.executable, __file__, "measure"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    cost = json.loads(done.stdout)
    seconds, gib = cost["seconds"], cost["peak"] / 2**30
    print(
        f"1,024 servers, one fails: {seconds:.2f} s (goal {GOAL_SECONDS:g} s), "
        f"{gib:.2f} GiB (goal {GOAL_GIB:g} GiB), {cost['events'] / seconds / 1e6:.1f} million "
        f"events/s; rebuilt at {cost['aggregate_bytes_per_second'] / 2**30:.1f} GiB/s"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        measure()
    else:
        main()
