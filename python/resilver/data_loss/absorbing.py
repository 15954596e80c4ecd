"""Markov chains that end in loss: how long they last, and how likely they end in a time.

Nothing is subtracted that could cancel, so small results are as exact as large ones: means by the
elimination of Grassmann, Taksar and Heyman (Operations Research 33, 1985), probabilities by
squaring matrices without a negative entry, rescaled to row sums of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, show

STATES_MAX = 2_000
"""The most states of a chain. Of a thousand a probability takes some seconds, a mean time one."""

_STEP = 0.25
"""Expected jumps of the fastest state in the first step of time, at most."""

_TERMS = 24
"""Jumps in that step that its series follows. A way to loss spends about 1 / rate in each state, or
shares the whole time among its states, and a step is a part of either: that 25 jumps of a way fall
into one has a chance of some 1 / 25!, far below a rounding."""

_SCALE_MAX = 500.0
"""The most binary digits that an entry is moved by: products of two still are numbers."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A Markov chain in continuous time that ends when data is lost.

    Attributes:
        rates: The rate a second from each state to each other, shape (states, states + 1): the last
            column is that of loss. What stands on the diagonal is not read.
        start: The state it begins in: all whole.

    Raises:
        ConfigError: The shape is another, there are too many states, or a rate is negative or not
            finite.

    >>> mirror = Chain([[0, 2.0, 0], [10.0, 0, 1.0]])  # two copies: 2 fail, 10 repaired, 1 fails
    >>> mirror.mttdl_seconds()  # (3 + 10) / 2
    6.5
    """

    rates: npt.NDArray[np.float64]
    start: int = 0

    def __post_init__(self) -> None:
        array = np.array(self.rates, dtype=np.float64)
        if array.ndim != 2 or not 1 <= len(array) <= STATES_MAX or array.shape[1] != len(array) + 1:
            rule = f"a chain of n states, from 1 to {STATES_MAX:,}, has rates of shape (n, n + 1)"
            remedy = "lay the rate of loss in the last column, and take fewer states"
            raise ConfigError(rule, remedy, key="rates", value=show(list(array.shape)))
        np.fill_diagonal(array, 0.0)
        if not np.isfinite(array).all() or array.min() < 0:
            rule = "a rate is zero or more, and finite"
            wrong = array[~(np.isfinite(array) & (array >= 0))][0]
            raise ConfigError(rule, key="rates", value=show(float(wrong)))
        if not 0 <= self.start < len(array):
            rule = f"states are numbered from 0 to {len(array) - 1}"
            raise ConfigError(rule, key="start", value=show(self.start))
        array.flags.writeable = False
        object.__setattr__(self, "rates", array)

    def mttdl_seconds(self) -> float:
        """The mean time to loss from the start, in seconds; infinite where it may never come.

        What is beyond the largest number of 64 bits is infinite too.
        The relative error is some 1e-15 times the number of states: each is eliminated without a
        subtraction.
        """
        order = self._reached()
        rates = self.rates[np.ix_(order, [*order, len(self.rates)])]
        held = np.ones(len(order))
        for last in range(len(order) - 1, 0, -1):
            # From the last state the chain goes to the ones before it, or is lost.
            onward = rates[last, :last].sum() + rates[last, -1]
            if onward == 0.0:
                return math.inf
            share = rates[:last, last] / onward
            held[:last] += share * held[last]
            rates[:last, :last] += np.outer(share, rates[last, :last])
            rates[:last, -1] += share * rates[last, -1]
            np.fill_diagonal(rates, 0.0)
        if rates[0, -1] == 0.0:
            return math.inf
        return float(held[0]) / float(rates[0, -1])

    def loss_probability(self, seconds: float) -> float:
        """The probability of loss within so many seconds, from the start.

        The relative error is below 1e-9 down to 1e-300, as tests against fractions and against 50
        digits show; below that it may be 0.

        Raises:
            ConfigError: The time is negative or not finite.

        >>> never_repaired = Chain([[0, 2.0, 0], [0, 0, 1.0]])
        >>> f"{never_repaired.loss_probability(1e-6):.9e}"  # (1 - e^-t)^2
        '9.999990000e-13'
        """
        if not (math.isfinite(seconds) and seconds >= 0):
            rule = "a time is zero or more, and finite"
            raise ConfigError(rule, key="seconds", value=show(seconds))
        order = self._reached()
        rates = self.rates[np.ix_(order, [*order, len(self.rates)])]
        fastest = float(rates.sum(axis=1).max())
        if seconds == 0.0 or not rates[:, -1].any():
            return 0.0
        steps = max(fastest * seconds / _STEP, float(len(order)))
        halvings = math.ceil(math.log2(steps))
        scale = _scales(rates, seconds)
        unscale = 1.0 / scale
        stay, lost = _first_step(rates, seconds / 2.0**halvings, scale)
        for _ in range(halvings):
            lost = lost + stay @ lost
            stay = stay @ stay
            # Rows sum to one but for rounding, which would double with each squaring.
            total = scale[:-1] * (stay @ unscale[:-1] + lost * unscale[-1])
            stay /= total[:, np.newaxis]
            lost /= total
        return min(float(scale[0] * lost[0] * unscale[-1]), 1.0)

    def _reached(self) -> list[int]:
        """The states that the start leads to, it first, nearer ones before farther ones."""
        order, seen = [self.start], {self.start}
        for state in order:
            for other in np.flatnonzero(self.rates[state, :-1]).tolist():
                if other not in seen:
                    seen.add(other)
                    order.append(other)
        return order


def _scales(rates: npt.NDArray[np.float64], seconds: float) -> npt.NDArray[np.float64]:
    """For each state, loss last, a power of two: about one over the root of how likely it is.

    Entry i, j of a transition matrix is kept as its value times scale j over scale i. That makes
    near and far states' entries alike in size, so that none falls below the smallest number.
    """
    onward = np.maximum(rates.sum(axis=1), 1.0 / seconds)
    likely = np.full(len(rates) + 1, -math.inf)
    likely[0] = 0.0
    with np.errstate(divide="ignore"):
        stays = np.log2(rates) - np.log2(np.append(onward, 1.0 / seconds))
    # The likeliest way from the start; none has more jumps than there are states.
    for _ in range(len(likely)):
        found = np.maximum(likely, (likely[:-1, np.newaxis] + stays).max(axis=0))
        if np.array_equal(found, likely):
            break
        likely = found
    likely = np.where(np.isfinite(likely), likely, 0.0)
    return np.exp2(np.round(np.clip(-likely / 2.0, -_SCALE_MAX, _SCALE_MAX)))


def _first_step(
    rates: npt.NDArray[np.float64], seconds: float, scale: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The scaled transition matrix of a short time, and the scaled probability of loss in it.

    By uniformisation at twice the fastest rate, so that the diagonal of a jump is at least a half
    and loses no digit.
    """
    states = len(rates)
    pace = 2.0 * float(rates.sum(axis=1).max())
    jump = np.zeros((states + 1, states + 1))
    jump[:-1] = rates / pace
    jump[np.diag_indices(states)] = 1.0 - jump[:-1].sum(axis=1)
    jump[-1, -1] = 1.0
    jump *= scale[np.newaxis, :] / scale[:, np.newaxis]
    expected = pace * seconds
    term = np.eye(states + 1) * math.exp(-expected)
    whole = term.copy()
    for number in range(1, _TERMS + 1):
        term = term @ jump * (expected / number)
        whole += term
    return whole[:-1, :-1], whole[:-1, -1]


def any_loss(probability: float, groups: float) -> float:
    """The probability that any of several groups loses data: 1 - (1 - p)^groups.

    They are taken as independent, as groups of devices of their own are; groups that share devices
    are lost together more often, so of them it is an upper bound of how likely any is lost.

    Args:
        probability: That one loses data.
        groups: How many there are.

    Raises:
        ConfigError: The probability is not from 0 to 1, or the number is negative or not finite.

    >>> f"{any_loss(1e-20, 1e6):.6e}"
    '1.000000e-14'
    """
    if not 0.0 <= probability <= 1.0:
        rule = "a probability is from 0 to 1"
        raise ConfigError(rule, key="probability", value=show(probability))
    if not (math.isfinite(groups) and groups >= 0):
        rule = "there are none or more, and finitely many"
        raise ConfigError(rule, key="groups", value=show(groups))
    if probability == 1.0:
        return 1.0 if groups else 0.0
    return -math.expm1(groups * math.log1p(-probability))
