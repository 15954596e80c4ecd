"""Codes of several levels: what they cost, which losses they survive, and how they repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any

from resilver import _core
from resilver.core_errors import core_errors
from resilver.simulate.codes import (
    Code,
    Survivable,
    check_losses,
    code_of_core,
    core_of_text,
    numbers_of,
    of_core,
)
from resilver.spec.code import lrc_notes


@dataclass(frozen=True)
class RepairStep:
    """One piece made anew, of others that are there or that an earlier step made.

    Attributes:
        level: The level whose code makes it, from 0 at the top. What is gathered comes from groups
            of the level below it, so it crosses what joins these.
        gathered: What is gathered for it.
    """

    level: int
    piece: int
    gathered: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CodeTree:
    """Codes over one another: each piece of one is stored as a stripe of the next, a *group*.

    Pieces are those of the lowest level, numbered group after group: piece 37 of
    ``rs 17+3 over rs 8+2`` is piece 7 of group 3.

    Attributes:
        name: As it is written: ``rs 17+3 over rs 8+2``.
        levels: The codes, the top one first; one for a code of a single level.
        data: How many pieces hold data: the product over the levels.
        pieces: All pieces: the product over the levels, 4,096 at most.
        fault_tolerance: How many pieces may be lost wherever they are: the product over the levels
            of one more than each survives, less one.
    """

    name: str
    levels: tuple[Code, ...]
    data: int
    pieces: int
    fault_tolerance: int
    _core: Any = field(repr=False)

    @property
    def parity(self) -> int:
        """Pieces beyond the data."""
        return self.pieces - self.data

    @property
    def notes(self) -> list[str]:
        """Which locally repairable codes it is of, as `lrc_notes` says."""
        return lrc_notes(self.name)

    @property
    def storage_overhead(self) -> float:
        """Parity for each piece of data."""
        return self.parity / self.data

    @property
    def redundancy_share(self) -> float:
        """Parity among all pieces."""
        return self.parity / self.pieces

    def is_survivable(self, lost: Sequence[int]) -> bool:
        """Whether the data can be read without the pieces `lost`, judged by level.

        A group is dead when its own code does not survive what it lost, and a dead group is a lost
        piece of the level above. (All levels' checks at once could at times do more.)

        Args:
            lost: Pieces' numbers.

        Raises:
            ConfigError: There is no such piece.

        >>> tree = code_tree("rs 2+1 over rs 6+1")
        >>> tree.is_survivable(range(7)), tree.is_survivable([0, 1, 7, 8])
        (True, False)
        """
        with core_errors():
            return bool(self._core.is_survivable(numbers_of(lost, "lost")))

    def dead_groups(self, lost: Sequence[int]) -> list[list[int]]:
        """The groups of each level below the top that are dead without the pieces `lost`.

        Args:
            lost: Pieces' numbers.

        Returns:
            Numbers of groups by level, from the one under the top to the lowest.

        Raises:
            ConfigError: There is no such piece.

        >>> code_tree("rs 2+1 over rs 6+1").dead_groups([0, 1, 7])
        [[0]]
        """
        with core_errors():
            return [list(level) for level in self._core.dead_groups(numbers_of(lost, "lost"))]

    def survivable(self, losses: int) -> Survivable:
        """How many of the sets of so many lost pieces are survived, counted by polynomials.

        Args:
            losses: How many pieces are lost.

        Returns:
            The count, exact; None in it where more losses than are always survived would take
            looking at more than ten million sets of some level's code.

        Raises:
            ConfigError: There are not so many pieces.

        >>> code_tree("rs 2+1 over rs 6+1").survivable(4)  # C(21, 4) less 3 C(7, 2)^2
        Survivable(losses=4, survivable=4662, all=5985)
        """
        check_losses(losses, self.pieces)
        return self.survivable_up_to(losses)[losses]

    def survivable_up_to(self, losses: int) -> list[Survivable]:
        """`survivable` for each number of losses from none, counted at once."""
        check_losses(losses, self.pieces)
        from resilver.placement_quality.loss_counts import survived_by_level

        found = survived_by_level(self.levels, losses)
        counted = [] if found is None else found[0]
        survived: list[int | None] = [None] * (losses + 1)
        survived[: len(counted)] = counted
        sets = [comb(self.pieces, number) for number in range(losses + 1)]
        # What is always survived needs no counting.
        survived[: self.fault_tolerance + 1] = sets[: self.fault_tolerance + 1]
        return [Survivable(number, survived[number], sets[number]) for number in range(losses + 1)]

    def repairs(self, lost: Sequence[int]) -> list[RepairStep] | None:
        """How all the pieces `lost` are made anew, each by one step, in an order that works.

        A piece whose group is alive is made within it, and nothing crosses the level above. A dead
        group gets from the level above as many of its pieces, the first by number, as bring it back
        to life, each made of the pieces at the same place of other groups; it makes the rest.

        Args:
            lost: Pieces' numbers.

        Returns:
            The steps; None where the data are lost.

        Raises:
            ConfigError: There is no such piece.

        >>> above, within = code_tree("rs 2+1 over rs 2+1").repairs([1, 2])
        >>> above
        RepairStep(level=0, piece=1, gathered=(4, 7))
        >>> within
        RepairStep(level=1, piece=2, gathered=(0, 1))
        """
        with core_errors():
            found = self._core.repairs(numbers_of(lost, "lost"))
        if found is None:
            return None
        return [RepairStep(level, piece, tuple(gathered)) for level, piece, gathered in found]

    def repair_traffic(self, lost: Sequence[int]) -> list[int] | None:
        """How many pieces the repair of `lost` gathers by each level's code, the top one first.

        Args:
            lost: Pieces' numbers.

        Returns:
            Counts by level: the first cross between the top code's groups, the last stay within
            groups of the lowest level. None where the data are lost.

        Raises:
            ConfigError: There is no such piece.

        >>> tree = code_tree("rs 17+3 over rs 8+2")
        >>> tree.repair_traffic([0]), tree.repair_traffic([0, 1, 2])
        ([0, 8], [17, 16])
        """
        steps = self.repairs(lost)
        if steps is None:
            return None
        gathered: Counter[int] = Counter()
        for step in steps:
            gathered[step.level] += len(step.gathered)
        return [gathered[level] for level in range(len(self.levels))]


def code_tree(text: str) -> CodeTree:
    """The codes of several levels that a line of text names.

    Args:
        text: Codes as `redundancy` takes them with ``over`` between them, the top one first:
            ``rs 17+3 over rs 8+2``. A single code is a tree of one level.

    Returns:
        The codes.

    Raises:
        ConfigError: The text is none, or what it asks for cannot be built.

    >>> import resilver
    >>> tree = resilver.code_tree("rs 17+3 over rs 8+2")
    >>> tree.pieces, tree.data, tree.fault_tolerance, f"{tree.storage_overhead:.1%}"
    (200, 136, 11, '47.1%')
    """
    core = core_of_text(_core.CodeTree, text)
    return of_core(CodeTree, core, levels=tuple(code_of_core(level) for level in core.levels))
