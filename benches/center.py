"""A year of a file system, a listing read and the rates of a job, on one core, beside goals."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

YEAR_GOAL_SECONDS, LISTING_GOAL, JOB_GOAL_SECONDS = 2.0, 1e6, 2.0
CLASSES, AGES, LINES, REPEATS = 1000, 1000, 200_000, 5


def year_seconds() -> float:
    """How long a million classes of size and age take for 365 days, the median of some repeats."""
    import numpy as np

    from resilver.center import simulate_year
    from resilver.center.year import PurgeRule

    draws = np.random.default_rng(1)
    stored = draws.random((AGES, CLASSES))
    inflow, uses = draws.random(CLASSES), draws.random(CLASSES)
    took = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        simulate_year(inflow, uses, stored, 1e9, PurgeRule(14), 365)
        took.append(time.perf_counter() - begun)
    return statistics.median(took)


def listing_rate() -> float:
    """Lines of ne2scan read a second."""
    from resilver.importers.ages import read_ages

    scan = 1_500_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scan.txt"
        with path.open("w", encoding="ascii") as file:
            file.write(f"#IDENT#|1|1|{scan}|date|host|device|0|0|0|0|fs|\n")
            for number in range(LINES):
                at = scan - number * 7919 % 8_640_000
                file.write(f"{at}|{at - 5}|{at - 9}|{number % 300}|1|100644|{number * 31}|")
                file.write(f"{number}|1:a,2:b|/a/b/c/{number}\n")
            file.write("#complete#\n")
        begun = time.perf_counter()
        read_ages(path)
        return LINES / (time.perf_counter() - begun)


def job_seconds() -> tuple[int, float]:
    """The flows of every client of Titan to every network, and how long their rates take."""
    from resilver.center import job_rates, machine, route

    routes = route(machine("titan"))
    begun = time.perf_counter()
    job = job_rates(routes, f"random:{len(routes.machine.clients)}", "each")
    return len(job.rates), time.perf_counter() - begun


def main() -> None:
    """Print each figure beside its goal."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"year      {year_seconds():8.3f} s        goal {YEAR_GOAL_SECONDS:g} s")
    print(f"listing   {listing_rate():8,.0f} lines/s  goal {LISTING_GOAL:,.0f} lines/s")
    flows, seconds = job_seconds()
    print(f"job       {seconds:8.3f} s        goal {JOB_GOAL_SECONDS:g} s, {flows:,} flows")


if __name__ == "__main__":
    main()
