"""Markov chains of a group of pieces, or of a system of devices, that fail and are repaired.

Rates are a second. A chain is asked by `resilver.data_loss.absorbing.Chain`: mean time to data
loss, probability of loss within a time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from resilver.checked import number, share, whole
from resilver.data_loss.absorbing import STATES_MAX, Chain
from resilver.errors import ConfigError, show

if TYPE_CHECKING:
    from resilver.simulate.codes import Survivable

YEAR_SECONDS = 8_766 * 3_600.0
"""A year of 365.25 days."""

_LOOKED_AT_MAX = 10_000_000
"""The most sets of one number of lost pieces that are looked at each."""

Repair = Literal["parallel", "serial"] | Sequence[float]
"""All lost pieces at once, each at the rate of repair; one after the other; or the rates at which
the first of one, two, three, ... lost pieces is back."""


def failure_rate_of(
    *, afr: float | None = None, mttf_seconds: float | None = None, fit: float | None = None
) -> float:
    """The rate of failures, a second, of an exponential lifetime.

    Args:
        afr: The annualised failure rate as the share that fails in a year: the rate is
            -ln(1 - afr) a year of 365.25 days.
        mttf_seconds: The mean time to failure, in seconds.
        fit: Failures in a billion hours.

    Raises:
        ConfigError: Not exactly one is given, or it is out of range.

    >>> round(failure_rate_of(afr=0.0136) * YEAR_SECONDS, 6)
    0.013693
    >>> failure_rate_of(fit=826) == 826 / 3.6e12
    True
    """
    given = {"afr": afr, "mttf_seconds": mttf_seconds, "fit": fit}
    (key, value), *more = [(key, one) for key, one in given.items() if one is not None] or [("", 0)]
    if not key or more:
        rule = "a rate of failures is said by one of afr, mttf_seconds and fit"
        raise ConfigError(rule, "give exactly one")
    if key == "fit":
        return number(key, value) / 3.6e12
    if key == "mttf_seconds":
        return 1.0 / number(key, value, positive=True)
    if share(key, value) == 1.0:
        rule = "where all fail within a year, the rate is infinite"
        raise ConfigError(rule, "give mttf_seconds", key=key, value=show(value))
    return -math.log1p(-value) / YEAR_SECONDS


def misread_chance(
    read_bytes: float,
    *,
    per_byte_read: float = 0.0,
    per_byte_second: float = 0.0,
    scrub_seconds: float | None = None,
    mission_seconds: float = YEAR_SECONDS,
) -> float:
    """The probability that a repair meets data that it cannot read.

    Args:
        read_bytes: How many bytes it reads where there is none to spare.
        per_byte_read: Errors that a byte read meets by itself: 8e-15 for 1e-15 a bit.
        per_byte_second: Errors that come up on a stored byte a second.
        scrub_seconds: How often every byte is read and mended; never where None.
        mission_seconds: How long errors gather where nothing mends them.

    Returns:
        1 - e^-r M, where r counts errors by reading and M is the mean, over all ages of a byte
        since its scrub, of the chance that none has come up on the bytes read.

    Raises:
        ConfigError: A number is out of range.

    >>> round(misread_chance(17 * 18e12, per_byte_read=8e-15), 4)  # 1 - e^-2.448
    0.9135
    """
    number("read_bytes", read_bytes)
    number("per_byte_read", per_byte_read)
    number("per_byte_second", per_byte_second)
    gathers = mission_seconds if scrub_seconds is None else scrub_seconds
    number("mission_seconds" if scrub_seconds is None else "scrub_seconds", gathers, positive=True)
    grown = per_byte_second * read_bytes * gathers
    # Of 1 - e^-g x, evenly over x from 0 to 1: 1 - (1 - e^-g) / g, by its series where g is small.
    stale = grown / 2 - grown**2 / 6 if grown < 1e-5 else 1.0 + math.expm1(-grown) / grown
    met = -math.expm1(-per_byte_read * read_bytes)
    return met + (1.0 - met) * stale


def group_chain(
    pieces: int,
    tolerance: int,
    *,
    failure_rate: float,
    repair_rate: float = 0.0,
    repair: Repair = "parallel",
    fatal: Sequence[float] | None = None,
    unreadable: float = 0.0,
) -> Chain:
    """The chain of one group by how many of its pieces are lost.

    It is one of a system too, with devices for pieces and, in `fatal`, how likely so many failed
    devices lose data (`resilver.data_loss.correlated`): a device's repair then brings back all it
    held.

    Args:
        pieces: How many pieces there are, all alike.
        tolerance: How many may be lost without loss of data; where `fatal` is given, how many may
            be lost at most.
        failure_rate: Failures a second of each piece that is there.
        repair_rate: 1 over the mean seconds of a repair, which is exponential; zero for none.
        repair: All lost pieces at once (``"parallel"``: j of them come back at j times the rate),
            one after the other (``"serial"``), or the rates themselves with 1, 2, ... lost, of
            which the last holds for more.
        fatal: Of 0, 1, ..., `tolerance` lost pieces, the share f of their sets that lose data
            (`fatal_shares`). The failure after which j are lost is survived with the chance
            (1 - f[j]) / (1 - f[j - 1]), as if each survived set were as likely: exact where shares
            are 0 or 1, else very near where repair is faster than failure.
        unreadable: The probability that a repair meets data that it cannot read (`misread_chance`).
            It is as if one more piece was lost: fatal where there is none to spare.

    Returns:
        The chain; state j is that of j lost pieces.

    Raises:
        ConfigError: A number is out of range.

    Source: the birth-death chains of Angus, On computing MTBF for a k-out-of-n:G repairable system
    (IEEE Transactions on Reliability 37, 1988).

    >>> hour = 3600.0
    >>> raid6 = group_chain(10, 2, failure_rate=1e-5 / hour, repair_rate=0.1 / hour)
    >>> f"{raid6.mttdl_seconds() / hour:.6e} h"  # 1 / (C(10, 8) 8 1e-5 (1e-4)^2) = 2.7778e10
    '2.781670e+10 h'
    >>> f"{raid6.loss_probability(8766 * hour):.6e}"
    '3.145954e-07'
    """
    whole("pieces", pieces, least=1, most=10**7)
    whole("tolerance", tolerance, most=min(pieces - 1, STATES_MAX - 1))
    number("failure_rate", failure_rate)
    back = _repair_rates(tolerance, number("repair_rate", repair_rate), repair)
    share("unreadable", unreadable)
    # One more failure than are survived at most loses data wherever it is.
    dead = [*_checked_shares(tolerance, fatal), 1.0]
    rates = np.zeros((tolerance + 1, tolerance + 2))
    for lost in range(tolerance + 1):
        fails = (pieces - lost) * failure_rate
        alive = 1.0 - dead[lost]
        if alive == 0.0:
            break
        # One more lost piece, wherever it is, is fatal with this chance.
        falls = (dead[lost + 1] - dead[lost]) / alive
        rates[lost, lost + 1] += fails * (1.0 - dead[lost + 1]) / alive
        rates[lost, -1] += fails * falls
        if lost:
            rates[lost, lost - 1] = back[lost - 1] * (1.0 - unreadable * falls)
            rates[lost, -1] += back[lost - 1] * unreadable * falls
    return Chain(rates)


def _repair_rates(tolerance: int, repair_rate: float, repair: Repair) -> list[float]:
    """With 1, 2, ... pieces lost, the rate at which one comes back."""
    if repair == "parallel":
        return [lost * repair_rate for lost in range(1, tolerance + 1)]
    if repair == "serial":
        return [repair_rate] * tolerance
    if not isinstance(repair, list | tuple) or not repair:
        rule = 'repair is "parallel", "serial" or rates by how many are lost'
        raise ConfigError(rule, "write one of these", key="repair", value=show(repair))
    given = [number("repair", rate) for rate in repair]
    return [given[min(lost, len(given) - 1)] for lost in range(tolerance)]


def _checked_shares(tolerance: int, fatal: Sequence[float] | None) -> list[float]:
    if fatal is None:
        return [0.0] * (tolerance + 1)
    shares = [share("fatal", one) for one in fatal]
    rises = all(one <= other for one, other in itertools.pairwise(shares))
    if len(shares) != tolerance + 1 or shares[0] != 0.0 or not rises:
        rule = f"there are shares of 0 to {tolerance} lost pieces, from 0 on and never falling"
        raise ConfigError(rule, key="fatal", value=show(shares))
    return shares


class Counted(Protocol):
    """What is asked of a code: ``resilver.redundancy`` and ``resilver.code_tree`` give it."""

    @property
    def pieces(self) -> int:
        """All pieces."""

    @property
    def parity(self) -> int:
        """Pieces beyond the data."""

    @property
    def fault_tolerance(self) -> int:
        """How many may be lost wherever they are."""

    def survivable(self, losses: int) -> Survivable:
        """How many sets of so many lost pieces are survived."""


def fatal_shares(code: Counted) -> list[float]:
    """Of 0, 1, 2, ... lost pieces, the share of their sets that lose a code's data.

    Args:
        code: What ``resilver.redundancy`` or ``resilver.code_tree`` gives.

    Returns:
        Shares, as far as one is below 1; where sets are too many to look at each, as far as they
        were counted: all beyond then count as lost, which makes the loss likelier, never rarer.

    >>> import resilver
    >>> [round(one, 4) for one in fatal_shares(resilver.redundancy("lrc 8+5 local 4"))]
    [0.0, 0.0, 0.0, 0.0, 0.0028, 0.1321]
    """
    shares = [0.0] * (code.fault_tolerance + 1)
    for losses in range(code.fault_tolerance + 1, code.parity + 1):
        if math.comb(code.pieces, losses) > _LOOKED_AT_MAX:
            break
        counted = code.survivable(losses)
        if not counted.survivable:
            break
        shares.append((counted.all - counted.survivable) / counted.all)
    return shares


def code_chain(
    code: Counted,
    *,
    failure_rate: float,
    repair_rate: float = 0.0,
    repair: Repair = "parallel",
    unreadable: float = 0.0,
) -> Chain:
    """The chain of one group of a code: `group_chain` with the code's own sets.

    Args:
        code: What ``resilver.redundancy`` gives.
        failure_rate: As of `group_chain`, as all that follow.
        repair_rate: The same.
        repair: The same.
        unreadable: The same.

    Raises:
        ConfigError: A number is out of range.

    >>> import resilver
    >>> copies = code_chain(resilver.redundancy("copies 2"), failure_rate=1.0, repair_rate=10.0)
    >>> copies.mttdl_seconds()
    6.5
    """
    fatal = fatal_shares(code)
    return group_chain(
        code.pieces,
        len(fatal) - 1,
        failure_rate=failure_rate,
        repair_rate=repair_rate,
        repair=repair,
        fatal=fatal,
        unreadable=unreadable,
    )


def window_chain(
    pieces: int, tolerance: int, *, failure_rate: float, windows: Sequence[Sequence[float]]
) -> Chain:
    """The chain of a group that is made whole at once, at the end of a window.

    A failure within the window begins another one, of a group that lacks one more. The windows need
    not be exponential: fixed, or what rebuilds were simulated or measured to take.

    Args:
        pieces: How many pieces there are, all alike.
        tolerance: How many may be lost without loss of data.
        failure_rate: Failures a second of each piece that is there.
        windows: With 1, 2, ... lost, the seconds that the window may take, each as likely; the
            last holds for more.

    Returns:
        A chain whose mean time to loss is exact; its probability within a time is that of
        exponential windows with the same chances to end well, which is near where loss is rare.

    Raises:
        ConfigError: A number is out of range.

    >>> day = 86_400.0
    >>> fixed = window_chain(2, 1, failure_rate=0.001 / day, windows=[[1.0 * day]])
    >>> round(fixed.mttdl_seconds() / day, 1)  # 1 / l + 1 / (2 l (1 - e^-lw))
    501250.0
    """
    whole("pieces", pieces, least=1, most=10**7)
    whole("tolerance", tolerance, most=min(pieces - 1, STATES_MAX - 1))
    number("failure_rate", failure_rate)
    if tolerance and not (len(windows) and all(len(one) for one in windows)):
        rule = "there is a window for a group that lacks one piece, and for each that lacks more"
        raise ConfigError(rule, "give seconds", key="windows", value=show(list(windows)))
    rates = np.zeros((tolerance + 1, tolerance + 2))
    for lost in range(tolerance + 1):
        fails = (pieces - lost) * failure_rate
        rates[lost, lost + 1] = fails
        if not lost:
            continue
        times = [
            number("windows", one, positive=True) for one in windows[min(lost, len(windows)) - 1]
        ]
        if not fails:
            rates[lost, 0] = len(times) / math.fsum(times)
            continue
        # From this state the chance to go on is that of a failure in the window, q, and the mean
        # stay q / rate of failure: the same mean time as by an exponential one of rate (1 - q) / q.
        fails_first = math.fsum(-math.expm1(-fails * one) for one in times)
        rates[lost, 0] = fails * math.fsum(math.exp(-fails * one) for one in times) / fails_first
    return Chain(rates)


def approximate_mttdl(
    pieces: int,
    tolerance: int,
    *,
    failure_rate: float,
    repair_rate: float,
    repair: Literal["parallel", "serial"] = "parallel",
) -> float:
    """The mean time to data loss where repair is much faster than failure, in seconds.

    Args:
        pieces: How many pieces there are, n.
        tolerance: How many may be lost without loss of data, n - k.
        failure_rate: Failures a second of each, lambda.
        repair_rate: 1 over the mean seconds of a repair, mu.
        repair: As of `group_chain`.

    Returns:
        1 / (C(n, k) k lambda (lambda / mu)^(n - k)), over (n - k)! where repair is serial. It is
        always below the chain's own.

    Raises:
        ConfigError: A number is out of range.

    >>> f"{approximate_mttdl(10, 2, failure_rate=1e-5, repair_rate=0.1):.4e}"
    '2.7778e+10'
    """
    whole("pieces", pieces, least=1, most=10**7)
    whole("tolerance", tolerance, most=pieces - 1)
    fails = number("failure_rate", failure_rate, positive=True)
    number("repair_rate", repair_rate)
    mean = 1.0 / (pieces * fails)
    for lost in range(1, tolerance + 1):
        mean *= repair_rate * (lost if repair == "parallel" else 1) / ((pieces - lost) * fails)
    return mean
