"""Flows over time: events a second with 2,000 flows at a time, through a whole system.

200 jobs of 10 clients each move a volume again and again, and are hardly ever idle. An event is a
client that is done with its share of a burst, or a burst that comes. Where nothing is in the jobs'
way, an event touches one flow; where devices are, all flows that share them are solved again. Run
with ``python benches/flows.py`` after building the package in release mode.
"""

from __future__ import annotations

import time

from resilver import Study
from resilver.simulate import Progress
from resilver.study import simulate

GOAL_EVENTS_PER_SECOND = 20_000
JOBS, CLIENTS = 200, 10
CASES = {"signatures bind": ("400 MB", 100), "devices bind": ("4 GB", 2)}


def study(volume: str, bursts: int) -> Study:
    """Jobs that ask for a volume each 10 s, for so many bursts."""
    signature = {"period": "10 s", "length": "9.9 s", "volume": volume}
    jobs = [
        # Each begins at a time of its own, so that they are not in step.
        {
            "clients": CLIENTS,
            "first_client": CLIENTS * number,
            "start": f"{number * 47} ms",
            "signature": signature,
        }
        for number in range(JOBS)
    ]
    return Study.from_dict(
        {
            "cluster": {
                "servers": 64,
                "device": "jbod10-sata",
                "fabric": {"routers": JOBS * CLIENTS},
            },
            "population": {"file_size": "8 MiB", "files": 20_000},
            "placement": {"placement_groups": 4096},
            "redundancy": {"replicas": 2},
            "traffic": {"engine": "flows", "duration": f"{10 * bursts} s", "jobs": jobs},
        }
    )


def rate(volume: str, bursts: int) -> tuple[int, float]:
    """The events of a run, and how many there are a second once costs are known."""
    (run,) = study(volume, bursts).runs()
    begun: list[tuple[float, int]] = []

    def look(state: Progress) -> bool:
        # Trials have no time of their own.
        if state.simulated_seconds > 0 and state.phase != "done":
            begun.append((time.perf_counter(), state.events))
        return True

    simulate(run.system, run.seed, look)
    (first, before), (last, after) = begun[0], begun[-1]
    return after - before, (after - before) / (last - first)


if __name__ == "__main__":
    for name, (volume, bursts) in CASES.items():
        events, a_second = rate(volume, bursts)
        goal = GOAL_EVENTS_PER_SECOND
        print(f"{name:16} {a_second:10,.0f} /s     goal {goal:,} /s, {events:,} events")
