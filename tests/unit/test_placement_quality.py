"""Judgement against closed forms: designs whose every measure is known beforehand."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.placement_quality import balance, quality, rebuild_targets, replica_sets

# The Fano plane: 7 sets of 3 on 7 devices, in which every pair of devices meets exactly once.
FANO = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]


def test_designs_have_the_measures_of_their_closed_forms() -> None:
    # All C(6, 3) = 20 sets of 3 on 6 devices. A device is in C(5, 2) = 10 of them and leads none of
    # the others; it meets each of the 5 others in C(4, 1) = 4. A survivor shares 4 of the failed
    # device's 10 sets: (3 - 1) / (6 - 1) = 0.4. Its 10 sets hold 20 copies to read from, 4 on each
    # of 5 sources: parallelism 5. Every failure of three loses data.
    judged = quality(list(combinations(range(6), 3)))
    assert (judged.sets, judged.copies, judged.devices) == (20, 3, 6)
    assert judged.copy_balance.max_over_fair == judged.copy_balance.min_over_fair == 1.0
    assert judged.copy_balance.coefficient_of_variation == 0.0
    assert (judged.scatter_width_min, judged.scatter_width_max) == (5, 5)
    assert judged.scatter_share == 1.0
    assert judged.declustering_ratio == judged.declustering_ratio_measured == 0.4
    assert (judged.pair_sets_min, judged.pair_sets_mean, judged.pair_sets_max) == (4, 4.0, 4)
    assert (judged.rebuild_sources_worst, judged.rebuild_sources_median) == (5, 5.0)
    assert judged.rebuild_parallelism_worst == 5.0
    assert (judged.distinct_sets, judged.possible_sets, judged.loss_share) == (20, 20, 1.0)
    # (2) / (6) = 1/3 of a survivor's share: each device is in 3 sets and meets each of 6 others in
    # one. 7 of C(7, 3) = 35 failures of three devices lose data.
    judged = quality(FANO)
    assert (judged.pair_sets_min, judged.pair_sets_max) == (1, 1)
    assert judged.declustering_ratio_measured == pytest.approx(1 / 3)
    assert judged.declustering_ratio == pytest.approx(1 / 3)
    assert judged.rebuild_parallelism_worst == 6.0
    assert judged.loss_share == pytest.approx(7 / 35)
    # Nine devices in three fixed sets, 10 groups each: a device's partners are 2 of 8 others, and
    # every one of them reads its whole share of the rebuild: parallelism 2, ratio 1. Data is lost
    # in 3 of C(9, 3) = 84 failures of three, the fewest that nine devices allow.
    judged = quality([[3 * part, 3 * part + 1, 3 * part + 2] for part in range(3)] * 10)
    assert (judged.scatter_width_min, judged.scatter_width_max) == (2, 2)
    assert judged.scatter_share == 2 / 8
    assert judged.declustering_ratio_measured == 1.0
    assert judged.rebuild_parallelism_worst == 2.0
    assert (judged.pair_sets_min, judged.pair_sets_max) == (0, 10)
    assert judged.distinct_sets == 3
    assert judged.loss_share == pytest.approx(3 / 84)
    # Each set is led by its first device in all 10 groups: 10 of 30 where 30/9 is fair.
    assert judged.primary_balance.max_over_fair == pytest.approx(3.0)
    assert judged.primary_balance.min_over_fair == 0.0


def test_fair_shares_follow_weights_and_bytes() -> None:
    # Two sets of 1 with 30 and 10 bytes on devices of weight 3 and 1: fair in bytes. In copies
    # device 0 has 1 of 2 where 3/4 of them is fair, 2/3 of its share, and device 1 twice its own.
    judged = quality([[0], [1]], weights=[3.0, 1.0], set_bytes=[30, 10])
    assert judged.byte_balance.max_over_fair == judged.byte_balance.min_over_fair == 1.0
    assert judged.byte_balance.total == 40
    assert judged.copy_balance.max_over_fair == pytest.approx(2.0)
    assert judged.copy_balance.min_over_fair == pytest.approx(2 / 3)
    assert (judged.copy_balance.fullest, judged.copy_balance.emptiest) == (1, 0)
    # Device 2 is out. Of two devices one can be the other's only partner.
    judged = quality([[0, 1], [1, 0]], weights=[1.0, 1.0, 0.0])
    assert judged.devices == 2
    assert judged.scatter_share == 1.0
    assert judged.copy_balance.min_over_fair == 1.0
    # Device 0 shares 3 bytes with device 1 and 1 byte with device 2: 4 over 3.
    judged = quality([[0, 1], [0, 2]], set_bytes=[3, 1])
    # Devices 1 and 2 have one source each: parallelism 1 is the worst.
    assert judged.rebuild_parallelism_worst == 1.0
    of_zero = quality([[0, 1], [0, 2]], set_bytes=[3, 1], weights=[1, 1, 1])
    assert of_zero.rebuild_sources_median == 1.0


def test_holes_are_left_out_and_codes_lose_data_with_fewer_members() -> None:
    # Ceph's hole and -1 are no devices: of three sets one is whole, and only that one counts as a
    # way to lose three devices' data.
    judged = quality([[0, 1, 2], [0, 2**31 - 1, 2], [1, 2, -1]])
    assert judged.short_sets == 2
    assert judged.copy_balance.total == 7
    assert judged.loss_share == 1.0
    # One set of 4 on 5 devices that survives 1 loss: any 2 of its 4 members are fatal, 6 of the
    # C(5, 2) = 10 pairs of devices.
    judged = quality([[0, 1, 2, 3]], devices=5, fatal=2)
    assert judged.loss_share == pytest.approx(0.6)
    assert quality([]).sets == 0
    assert quality([[-1, -1]], devices=2).scatter_width_max == 0
    assert balance([0.0, 0.0]).fullest is None
    assert replica_sets([]).shape == (0, 0)


def test_choosing_at_random_varies_as_the_binomial_does() -> None:
    # 20,000 sets of 3 of 50 devices, each C(50, 3) set alike: the number of copies on a device is
    # Binomial(20000, 3/50), so the coefficient of variation is sqrt((1 - 0.06) / (20000 * 0.06)) =
    # 0.02799. The measured one scatters by 1/sqrt(2 * 49) = 10 % about it; 4 of these are
    # exceeded once in 16,000 seeds.
    random = np.random.default_rng(1)
    sets = np.argsort(random.random((20_000, 50)), axis=1)[:, :3]
    one = quality(sets).copy_balance
    assert one.expected_coefficient_of_variation == pytest.approx(math.sqrt(0.94 / 1200), rel=1e-9)
    assert one.coefficient_of_variation == pytest.approx(math.sqrt(0.94 / 1200), rel=0.4)


def test_targets_are_those_who_did_not_hold_a_copy() -> None:
    # Device 0 was in three sets; device 3 takes over two copies and device 2 one: 3 over 2. Set 3
    # changes too, but did not hold device 0.
    before = [[0, 1], [0, 2], [1, 0], [1, 2]]
    after = [[3, 1], [2, 3], [1, 2], [1, 3]]
    assert rebuild_targets(before, after, 0) == (2, 1.5)
    # With bytes 1, 1 and 6: 8 in all, 6 of them to device 2.
    assert rebuild_targets(before, after, 0, [1, 1, 6, 100]) == (2, 8 / 6)
    assert rebuild_targets(before, after, 9) == (0, 0.0)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3, unique=True), min_size=1),
    st.permutations(range(10)),
)
def test_renaming_devices_changes_no_measure(sets: list[list[int]], names: list[int]) -> None:
    one = quality(sets, devices=10)
    other = quality([[names[device] for device in row] for row in sets], devices=10)
    assert one.copy_balance.coefficient_of_variation == pytest.approx(
        other.copy_balance.coefficient_of_variation
    )
    for measure in (
        "scatter_width_median",
        "pair_sets_max",
        "distinct_sets",
        "rebuild_parallelism_worst",
        "loss_share",
    ):
        assert getattr(one, measure) == pytest.approx(getattr(other, measure))


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2, unique=True), min_size=1))
def test_the_plain_count_of_partners_agrees(sets: list[list[int]]) -> None:
    partners = {
        device: {other for row in sets if device in row for other in row} - {device}
        for device in range(10)
    }
    judged = quality(sets, devices=10)
    assert judged.scatter_width_max == max(len(some) for some in partners.values())
    assert judged.scatter_width_min == min(len(some) for some in partners.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(sets=[[0, 5]], devices=3), "sets name device 5, and there are 3 devices"),
        (dict(sets=[[0, 1]], weights=[1.0, -1.0]), "weights: a weight is a finite number from 0"),
        (dict(sets=[[0, 1]], set_bytes=[1, 2]), "set_bytes has the shape (2,)"),
        (dict(sets=[[0, 1]], fatal=3), "fatal = 3: losing data takes from 1 to 2 members"),
        (dict(sets=[[0, -7]]), "sets: -7 is not a device"),
    ],
)
def test_numbers_that_do_not_fit_are_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        quality(**arguments)  # type: ignore[arg-type]
    assert words in str(caught.value)
