"""How likely some devices that fail at once take data with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import NO_DEVICE, replica_sets
from resilver.errors import ConfigError, show
from resilver.placement_quality.loss_counts import power
from resilver.placement_quality.lost_sets import Devices, LostSets

ENUMERATED_MAX = 200_000
"""Combinations of failures looked at each: a second or two; of more, a sample is drawn."""

_WORDS_MAX = 300_000_000
"""Of combinations times words of 64 sets: a second where any failures of a number lose a set."""

_SUBSETS_MAX = 40_000_000
"""Members of all subsets that are counted: some 300 MB, twice for a moment."""

_KEYS_MAX = 4_000_000
"""Random numbers that are drawn at once."""


@dataclass(frozen=True)
class LossProbability:
    """How likely data is lost when so many devices fail at once, any of them alike.

    Attributes:
        probability: The share of the combinations of failed devices that lose data.
        is_exact: Whether all combinations were counted.
        combinations: How many were: all, or those drawn.
        standard_error: The standard error of a sampled share; zero where it is exact.
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
            shape (sets, pieces), with -1 where there is none. Or what `checked_sets` made of them,
            which saves time where many questions are asked.
        devices: How many devices there are, numbered from 0, any of which fail alike.
        failures: How many fail at once.
        survives: Whether a set survives the loss of some positions, such as
            ``resilver.redundancy("rs 8+3").is_survivable``.
        draws: How many combinations are drawn where there are more than 200,000.
        seed: The seed of those draws.

    Returns:
        The probability. It is exact where each combination can be looked at in a second or two
        (all 109,736 triples of 88 devices, whatever their sets), and where one failure less never
        loses data: then the fatal combinations are the different subsets of the sets. Else it is
        that of a sample, with its standard error; where loss is rare, of combinations that are
        drawn from those that may be fatal, each weighted by one over the ways to draw it (Karp and
        Luby, FOCS 1983), so that the error stays a share of the probability.

    Raises:
        ConfigError: Sets are not a table of such devices, or there are not so many devices.

    >>> import resilver
    >>> mirrors = [[0, 1], [2, 3], [4, 5]]
    >>> loss_probability(mirrors, 6, 2, resilver.redundancy("copies 2").is_survivable).probability
    0.2
    """
    asked = checked_sets(sets, devices, survives)
    _check_failures(failures, devices)
    total = math.comb(devices, failures)
    lost = _counted(asked, failures, total)
    if lost is not None:
        return LossProbability(lost / total, True, total, 0.0)
    if draws < 1:
        rule = "a sample has at least one draw"
        raise ConfigError(rule, key="draws", value=show(draws))
    generator = np.random.default_rng(seed)
    likely = _Likely(asked, failures)
    if asked.repeats == 1 and likely.expected < 1.0:
        return likely.sampled(draws, generator)
    hits = 0
    for part in _portions(draws, devices):
        hits += int(asked.lost(drawn_failures(generator, devices, failures, part)).sum())
    share = hits / draws
    # Where all draws agree, the error is that of one that does not.
    spread = share * (1 - share) if 0 < hits < draws else 1 / draws
    return LossProbability(share, False, draws, math.sqrt(spread / draws))


def checked_sets(sets: Any, devices: int, survives: Callable[[list[int]], bool]) -> LostSets:
    """The sets as they are asked, of devices that there are; else a `ConfigError`."""
    if isinstance(sets, LostSets):
        return sets
    array = replica_sets(sets)
    if array.size and int(array.max()) >= devices:
        rule = f"devices are numbered from 0 to {devices - 1}"
        raise ConfigError(rule, key="sets", value=show(int(array.max())))
    return LostSets(array, devices, survives)


def _counted(asked: LostSets, failures: int, total: int) -> int | None:
    """How many combinations lose data, where that can be counted in a second or two."""
    if failures * asked.repeats + asked.holes <= asked.always:
        return 0
    words = -(-asked.count // 64)
    plain = asked.never and asked.repeats == 1
    if plain and not asked.holes and failures == asked.always + 1:
        fatal = fatal_subsets(asked.sets, asked.devices, failures)
        if fatal is not None:
            return fatal
    fast = plain and asked.is_dense and total * words <= _WORDS_MAX
    return asked.all_lost(failures) if fast or total <= ENUMERATED_MAX else None


def fatal_subsets(sets: Devices, devices: int, failures: int) -> int | None:
    """How many different combinations of so many devices are within one set.

    Args:
        sets: Devices by position, shape (sets, positions), -1 where there is none.
        devices: How many devices there are.
        failures: How many devices a combination has.

    Returns:
        Their number; None where looking at them would take more than some 600 MB.
    """
    width = sets.shape[1]
    if not sets.size or failures > width:
        return 0
    if len(sets) * math.comb(width, failures) * failures > _SUBSETS_MAX:
        return None
    ordered = np.sort(sets, axis=1)
    # Sorted ascending, a place without a device comes first.
    chosen = [ordered[:, list(columns)] for columns in combinations(range(width), failures)]
    subsets = np.concatenate(chosen)
    subsets = subsets[subsets[:, 0] != NO_DEVICE] if failures else subsets[:1]
    if devices**failures >= 2**63:
        return len(np.unique(subsets, axis=0))
    # As one number each they are told apart much sooner.
    return len(np.unique(subsets @ devices ** np.arange(failures)))


def drawn_failures(
    generator: np.random.Generator, devices: int, failures: int, draws: int
) -> Devices:
    """Different devices, any alike, shape (draws, failures)."""
    first = np.empty((draws, 0), dtype=np.int64)
    return _completed(generator, first, devices, failures)


def _completed(
    generator: np.random.Generator, first: Devices, devices: int, failures: int
) -> Devices:
    """Some devices of each draw, and others beside them, any alike."""
    draws, begun = first.shape
    if failures**2 > devices:
        keys = generator.random((draws, devices))
        np.put_along_axis(keys, first, -1.0, axis=1)
        return np.argpartition(keys, failures - 1, axis=1)[:, :failures].astype(np.int64)
    failed = np.empty((draws, failures), dtype=np.int64)
    failed[:, :begun] = first
    wrong = np.arange(draws)
    while len(wrong):
        # Draws with a device twice are drawn anew, which leaves all others alike.
        failed[wrong, begun:] = generator.integers(devices, size=(len(wrong), failures - begun))
        ordered = np.sort(failed[wrong], axis=1)
        wrong = wrong[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
    return failed


def _portions(draws: int, devices: int) -> list[int]:
    """Draws in portions whose random numbers fit in memory."""
    step = max(1, _KEYS_MAX // devices)
    return [min(step, draws - done) for done in range(0, draws, step)]


class _Likely:
    """Draws of failures that may be fatal: first as many of one set as it may not survive.

    Attributes:
        expected: In how many such ways a random combination may be fatal, on average.
    """

    def __init__(self, asked: LostSets, failures: int) -> None:
        self.asked, self.failures = asked, failures
        holes = (asked.sets == NO_DEVICE).sum(axis=1)
        # With fewer lost members a set is survived wherever they are.
        self.fewest = np.maximum(asked.always + 1 - holes, 1)
        members = asked.width - holes
        counts = range(asked.width + 1)
        self.ways = np.array([[float(math.comb(one, few)) for few in counts] for one in counts])
        chance = np.array([self._all_failed(few) for few in counts])
        self.weights = self.ways[members, self.fewest] * chance[self.fewest]
        self.expected = float(self.weights.sum())

    def _all_failed(self, few: int) -> float:
        """The probability that a random combination has so many given devices."""
        if few > self.failures:
            return 0.0
        return math.prod((self.failures - i) / (self.asked.devices - i) for i in range(few))

    def sampled(self, draws: int, generator: np.random.Generator) -> LossProbability:
        """The probability that such draws estimate."""
        if self.expected == 0.0:
            return LossProbability(0.0, True, draws, 0.0)
        total = squares = 0.0
        for part in _portions(draws, self.asked.devices):
            values = self._values(part, generator)
            total += float(values.sum())
            squares += float((values**2).sum())
        mean = total / draws
        variance = max(squares / draws - mean**2, 0.0)
        return LossProbability(mean, False, draws, math.sqrt(variance / draws))

    def _values(self, draws: int, generator: np.random.Generator) -> npt.NDArray[np.float64]:
        asked = self.asked
        chosen = np.searchsorted(
            np.cumsum(self.weights), generator.random(draws) * self.expected, side="right"
        )
        chosen = np.minimum(chosen, asked.count - 1)
        members = asked.sets[chosen]
        keys = generator.random(members.shape)
        keys[members == NO_DEVICE] = 2.0
        order = np.argsort(keys, axis=1)
        failed = np.empty((draws, self.failures), dtype=np.int64)
        for few in np.unique(self.fewest[chosen]).tolist():
            rows = self.fewest[chosen] == few
            first = np.take_along_axis(members[rows], order[rows][:, :few], axis=1)
            failed[rows] = _completed(generator, first, asked.devices, self.failures)
        values = np.zeros(draws)
        for part in asked.parts(failed):
            row, place, pattern = asked.beyond(failed[part])
            gone = np.bitwise_count(pattern) - asked.lacking(place)
            ways = np.bincount(row, self.ways[gone, self.fewest[place]], len(failed[part]))
            fatal = asked.fatal(row, pattern)
            values[part.start + fatal] = self.expected / ways[fatal]
        return values


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
            raise ConfigError("there is at least one", key=name, value=show(value))
    _check_failures(failures, groups * group_size)
    if tolerance < 0:
        rule = "a group survives the failure of nothing at all"
        raise ConfigError(rule, key="tolerance", value=show(tolerance))
    one = [math.comb(group_size, lost) for lost in range(min(tolerance, group_size, failures) + 1)]
    without_loss = power(one, groups, failures)
    without_loss += [0] * (failures + 1 - len(without_loss))
    total = math.comb(groups * group_size, failures)
    return LossProbability(float(1 - Fraction(without_loss[-1], total)), True, total, 0.0)


def _check_failures(failures: int, devices: int) -> None:
    if not 0 <= failures <= devices:
        rule = f"of {devices} devices from none to all fail"
        raise ConfigError(rule, key="failures", value=show(failures))
