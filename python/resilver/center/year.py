"""A file system day by day: files come in, are used, age, and are purged.

What is stored is kept by class of files and by days since the last use. On each day every file is
used or not, by a Poisson process of its class; what was used, and what came in, is of age 0. Then
the purge runs. Without purges by fill, what is stored tends to (J. Little, "A Proof for the Queuing
Formula L = lambda W", 1961) inflow times life, where a file lives until it was not used for the
purge's age A: (e^(mu A) - 1) / mu at mu uses a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PurgeRule:
    """When what is deleted, in days and shares.

    Attributes:
        days: Files that were not used for so many days may be deleted.
        high: The fill above which they are; None for any.
        low: The fill at which deleting ends.
    """

    days: int
    high: float | None = None
    low: float | None = None


@dataclass(frozen=True)
class Year:
    """A file system by days.

    Attributes:
        stored_bytes: At the end of each day, after the purge: shape (days,).
        peak_bytes: Before the purge, which is the most of the day: shape (days,).
        purged_bytes: What the purge deleted on each day: shape (days,).
        refused_bytes: What came in and had no room: shape (days,).
        usable_bytes: What the file system holds.
    """

    stored_bytes: Floats = field(repr=False)
    peak_bytes: Floats = field(repr=False)
    purged_bytes: Floats = field(repr=False)
    refused_bytes: Floats = field(repr=False)
    usable_bytes: float

    @property
    def fill(self) -> Floats:
        """How full it is on each day, before the purge: shape (days,)."""
        return np.asarray(self.peak_bytes / self.usable_bytes)

    def first_day_above(self, fill: float) -> int | None:
        """The first day, from 1, on which it is fuller than this; None for never."""
        days = np.flatnonzero(self.fill > fill * (1.0 + 1e-12))
        return int(days[0]) + 1 if days.size else None


def mean_life_days(purge_days: float, uses_a_day: float) -> float:
    """How long a file lives on average, until nobody has used it for the purge's age.

    Args:
        purge_days: The age A.
        uses_a_day: The rate mu of its uses, at random times.

    Returns:
        (e^(mu A) - 1) / mu, in days; A where it is never used, and infinity beyond any count.

    >>> mean_life_days(14.0, 0.0), round(mean_life_days(14.0, 0.1), 4)
    (14.0, 30.552)
    """
    exponent = purge_days * uses_a_day
    if exponent > 700.0:
        return math.inf
    return purge_days if not uses_a_day else math.expm1(exponent) / uses_a_day


def simulate_year(
    inflow_a_day: npt.NDArray[Any],
    uses_a_day: npt.NDArray[Any],
    stored: npt.NDArray[Any],
    usable_bytes: float,
    purge: PurgeRule | None,
    days: int,
    *,
    steps_a_day: int = 1,
) -> Year:
    """A file system by days.

    Args:
        inflow_a_day: Bytes that come in by class: shape (classes,).
        uses_a_day: How often a file of each class is used: shape (classes,).
        stored: Bytes by days since the last use and class: shape (ages, classes).
        usable_bytes: What the file system holds; what comes in beyond is refused.
        purge: What is deleted; None for nothing.
        days: How many days.
        steps_a_day: How often files age and the purge runs; ages of `stored` are then in steps.

    Returns:
        What is stored at the end of each day. What a step adds, uses and purges does not depend on
        order within the step: a file that was used in it is of age 0 at its end.
    """
    age = 0 if purge is None else purge.days * steps_a_day
    ages = max(stored.shape[0], age + 1) + (0 if purge is None or purge.high is None else days)
    ring = _Ring(ages, stored, np.exp(-np.asarray(uses_a_day, dtype=np.float64) / steps_a_day))
    inflow = np.asarray(inflow_a_day, dtype=np.float64) / steps_a_day
    incoming = float(inflow.sum())
    of_day = np.zeros((4, days))
    for step in range(days * steps_a_day):
        day = step // steps_a_day
        room = max(usable_bytes - ring.total, 0.0)
        share = min(1.0, room / incoming) if incoming else 1.0
        ring.turn(inflow * share)
        of_day[1, day] = max(of_day[1, day], ring.total)
        of_day[2, day] += _purge(ring, purge, age, usable_bytes)
        of_day[3, day] += incoming * (1.0 - share)
        of_day[0, day] = ring.total
    return Year(of_day[0], of_day[1], of_day[2], of_day[3], usable_bytes)


class _Ring:
    """Bytes by age and class.

    The slot of age a is (step - a) modulo ages, and what a slot holds is its value times the scale
    of the class, which falls as files of it are used: so nothing moves when a step ends.
    """

    def __init__(self, ages: int, stored: Floats, kept: Floats) -> None:
        self._step = 0
        self._kept = kept
        self._slots = np.zeros((ages, len(kept)))
        self._slots[(-np.arange(stored.shape[0])) % ages] = stored
        self._scale = np.ones(len(kept))
        self._is_used: npt.NDArray[np.bool_] = np.asarray(self._slots.any(axis=1))
        self._of_class = self._slots.sum(axis=0)

    @property
    def ages(self) -> int:
        """How many ages there are."""
        return len(self._slots)

    @property
    def total(self) -> float:
        """All bytes."""
        return float(self._of_class.sum())

    def turn(self, inflow: Floats) -> None:
        """End a step: what was used and what came in is of age 0."""
        self._step += 1
        used = self._of_class * (1.0 - self._kept)
        self._scale *= self._kept
        if self._scale.min() < 1e-200:
            self._slots *= self._scale
            self._scale[:] = 1.0
        slot, oldest = self._step % self.ages, (self._step + 1) % self.ages
        # What is older than the ring is long stays with its oldest.
        if self._is_used[slot]:
            self._slots[oldest] += self._slots[slot]
            self._is_used[oldest] = True
        self._slots[slot] = (inflow + used) / self._scale
        self._is_used[slot] = True
        self._of_class = self._of_class + inflow

    def older(self, age: int) -> Any:
        """The slots of this age and above that hold anything, the oldest first."""
        slots = (self._step - np.arange(self.ages - 1, age - 1, -1)) % self.ages
        return slots[self._is_used[slots]]

    def held(self, slots: Any) -> Floats:
        """The bytes of slots."""
        if 8 * len(slots) > self.ages:
            # Without the copy that picking many of them takes.
            return np.asarray((self._slots @ self._scale)[slots])
        return np.asarray(self._slots[slots] @ self._scale)

    def delete(self, slots: Any, share: Floats) -> None:
        """Delete shares of slots."""
        found = self._slots[slots]
        self._of_class = self._of_class - share @ found * self._scale
        self._slots[slots] = found * (1.0 - share)[:, None]
        self._is_used[slots[share >= 1.0]] = False


def _purge(ring: _Ring, purge: PurgeRule | None, age: int, usable: float) -> float:
    """Delete what may be, the oldest first; return how much."""
    if purge is None:
        return 0.0
    excess = math.inf
    if purge.high is not None and purge.low is not None:
        if ring.total <= purge.high * usable:
            return 0.0
        excess = ring.total - purge.low * usable
    slots = ring.older(age)
    if not len(slots):
        return 0.0
    held = ring.held(slots)
    before = np.concatenate([[0.0], np.cumsum(held)[:-1]])
    # Each slot goes whole while what went before leaves an excess; the last goes in part.
    share = np.clip((excess - before) / np.where(held > 0.0, held, 1.0), 0.0, 1.0)
    some = share > 0.0
    ring.delete(slots[some], share[some])
    return float((held * share).sum())
