"""How likely failures lose data: enumerated, by formula and sampled."""

import numpy as np
import pytest

from resilver import ConfigError, redundancy
from resilver.placement_quality import group_loss_probability, loss_probability, quality


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


def test_the_share_of_the_quality_of_a_placement_is_the_same() -> None:
    generator = np.random.default_rng(5)
    sets = [generator.choice(20, 4, replace=False).tolist() for _ in range(30)]
    for fatal in (2, 3, 4):
        found = loss_probability(sets, 20, fatal, lambda lost, fatal=fatal: len(lost) < fatal)
        weights = np.ones(20)
        assert found.probability == quality(sets, weights=weights, fatal=fatal).loss_share


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
