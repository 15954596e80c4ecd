"""Signatures of planted jobs, within bands that were set before the first case was drawn.
from tests.build import refused

The bands are of 200 cases each (`verification/test_signatures.py`); the tests keep a few of them.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from resilver.center.signatures import (
    FoundSignature,
    Signature,
    common_bursts,
    compare_signatures,
    shift_signatures,
    signature,
)
from resilver.center.signatures.folds import fold
from resilver.center.signatures.period import bursts_of, find_period, shrink
from resilver.center.signatures.prepare import prepare, resample
from resilver.center.signatures.shift import run_both
from resilver.errors import ConfigError
from resilver.importers.series import Series
from resilver.reproduce.planted import Kind, Planted, box, planted
from tests.build import refused
from tests.scale import numbers


@cache
def cases(
    count: int, noise: float, runs: int = 8, kind: Kind = "periodic"
) -> list[tuple[Planted, FoundSignature]]:
    """So many cases, with what is found in each."""
    drawn = [
        planted((number, round(10 * noise), runs), noise=noise, runs=runs, kind=kind)
        for number in numbers(count)
    ]
    return [(case, signature(case.runs)) for case in drawn]


def errors(what: str, found: Iterable[tuple[Planted, FoundSignature]]) -> np.ndarray:
    """By which share a figure is off, the first burst by one of the period; infinitely where
    nothing was found.
    """
    return np.array(
        [
            abs(getattr(one.signature, what) - getattr(case, what))
            / (case.period if what == "first" else getattr(case, what))
            if one.signature
            else np.inf
            for case, one in found
        ]
    )


@pytest.mark.parametrize(
    ("what", "noise", "within", "share"),
    [
        *(("period", noise, 0.05, 0.95) for noise in (0.1, 0.4, 1.0)),
        ("period", 2.4, 0.1, 0.9),
        *(("volume", noise, 0.1, 0.9) for noise in (0.1, 0.4)),
        ("volume", 1.2, 0.2, 0.85),
        ("first", 1.0, 0.05, 0.9),
        ("length", 1.0, 0.1, 0.9),
    ],
)
def test_what_is_found_is_near_what_was_planted(
    what: str, noise: float, within: float, share: float
) -> None:
    """Noise is so many times the job; a share of the cases lies within a share of the figure."""
    assert (errors(what, cases(20, noise)) <= within).mean() >= share


@pytest.mark.parametrize("what", ["period", "length", "volume"])
def test_what_is_said_to_be_uncertain_holds_what_was_planted(what: str) -> None:
    """Of 20 cases 19 are expected; fewer than 16 have a chance of 0.3 % (binomial)."""
    held = [
        abs(getattr(one.signature, what) - getattr(case, what))
        <= getattr(one.signature, f"{what}_error")
        for case, one in cases(20, 1.0)
        if one.signature
    ]
    assert np.mean(held) >= 0.8


def test_more_runs_are_never_worse() -> None:
    """Medians of the errors of the same cases by their first 2, 4, 8 and all 16 runs fall."""
    drawn = [planted((number, 16), noise=2.4, runs=16) for number in numbers(20)]
    found = [[(case, signature(case.runs[:runs])) for case in drawn] for runs in (2, 4, 8, 16)]
    for what in ("period", "volume"):
        medians = [np.median(errors(what, of_runs)) for of_runs in found]
        assert medians == sorted(medians, reverse=True), what


def test_noise_alone_has_no_period() -> None:
    """In 95 % of cases."""
    assert np.mean([one.holds for _, one in cases(50, 1.0, kind="noise")]) <= 0.05


@pytest.mark.parametrize("kind", ["random", "common"])
@pytest.mark.parametrize("runs", [1, 8])
def test_bursts_at_random_are_not_periodic(kind: Kind, runs: int) -> None:
    """In 90 % of cases, at times of their own in each run or at the same in all; the answer says
    why.
    """
    found = [one for _, one in cases(20, 0.4, runs, kind)]
    assert np.mean([one.holds for one in found]) <= 0.1
    assert all(one.reason for one in found if not one.holds)


def test_a_second_burst_in_a_period_is_told() -> None:
    """Of 5 units a period 2 are in another burst: the signature has 3, and the answer says so."""
    period = (np.ones(20), np.full(6, 6.0), np.ones(14), np.full(4, 6.0), np.ones(16))
    values = np.tile(np.concatenate(period), 30)
    found = signature(Series(np.arange(1800) * 2.0, values, "two"))
    assert found.signature.period == pytest.approx(120.0, rel=0.01)
    assert found.signature.volume == pytest.approx(30.0, rel=0.01)
    assert found.burst is not None and found.burst.besides == pytest.approx(20.0, rel=0.01)
    assert "outside of this burst" in found.notes[-1]


@pytest.mark.parametrize("share", [0.4, 0.5])
def test_a_burst_may_take_half_of_its_period(share: float) -> None:
    """What is moved besides is then not the median of a period."""
    values = 1e9 * np.random.default_rng(19).exponential(1.0, 1800)
    for begin in 50.0 + 300.0 * np.arange(12):
        values += box(1800, 2.0, float(begin), 300.0 * share, 3e12)
    found = signature(Series(np.arange(1800) * 2.0, values)).signature
    assert (found.volume, found.length) == pytest.approx((3e12, 300.0 * share), rel=0.05)


def test_one_run_does_and_stretched_and_noisy_ones_are_left_out() -> None:
    """Confidence is the share of bursts seen times 1 - 2^-runs: a half of one run."""
    for case, one in cases(5, 0.4, runs=1):
        assert one.signature.confidence <= 0.5
        assert abs(one.signature.period / case.period - 1.0) < 0.05
        assert "one run alone" in one.notes[-1]
    # One of 8 runs lasts twice as long as most, and one moves five times as much a second.
    case = planted((11,), noise=0.4)
    runs = list(case.runs)
    runs[2] = Series(np.arange(3600) * 2.0, np.repeat(runs[2].values, 2), "slow")
    runs[5] = Series(runs[5].times, 5.0 * runs[5].values, "busy")
    found = signature(runs)
    assert found.signature is not None and found.signature.runs == 6
    assert {name for name, _ in found.runs.left_out} == {"slow", "busy"}
    assert "2.0 times as long" in found.notes[0]


def test_common_bursts_are_those_that_half_of_the_runs_have() -> None:
    """A burst in 5 of 8 runs is common; one in 3 is not, and neither is each run's own."""
    runs = []
    for run in range(8):
        values = np.full(1800, 1e9)
        own = [(200.0, 40.0)] if run < 5 else []
        own += [(1000.0, 40.0)] if run < 3 else []
        for begin, length in [*own, (1500.0 + 200.0 * run, 60.0)]:
            values += box(1800, 2.0, begin, length, 4e12)
        runs.append(values)
    (burst,) = common_bursts(runs, [bursts_of(run) for run in runs], 2.0)
    assert burst.runs == 5
    assert burst.begin == pytest.approx(200.0, abs=4.0)
    assert burst.volume == pytest.approx(4e12, rel=0.02)


def test_a_period_and_a_burst_without_noise_are_exact() -> None:
    """Bursts every 60 samples of 1,800, without noise: multiples and parts explain as much less."""
    values = np.tile(np.r_[np.ones(6), np.zeros(54)], 30)
    found = find_period([values], [bursts_of(values)])
    assert found.is_found
    assert found.samples == pytest.approx(60.0, abs=0.5)
    assert found.spectral_samples == pytest.approx(60.0, rel=0.02)
    # 6 samples of 2 s at 5 bytes a sample above a floor of 1: 30 bytes in 12 s.
    values = np.tile(np.r_[np.ones(20), np.full(6, 6.0), np.ones(34)], 30)
    burst = fold([values], 2.0, 120.0)
    assert burst.volume == pytest.approx(30.0)
    assert burst.length == pytest.approx(12.0)
    assert burst.first == pytest.approx(40.0, abs=1.0)
    assert burst.base == pytest.approx(0.5)
    assert burst.present == 1.0


def test_shrinkage_leaves_bursts_and_takes_noise() -> None:
    """Donoho and Johnstone, theorem 1: of n = 2,048 samples with noise of 1 and a signal of 16
    coefficients the mean square is (2 ln n + 1) (1 + 16) / n = 0.135 at most, and that of 8
    coefficients of the coarsest scale, which are kept, 8 / n = 0.004 more. The noise is estimated:
    1.1 times.
    """
    rng = np.random.default_rng(3)
    clean = 20.0 * np.tile(np.r_[np.zeros(64), np.ones(64)], 16)
    found = shrink(clean + rng.normal(0.0, 1.0, (20, len(clean))))
    assert np.mean((found - clean) ** 2) < 1.1 * 0.139


def test_resampling_conserves_bytes_over_unequal_steps_and_gaps() -> None:
    """Samples of 1 to 3 s become samples of 4 s with the same sum; a gap of 100 s is not known."""
    rng = np.random.default_rng(5)
    spans = rng.choice([1.5, 2.0, 2.5], 400)
    times = np.concatenate([[0.0], np.cumsum(spans)[:-1]])
    values = rng.exponential(1.0, 400)
    whole = resample(Series(times, values), 4.0)
    end = len(whole) * 4.0
    assert np.nansum(whole) == pytest.approx(values.sum(), abs=values[-1] * abs(end - spans.sum()))
    times[200:] += 100.0
    broken = resample(Series(times, values), 4.0)
    assert 24 <= np.isnan(broken).sum() <= 26


def test_gaps_and_other_lengths_leave_the_signature_as_it_is() -> None:
    """A tenth of the samples is lost, in stretches of 20, and runs end at 60 to 100 %."""
    rng = np.random.default_rng(7)
    off = []
    for number in range(10):
        case = planted((number, 3), noise=0.4)
        runs = []
        for one in case.runs:
            values = one.values[: int(rng.uniform(0.6, 1.0) * 1800)].copy()
            for begin in rng.integers(0, len(values), 9):
                values[begin : begin + 20] = np.nan
            runs.append(Series(one.times[: len(values)], values, one.name))
        found = signature(runs).signature
        off.append(np.inf if found is None else abs(found.volume / case.volume - 1.0))
    assert np.mean(np.array(off) <= 0.1) >= 0.9


def test_a_period_that_drifts_within_a_long_run_is_followed() -> None:
    """Each burst is 1 s later or earlier than the last, at random: after a day 12 s are usual."""
    rng = np.random.default_rng(13)
    begins = 30.0 + 300.0 * np.arange(288) + np.cumsum(rng.normal(0.0, 1.0, 288))
    values = 1e8 * rng.exponential(1.0, 43_200)
    for begin in begins:
        values += box(43_200, 2.0, float(begin), 30.0, 3e11)
    found = signature(Series(np.arange(43_200) * 2.0, values)).signature
    assert found.period == pytest.approx(300.0, rel=0.002)
    assert found.volume == pytest.approx(3e11, rel=0.02)


@pytest.mark.parametrize("scale", [1e-3, 1e6])
def test_a_signature_scales_with_bytes(scale: float) -> None:
    """All bytes times a factor: the volume is as many times, and times are the same."""
    case = planted((17,), noise=0.4)
    one = signature(case.runs).signature
    runs = [Series(run.times, scale * run.values, run.name) for run in case.runs]
    other = signature(runs).signature
    assert other.volume == pytest.approx(scale * one.volume, rel=1e-6)
    assert (other.period, other.first) == pytest.approx((one.period, one.first), rel=1e-6)


@pytest.mark.parametrize("values", [np.zeros(600), np.full(600, 3.0), np.r_[1e12, np.zeros(599)]])
def test_runs_of_nothing_have_no_period(values: np.ndarray) -> None:
    found = signature([Series(np.arange(600) * 2.0, values, "flat")])
    assert not found.holds and found.reason


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ConfigError, match="48 samples or more"):
        prepare([Series(np.arange(20) * 2.0, np.ones(20), "short")])
    with pytest.raises(ConfigError, match="48 known samples or more"):
        prepare([Series(np.arange(100) * 2.0, np.full(100, np.nan), "gap")])
    assert "one run or more" in refused(prepare, [])


# The clash planner: closed forms, brute force over all shifts, and a fluid in small steps.


def drawn(rng: np.random.Generator) -> Signature:
    """A job whose burst has 5 to 40 % of its period, at 0.2 to 1.5 of what the system carries."""
    period = float(rng.uniform(100.0, 600.0))
    length = float(rng.uniform(0.05, 0.4) * period)
    first = float(rng.uniform(0.0, period))
    return Signature(period, first, length, float(rng.uniform(0.2, 1.5)) * length)


@pytest.mark.parametrize("shift", [0.0, 10.0, 45.0, 59.0, 60.0, 200.0, 540.0, 555.0])
def test_two_alike_jobs_lose_what_their_bursts_overlap(shift: float) -> None:
    """Both of 60 s at all the system carries, d apart: A shares from d to 2 L - d and ends L - d
    later than alone, and so does B, so that they stay d apart: L - d a burst each, of 20 bursts.
    A burst of B that comes less than L before A's next one delays that one once: with 600 - d = e,
    A's later bursts all follow B's by the e that is left, and A has one burst more before.
    """
    job = Signature(600.0, 0.0, 60.0, 60e9)
    lost = shift_signatures(job, job, rate=1e9).lost(shift)
    if shift < 60.0:
        assert lost == pytest.approx((20 * (60.0 - shift), 20 * (60.0 - shift)))
    elif shift <= 540.0:
        assert lost == (0.0, 0.0)
    else:
        assert lost == pytest.approx((19 * (shift - 540.0), 19 * (shift - 540.0)))


def test_bursts_are_shared_fairly_and_lose_only_what_they_would_have_alone() -> None:
    """Max-min: 0.4 of the rate is had in full, and the other has the 0.6 left of its 1.0. Where it
    begins d later, both are on for 60 - d, in which it loses 0.4 of that, and so begins the next
    burst as much later: the 60 that are left are 0.6 times as many after each of 20 bursts.
    """
    small, large = Signature(1000.0, 0.0, 60.0, 0.4 * 60.0), Signature(1000.0, 0.0, 60.0, 60.0)
    plan = shift_signatures(small, large, rate=1.0)
    assert plan.lost(0.0) == pytest.approx((0.0, 60.0 * (1.0 - 0.6**20)))
    # Alone it takes volume over rate, 40 s, and only what is beyond that is lost; its next
    # burst is 630 s after the first.
    wide = Signature(600.0, 0.0, 10.0, 40e9)
    other = Signature(630.0, 300.0, 10.0, 1e9)
    assert shift_signatures(wide, other, rate=1e9).lost(0.0) == (0.0, 0.0)


def test_the_best_shift_is_brute_force_s_over_all_shifts() -> None:
    """The curve is that of 400 runs of the fluid; the best is no worse than any of them."""
    for number in numbers(4):
        rng = np.random.default_rng(number)
        jobs = drawn(rng), drawn(rng)
        plan = shift_signatures(*jobs, rate=1.0)
        grid = np.linspace(0.0, plan.shifts[-1], 400)
        runs = np.array([run_both(jobs, plan.bursts, 1.0, at).lost for at in grid.tolist()])
        ours = np.array([plan.lost(at) for at in grid.tolist()])
        assert ours == pytest.approx(runs, abs=1e-6)
        assert sum(plan.lost(plan.best)) <= runs.sum(axis=1).min() + 1e-6
        assert sum(plan.lost(plan.best_from)) == pytest.approx(sum(plan.lost(plan.best)), abs=1e-3)


def test_the_fluid_is_that_of_small_steps() -> None:
    """A plain loop over steps of 20 ms gives the same lost times, to a step an event."""
    step = 0.02
    for number in numbers(3):
        rng = np.random.default_rng(100 + number)
        jobs, shift = (drawn(rng), drawn(rng)), float(rng.uniform(0.0, 100.0))
        count = (4, 4)
        left, done = [0.0, 0.0], [0, 0]
        begins = [jobs[0].first, shift + jobs[1].first]
        lost, now, is_on = [0.0, 0.0], 0.0, [False, False]
        while any(done[job] < count[job] for job in range(2)):
            for job in range(2):
                if not is_on[job] and done[job] < count[job] and now >= begins[job]:
                    is_on[job], left[job] = True, jobs[job].volume
            one, other = (min(job.height, 1.0) for job in jobs)
            if all(is_on) and one + other > 1.0:
                one, other = min(one, max(0.5, 1.0 - other)), min(other, max(0.5, 1.0 - one))
            now += step
            for job, rate in enumerate((one, other)):
                if is_on[job]:
                    left[job] -= rate * step
                    if left[job] <= 0.0:
                        is_on[job] = False
                        done[job] += 1
                        alone = jobs[job].volume / min(jobs[job].height, 1.0)
                        lost[job] += now - begins[job] - alone
                        begins[job] = now + jobs[job].period - jobs[job].length
        # Each burst begins and ends up to two steps late.
        assert run_both(jobs, count, 1.0, shift).lost == pytest.approx(lost, abs=4 * 4 * step)


def test_bytes_are_conserved_and_bursts_keep_their_order() -> None:
    """Each burst begins a pause after the one before, and none is shorter than alone."""
    rng = np.random.default_rng(9)
    jobs = drawn(rng), drawn(rng)
    ended = run_both(jobs, (30, 30), 1.0, 17.0)
    for job, bursts in zip(jobs, ended.bursts, strict=True):
        spans = np.array(bursts)
        assert len(spans) == 30
        assert spans[1:, 0] - spans[:-1, 1] == pytest.approx(job.period - job.length)
        assert (spans[:, 1] - spans[:, 0]).min() >= job.volume / min(job.height, 1.0) - 1e-9


def test_signatures_are_one_job_s_within_what_is_uncertain() -> None:
    """By the root of the squared sum of both, and always by 5 %."""
    one = Signature(600.0, 0.0, 45.0, 2.4e12, volume_error=3e11)
    near = Signature(629.0, 100.0, 45.0, 2.9e12, volume_error=4e11)
    assert compare_signatures(one, near).holds
    far = Signature(600.0, 0.0, 45.0, 2.95e12, volume_error=4e11)
    differing = [row.what for row in compare_signatures(one, far).differences if not row.holds]
    assert differing == ["volume"]
    assert not compare_signatures(one, Signature(640.0, 0.0, 45.0, 2.4e12)).holds
    job = Signature(600.0, 0.0, 60.0, 60e9)
    assert "above 0" in refused(shift_signatures, job, job, rate=0.0)
