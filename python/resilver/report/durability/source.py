"""What answers say of systems: labels, order, the Pareto line, and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from resilver.data_loss.answer import Durability
from resilver.figure import Figure
from resilver.quantities import decimal_bytes
from resilver.report.durability import words
from resilver.words import size_of

SAME_OVERHEAD = 0.005
"""Overheads that differ by no more than this share are equal."""


def label(of: Durability) -> str:
    """What a system is called: its name, with its code where the name does not say it."""
    return of.name if of.code in of.name else f"{of.name} ({of.code})"


def labels(systems: Sequence[Durability]) -> list[str]:
    """What systems are called beside each other: a code that all have says nothing, nor does the
    key that a study sweeps; and two of one name are numbered.
    """
    are_alike = len(systems) > 1 and len({one.code for one in systems}) == 1
    keys = {one.name.rpartition(" = ")[0] for one in systems}
    if len(systems) > 1 and len(keys) == 1:
        systems = [replace(one, name=one.name.rpartition(" = ")[2]) for one in systems]
    names = [one.name if are_alike else label(one) for one in systems]
    return [
        f"{name}, {names[: at + 1].count(name)}" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def within(of: Durability) -> str:
    """``within a year``."""
    return f"within {words.mission(of.mission_seconds)}"


def is_yearly(of: Durability) -> bool:
    """Whether its mission is a year, so that its probability is that of a year."""
    return words.mission(of.mission_seconds) == "a year"


def known(systems: Sequence[Durability]) -> list[Durability]:
    """Those of which a probability is known, the safest first; the cheaper first of equal ones."""
    found = [one for one in systems if one.annual.value is not None]
    return sorted(found, key=lambda one: (one.annual.value or 0.0, one.overhead))


def are_apart(one: Figure, other: Figure) -> bool:
    """Whether two figures' intervals do not overlap; exact ones are apart where they differ."""
    return one.high < other.low or other.high < one.low


def have_one_overhead(systems: Sequence[Durability]) -> bool:
    """Whether all keep as many bytes for a byte."""
    all_of = [one.overhead for one in systems]
    return max(all_of) - min(all_of) <= SAME_OVERHEAD * max(all_of)


def pareto(systems: Sequence[Durability]) -> list[Durability]:
    """Those than which no other is both as cheap and as safe, and better in one; cheapest first."""
    found: list[Durability] = []
    ordered = sorted(known(systems), key=lambda one: (one.overhead, one.annual.value or 0.0))
    for one in ordered:
        if not found or (one.annual.value or 0.0) < (found[-1].annual.value or 0.0):
            found.append(one)
    return found


def stored_words(of: Durability) -> str:
    """What it stores, in the units in which sizes were given."""
    stored = of.user_bytes or 0.0
    return decimal_bytes(stored) if of.is_decimal else size_of(stored)


def lost_size(of: Durability) -> str | None:
    """The bytes that it is expected to lose, in those units; None without a volume."""
    lost = of.expected_lost_bytes
    return None if lost is None else words.size(lost, of.is_decimal)
