"""How likely some devices that fail at once take data with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, Problem, show
from resilver.judgement.loss_counts import power
from resilver.judgement.replica_sets import NO_DEVICE, replica_sets

ENUMERATED_MAX = 200_000
"""Combinations of failures looked at each: some ten seconds; of more, a sample is drawn."""


@dataclass(frozen=True)
class LossProbability:
    """How likely data is lost when so many devices fail at once, any of them alike.

    Attributes:
        probability: The share of the combinations of failed devices that lose data.
        is_exact: Whether each combination was looked at.
        combinations: How many were: all, or those drawn.
        standard_error: The standard error of a sampled share, sqrt(p (1 - p) / combinations); zero
            where it is exact.
    """

    probability: float
    is_exact: bool
    combinations: int
    standard_error: float


def loss_probability(
    sets: Any,
    devices: int,
    failures: int,
    survives: Callable[[list[int]], bool],
    *,
    draws: int = 20_000,
    seed: int = 1,
) -> LossProbability:
    """The probability that devices failing at once lose some set's data.

    Args:
        sets: Where the pieces of each placement group, stripe or RAID set are: devices by position,
            shape (sets, pieces), with -1 where there is none.
        devices: How many devices there are, numbered from 0, any of which fail alike.
        failures: How many fail at once.
        survives: Whether a set survives the loss of some positions, such as
            ``resilver.redundancy("rs 8+3").is_survivable``.
        draws: How many combinations are drawn where there are more than 200,000.
        seed: The seed of those draws.

    Returns:
        The probability: exact where there are at most 200,000 combinations, else that of a sample,
        with its standard error.

    Raises:
        ConfigError: Sets are not a table of such devices, or there are not so many devices.

    >>> import resilver
    >>> mirrors = [[0, 1], [2, 3], [4, 5]]
    >>> loss_probability(mirrors, 6, 2, resilver.redundancy("copies 2").is_survivable).probability
    0.2
    """
    array = replica_sets(sets)
    if array.size and int(array.max()) >= devices:
        rule = f"devices are numbered from 0 to {devices - 1}"
        raise ConfigError(Problem(rule, key="sets", value=show(int(array.max()))))
    _check_failures(failures, devices)
    asked = _Sets(array, devices, survives)
    total = math.comb(devices, failures)
    if total <= ENUMERATED_MAX:
        lost = sum(map(asked.is_any_lost, combinations(range(devices), failures)))
        return LossProbability(lost / total, True, total, 0.0)
    if draws < 1:
        rule = "a sample has at least one draw"
        raise ConfigError(Problem(rule, key="draws", value=show(draws)))
    generator = np.random.default_rng(seed)
    chosen = (generator.choice(devices, failures, replace=False).tolist() for _ in range(draws))
    share = sum(map(asked.is_any_lost, chosen)) / draws
    return LossProbability(share, False, draws, math.sqrt(share * (1 - share) / draws))


def group_loss_probability(
    groups: int, group_size: int, failures: int, tolerance: int
) -> LossProbability:
    """The same for groups of servers of which any lose data beyond some failures in one of them.

    So it is for RAID sets, and for groups with so many objects that any combination of members
    holds pieces of one: the least that many objects can be spread over.

    Args:
        groups: How many groups there are.
        group_size: Members of each.
        failures: How many of all members fail at once, any alike.
        tolerance: How many failures of one group never lose data: of a code, its fault tolerance.

    Returns:
        The probability, exact: the combinations without loss are the coefficient of x^failures in
        (sum over j up to the tolerance of C(group_size, j) x^j)^groups.

    Raises:
        ConfigError: A number is out of range.

    >>> round(group_loss_probability(groups=12, group_size=24, failures=4, tolerance=3)
    ...     .probability, 6)
    0.000454
    """
    for name, value, least in (("groups", groups, 1), ("group_size", group_size, 1)):
        if value < least:
            raise ConfigError(Problem("there is at least one", key=name, value=show(value)))
    _check_failures(failures, groups * group_size)
    if tolerance < 0:
        rule = "a group survives the failure of nothing at all"
        raise ConfigError(Problem(rule, key="tolerance", value=show(tolerance)))
    one = [math.comb(group_size, lost) for lost in range(min(tolerance, group_size, failures) + 1)]
    without_loss = power(one, groups, failures)
    without_loss += [0] * (failures + 1 - len(without_loss))
    total = math.comb(groups * group_size, failures)
    return LossProbability(float(1 - Fraction(without_loss[-1], total)), True, total, 0.0)


def _check_failures(failures: int, devices: int) -> None:
    if not 0 <= failures <= devices:
        rule = f"of {devices} devices from none to all fail"
        raise ConfigError(Problem(rule, key="failures", value=show(failures)))


class _Sets:
    """Sets of devices that are asked many times what failures leave of them."""

    def __init__(
        self,
        array: npt.NDArray[np.int64],
        devices: int,
        survives: Callable[[list[int]], bool],
    ) -> None:
        self.survives = survives
        distinct = np.unique(array, axis=0) if array.size else array
        if distinct.shape[1] > 64:
            rule = "a set has at most 64 positions"
            raise ConfigError(Problem(rule, key="sets", value=show(distinct.shape[1])))
        bits = np.left_shift(np.uint64(1), np.arange(distinct.shape[1], dtype=np.uint64))
        # What is lacking from the start; a set is looked at only where something more fails.
        self.lacking = ((distinct == NO_DEVICE) * bits).sum(axis=1, dtype=np.uint64)
        self.lost = self.lacking.copy()
        self.sets_of: list[npt.NDArray[np.int64]] = []
        self.bits_of: list[npt.NDArray[np.uint64]] = []
        order = np.argsort(distinct, axis=None, kind="stable")
        flat = distinct.reshape(-1)[order]
        ends = np.searchsorted(flat, np.arange(devices + 1))
        for device in range(devices):
            places = order[ends[device] : ends[device + 1]]
            self.sets_of.append(places // max(distinct.shape[1], 1))
            self.bits_of.append(bits[places % max(distinct.shape[1], 1)])
        self.is_fatal: dict[int, bool] = {}

    def is_any_lost(self, failed: Sequence[int]) -> bool:
        """Whether some set does not survive the failure of these devices."""
        for device in failed:
            self.lost[self.sets_of[device]] |= self.bits_of[device]
        touched = [self.sets_of[device] for device in failed]
        kinds = np.unique(self.lost[np.concatenate(touched)]) if touched else self.lost[:0]
        for rows in touched:
            self.lost[rows] = self.lacking[rows]
        return any(map(self._is_fatal, kinds.tolist()))

    def _is_fatal(self, lost: int) -> bool:
        known = self.is_fatal.get(lost)
        if known is None:
            known = not self.survives(list(_bits(lost)))
            self.is_fatal[lost] = known
        return known


def _bits(word: int) -> Iterable[int]:
    return (place for place in range(word.bit_length()) if word >> place & 1)
