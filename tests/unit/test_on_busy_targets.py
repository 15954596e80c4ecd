"""What placing files brings on busy targets, against a few lines with draws of their own."""

import csv
import random
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

from tests.unit.test_reproduce_entries import measured_once

# What the entry measures is measured once in the worker that holds its numbers as well.
pytestmark = pytest.mark.xdist_group("entry center-placement")

TARGETS = 1008


def shares(root: Path) -> list[list[float]]:
    """What each target of the file system that ships moved, over the most that any can."""
    text = (root / "studies" / "center-placement" / "busy.csv").read_text()
    return [
        [float(rate) / 1916.6 for rate in row[1:]] for row in list(csv.reader(text.split()))[1:]
    ]


def seconds(streams: int, share: float) -> float:
    """A byte's time on a target of which another stream takes a share, or an equal part if less."""
    return min(streams / (1.0 - share), streams + (share > 0.0))


def job(targets: list[int], busy: list[float]) -> list[float]:
    """How long each file takes a byte."""
    streams = Counter(targets)
    return [seconds(streams[target], busy[target]) for target in targets]


def states(moments: list[list[float]], draws: random.Random) -> list[list[float]]:
    """Six file systems for each moment, each of their targets like one that was watched."""
    return [draws.choices(moment, k=TARGETS) for moment in moments for _ in range(6)]


@pytest.mark.parametrize("files", [1008, 4096])
def test_drawn_targets_are_as_uneven_as_balls_in_bins(files: int, root: Path) -> None:
    draws = random.Random(files)
    uneven, slowest = [], []
    for busy in states(shares(root), draws):
        times = job(draws.choices(range(TARGETS), k=files), busy)
        uneven.append(max(times) / min(times))
        slowest.append(files / max(times))
    rows = measured_once("center-placement")
    ours = [row for row in rows if row["kind"] == "writers" and row["files"] == files]
    # 180 draws of ours and 60 of theirs: the means' standard error is below 2.5 %.
    assert mean(row["drawn_longest"] for row in ours) == pytest.approx(mean(uneven), rel=0.08)
    rates = [row["drawn_rate"] / 685.7e6 for row in ours]
    assert mean(rates) == pytest.approx(mean(slowest), rel=0.08)


def test_a_job_of_a_quarter_gains_what_its_busiest_target_costs(root: Path) -> None:
    """Enough targets are nearly idle: only round robin waits, for the busiest of its own."""
    draws, gains = random.Random(7), []
    for busy in states(shares(root), draws):
        best = max(seconds(1, share) for share in sorted(busy)[:252])
        starts = [draws.randrange(TARGETS) for _ in range(8)]
        robin = [job([(start + at) % TARGETS for at in range(252)], busy) for start in starts]
        gains.append(mean(max(times) for times in robin) / best)
    rows = measured_once("center-placement")
    ours = [row for row in rows if row["kind"] == "advised" and row["files"] == 252]
    assert mean(row["slowest_gain"] for row in ours) == pytest.approx(mean(gains), rel=0.06)


def test_an_older_state_is_worth_less() -> None:
    rows = measured_once("center-placement")
    gain = {
        age: mean(r["slowest_gain"] for r in rows if r["kind"] == "old" and r["old_seconds"] == age)
        for age in (0, 60)
    }
    now = [row for row in rows if row["kind"] == "advised" and row["files"] == 252]
    assert gain[60] < 0.85 * gain[0]
    assert gain[0] == pytest.approx(mean(row["slowest_gain"] for row in now), rel=0.06)
