"""Chains that end in loss, against rational numbers, hundreds of digits, and plain runs."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import ConfigError, redundancy
from resilver.data_loss.absorbing import Chain, any_loss
from resilver.data_loss.chains import (
    YEAR_SECONDS,
    approximate_mttdl,
    code_chain,
    failure_rate_of,
    fatal_shares,
    group_chain,
    misread_chance,
    window_chain,
)
from tests.build import refused
from tests.reference import markov
from tests.scale import times

HOUR = 3600.0

EXACT = 1e-9
"""What the relative error may be; it is some 1e-15."""


def relative(found: float, exact: Fraction | Decimal) -> float:
    return abs(float(Fraction(found) / Fraction(exact) - 1))


@pytest.mark.parametrize("repair", ["parallel", "serial"])
@pytest.mark.parametrize(("pieces", "tolerance"), [(2, 1), (3, 2), (11, 3), (20, 3), (20, 17)])
def test_mean_times_of_groups_are_those_of_rational_numbers(
    pieces: int, tolerance: int, repair: str
) -> None:
    chain = group_chain(
        pieces, tolerance, failure_rate=1e-6 / HOUR, repair_rate=0.1 / HOUR, repair=repair
    )
    assert relative(chain.mttdl_seconds(), markov.mean_time(chain.rates.tolist())) < 1e-13


@pytest.mark.parametrize(
    ("pieces", "tolerance", "failures_per_hour", "hours", "least", "most"),
    [
        (3, 2, 1e-6, 8766.0, 1e-13, 1e-11),
        (11, 3, 1.5e-6, 87_660.0, 1e-13, 1e-12),
        (20, 15, 1e-11, 8766.0, 1e-190, 1e-130),
        # The least that can be told, and what nearly all have lost.
        (20, 15, 3.6e-19, 0.1, 1e-310, 1e-290),
        (4, 1, 1.0, 10.0, 0.9, 1.0),
        (6, 3, 1e-2, 1.0, 1e-9, 1e-4),
    ],
)
def test_probabilities_of_loss_are_those_of_700_digits(
    pieces: int, tolerance: int, failures_per_hour: float, hours: float, least: float, most: float
) -> None:
    chain = group_chain(
        pieces, tolerance, failure_rate=failures_per_hour / HOUR, repair_rate=0.1 / HOUR
    )
    exact = markov.loss_probability(chain.rates.tolist(), hours * HOUR)
    assert least < exact < most
    assert relative(chain.loss_probability(hours * HOUR), exact) < EXACT


@settings(max_examples=times(60), deadline=None)
@given(data=st.data(), states=st.integers(1, 5))
def test_any_chain_is_as_exact_as_its_rates(data: st.DataObject, states: int) -> None:
    # Rates that differ by twenty powers of ten, some of them zero; the last state may always be
    # lost from, so that each run ends where it can get there.
    powers = st.one_of(st.just(None), st.integers(-12, 8))
    drawn = [[data.draw(powers) for _ in range(states + 1)] for _ in range(states)]
    rates = [[0.0 if one is None else 10.0**one for one in row] for row in drawn]
    for state in range(states):
        rates[state][(state + 1)] = rates[state][state + 1] or 1e-5
    chain = Chain(np.array(rates))
    assert relative(chain.mttdl_seconds(), markov.mean_time(rates)) < 1e-12
    seconds = 10.0 ** data.draw(st.integers(-6, 4))
    exact = markov.loss_probability(rates, seconds, digits=120)
    assert relative(chain.loss_probability(seconds), exact) < EXACT


def test_what_is_lost_without_repair_or_where_nothing_is_to_spare() -> None:
    # More than two of five exponential lifetimes are over: a binomial sum.
    chain, time = group_chain(5, 2, failure_rate=1.0), 0.01
    gone = -math.expm1(-time)
    terms = [math.comb(5, n) * gone**n * (1 - gone) ** (5 - n) for n in range(3, 6)]
    assert chain.loss_probability(time) == pytest.approx(math.fsum(terms), rel=1e-12)
    # The third of five ends after 1/5 + 1/4 + 1/3 on average.
    assert chain.mttdl_seconds() == pytest.approx(1 / 5 + 1 / 4 + 1 / 3, rel=1e-14)
    # Two copies: of the state with one lost, repair ends well with 1 - u, else in loss.
    # m0 = (1 + 2l m1) / 2l; m1 = (1 + (1 - u) r m0) / (l + r)
    fails, mends, torn = 1e-3, 1.0, 0.2
    mean = (1 / (2 * fails) * (fails + mends) + 1) / (fails + mends * torn)
    chain = group_chain(2, 1, failure_rate=fails, repair_rate=mends, unreadable=torn)
    assert chain.mttdl_seconds() == pytest.approx(mean, rel=1e-12)
    # With two to spare, errors while one is lost cost nothing: only the last column of state 2.
    rates = group_chain(4, 2, failure_rate=fails, repair_rate=mends, unreadable=torn).rates
    assert rates[1, -1] == 0.0
    assert rates[2, -1] == pytest.approx(2 * fails + 2 * mends * torn)


@pytest.mark.parametrize(("time", "least", "most"), [(1e-3, 1e-180, 1e-170), (0.2, 1e-40, 1e-30)])
def test_ways_of_many_jumps_are_as_exact(time: float, least: float, most: float) -> None:
    # Rule: more jumps than one step's series follows are found by its squares: 61 of 70 are gone.
    chain = group_chain(70, 60, failure_rate=1.0)
    with localcontext() as context:
        context.prec = 60
        gone = 1 - (-Decimal(time)).exp()
        ways = [math.comb(70, n) * gone**n * (1 - gone) ** (70 - n) for n in range(61, 71)]
        exact = sum(ways, Decimal(0))
    assert least < exact < most
    assert relative(chain.loss_probability(time), exact) < EXACT


def test_the_closed_form_is_near_where_repair_is_fast_and_always_below() -> None:
    for repair in ("parallel", "serial"):
        gaps = []
        for speed in (1e-1, 1.0, 1e2):
            rates = {"failure_rate": 1e-6, "repair_rate": speed, "repair": repair}
            near = approximate_mttdl(11, 3, **rates)
            gaps.append(group_chain(11, 3, **rates).mttdl_seconds() / near - 1)
        assert gaps[0] > gaps[1] > gaps[2] > 0
        assert gaps[2] < 1e-5
    # 1 / (C(11, 8) 8 l (l / m)^3), and a sixth of it where repairs wait for each other.
    exact = 1 / (165 * 8 * 1e-6 * 1e-18)
    assert approximate_mttdl(11, 3, failure_rate=1e-6, repair_rate=1.0) == pytest.approx(exact)
    serial = approximate_mttdl(11, 3, failure_rate=1e-6, repair_rate=1.0, repair="serial")
    assert serial == pytest.approx(exact / 6)


def test_errors_met_by_reading_and_gathered_since_the_scrub_add_up() -> None:
    # 10^-15 a bit over 12.5 TB is 0.1 errors: 1 - e^-0.1.
    assert misread_chance(12.5e12, per_byte_read=8e-15) == pytest.approx(-math.expm1(-0.1))
    # Errors of age x from 0 to 1 scrub: the mean of 1 - e^-g x is 1 - (1 - e^-g) / g.
    for grown in (1e-9, 1e-5, 0.3, 20.0):
        exact = sum(-math.expm1(-grown * (x + 0.5) / 20_000) for x in range(20_000)) / 20_000
        found = misread_chance(1e12, per_byte_second=grown / 1e12 / 86_400, scrub_seconds=86_400.0)
        assert found == pytest.approx(exact, rel=1e-6)


def test_shares_of_sets_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    code = redundancy("lrc 4+3 local 2")
    shares = fatal_shares(code)
    for losses, share in enumerate(shares):
        sets = list(combinations(range(7), losses))
        assert share == sum(not code.is_survivable(one) for one in sets) / len(sets)
    assert fatal_shares(redundancy("rs 8+3")) == [0.0] * 4
    # What is not looked at counts as lost: likelier, never rarer.
    rates = {"failure_rate": 1e-3, "repair_rate": 1.0}
    whole = code_chain(code, **rates).mttdl_seconds()
    monkeypatch.setattr("resilver.data_loss.chains._LOOKED_AT_MAX", 1)
    assert code_chain(code, **rates).mttdl_seconds() < whole


def test_windows_of_any_law_have_the_mean_of_their_renewals() -> None:
    # Three pieces of which one may be lost: each period begins whole, 1/3l, then a window of w or
    # until a failure comes first, with q = 1 - e^-2lw; the mean stay is q / 2l.
    fails, windows = 0.01, [1.0, 2.0, 9.0]
    first = sum(-math.expm1(-2 * fails * one) for one in windows) / 3
    mean = (1 / (3 * fails) + first / (2 * fails)) / first
    chain = window_chain(3, 1, failure_rate=fails, windows=[windows])
    assert chain.mttdl_seconds() == pytest.approx(mean, rel=1e-13)
    # The last window holds for all that lack more.
    assert window_chain(4, 3, failure_rate=0.1, windows=[[1.0]]).rates[3, 0] == pytest.approx(
        0.1 * math.exp(-0.1) / -math.expm1(-0.1)
    )


def test_rates_are_said_in_three_ways() -> None:
    assert failure_rate_of(afr=0.0) == 0.0
    assert failure_rate_of(mttf_seconds=10.0) == 0.1
    # A share a gone after a year at rate -ln(1 - a).
    assert 1 - math.exp(-failure_rate_of(afr=0.3) * YEAR_SECONDS) == pytest.approx(0.3)
    for wrong in ({}, {"afr": 0.1, "fit": 1.0}, {"afr": 1.0}, {"afr": 1.1}, {"mttf_seconds": 0.0}):
        with pytest.raises(ConfigError):
            failure_rate_of(**wrong)


@pytest.mark.filterwarnings("error")
def test_what_never_fails_or_later_than_any_number_never_loses() -> None:
    chain = group_chain(3, 2, failure_rate=0.0, repair_rate=1.0)
    assert chain.mttdl_seconds() == math.inf
    assert chain.loss_probability(1e9) == 0.0
    # A state that nothing leads out of may keep what is lost elsewhere.
    trap = Chain([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert trap.mttdl_seconds() == math.inf
    assert trap.loss_probability(50.0) == pytest.approx(0.5)
    exact = 1 - (1 - Fraction(1, 10**12)) ** 1000
    assert relative(any_loss(1e-12, 1000), exact) < 1e-12
    assert any_loss(1.0, 3) == 1.0 and any_loss(1.0, 0) == 0.0 and any_loss(0.3, 0) == 0.0
    for chance, groups in ((1.1, 1), (-0.1, 1), (0.5, -1), (0.5, math.inf)):
        with pytest.raises(ConfigError):
            any_loss(chance, groups)

    # Twenty losses at 1e-30 a second each: some 1e-590 a second.
    chain = group_chain(20, 19, failure_rate=1e-30, repair_rate=1.0)
    assert chain.mttdl_seconds() == math.inf
    assert chain.loss_probability(1e9) == 0.0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"failure_rate": math.inf}, "failure_rate = inf: this is a finite number"),
        ({"failure_rate": -1.0}, "failure_rate = -1.0"),
        ({"repair_rate": math.nan}, "repair_rate = nan"),
        ({"repair": "both"}, 'repair = "both": repair is "parallel"'),
        ({"repair": []}, "repair is"),
        ({"repair": [1.0, math.inf]}, "repair = inf"),
        ({"tolerance": 5}, "tolerance = 5: this is a whole number from 0 to 4"),
        ({"pieces": 0}, "pieces = 0"),
        ({"fatal": [0.0, 0.5, 0.2]}, "never falling"),
        ({"fatal": [0.0, 0.5]}, "shares of 0 to 2 lost pieces"),
        ({"unreadable": 1.5}, "unreadable = 1.5: this is a probability"),
    ],
)
def test_groups_that_cannot_be_are_refused(change: dict[str, object], says: str) -> None:
    given = {"pieces": 5, "tolerance": 2, "failure_rate": 1.0, "repair_rate": 1.0, **change}
    pieces, tolerance = given.pop("pieces"), given.pop("tolerance")
    assert says in refused(group_chain, pieces, tolerance, **given)


def test_chains_and_times_that_cannot_be_are_refused() -> None:
    for rates in ([[1.0]], [[0.0, -1.0]], [[0.0, math.inf]], [], [[0.0, 1.0], [1.0, 0.0]]):
        with pytest.raises(ConfigError):
            Chain(np.array(rates))
    with pytest.raises(ConfigError):
        Chain(np.array([[0.0, 1.0]]), start=1)
    chain = Chain(np.array([[0.0, 1.0]]))
    for seconds in (-1.0, math.nan, math.inf):
        assert "a time is zero or more, and finite" in refused(chain.loss_probability, seconds)
    assert chain.loss_probability(0.0) == 0.0
    for windows in ([], [[]], [[0.0]], [[math.inf]]):
        with pytest.raises(ConfigError):
            window_chain(3, 1, failure_rate=1.0, windows=windows)
