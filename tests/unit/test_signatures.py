"""Signatures of planted jobs, within bands that were set before the first case was drawn.

The bands are of 200 cases each (`verification/test_signatures.py`); the tests keep a few of them.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from resilver.center.signatures import FoundSignature, common_bursts, signature
from resilver.center.signatures.folds import fold
from resilver.center.signatures.period import bursts_of, find_period, shrink
from resilver.center.signatures.prepare import prepare, resample
from resilver.errors import ConfigError
from resilver.importers.series import Series
from resilver.reproduce.planted import Kind, Planted, box, planted
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
    values = np.tile(
        np.r_[np.ones(20), np.full(6, 6.0), np.ones(14), np.full(4, 6.0), np.ones(16)], 30
    )
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


def test_one_run_does_with_half_the_confidence() -> None:
    """Confidence is the share of bursts seen times 1 - 2^-runs: a half of one run."""
    for case, one in cases(5, 0.4, runs=1):
        assert one.signature.confidence <= 0.5
        assert abs(one.signature.period / case.period - 1.0) < 0.05
        assert "one run alone" in one.notes[-1]


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


def test_the_period_is_found_and_no_multiple_of_it() -> None:
    """Bursts every 60 samples of 1,800, without noise: multiples and parts explain as much less."""
    values = np.tile(np.r_[np.ones(6), np.zeros(54)], 30)
    found = find_period([values], [bursts_of(values)])
    assert found.is_found
    assert found.samples == pytest.approx(60.0, abs=0.5)
    assert found.spectral_samples == pytest.approx(60.0, rel=0.02)


def test_a_burst_of_known_bytes_is_measured_exactly_without_noise() -> None:
    """6 samples of 2 s at 5 bytes a sample above a floor of 1: 30 bytes in 12 s."""
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


def test_stretched_and_noisy_runs_are_left_out_and_told() -> None:
    """One of 8 runs lasts twice as long as most, and one moves five times as much a second."""
    case = planted((11,), noise=0.4)
    runs = list(case.runs)
    runs[2] = Series(np.arange(3600) * 2.0, np.repeat(runs[2].values, 2), "slow")
    runs[5] = Series(runs[5].times, 5.0 * runs[5].values, "busy")
    found = signature(runs)
    assert found.signature is not None and found.signature.runs == 6
    assert {name for name, _ in found.runs.left_out} == {"slow", "busy"}
    assert "2.0 times as long" in found.notes[0]


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
    with pytest.raises(ConfigError, match="one run or more"):
        prepare([])
    with pytest.raises(ConfigError, match="none can be made shorter"):
        prepare([Series(np.arange(100) * 5.0, np.ones(100), "a")], every=2.0)
