"""Estimates of rare losses of chains drawn anew, from 1e-2 to 1e-14, and their intervals.

The tests keep five chains and 200 seeds (crates/durability/tests/suite/rare_truth.rs), and 1,200
intervals of five estimates (tests/unit/test_rare.py).
"""

from __future__ import annotations

import json
import random

from resilver.simulate.durability import ChainModel, choose_method
from tests.scale import SCALE, SEED
from tests.unit.test_rare import YEAR, chain, exact


def test_chains_drawn_anew_are_estimated_within_their_errors() -> None:
    # Of n true estimates 0.27 % are outside of three standard errors, and 5 % of 95 % intervals
    # miss; the bands are four standard deviations of these counts.
    draw = random.Random(SEED)
    count = 50 * SCALE
    outside = missed = 0
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
        missed += not figure.low <= wanted <= figure.high
    print(f"{outside} of {count} outside of three errors, {missed} outside of their intervals")
    assert outside <= 0.0027 * count + 4 * (0.0027 * count) ** 0.5
    assert abs(missed - 0.05 * count) <= 4 * (0.0475 * count) ** 0.5
