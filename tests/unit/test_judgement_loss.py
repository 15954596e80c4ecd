"""How likely failures lose data: enumerated, by formula and sampled."""

from __future__ import annotations

from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import ConfigError, redundancy
from resilver.judgement import group_loss_probability, loss_probability, quality


def test_raid_sets_lose_data_by_the_formula() -> None:
    # Three sets of four of which one may fail: two of twelve fail in one set with
    # 3 x C(4, 2) / C(12, 2) = 18/66; enumeration, formula and this fraction agree.
    sets = np.arange(12).reshape(3, 4)
    survives = redundancy("rs 3+1").is_survivable
    enumerated = loss_probability(sets, 12, 2, survives)
    assert enumerated.is_exact and enumerated.combinations == 66
    assert enumerated.probability == group_loss_probability(3, 4, 2, 1).probability == 18 / 66
    for failures in range(13):
        by_formula = group_loss_probability(3, 4, failures, 1).probability
        assert loss_probability(sets, 12, failures, survives).probability == pytest.approx(
            by_formula, abs=1e-12
        )
    # With more failures than sets one set has two.
    assert group_loss_probability(3, 4, 4, 1).probability == 1.0


@pytest.mark.parametrize("tolerance", [0, 1, 2])
def test_a_group_that_holds_every_combination_loses_beyond_its_tolerance(tolerance: int) -> None:
    # Two groups of five in which every combination of three members holds some object.
    sets = [[5 * group + one for one in members] for group in range(2)
            for members in combinations(range(5), 3)]  # fmt: skip
    for failures in range(1, 6):
        enumerated = loss_probability(sets, 10, failures, lambda lost: len(lost) <= tolerance)
        expected = group_loss_probability(2, 5, failures, tolerance)
        assert enumerated.probability == pytest.approx(expected.probability, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    sets=st.lists(st.permutations(range(9)).map(lambda order: list(order[:7])), max_size=6),
    holes=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=3),
    failures=st.integers(0, 5),
)
def test_positions_count_where_a_code_tells_them_apart(
    sets: list[list[int]], holes: list[tuple[int, int]], failures: int
) -> None:
    # Rule: a locally repairable code survives some losses of a number and not others; what has no
    # device is lacking, but costs nothing where nothing of the set fails.
    code = redundancy("lrc 4+3 local 2")
    for place, position in holes:
        if place < len(sets):
            sets[place][position] = -1
    lost = 0
    for failed in combinations(range(9), failures):
        gone = {-1, *failed}
        lost += any(
            set(members) & set(failed)
            and not code.is_survivable([i for i, one in enumerate(members) if one in gone])
            for members in sets
        )
    array = np.array(sets, dtype=np.int64).reshape(-1, 7)
    found = loss_probability(array, 9, failures, code.is_survivable)
    assert found.probability == lost / comb(9, failures)


def test_the_share_of_the_quality_of_a_placement_is_the_same() -> None:
    generator = np.random.default_rng(5)
    sets = [generator.choice(20, 4, replace=False).tolist() for _ in range(30)]
    for fatal in (2, 3, 4):
        found = loss_probability(sets, 20, fatal, lambda lost, fatal=fatal: len(lost) < fatal)
        weights = np.ones(20)
        assert found.probability == quality(sets, weights=weights, fatal=fatal).loss_share


def test_a_sample_says_its_error() -> None:
    # 440 servers in 40 RAID sets of rs 8+3, 30 failures: more combinations than can be looked at.
    # The formula is exact, and a sample of 4,000 within five standard errors of it.
    sets = np.arange(440).reshape(40, 11)
    exact = group_loss_probability(40, 11, 30, 3).probability
    sampled = loss_probability(sets, 440, 30, redundancy("rs 8+3").is_survivable, draws=4000)
    assert 0.05 < exact < 0.5 and not sampled.is_exact and sampled.combinations == 4000
    share = sampled.probability
    assert 0 < sampled.standard_error <= sqrt(share * (1 - share) / 4000)
    assert abs(share - exact) < 5 * sampled.standard_error


def test_what_has_no_probability_is_refused() -> None:
    def survives(lost: list[int]) -> bool:
        return not lost

    for sets, devices, failures, says in (
        ([[0, 5]], 5, 1, "devices are numbered from 0 to 4"),
        ([[0, 1]], 5, 6, "of 5 devices from none to all fail"),
        ([[0, 1]], 5, -1, "of 5 devices from none to all fail"),
        (np.arange(65).reshape(1, 65), 65, 1, "a set has at most 64 positions"),
    ):
        with pytest.raises(ConfigError, match=says):
            loss_probability(sets, devices, failures, survives)
    with pytest.raises(ConfigError, match="a sample has at least one draw"):
        loss_probability(np.arange(100).reshape(10, 10), 100, 50, survives, draws=0)
    for numbers in ((0, 4, 1, 1), (3, 0, 1, 1), (3, 4, 13, 1), (3, 4, 1, -1)):
        with pytest.raises(ConfigError):
            group_loss_probability(*numbers)
    assert loss_probability([], 5, 2, survives).probability == 0.0
