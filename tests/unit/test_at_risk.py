"""The chance of loss while groups lack pieces: by sets of devices, and by looking at every way."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from resilver.analytic import at_risk
from resilver.analytic.at_risk import Windows, chance_of_loss, critical_seconds
from resilver.errors import ConfigError


def windows(rows: list[tuple[list[int], int, float, float]]) -> Windows:
    """Windows of (holders, survives, begin, end)."""
    width = max((len(row[0]) for row in rows), default=0)
    holders = np.full((len(rows), width), -1, dtype=np.int64)
    for number, (own, *_) in enumerate(rows):
        holders[number, : len(own)] = own
    columns = [np.array([row[place] for row in rows]) for place in (1, 2, 3)]
    return Windows(holders, columns[0].astype(np.int64), *map(np.asarray, columns[1:]))


def by_every_way(of: Windows, rates: list[float]) -> float:
    """The exact probability: every device fails in one of the intervals between ends, or later."""
    ends = sorted({float(end) for end in of.end_seconds})
    edges = [0.0, *ends, math.inf]
    total = 0.0
    for when in product(range(len(ends) + 1), repeat=len(rates)):
        weight = 1.0
        for rate, slot in zip(rates, when, strict=True):
            weight *= math.exp(-rate * edges[slot]) - math.exp(-rate * edges[slot + 1])
        for own, survives, end in zip(of.holders, of.survives, of.end_seconds, strict=True):
            failed = [edges[when[device] + 1] <= end for device in own if device >= 0]
            if sum(failed) > survives:
                total += weight
                break
    return total


def test_chances_of_sets_that_are_told_by_hand() -> None:
    # Device 1 is fatal from 0 to 10 and from 30 to 40, device 2 from 5 to 20: a rate of 0.01 each
    # gives 1 - exp(-0.01 (10 + 10 + 15)), and a device whose rate is 0 adds nothing.
    of = windows([([1], 0, 0, 10), ([1, 2], 0, 5, 10), ([2], 0, 10, 20), ([1, 0], 0, 30, 40)])
    assert critical_seconds(of, 3).tolist() == [10.0, 20.0, 15.0]
    assert chance_of_loss(of, [0.0, 0.01, 0.01]) == pytest.approx(-math.expm1(-0.35), rel=1e-14)
    # Twenty groups on the same two devices: both fail within the longest window of 100 s.
    rows = [([0, 1], 1, 0.0, float(5 * number + 5)) for number in range(20)]
    once = math.expm1(-0.001 * 100.0) ** 2
    assert chance_of_loss(windows(rows), [0.001, 0.001]) == pytest.approx(once, rel=1e-12)
    assert chance_of_loss(windows([([0], -1, 0.0, 1.0)]), [1e-9]) == 1.0
    assert chance_of_loss(windows([]), [1e-9]) == 0.0
    assert chance_of_loss(windows([([0, 1], 0, 0.0, 1e9)]), [0.0, 0.0]) == 0.0


@pytest.mark.parametrize("rate", [1e-9, 1e-6, 1e-4])
@pytest.mark.parametrize("seed", range(6))
def test_sets_are_never_below_the_truth_and_close_above(seed: int, rate: float) -> None:
    """Of windows that begin together: between the exact chance P and P (1 + 3 S), S = -log(1-P)."""
    draw = np.random.default_rng(seed)
    devices = 6
    rates = (rate * draw.uniform(0.5, 2.0, devices)).tolist()
    rows: list[tuple[list[int], int, float, float]] = []
    for _ in range(5):
        size = int(draw.integers(2, 5))
        own = draw.choice(devices, size, replace=False).tolist()
        rows.append((own, int(draw.integers(0, size)), 0.0, float(draw.choice([100.0, 400.0]))))
    of = windows(rows)
    exact, ours = by_every_way(of, rates), chance_of_loss(of, rates)
    assert exact <= ours * (1 + 1e-9)
    # Where only sets of several are fatal, they overlap in devices: a factor of device failures.
    several = 3 * (sum(rates) * 400.0 - math.log1p(-exact))
    assert ours <= exact * (1 + several) + 1e-300


def test_groups_apart_are_those_of_sets_where_no_set_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond the most sets each group counts by itself, by the binomial law of its own holders."""
    rows = [(list(range(5 * number, 5 * number + 5)), 2, 0.0, 50.0) for number in range(4)]
    rates = np.full(20, 1e-3)
    monkeypatch.setattr(at_risk, "SETS_MAX", 0)
    p = -math.expm1(-0.05)
    tail = sum(math.comb(5, lost) * p**lost * (1 - p) ** (5 - lost) for lost in (3, 4, 5))
    assert chance_of_loss(windows(rows), rates) == pytest.approx(1 - (1 - tail) ** 4, rel=1e-12)


@pytest.mark.parametrize(
    ("row", "rates", "says"),
    [
        (([0], 0, 0.0, 1.0), [-1.0], "rates_per_second"),
        (([0], 0, 0.0, 1.0), [math.inf], "rates_per_second"),
        (([0], 0, 2.0, 1.0), [1.0], "end_seconds"),
        (([3], 0, 0.0, 1.0), [1.0], "holders"),
    ],
)
def test_what_cannot_be_is_refused(row: Any, rates: list[float], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        chance_of_loss(windows([row]), rates)
