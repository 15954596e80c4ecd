"""Estimates of rare losses of chains drawn anew, from 1e-2 to 1e-14, and their intervals.

The tests keep five chains and 200 seeds (crates/durability/tests/suite/rare_truth.rs), and 600
intervals of five estimates (tests/unit/test_rare.py); splitting on a real cluster's sets has 12
seeds there and 200 here.
"""

import json
import math
import random
import statistics
from pathlib import Path

import pytest

from resilver.importers.ceph import read_cluster
from resilver.simulate.durability import DurabilityModel, choose_method
from tests.scale import SCALE, SEED, times
from tests.unit.test_rare import YEAR, ChainModel, chain, exact, mean, real_system


def test_chains_drawn_anew_are_estimated_within_their_errors() -> None:
    # Of n true estimates 0.27 % are outside of three standard errors, and 5 % of 95 % intervals
    # miss; the bands are four standard deviations of these counts.
    draw = random.Random(SEED)
    count = 50 * SCALE
    outside = missed = told = 0
    for number in range(count):
        needed = draw.randint(1, 10)
        drawn = chain(
            needed + draw.randint(1, 3),
            needed,
            10 ** draw.uniform(-2.5, 0) / YEAR,
            10 ** draw.uniform(0, 2.5),
            draw.choice([1, 10]) * YEAR,
        )
        model = ChainModel(json.dumps(drawn))
        chosen = choose_method(model, "auto", SEED + number)
        each = max(2000, int(300_000 * chosen.trajectories / max(chosen.events, 1)))
        figure = model.batch(chosen.method, SEED + number, 0, each).probability()
        if figure.value is None:
            assert exact(drawn) < 1e-20 or figure.high >= exact(drawn)
            continue
        assert figure.relative_error is not None
        wanted = exact(drawn)
        outside += abs(figure.value - wanted) > 3 * figure.relative_error * figure.value
        told += figure.has_interval
        missed += figure.has_interval and not figure.low <= wanted <= figure.high
    print(f"{outside} of {count} outside of three errors, {missed} of {told} outside of intervals")
    assert outside <= 0.0027 * count + 4 * (0.0027 * count) ** 0.5
    assert abs(missed - 0.05 * told) <= 4 * (0.0475 * told) ** 0.5


def misses_of_splitting(
    model: DurabilityModel, seeds: int, trajectories: int
) -> tuple[int, float, float]:
    """What many seeds of splitting find, beside importance sampling.

    Returns:
        How many are further from it than 95 % are by their own standard errors (they see too few
        losses for an interval); the mean of all over it; and that ratio's standard error.
    """
    weighed = model.batch({"kind": "importance", "push": 0.8, "from": 1}, 1, 0, 10_000)
    truth, error = mean(weighed.loss, weighed.loss_squared, weighed.trajectories)
    assert error < 0.02 * truth
    way = {"kind": "splitting", "copies": 4, "from": 1}
    batches = [model.batch(way, seed, 1, trajectories) for seed in range(seeds)]
    figures = [batch.probability() for batch in batches]
    missed = sum(abs(of.value - truth) > 1.96 * of.relative_error * of.value for of in figures)
    ratios = [batch.loss / batch.trajectories / truth for batch in batches]
    spread = statistics.variance(ratios) / seeds
    return missed, statistics.mean(ratios), math.hypot(math.sqrt(spread), error / truth)


@pytest.mark.parametrize(
    ("order", "mttf_days", "trajectories"), [("device", 1217.5, 400), ("priority", 400.0, 1500)]
)
def test_intervals_of_splitting_hold_the_answer_on_a_real_cluster(
    order: str, mttf_days: float, trajectories: int, shared_data: Path
) -> None:
    # Of 200 true intervals ten miss, with a standard deviation of 3.1: up to 22 is four of them.
    report = read_cluster(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    model = DurabilityModel(json.dumps(real_system(report, order, mttf_days)))
    seeds = times(10)
    missed, ratio, error = misses_of_splitting(model, seeds, trajectories)
    print(f"{order}: {missed} of {seeds} miss, mean over importance {ratio:.3f} +- {error:.3f}")
    assert missed <= 0.05 * seeds + 4 * (0.0475 * seeds) ** 0.5
    assert abs(ratio - 1) <= 4 * error
