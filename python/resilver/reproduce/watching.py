"""Evidence of tools that watch and measure: signatures of planted jobs, plans of tests, stats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resilver.calibration.bench_plan import GRIDS
from resilver.center.signatures import Signature, shift_signatures, signature
from resilver.center.stat_cost import StatCost
from resilver.reproduce.planted import planted
from resilver.reproduce.tables import Row


def signature_rows(
    cases: int, noises: Sequence[float], runs: Sequence[int], silent: int, rate: float
) -> list[Row]:
    """Jobs whose pattern is known, hidden under noise, and what is found of them.

    Args:
        cases: Jobs for each noise and number of runs.
        noises: Bytes of noise by those of the job's bursts; each with eight runs.
        runs: Numbers of runs, each at the last of these noises.
        silent: How many cases there are of noise alone, and of bursts at random.
        rate: What carries two such jobs, in bytes a second, by the first's height.

    Returns:
        Rows with the column ``kind``. "periodic": ``noise``, ``runs``, and how far the found
        ``period`` and ``volume`` of a burst are from the planted ones, as shares (1 where nothing
        was found). "noise" and "random": ``claims`` is 1 where a period is claimed. "shift": two
        jobs of the same period, ``together`` the share of the time of a run that both lose started
        at once, and ``best`` where the planner starts the second.
    """
    rows: list[Row] = []
    settings = [(noise, 8) for noise in noises] + [(noises[-1], many) for many in runs]
    for rank, (noise, many) in enumerate(dict.fromkeys(settings)):
        for case in range(cases):
            job = planted((case, rank), noise=noise, runs=many)
            found = signature(job.runs).signature
            period = 1.0 if found is None else abs(found.period / job.period - 1.0)
            volume = 1.0 if found is None else abs(found.volume / job.volume - 1.0)
            row = {"kind": "periodic", "noise": noise, "runs": many}
            rows.append(row | {"period": min(1.0, period), "volume": min(1.0, volume)})
    for case in range(silent):
        noise_alone = planted((case, 1), noise=1.0, kind="noise")
        at_random = planted((case, 2), noise=0.4, kind="random")
        rows += [
            {"kind": kind, "claims": float(signature(job.runs).signature is not None)}
            for kind, job in (("noise", noise_alone), ("random", at_random))
        ]
    rows += _shift_rows(cases, rate)
    return rows


def _shift_rows(cases: int, rate: float) -> Iterator[Row]:
    """Two jobs like planted ones on one system: started at once, and as the planner says."""
    for case in range(cases):
        one = planted((case, 3), noise=0.0, runs=1)
        job = Signature(one.period, one.first, one.length, one.volume)
        plan = shift_signatures(job, job, rate=rate * job.height)
        span = sum(plan.spans)
        at_once, best = sum(plan.lost(0.0)), sum(plan.lost(plan.best))
        yield {"kind": "shift", "together": at_once / span, "best": best / span}


def tool_rows(stripes: Sequence[int]) -> list[Row]:
    """The published grids of tests, a plan with fewer, and what a stat asks of servers.

    Args:
        stripes: How many stripes files have.

    Returns:
        Rows with the column ``kind``: "plan" with ``name``, ``tests`` and ``seconds``; "stat" with
        ``stripes``, ``requests`` for each file, and the ``share`` of them of a file of one stripe.
    """
    rows: list[Row] = [
        {"kind": "plan", "name": grid.name, "tests": len(plan.tests), "seconds": plan.total_seconds}
        for grid in GRIDS["olcf3"]
        for plan in [grid.plan(30.0, 15.0)]
    ]
    files = 1_000_000
    of_one = StatCost.of(files, files, files, files)
    for count in stripes:
        cost = StatCost.of(files, files, files, count * files)
        asked, least = cost.requests, of_one.requests
        assert asked is not None and least is not None
        rows.append(
            {"kind": "stat", "stripes": count, "requests": asked / files, "share": least / asked}
        )
    return rows
