"""Slow disks: which groups lie outside an envelope, and culling in rounds.

S. Oral et al. (2014), section V-A: the slowest group of a unit within 5 % of its fastest, groups
over all within 5 % of their average, and rounds that replace the slowest disks until they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Reference = Literal["fastest", "average"]
ROUNDS_MAX = 200
"""Rounds after which a lot is called hopeless: its own spread keeps groups outside."""
_PURPOSE = 0x63756C6C
"""The key of the streams that disks are drawn by."""


@dataclass(frozen=True)
class Judged:
    """Groups against an envelope.

    Attributes:
        rates: By group, in any unit: shape (groups,).
        reference: What each is measured from: shape (groups,).
        within: The envelope.
        of: What the reference is.
    """

    rates: Floats = field(repr=False)
    reference: Floats = field(repr=False)
    within: float
    of: Reference

    @property
    def least(self) -> Floats:
        """The rate that each group must have: shape (groups,)."""
        # A group that is at the edge to the last bit is within.
        return self.reference * (1.0 - self.within) * (1.0 - 1e-12)

    @property
    def outside(self) -> npt.NDArray[np.int64]:
        """The groups that are too slow, the slowest first."""
        found = np.flatnonzero(self.rates < self.least)
        return np.asarray(found[np.argsort(self.rates[found], kind="stable")])

    @property
    def holds(self) -> bool:
        """Whether all groups lie within."""
        return not (self.rates < self.least).any()

    @property
    def spread(self) -> float:
        """How far the slowest group is below its reference, as a share of it."""
        return float(1.0 - (self.rates / self.reference).min())


def judge(
    rates: npt.NDArray[Any],
    within: float,
    of: Reference,
    units: Sequence[Any] | npt.NDArray[Any] | None = None,
) -> Judged:
    """Hold groups against an envelope.

    Args:
        rates: By group, in any unit: shape (groups,).
        within: How far below the reference a group may be, as a share of it.
        of: The reference: "fastest" of its unit, or the "average" of all groups.
        units: The unit of each group; None for one unit.

    Returns:
        The groups with what each must have.

    >>> judge(np.array([100.0, 97.0, 94.0]), 0.05, "fastest").outside
    array([2])
    """
    values = np.asarray(rates, dtype=np.float64)
    if of == "average":
        reference = np.full(values.shape, values.mean())
    elif units is None:
        reference = np.full(values.shape, values.max())
    else:
        _, which = np.unique(np.asarray(units), return_inverse=True)
        fastest = np.zeros(which.max() + 1)
        np.maximum.at(fastest, which, values)
        reference = fastest[which]
    return Judged(values, reference, within, of)


@dataclass(frozen=True)
class Lot:
    """Disks as they are delivered, in groups.

    Attributes:
        groups: How many groups.
        members: Disks a group.
        units: Over how many units the groups are spread evenly.
        spread: The standard deviation of a disk's speed, as a share of its mean.
        slow: The chance that a disk is slow.
        factor: The share of its speed that it then has.
    """

    groups: int
    members: int
    units: int = 1
    spread: float = 0.0
    slow: float = 0.0
    factor: float = 1.0

    @property
    def disks(self) -> int:
        """All disks."""
        return self.groups * self.members

    def draw(self, count: int, stream: np.random.Generator) -> Floats:
        """Speeds of so many disks, 1 being the mean of those that are not slow: shape (count,)."""
        speeds = 1.0 + self.spread * stream.standard_normal(count)
        return np.asarray(speeds * np.where(stream.random(count) < self.slow, self.factor, 1.0))


@dataclass(frozen=True)
class Round:
    """A round of culling.

    Attributes:
        outside: How many groups were outside before it.
        replaced: How many disks have been replaced up to its end.
        mean: The mean group's speed at its end, as a share of a disk's.
        slowest: The slowest group's.
    """

    outside: int
    replaced: int
    mean: float
    slowest: float


@dataclass(frozen=True)
class Culling:
    """Culling in rounds, of one draw of disks.

    Attributes:
        rounds: Before any, and each.
        holds: Whether all groups lie within in the end.
        before, after: The groups' speeds before and after: shape (groups,).
    """

    rounds: tuple[Round, ...]
    holds: bool
    before: Floats = field(repr=False)
    after: Floats = field(repr=False)

    @property
    def replaced(self) -> int:
        """How many disks were replaced."""
        return self.rounds[-1].replaced

    @property
    def gain(self) -> float:
        """The mean group's speed after over before."""
        return self.rounds[-1].mean / self.rounds[0].mean

    @property
    def slowest_gain(self) -> float:
        """The slowest group's: what a file over all groups gains."""
        return self.rounds[-1].slowest / self.rounds[0].slowest


def cull(lot: Lot, within: float, of: Reference, seed: int) -> Culling:
    """Draw disks of a lot, and replace slow ones in rounds until all groups are within an envelope.

    Args:
        seed: The seed that disks are drawn by.

    Returns:
        The rounds, see `cull_disks`.
    """
    stream = np.random.Generator(np.random.Philox(key=[seed, _PURPOSE]))
    disks = lot.draw(lot.disks, stream).reshape(lot.groups, lot.members)
    units = np.arange(lot.groups) // (lot.groups // lot.units)
    return cull_disks(disks, units, within, of, lambda places, _: lot.draw(len(places), stream))


def cull_measured(
    disks: npt.NDArray[Any], units: npt.NDArray[Any], within: float, of: Reference, seed: int
) -> Culling:
    """Replace measured disks in rounds, by disks drawn among the measured.

    Args:
        disks: Rates by group and member: shape (groups, members).
        units: The unit of each group: shape (groups,).
        within: The envelope.
        seed: The seed that new disks are drawn by.
    """
    stream = np.random.Generator(np.random.Philox(key=[seed, _PURPOSE]))
    every = np.asarray(disks, dtype=np.float64).ravel()
    copied = np.array(disks, dtype=np.float64)
    return cull_disks(
        copied, units, within, of, lambda places, _: stream.choice(every, len(places))
    )


def cull_disks(
    disks: Floats,
    units: npt.NDArray[Any],
    within: float,
    of: Reference,
    draw: Callable[[Ints, Ints], Floats],
) -> Culling:
    """Replace slow disks in rounds until all groups are within an envelope.

    In each round every group that is outside loses its slowest disk, and another takes its place,
    which may be slow as well.

    Args:
        disks: Speeds by group and member, which are changed: shape (groups, members).
        units: The unit of each group: shape (groups,).
        draw: Gives the speeds of the new disks of some groups, at these places in them.

    Returns:
        The rounds; after `ROUNDS_MAX` it gives up.
    """
    speeds = disks.min(axis=1)
    before = speeds.copy()
    rounds = [Round(0, 0, float(speeds.mean()), float(speeds.min()))]
    for _ in range(ROUNDS_MAX):
        outside = judge(speeds, within, of, units).outside
        if not outside.size:
            break
        places = disks[outside].argmin(axis=1)
        disks[outside, places] = draw(outside, places)
        speeds = disks.min(axis=1)
        replaced = rounds[-1].replaced + outside.size
        rounds.append(Round(int(outside.size), replaced, float(speeds.mean()), float(speeds.min())))
    holds = judge(speeds, within, of, units).holds
    return Culling(tuple(rounds), holds, before, speeds)
