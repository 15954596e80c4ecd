"""Published models to the digits that they printed; kinds, sets and levels of pieces."""

import math
from fractions import Fraction

import numpy as np
import pytest

from resilver import ConfigError, redundancy
from resilver.data_loss.chains import code_chain, group_chain, window_chain
from resilver.data_loss.levels import (
    Kind,
    LevelCode,
    explored_chain,
    joint_chain,
    kinds_chain,
    levels_chain,
    steps_chain,
)
from resilver.data_loss.sets import sets_chain
from resilver.data_loss.windows import rados_loss, stripe_chain, striped_mttdl, window_loss
from tests.reference import markov

DAY = 86_400.0
TIB, MIB = 2.0**40, 2.0**20


def test_backblaze_prints_these_digits() -> None:
    # 17 + 3 shards, 0.00405 failures in a drive's 365 days, windows of 6.5 days: four or more of 20
    # fail in one of 365 / 6.5 windows.
    found = window_loss(
        20, 3, failure_rate=0.00405 / (365 * DAY), window_seconds=6.5 * DAY,
        period_seconds=365 * DAY,
    )  # fmt: skip
    assert f"{found.loss:.3e}" == "7.354e-12"
    gone = -math.expm1(-0.00405 * 6.5 / 365)
    exact = sum(
        math.comb(20, n) * Fraction(gone) ** n * (1 - Fraction(gone)) ** (20 - n)
        for n in range(4, 21)
    )
    assert found.window == pytest.approx(float(exact), rel=1e-12)
    assert found.loss == pytest.approx(float(1 - (1 - exact) ** 56) * 365 / 6.5 / 56, rel=1e-9)


def test_xorbas_prints_these_digits_of_three_copies() -> None:
    # 30 PB as stripes of three copies of 256 MB on nodes that last four years, at 1 Gb/s.
    piece = 256 * 1_024_000
    copies = stripe_chain(
        3, 2, failure_rate=1 / (4 * 365 * DAY), piece_bytes=piece, bytes_per_second=1e9 / 8,
        gathered=[1],
    )  # fmt: skip
    days = striped_mttdl(copies, stripes=30e15 / (3 * piece)) / DAY
    assert f"{days:.4e}" == "2.3079e+10"
    assert copies.mttdl_seconds() == pytest.approx(
        float(markov.mean_time(copies.rates.tolist())), rel=1e-12
    )


@pytest.mark.parametrize(("copies", "digits"), [(2, "4.9961e-07"), (3, "5.1896e-11")])
def test_inktank_prints_these_digits_of_rados(copies: int, digits: str) -> None:
    # 826 FIT; 600 s and 2 TiB x 0.75 over 200 groups at 50 MiB/s, each of 1 and 2 copies' partners.
    found = rados_loss(copies, device_bytes=2 * TIB, bytes_per_second=50 * MIB)
    assert f"{found.drive_loss:.4e}" == digits
    assert found.recovery_seconds == pytest.approx(600 + 2 * TIB * 0.75 / (50 * MIB * 200))
    hours = found.recovery_seconds / 3600
    exact = -math.expm1(-826e-9 * 8766 * copies)
    for left in range(1, copies):
        exact *= -math.expm1(-826e-9 * 200 * left * hours)
    assert found.drive_loss == pytest.approx(exact, rel=1e-12)
    # A loss takes half a group, 1 of 400 of what a drive holds.
    assert found.lost_bytes == pytest.approx(2 * TIB * 0.75 / 400)
    assert found.loss == pytest.approx(exact / 400)


def test_inktank_counts_what_cannot_be_read_with_no_copy_left() -> None:
    # Reading and writing 1.5 TiB meets 8e-15 x 3 TiB errors; of two copies, exactly one of them
    # after the first failure loses an object of 1 GiB (half a group is 3.84 GiB).
    given = {"device_bytes": 2 * TIB, "bytes_per_second": 50 * MIB}
    found = rados_loss(2, unreadable_per_bit=1e-15, **given)
    errors = 8e-15 * 3 * TIB
    first = -math.expm1(-826e-9 * 8766 * 2)
    assert found.unreadable_loss == pytest.approx(first * errors * math.exp(-errors))
    assert found.unreadable_bytes == 2.0**30
    more = found.unreadable_loss * 2.0**30 / (1.5 * TIB)
    assert found.loss - rados_loss(2, **given).loss == pytest.approx(more)
    # One copy has none to repair from: its drive's failure is the loss of all.
    alone = rados_loss(1, **given)
    assert alone.drive_loss == pytest.approx(-math.expm1(-826e-9 * 8766))
    assert alone.lost_share == 1.0 and alone.loss == alone.drive_loss


def test_windows_that_cut_time_miss_what_lies_on_both_sides() -> None:
    # Said of the model: parallel repairs of the window's length lose about tolerance + 1 times as
    # often as windows that begin with all whole.
    rate, window, year = 1e-9, 3e5, 3e7
    cut = window_loss(6, 2, failure_rate=rate, window_seconds=window, period_seconds=year).loss
    steps = steps_chain(6, 2, failure_rate=rate, repair_rate=1 / window, steps=12)
    assert steps.loss_probability(year) / cut == pytest.approx(3.0, rel=0.02)


def test_kinds_alike_are_one_group_and_others_a_group_of_all_their_sets() -> None:
    for repair in ("parallel", "serial"):
        apart = kinds_chain([Kind(3, 1e-4, 1.0), Kind(5, 1e-4, 1.0)], 2, repair=repair)
        whole = group_chain(8, 2, failure_rate=1e-4, repair_rate=1.0, repair=repair)
        assert apart.mttdl_seconds() == pytest.approx(whole.mttdl_seconds(), rel=1e-12)
        found, exact = (one.loss_probability(7.0) for one in (apart, whole))
        assert found == pytest.approx(exact, rel=1e-11)
    # The same chain by every set of lost pieces, each piece with its own rates.
    kinds = [Kind(2, 1e-3, 0.5), Kind(3, 5e-3, 2.0), Kind(1, 0.0, 1.0)]
    fails = [one.failure_rate for one in kinds for _ in range(one.pieces)]
    mends = [one.repair_rate for one in kinds for _ in range(one.pieces)]
    for repair in ("parallel", "serial"):
        exact = sets_chain(
            6, lambda lost: len(lost) <= 2, failure_rate=fails, repair_rate=mends, repair=repair
        )
        found = kinds_chain(kinds, 2, repair=repair)
        assert found.mttdl_seconds() == pytest.approx(exact.mttdl_seconds(), rel=1e-12)
    # By kind: the third kind may never be lost, so it must count where it fails.
    frail = kinds_chain([Kind(2, 1.0), Kind(1, 1.0)], lambda lost: lost[1] == 0)
    assert frail.mttdl_seconds() == pytest.approx(1.0)


@pytest.mark.parametrize("code", ["lrc 4+3 local 2", "product rs 1+1 x rs 2+1", "rs 4+2"])
@pytest.mark.parametrize("repair", ["parallel", "serial"])
def test_joined_sets_are_the_chain_of_all_sets(code: str, repair: str) -> None:
    kept = redundancy(code)
    joined = sets_chain(
        kept.pieces, kept.is_survivable, failure_rate=0.01, repair_rate=0.4, repair=repair
    )

    def moves(lost: frozenset[int]):
        for piece in range(kept.pieces):
            after = lost ^ {piece}
            if piece in lost:
                yield 0.4 / (len(lost) if repair == "serial" else 1), after
            else:
                yield 0.01, after if kept.is_survivable(sorted(after)) else None

    every = explored_chain(frozenset(), moves)
    assert len(joined.rates) < len(every.rates)
    assert joined.mttdl_seconds() == pytest.approx(every.mttdl_seconds(), rel=1e-11)
    for seconds in (0.1, 30.0):
        found, exact = (one.loss_probability(seconds) for one in (joined, every))
        assert found == pytest.approx(exact, rel=1e-10)


def test_numbers_of_lost_pieces_stand_for_sets_where_repair_is_fast() -> None:
    code = redundancy("lrc 8+5 local 4")
    gaps = []
    for speed in (1e-2, 1.0, 100.0):
        exact = sets_chain(13, code.is_survivable, failure_rate=1e-3, repair_rate=speed)
        near = code_chain(code, failure_rate=1e-3, repair_rate=speed)
        gaps.append(abs(near.mttdl_seconds() / exact.mttdl_seconds() - 1))
    assert gaps[0] < 0.03 and gaps[1] < 1e-3 and gaps[2] < 1e-5
    # Of Reed-Solomon any two sets are alike, so nothing is left out at any speed.
    exact = sets_chain(6, redundancy("rs 4+2").is_survivable, failure_rate=1.0, repair_rate=0.1)
    near = code_chain(redundancy("rs 4+2"), failure_rate=1.0, repair_rate=0.1)
    assert len(exact.rates) == 3
    assert near.mttdl_seconds() == pytest.approx(exact.mttdl_seconds(), rel=1e-13)


def test_one_step_is_exponential_and_many_are_a_fixed_time() -> None:
    for repair in ("parallel", "serial"):
        one = steps_chain(6, 2, failure_rate=0.01, repair_rate=1.0, steps=1, repair=repair)
        plain = group_chain(6, 2, failure_rate=0.01, repair_rate=1.0, repair=repair)
        assert one.mttdl_seconds() == pytest.approx(plain.mttdl_seconds(), rel=1e-12)
    # With one to lose, a repair of fixed time is a window; n steps are 1 / n away from it.
    window = window_chain(6, 1, failure_rate=0.05, windows=[[1.0]]).mttdl_seconds()
    gaps = [
        steps_chain(6, 1, failure_rate=0.05, repair_rate=1.0, steps=n).mttdl_seconds() / window - 1
        for n in (10, 100, 1000)
    ]
    assert gaps[0] == pytest.approx(10 * gaps[1], rel=0.1)
    assert gaps[1] == pytest.approx(10 * gaps[2], rel=0.1)
    assert 0 < gaps[2] < 2e-4


def test_steps_one_after_the_other_are_what_plain_runs_are() -> None:
    # Serial repairs of fixed time that failures do not disturb: 40 steps are within 1 % of 4,000
    # runs by hand, of which the mean's standard error is 1.6 %; three of them and the 1 %.
    generator = np.random.default_rng(11)
    pieces, tolerance, rate = 5, 2, 0.05
    times = []
    for _ in range(4000):
        now, lost, ends = 0.0, 0, math.inf
        while lost <= tolerance:
            fails = now + generator.exponential(1 / ((pieces - lost) * rate))
            if ends <= fails:
                now, lost = ends, lost - 1
                ends = now + 1.0 if lost else math.inf
            else:
                now, lost = fails, lost + 1
                ends = now + 1.0 if lost == 1 else ends
        times.append(now)
    chain = steps_chain(
        pieces, tolerance, failure_rate=rate, repair_rate=1.0, steps=40, repair="serial"
    )
    assert chain.mttdl_seconds() == pytest.approx(np.mean(times), rel=0.06)


def test_two_levels_at_once_are_all_their_devices() -> None:
    # Three pairs under a code that may lose one of them: every device and dead pair by itself.
    above, below = LevelCode(3, 1, repair_rate=0.7), LevelCode(2, 1, repair_rate=2.0)

    def moves(groups: tuple[str, ...]):
        # Each device of a pair is there (1) or not (0); a dead pair is made anew as a whole.
        for place, pair in enumerate(groups):

            def changed(to: str, place: int = place) -> tuple[str, ...]:
                return (*groups[:place], to, *groups[place + 1 :])

            if pair == "dead":
                yield 0.7, changed("11")
            elif pair == "11":
                yield 0.3, changed("01")
                yield 0.3, changed("10")
            else:
                yield 2.0, changed("11")
                yield 0.3, None if "dead" in groups else changed("dead")

    every = explored_chain(("11",) * 3, moves)
    joint = joint_chain(above, below, failure_rate=0.3)
    assert len(every.rates) > len(joint.rates)
    assert joint.mttdl_seconds() == pytest.approx(every.mttdl_seconds(), rel=1e-12)
    for seconds in (0.1, 10.0):
        found, exact = (one.loss_probability(seconds) for one in (joint, every))
        assert found == pytest.approx(exact, rel=1e-11)


def test_a_chain_of_chains_is_near_where_groups_outlive_their_repairs() -> None:
    gaps = []
    for rate in (1e-1, 1e-2, 1e-3):
        above, below = LevelCode(4, 1, repair_rate=0.1), LevelCode(5, 1, repair_rate=1.0)
        exact = joint_chain(above, below, failure_rate=rate).mttdl_seconds()
        near = levels_chain([above, below], failure_rate=rate).mttdl_seconds()
        gaps.append(abs(near / exact - 1))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.01
    # One level is that level.
    alone = levels_chain([LevelCode(5, 1, 1.0)], failure_rate=0.1)
    plain = group_chain(5, 1, failure_rate=0.1, repair_rate=1.0)
    assert alone.mttdl_seconds() == plain.mttdl_seconds()


def test_models_that_cannot_be_are_refused() -> None:
    def many(lost: tuple[int, ...]):
        return [(1.0, (*lost, 1)), (2.0, (*lost, 2))]

    given = {"failure_rate": 1.0, "repair_rate": 1.0}
    for refused, says in (
        (lambda: explored_chain((), many), "a chain has at most 2,000 states"),
        (lambda: kinds_chain([Kind(2, math.inf)], 1), "failure_rate = inf"),
        (lambda: kinds_chain([Kind(2, 1.0)], 1, repair="both"), "repair is"),
        (lambda: steps_chain(3, 1, steps=0, **given), "steps = 0"),
        (lambda: steps_chain(3, 3, steps=1, **given), "tolerance = 3"),
        (lambda: sets_chain(17, lambda _: True, failure_rate=1.0), "pieces = 17"),
        (lambda: sets_chain(3, lambda _: False, failure_rate=1.0), "a group with all its pieces"),
        (lambda: sets_chain(3, lambda _: True, failure_rate=[1.0]), "one rate for each of 3"),
        (lambda: levels_chain([], failure_rate=1.0), "there is one level or more"),
        (lambda: joint_chain(LevelCode(3, 3, 1.0), LevelCode(2, 1, 1.0), failure_rate=1.0),
         "tolerance = 3"),
        (lambda: window_loss(3, 1, failure_rate=1.0, window_seconds=0.0, period_seconds=1.0),
         "window_seconds = 0.0: this is a finite number above zero"),
        (lambda: rados_loss(0, device_bytes=1.0), "copies = 0"),
        (lambda: rados_loss(2, device_bytes=1.0, full=1.5), "full = 1.5"),
        (lambda: striped_mttdl(group_chain(2, 1, **given), stripes=0), "stripes = 0"),
        (lambda: stripe_chain(3, 2, failure_rate=1.0, piece_bytes=1.0, bytes_per_second=1.0,
                              gathered=[]), "a repair gathers one piece or more"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=says.replace("(", r"\(")):
            refused()
