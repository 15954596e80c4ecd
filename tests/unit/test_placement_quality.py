"""Judgement against closed forms: designs whose every measure is known beforehand."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver import redundancy
from resilver.crush import compare
from resilver.errors import ConfigError
from resilver.placement_quality import (
    balance,
    group_loss_probability,
    loss_probability,
    quality,
    rebuild_targets,
    replica_sets,
)

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


def test_targets_moves_and_losses_are_by_hand() -> None:
    # Device 0 was in three sets; device 3 takes over two copies and device 2 one: 3 over 2. Set 3
    # changes too, but did not hold device 0.
    before = [[0, 1], [0, 2], [1, 0], [1, 2]]
    after = [[3, 1], [2, 3], [1, 2], [1, 3]]
    assert rebuild_targets(before, after, 0) == (2, 1.5)
    # With bytes 1, 1 and 6: 8 in all, 6 of them to device 2.
    assert rebuild_targets(before, after, 0, [1, 1, 6, 100]) == (2, 8 / 6)
    assert rebuild_targets(before, after, 9) == (0, 0.0)
    # Four devices become five of equal weight: the fifth's share grows from 0 to 1/5, the others'
    # shrink. Of 20 copies at least 4 move. A placement that renames all devices moves all.
    before = [[device] for device in range(4)] * 5
    after = [[device] for device in range(5)] * 4
    result = compare(before, after, weights=([1] * 4, [1] * 5))
    assert result.least_by_weight == pytest.approx(4.0)
    assert result.least_by_load == 4.0
    assert result.moved >= result.least_by_weight
    assert result.over_least == pytest.approx(result.moved / 4.0)
    assert compare(before, before, weights=([1] * 4, [1] * 4)).over_least is None
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
    generator = np.random.default_rng(5)
    sets = [generator.choice(20, 4, replace=False).tolist() for _ in range(30)]
    for fatal in (2, 3, 4):
        found = loss_probability(sets, 20, fatal, lambda lost, fatal=fatal: len(lost) < fatal)
        weights = np.ones(20)
        assert found.probability == quality(sets, weights=weights, fatal=fatal).loss_share


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
    others = ("distinct_sets", "rebuild_parallelism_worst", "loss_share")
    for measure in ("scatter_width_median", "pair_sets_max", *others):
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


# What moves between two placements, on sets small enough to count by hand.


rows = st.lists(
    st.tuples(*(2 * [st.lists(st.integers(-1, 7), min_size=3, max_size=3)])), min_size=1
)


def test_only_copies_that_are_new_to_a_device_or_place_move() -> None:
    # Set 0: device 2 takes over from 1, 10 bytes. Set 1: only the order differs. Set 2: both
    # members are others, 2 x 1 bytes. Of 2 x 10 + 2 x 5 + 2 x 1 = 32 bytes, 12 move.
    result = compare([[0, 1], [0, 1], [0, 1]], [[0, 2], [1, 0], [2, 3]], set_bytes=[10, 5, 1])
    assert (result.total, result.moved) == (32.0, 12.0)
    assert result.moved_share == 12 / 32
    assert (result.changed_sets, result.reordered_sets, result.primary_changes) == (2, 1, 2)
    devices = result.levels[0]
    assert devices.gained.tolist() == [0, 0, 11, 1]
    assert devices.lost.tolist() == [1, 11, 0, 0]
    # By position the two members of a code swap what they hold: both move.
    assert compare([[0, 1]], [[1, 0]], by_position=True).moved == 2.0
    assert compare([[0, 1]], [[1, 0]]).moved == 0.0
    # A hole that is filled is one copy in, and nothing out.
    filled = compare([[0, 2**31 - 1]], [[0, 1]], by_position=True).levels[0]
    assert (filled.gained.sum(), filled.lost.sum()) == (1.0, 0.0)
    # Devices 0 and 1 are in rack 0, 2 and 3 in rack 1. The first set moves within rack 0, the
    # second from rack 0 to rack 1.
    racks = [0, 0, 1, 1]
    result = compare([[0, 2], [0, 2]], [[1, 2], [3, 2]], levels={"rack": (racks, racks)})
    assert result.moved == 2.0
    rack = result.levels[1]
    assert (rack.level, rack.moved) == ("rack", 1.0)
    assert (rack.gained.tolist(), rack.lost.tolist()) == ([0.0, 1.0], [1.0, 0.0])


@given(rows)
def test_the_plain_count_agrees_and_the_way_back_moves_it_out_again(
    pairs: list[tuple[list[int], list[int]]],
) -> None:
    before, after = [one for one, _ in pairs], [other for _, other in pairs]
    moved = 0
    for one, other in pairs:
        more = Counter(device for device in other if device >= 0)
        more.subtract(device for device in one if device >= 0)
        moved += sum(count for count in more.values() if count > 0)
    assert compare(before, after).moved == moved
    there, back = compare(before, after).levels[0], compare(after, before).levels[0]
    assert np.array_equal(there.gained, back.lost)
    assert np.array_equal(there.lost, back.gained)
    # No placement changes the loads by more than it moves.
    assert compare(before, after).least_by_load <= there.moved


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(before=[[0]], after=[[0], [1]]), "before has 1 sets and after 2"),
        (dict(before=[[0]], after=[[1]], set_bytes=[1, 2]), "set_bytes has the shape (2,)"),
        (
            dict(before=[[0]], after=[[3]], levels={"rack": ([0], [0])}),
            "a set names device 3, and the level says the part of 1 devices",
        ),
    ],
)
def test_what_cannot_be_compared_is_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compare(**arguments)  # type: ignore[arg-type]
    assert words in str(caught.value)


# How likely failures lose data: enumerated, by formula and sampled.


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
