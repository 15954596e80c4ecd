"""What a plan of two jobs' starts says is what a study's flows do."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resilver._core", reason="the native core is not built")

from resilver import Signature, shift_signatures
from tests.integration.flow_runs import rows, run
from tests.integration.test_jobs import SYSTEM

JOB = """
[[traffic.jobs]]
clients = 32
first_client = {first}
start = "{start} s"
signature = {{ period = "200 s", length = "20 s", volume = "{volume} B" }}
"""
BURSTS = 3
"""As many begin in the study's 600 s, at 0, 200 and 400 s of a job's own time or later."""


def seconds(folder: Path, volume: int, *starts: float) -> list[float]:
    """How long all bursts of each job take together, in a study of jobs with these starts."""
    jobs = [
        JOB.format(first=32 * number, start=start, volume=volume)
        for number, start in enumerate(starts)
    ]
    run(folder, SYSTEM + "".join(jobs), "flows")
    took: dict[str, list[float]] = {}
    for row in rows(folder, "jobs"):
        took.setdefault(row["job"], []).append(row["seconds"])
    assert all(len(one) == BURSTS for one in took.values())
    return [sum(one) for one in took.values()]


def test_the_best_start_saves_in_flows_what_the_plan_says(tmp_path: Path) -> None:
    """Two like jobs, whose bursts ask for 0.9 of what the system carries: at once each burst takes
    36 s in place of 20.
    """
    much = 150 * 10**9
    # All it carries, by bursts that ask for far more.
    carried = BURSTS * much / seconds(tmp_path / "alone", much, 0.0)[0]
    volume = round(0.9 * carried * 20.0)
    job = Signature(period=200.0, first=0.0, length=20.0, volume=volume)
    plan = shift_signatures(job, job, rate=carried, over=600.0)
    assert plan.bursts == (BURSTS, BURSTS)
    assert plan.lost(0.0) == pytest.approx((48.0, 48.0), rel=1e-6)
    for start in (0.0, 7.0, 15.0, round(plan.best, 3)):
        took = seconds(tmp_path / f"{start:g}", volume, 0.0, start)
        lost = [one - BURSTS * 20.0 for one in took]
        assert lost == pytest.approx(plan.lost(start), abs=1e-3 * BURSTS * 20.0)
