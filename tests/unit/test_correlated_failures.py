"""What failures at one moment lose, against every combination; and schemes beside each other."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import ConfigError, redundancy
from resilver.data_loss.bursts import system_bursts
from resilver.data_loss.chains import group_chain
from resilver.data_loss.correlated import crowd_loss, crowd_within_loss, part_sets
from resilver.data_loss.scenario import Described, Level, StoredPool
from resilver.data_loss.sets import sets_chain
from resilver.placement_quality import group_loss_probability, loss_probability
from resilver.placement_quality.lost_sets import LostSets
from tests.scale import times

THREE = redundancy("copies 3").is_survivable


def is_lost(members, failed, survives) -> bool:
    gone = [place for place, one in enumerate(members) if one in failed or one < 0]
    return bool(set(members) & set(failed)) and not survives(gone)


@settings(max_examples=times(60), deadline=None)
@given(
    sets=st.lists(st.lists(st.integers(-1, 6), min_size=5, max_size=5), max_size=8),
    failures=st.integers(0, 7),
    code=st.sampled_from(["rs 3+2", "lrc 2+3 local 1", "copies 5", "rs 4+1"]),
)
def test_any_sets_lose_what_each_combination_does(
    sets: list[list[int]], failures: int, code: str
) -> None:
    # Rule: sets may lack positions from the start, and have several of one device, as of a host.
    survives = redundancy(code).is_survivable
    array = np.array(sets, dtype=np.int64).reshape(-1, 5)
    found = loss_probability(array, 7, failures, survives)
    assert found.is_exact
    every = list(combinations(range(7), failures))
    lost = [any(is_lost(one, failed, survives) for one in array.tolist()) for failed in every]
    assert found.probability == pytest.approx(sum(lost) / len(every), abs=1e-15)


@pytest.mark.parametrize(("code", "losses"), [("rs 4+2", 3), ("lrc 4+3 local 2", 3)])
def test_bits_and_lists_of_sets_find_the_same(
    code: str, losses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 150 sets of 40 devices, more than two words; with and without a word for each device.
    generator = np.random.default_rng(3)
    kept = redundancy(code)
    sets = np.array([generator.choice(40, kept.pieces, replace=False) for _ in range(150)])
    sets[::7, 2] = -1
    failed = np.array([generator.choice(40, losses, replace=False) for _ in range(3000)])
    bits = LostSets(sets, 40, kept.is_survivable)
    monkeypatch.setattr("resilver.placement_quality.lost_sets._WORDS_MAX", 0)
    lists = LostSets(sets, 40, kept.is_survivable)
    assert bits.is_dense and not lists.is_dense
    found = bits.lost(failed)
    assert np.array_equal(found, lists.lost(failed))
    assert 0.05 < found.mean() < 0.999
    slow = [any(is_lost(one, row, kept.is_survivable) for one in sets.tolist())
            for row in failed[:100].tolist()]  # fmt: skip
    assert found[:100].tolist() == slow
    for failures in (2, 3):
        assert bits.all_lost(failures) == lists.all_lost(failures)


def test_all_triples_of_88_devices_over_4096_sets_are_counted() -> None:
    # As of a cluster of 8 racks of 11 devices, three copies apart: counted as fatal subsets, tried
    # by bits, and by a table of the different triples.
    generator = np.random.default_rng(88)
    racks = np.array([generator.choice(8, 3, replace=False) for _ in range(4096)])
    sets = racks * 11 + generator.integers(11, size=racks.shape)
    different = {tuple(sorted(one)) for one in sets.tolist()}
    found = loss_probability(sets, 88, 3, THREE)
    assert found.is_exact
    assert found.probability == len(different) / math.comb(88, 3)
    assert LostSets(sets, 88, THREE).all_lost(3) == len(different)
    assert loss_probability(sets, 88, 2, THREE).probability == 0.0


def test_samples_of_what_is_rare_have_the_error_that_they_say() -> None:
    # 100 groups of rs 8+3, failures of which some 1e-4 and 1e-2 lose data: the formula is exact. Of
    # 40 samples all are within four of their standard errors (40 x 6e-5), and half within 0.67.
    sets = np.arange(1100).reshape(100, 11)
    survives = redundancy("rs 8+3").is_survivable
    for failures in (6, 20):
        exact = group_loss_probability(100, 11, failures, 3).probability
        assert 1e-6 < exact < 2e-2
        off = []
        for seed in range(40):
            found = loss_probability(sets, 1100, failures, survives, draws=500, seed=seed)
            assert not found.is_exact
            assert found.standard_error < 0.05 * exact
            off.append(abs(found.probability - exact) / max(found.standard_error, 1e-12 * exact))
        assert max(off) < 4
        assert 8 <= sum(one < 0.6745 for one in off) <= 32


def test_samples_of_codes_are_unbiased_and_know_when_they_see_nothing() -> None:
    # 30 sets of lrc 4+3 over 60 devices, 5 failures: of fewer devices each combination is tried.
    generator = np.random.default_rng(4)
    survives = redundancy("lrc 4+3 local 2").is_survivable
    sets = np.array([generator.choice(30, 7, replace=False) for _ in range(30)])
    exact = loss_probability(sets, 30, 4, survives)
    assert exact.is_exact
    # 60 devices, half of them without data: too many combinations of 5 to try.
    found = loss_probability(sets, 60, 5, survives, draws=20_000)
    ways = [math.comb(30, n) * math.comb(30, 5 - n) / math.comb(60, 5) for n in range(6)]
    shares = [loss_probability(sets, 30, n, survives).probability for n in range(6)]
    whole = math.fsum(one * other for one, other in zip(ways, shares, strict=True))
    assert not found.is_exact
    assert abs(found.probability - whole) < 4 * found.standard_error < whole
    # Every pair shares a set, so most combinations may be fatal, but this code loses hardly any.
    generator = np.random.default_rng(1)
    sets = np.array([generator.choice(300, 8, replace=False) for _ in range(9000)])
    found = loss_probability(sets, 300, 30, lambda lost: len(lost) < 8 or 0 not in lost, draws=50)
    assert not found.is_exact
    assert found.standard_error > 0


def test_hosts_take_all_their_devices_and_racks_are_drawn_first() -> None:
    # Twelve devices in hosts of two; a pair in one host is one failure, and one device lacking.
    sets = [[0, 1], [2, 5], [6, -1], [8, 11]]
    hosts = [device // 2 for device in range(12)]
    assert part_sets(sets, hosts).tolist() == [[0, 0], [1, 2], [3, -1], [4, 5]]
    two = redundancy("copies 2").is_survivable
    # Of six hosts, 0 alone and 3 alone lose; of pairs, these with any, and (1, 2) and (4, 5).
    assert crowd_loss(sets, 1, two, devices=12, parts=hosts).probability == pytest.approx(2 / 6)
    pairs = math.comb(6, 2) - math.comb(4, 2) + 2
    found = crowd_loss(sets, 2, two, devices=12, parts=hosts)
    assert found.probability == pytest.approx(pairs / 15)
    # Racks of 2, 3 and 4 devices. By hand: the mean over rack pairs of the share of the triples in
    # both racks that lose data.
    racks = [0, 0, 1, 1, 1, 2, 2, 2, 2]
    generator = np.random.default_rng(9)
    sets = [generator.choice(9, 3, replace=False).tolist() for _ in range(12)]
    of = [[device for device in range(9) if racks[device] == rack] for rack in range(3)]
    shares = []
    for pair in combinations(of, 2):
        every = [
            one
            for one in combinations(sorted(pair[0] + pair[1]), 3)
            if set(one) & set(pair[0]) and set(one) & set(pair[1])
        ]
        lost = [any(is_lost(members, one, THREE) for members in sets) for one in every]
        shares.append(sum(lost) / len(lost))
    found = crowd_within_loss(sets, 3, THREE, parts=racks, within=2)
    assert found.is_exact
    assert found.probability == pytest.approx(sum(shares) / 3)


def test_drawn_racks_are_those_that_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # The same question looked at and drawn, racks of unequal size; within four standard errors.
    generator = np.random.default_rng(2)
    racks = np.repeat(np.arange(6), [3, 5, 4, 4, 6, 2])
    sets = [generator.choice(24, 3, replace=False).tolist() for _ in range(150)]
    for failures, within in ((3, 2), (5, 3), (7, 2), (4, 4)):
        exact = crowd_within_loss(sets, failures, THREE, parts=racks, within=within)
        assert exact.is_exact
        with monkeypatch.context() as changed:
            changed.setattr("resilver.data_loss.correlated._LOOKED_AT_MAX", 0)
            drawn = crowd_within_loss(sets, failures, THREE, parts=racks, within=within)
        assert not drawn.is_exact
        assert abs(drawn.probability - exact.probability) < 4 * drawn.standard_error
        assert drawn.standard_error < 0.01


def test_pieces_in_racks_of_their_own_survive_any_burst_of_fewer_racks() -> None:
    generator = np.random.default_rng(5)
    racks = np.arange(40) // 5
    sets = [[5 * rack + generator.integers(5) for rack in generator.choice(8, 4, replace=False)]
            for _ in range(300)]  # fmt: skip
    described = Described(
        name="racks", mission_seconds=1.0, failures=(), repair={},
        levels=(Level("rack", np.zeros(8, dtype=np.int64)), Level("osd", racks)),
        pools=(StoredPool("pool", "rs 2+2", np.array(sets), np.ones(300, dtype=np.int64)),),
    )  # fmt: skip
    table = system_bursts(described, 6, seed=1).to_pylist()
    rows = {(row["failures"], row["within"]): row for row in table if row["level"] == "osd"}
    # Six devices are not in one rack of five, and two not in three racks.
    assert set(rows) == {(n, None) for n in range(1, 7)} | {
        (n, within) for n in range(1, 7) for within in range(1, n + 1) if n <= 5 * within
    }
    for failures, within in rows:
        lost = rows[failures, within]["loss_probability"]
        assert (lost == 0.0) == (failures < 3 or within in (1, 2)), (failures, within)


def test_a_system_of_shared_devices_is_a_chain_of_what_so_many_failures_lose() -> None:
    # Six devices that share ten sets of three: by every set of lost devices exact, and by their
    # number as near as repair is faster than failure.
    sets = list(combinations(range(6), 3))[::2]
    shares = [crowd_loss(sets, n, THREE, devices=6).probability for n in range(5)]
    assert shares[:4] == [0.0, 0.0, 0.0, 0.5] and 0.5 < shares[4] <= 1.0

    def survives(lost: list[int]) -> bool:
        return not any(set(one) <= set(lost) for one in sets)

    gaps = []
    for speed in (1.0, 10.0, 1000.0):
        rates = {"failure_rate": 0.1, "repair_rate": speed}
        exact = sets_chain(6, survives, **rates).mttdl_seconds()
        near = group_chain(6, 4, fatal=shares, **rates).mttdl_seconds()
        gaps.append(abs(near / exact - 1))
    assert gaps[0] < 0.05 and gaps[2] < 1e-4 and gaps[0] > gaps[1] > gaps[2]


def test_crowds_that_cannot_be_are_refused() -> None:
    sets, racks = [[0, 1, 2]], [0, 0, 1, 1]
    rare = [0] * 50 + [1] * 50 + list(range(2, 3000))
    for refused, says in (
        (lambda: crowd_within_loss(sets, 4, THREE, parts=racks, within=3), "within = 3"),
        (lambda: crowd_within_loss(sets, 3, THREE, parts=racks, within=1),
         "no 1 parts together have 3 devices"),
        (lambda: crowd_within_loss(sets, 5, THREE, parts=racks, within=1), "failures = 5"),
        (lambda: crowd_within_loss(sets, 1, THREE, parts=[0, -1], within=1), "each device is in"),
        (lambda: crowd_loss(sets, 1, THREE, devices=3, parts=[0, 0]), "a part is said of devices"),
        (lambda: crowd_loss(sets, 9, THREE, devices=4), "of 4 devices from none to all fail"),
        # One pair of 3,000 racks has 99 devices, which no draw is likely to find.
        (lambda: crowd_within_loss(sets, 99, THREE, parts=rare, within=2, draws=10),
         "hardly any 2 parts together have 99 devices"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=says):
            refused()
