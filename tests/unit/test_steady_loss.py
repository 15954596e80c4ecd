"""Losses of a placement year after year: the closed form against every state of a few devices."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from resilver.errors import ConfigError
from resilver.survival.steady import loss_probability, sets_loss_rate


@pytest.mark.parametrize(
    "sets", [[(0, 1)], [(0, 1), (1, 2), (2, 3)], [(0, 1, 2), (1, 2, 3)], [(0,), (1,), (2,), (3,)]]
)
def test_losses_are_those_of_all_states_of_four_devices(sets: list[tuple[int, ...]]) -> None:
    """The rate at which a chain of 16 states enters one in which a set is gone, summed by set."""
    fails, mends = 0.3, 1.0 / 0.7
    states = list(product((0, 1), repeat=4))
    number = {state: place for place, state in enumerate(states)}
    rates = np.zeros((16, 16))
    for state, device in product(states, range(4)):
        after = tuple(1 - one if at == device else one for at, one in enumerate(state))
        rates[number[state], number[after]] = mends if state[device] else fails
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[0] = 1.0
    share = np.linalg.solve(balance, np.eye(16)[0])
    entered = sum(
        share[before] * rates[before, after]
        for gone in sets
        for before, after in product(range(16), repeat=2)
        if all(states[after][one] for one in gone) and not all(states[before][one] for one in gone)
    )
    found = sets_loss_rate(len(sets), len(sets[0]), failure_rate=fails, repair_seconds=0.7)
    assert found == pytest.approx(entered, rel=1e-12)


def test_no_set_and_no_failure_lose_nothing() -> None:
    assert sets_loss_rate(0, 3, failure_rate=1e-9, repair_seconds=1.0) == 0.0
    assert sets_loss_rate(5, 3, failure_rate=0.0, repair_seconds=1.0) == 0.0
    assert loss_probability(0.0, 1e9) == 0.0
    assert loss_probability(1e-20, 10.0) == pytest.approx(1e-19, rel=1e-12)


@pytest.mark.parametrize(
    ("key", "value"), [("repair_seconds", 0.0), ("failure_rate", math.inf), ("failure_rate", -1.0)]
)
def test_what_cannot_be_is_refused(key: str, value: float) -> None:
    numbers = {"failure_rate": 1e-9, "repair_seconds": 3600.0, key: value}
    with pytest.raises(ConfigError, match=key):
        sets_loss_rate(1, 2, **numbers)
