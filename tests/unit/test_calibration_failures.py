"""Fits of lives: their laws by maximum likelihood, the intervals that hold, and what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from resilver.calibration import calibrate_failures
from resilver.calibration.failures import fit_failures
from resilver.errors import ConfigError
from resilver.failure_rates import YEAR_SECONDS
from resilver.importers.failures import FailureList, parse_failures
from resilver.spec import Failure
from tests.scale import times
from tests.terminal import Terminal

HEADER = "component,start,end,failed\n"
Floats = npt.NDArray[np.float64]


def lives_of(start_years: Floats, end_years: Floats, failed: npt.NDArray[np.bool_]) -> FailureList:
    """Lives by age, each of a component of its own."""
    count = len(start_years)
    lasted = (end_years - start_years) * YEAR_SECONDS
    return FailureList(
        label="lives.csv",
        path=Path("lives.csv"),
        sha256="",
        components=tuple(f"d.{number}" for number in range(count)),
        start_seconds=(0.0,) * count,
        end_seconds=tuple(lasted),
        failed=tuple(map(bool, failed)),
        age_seconds=tuple(start_years * YEAR_SECONDS),
    )


def drawn(seed: int, count: int, shape: float, scale: float, oldest: float) -> FailureList:
    """Components of ages up to `oldest` years, seen for four years or to their failure.

    Given that it reached age a, a life ends at t with (t/s)^k - (a/s)^k exponential of mean 1.
    """
    draw = np.random.default_rng(seed)
    start = draw.uniform(0, oldest, count) if oldest else np.zeros(count)
    end = scale * ((start / scale) ** shape + draw.exponential(size=count)) ** (1 / shape)
    return lives_of(start, np.minimum(end, start + 4), end <= start + 4)


def test_a_constant_rate_is_that_of_its_posterior() -> None:
    """Three failures in 4 + 4 + 4 + 8 = 20 years: 3.5 / 20; its 95 % from tables of chi-squared.

    Twice Gamma(3.5) is chi-squared of 7 degrees: 1.68987 and 16.0128, over 40 years.
    """
    ends, failed = np.array([4.0, 4.0, 4.0, 8.0]), np.array([True, True, True, False])
    found = fit_failures(lives_of(np.zeros(4), ends, failed))
    assert found.component_years == pytest.approx(20)
    assert found.per_year.value == pytest.approx(3.5 / 20)
    assert found.per_year.low == pytest.approx(1.68987 / 40, rel=1e-5)
    assert found.per_year.high == pytest.approx(16.0128 / 40, rel=1e-5)
    assert found.afr.value == pytest.approx(1 - math.exp(-0.175))


@pytest.mark.parametrize(("shape", "oldest"), [(1.8, 0.0), (0.7, 2.0), (3.0, 6.0)])
def test_a_weibull_law_is_the_likeliest_of_all(shape: float, oldest: float) -> None:
    """A search of both parameters by another method ends at the same place."""
    lives = drawn(seed=3, count=400, shape=shape, scale=9.0, oldest=oldest)
    found = fit_failures(lives).weibull
    start = np.asarray(lives.age_seconds) / YEAR_SECONDS
    end = start + np.asarray(lives.end_seconds) / YEAR_SECONDS
    failed = np.asarray(lives.failed)

    def minus_log_likelihood(point: Floats) -> float:
        k, s = np.exp(point)
        hazard = np.log(k / s) + (k - 1) * np.log(end[failed] / s)
        return float(np.sum((end / s) ** k - (start / s) ** k) - np.sum(hazard))

    best = minimize(minus_log_likelihood, np.log([1.2, 8.0]), method="Nelder-Mead", tol=1e-10)
    assert (found.shape.value, found.scale_years.value) == pytest.approx(np.exp(best.x), rel=1e-4)
    # At the end of an interval the likelihood, at its best in the other, is 1.92 below.
    for end_of in (found.shape.low, found.shape.high):
        at = min(
            minus_log_likelihood(np.array([math.log(end_of), log_scale]))
            for log_scale in np.linspace(math.log(2), math.log(40), 4000)
        )
        assert at - best.fun == pytest.approx(1.9207, abs=2e-3)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """95 % of lists: within 4 sigma of a binomial, false alarm 6e-5 each.

    Profile intervals are of large samples; of the 50 failures here they hold half a percent less.
    """
    lists = times(150)
    held = np.zeros(3, dtype=int)
    for seed in range(lists):
        found = fit_failures(drawn(seed, count=200, shape=1.0, scale=9.0, oldest=3.0))
        fit = found.weibull
        held += [
            fit.shape.low <= 1 <= fit.shape.high,
            fit.scale_years.low <= 9.0 <= fit.scale_years.high,
            fit.constant_p >= 0.05,
        ]
    low, high = binom.ppf([3e-5, 1 - 3e-5], lists, [0.945, 0.955])
    assert all(low <= count for count in held) and all(count <= high for count in held[:2])


def test_rows_by_age_and_laws_follow_from_what_was_seen() -> None:
    lives = drawn(seed=8, count=300, shape=1.6, scale=9.0, oldest=3.0)
    found = fit_failures(lives)
    assert sum(row.failures for row in found.ages) == found.failures == sum(lives.failed)
    assert math.fsum(row.component_years for row in found.ages) == pytest.approx(
        found.component_years
    )
    # At its maximum a likelihood expects as many failures as there were.
    expected = math.fsum(row.weibull or 0.0 for row in found.ages)
    assert expected == pytest.approx(found.failures, rel=1e-6)
    old = drawn(seed=1, count=400, shape=2.5, scale=9.0, oldest=0.0)
    assert fit_failures(old).law == "weibull"
    assert "The old fail more" in fit_failures(old).finding()
    assert fit_failures(old, "exponential").law == "exponential"
    alike = drawn(seed=1, count=400, shape=1.0, scale=20.0, oldest=0.0)
    assert fit_failures(alike).law == "exponential"
    assert fit_failures(alike, "weibull").law == "weibull"


@pytest.mark.parametrize("law", ["exponential", "weibull"])
def test_the_lines_are_a_failure_of_a_study_at_the_fitted_rate(law: str) -> None:
    import tomllib

    lives = drawn(seed=2, count=300, shape=1.7, scale=9.0, oldest=0.0)
    found = fit_failures(lives, "weibull" if law == "weibull" else "exponential")
    (table,) = tomllib.loads(found.to_toml())["durability"]["failures"]
    failure = Failure(**table)
    if law == "exponential":
        rate = failure.rate_per_second * YEAR_SECONDS
        assert rate == pytest.approx(found.per_year.value, rel=1e-3)
    else:
        assert failure.weibull.shape == pytest.approx(found.weibull.shape.value, rel=1e-3)


def test_lists_with_few_failures_or_other_times_say_what_they_can(tmp_path: Path) -> None:
    # Of none a bound: at 2.996 / T failures a year 95 % of lists have at least one.
    none = fit_failures(lives_of(np.zeros(10), np.full(10, 2.0), np.zeros(10, dtype=bool)))
    assert none.per_year.high == pytest.approx(-math.log(0.05) / 20)
    assert none.to_toml() == "" and none.weibull is None and none.ages == ()
    failed = np.arange(10) == 0
    one = fit_failures(lives_of(np.zeros(10), np.full(10, 2.0), failed))
    assert one.law == "exponential" and "1 failure, and a shape needs two" in one.finding()
    with pytest.raises(ConfigError, match="no Weibull law can be fitted: 1 failure"):
        fit_failures(lives_of(np.zeros(10), np.full(10, 2.0), failed), "weibull")
    with pytest.raises(ConfigError, match="all failures are at one age"):
        fit_failures(lives_of(np.zeros(3), np.full(3, 2.0), np.ones(3, dtype=bool)), "weibull")
    # A component that was replaced lives again; both ways of times give the same lives.
    dated = HEADER + "a,2024-01-01,2024-01-11T12:00,yes\na,2024-01-11T12:00,2024-02-01,no\n"
    timed = HEADER + "a,0,10.5 d,1\na,252 h,31 d,0\n"
    first, second = (parse_failures(text, Path("x.csv"), "") for text in (dated, timed))
    assert first == second
    assert first.failures() == [(10.5 * 86_400, "a")]


def test_the_command_prints_the_fit_and_the_lines_and_a_bound_alone_ends_with_1(
    tmp_path: Path, terminal: Terminal
) -> None:
    lives = drawn(seed=1, count=200, shape=2.5, scale=9.0, oldest=0.0)
    rows = zip(lives.components, lives.end_seconds, lives.failed, strict=True)
    text = "".join(f"{name},0,{float(end)!r} s,{int(failed)}\n" for name, end, failed in rows)
    (tmp_path / "lives.csv").write_text(HEADER + text)
    (tmp_path / "none.csv").write_text(HEADER + "a,0,1 y,no\n")
    words, none = ("calibrate", "failures", tmp_path / "lives.csv"), tmp_path / "none.csv"
    found = calibrate_failures(tmp_path / "lives.csv")
    told = terminal.output(*words)
    lines, toml = [line.strip() for line in told.splitlines()], found.to_toml().splitlines()
    assert told.startswith("The old fail more") and lines[-len(toml) :] == toml
    assert terminal.output(*words, "-q") == found.to_toml()
    assert terminal.json_output(*words) == json.loads(json.dumps(found.to_dict()))
    said = terminal.output(*words[:2], none, code=1)
    assert "Nothing failed: the rate is below 3 a year" in said
    assert "no Weibull law can be fitted" in terminal.refusal(*words[:2], none, "--law", "weibull")
