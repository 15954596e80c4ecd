"""Codes: what objects are kept in, which losses they survive, and what repairs move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.analytic.code_figures import CodeFigures
from resilver.checked import whole
from resilver.core_errors import core_errors
from resilver.errors import ConfigError, show
from resilver.spec.code import is_of_plugin, read_code

_NUMBER_MAX = 2**32 - 1
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Survivable:
    """How many of the ways to lose some pieces leave the data readable.

    Attributes:
        losses: How many pieces are lost.
        survivable: The sets of so many pieces without which the data can be read; None where the
            sets are too many to look at each.
        all: The sets of so many pieces there are.
    """

    losses: int
    survivable: int | None
    all: int

    @property
    def share(self) -> float | None:
        """The share of the sets that are survived."""
        return None if self.survivable is None else self.survivable / self.all


@dataclass(frozen=True, eq=False)
class Code:
    """A code by which an object or a stripe is kept in pieces, the data first.

    Attributes:
        name: As a study file writes it: ``rs 8+3``, ``lrc 8+5 local 4``, ``lrc 12+2+2``,
            ``copies 3`` or ``product rs 4+2 x rs 3+1``.
        data: Data pieces, k. Of copies, which are all the whole, 1.
        parity: Pieces of parity, p.
        pieces: All pieces, k + p.
        fault_tolerance: How many pieces may be lost wherever they are.
        locality: How many pieces are gathered to rebuild a single lost one: the most over all
            pieces.
        repair_parts: Parts that each of these is cut into, of which one is read: 1, but of Clay.
        places: The place of each piece in a PG's set; other than its number of Ceph's lrc alone.
        generator: How the data make the pieces, shape (pieces, data): factors over GF(2^8), with
            the polynomial 0x11d. Its first rows are the unit matrix.
    """

    name: str
    data: int
    parity: int
    pieces: int
    fault_tolerance: int
    locality: int
    repair_parts: int
    places: tuple[int, ...]
    generator: npt.NDArray[np.uint8]
    _core: Any = field(repr=False)

    @cached_property
    def repair_sizes(self) -> tuple[int, ...]:
        """How many others each piece is rebuilt from, no other being lost."""
        # The only copy is rebuilt from none, and counts as what a repair would read.
        return tuple(len(self.repair(one) or range(self.locality)) for one in range(self.pieces))

    @property
    def figures(self) -> CodeFigures:
        """What its operations gather and send, as exact fractions."""
        gathered = Fraction(sum(self.repair_sizes), self.pieces * self.repair_parts)
        return CodeFigures(self.name, self.data, self.parity, gathered, self.fault_tolerance)

    @property
    def storage_overhead(self) -> float:
        """Parity for each piece of data: p / k."""
        return float(self.figures.storage_overhead)

    @property
    def redundancy_share(self) -> float:
        """Parity among all pieces: p / (k + p)."""
        return float(self.figures.redundancy_share)

    @property
    def stripe_read(self) -> int:
        """Strips that a read of a stripe sends to the reader: k."""
        return self.data

    @property
    def stripe_write(self) -> int:
        """Strips that a write of a stripe makes: k + p."""
        return self.pieces

    @property
    def strip_rebuild(self) -> float:
        """Strips that the rebuild of one gathers, in the mean over all: y."""
        return float(self.figures.gathered)

    @property
    def read_share(self) -> float:
        """User data read, over a server's bandwidth one way, as `CodeFigures` derives it."""
        return float(self.figures.read_share)

    @property
    def write_share(self) -> float:
        """User data written, over a server's bandwidth one way, as `CodeFigures` derives it."""
        return float(self.figures.write_share)

    @property
    def rebuild_share(self) -> float:
        """Strips made, over a server's bandwidth one way: 1 / y."""
        return float(self.figures.rebuild_share)

    @property
    def is_product(self) -> bool:
        """Whether its pieces are a table of rows and columns."""
        return self.name.startswith("product ")

    def is_survivable(self, lost: Sequence[int]) -> bool:
        """Whether the data can be read without the pieces `lost`.

        Args:
            lost: Pieces' numbers.

        Raises:
            ConfigError: There is no such piece.
        """
        with core_errors():
            return bool(self._core.is_survivable(numbers_of(lost, "lost")))

    def is_survivable_by_lines(self, lost: Sequence[int]) -> bool:
        """The same where one row or column of a product code after the other is made whole.

        Each is made by its own code alone, again and again until nothing changes. It is what most
        systems do, and survives no more than all checks at once (`is_survivable`, by rank); of
        other codes, which have one line, it is the same.

        Args:
            lost: Pieces' numbers.

        Raises:
            ConfigError: There is no such piece.

        >>> code = redundancy("product rs 2+2 x rs 2+2")
        >>> lost = [0, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14]  # one is left in each row and column
        >>> code.is_survivable(lost), code.is_survivable_by_lines(lost)
        (True, False)
        """
        with core_errors():
            return bool(self._core.is_survivable_by_lines(numbers_of(lost, "lost")))

    def survivable(self, losses: int) -> Survivable:
        """How many of the sets of so many lost pieces are survived, each looked at.

        Args:
            losses: How many pieces are lost.

        Returns:
            The count; None in it where more than ten million sets would have to be looked at.

        Raises:
            ConfigError: There are not so many pieces.

        >>> redundancy("lrc 8+5 local 4").survivable(4)
        Survivable(losses=4, survivable=713, all=715)
        """
        return self._counted(losses, self._core.survivable)

    def survivable_by_lines(self, losses: int) -> Survivable:
        """The same for a product code whose rows and columns are made whole one by one."""
        return self._counted(losses, self._core.survivable_by_lines)

    def _counted(self, losses: int, count: Callable[[int], tuple[int, int] | None]) -> Survivable:
        check_losses(losses, self.pieces)
        found = count(losses)
        if found is None:
            return Survivable(losses, None, comb(self.pieces, losses))
        return Survivable(losses, *found)

    def repair(
        self, piece: int, lost: Sequence[int] = (), prefer: Sequence[int] = ()
    ) -> list[int] | None:
        """The fewest pieces that make another one anew.

        Args:
            piece: The one to make.
            lost: All that are lost; `piece` is whether it is named or not.
            prefer: Of equal sets the one that is first in this order is taken; pieces left out come
                after, by number.

        Returns:
            The pieces, most preferred first; None where they do not exist.

        Raises:
            ConfigError: There is no such piece.

        >>> redundancy("lrc 8+5 local 4").repair(2)
        [0, 1, 3, 8]
        """
        (piece,) = numbers_of([piece], "piece")
        with core_errors():
            found = self._core.repair(numbers_of(lost, "lost"), piece, numbers_of(prefer, "prefer"))
        return None if found is None else [int(one) for one in found]

    def read(self, lost: Sequence[int] = (), prefer: Sequence[int] = ()) -> list[int] | None:
        """The pieces that a read of all the data gathers: the data that are left, and parity.

        Args:
            lost: The pieces that are lost.
            prefer: As in `repair`.

        Returns:
            k pieces; None where the data cannot be read.

        Raises:
            ConfigError: There is no such piece.
        """
        with core_errors():
            found = self._core.read(numbers_of(lost, "lost"), numbers_of(prefer, "prefer"))
        return None if found is None else [int(one) for one in found]

    def decoding(
        self, gathered: Sequence[int], wanted: Sequence[int]
    ) -> npt.NDArray[np.uint8] | None:
        """How some pieces make others.

        Args:
            gathered: The pieces there are.
            wanted: The pieces to make.

        Returns:
            Factors over GF(2^8), shape (wanted, gathered); None where these do not make those.

        Raises:
            ConfigError: There is no such piece.
        """
        with core_errors():
            found = self._core.decoding(
                numbers_of(gathered, "gathered"), numbers_of(wanted, "wanted")
            )
        return None if found is None else np.asarray(found, dtype=np.uint8)


def redundancy(text: str) -> Code:
    """The code of a line of text.

    Args:
        text: ``rs 8+3``, ``lrc 8+5 local 4``, ``copies 3`` or ``product rs 4+2 x rs 3+1``, in other
            systems' words ``ec 8+3``, ``8+3``, ``replica 3``, ``raid6 8+2``, ``raidz2 10``, or of
            Ceph's plugins ``ceph lrc 4+2 local 3``, ``clay 4+2 d 5``, ``shec 4+3 c 2``.

    Returns:
        The code.

    Raises:
        ConfigError: The text is none, has several levels, which `code_tree` takes, or asks for what
            cannot be built.

    >>> import resilver
    >>> code = resilver.redundancy("rs 8+3")
    >>> code.pieces, code.fault_tolerance, code.locality, f"{code.redundancy_share:.2%}"
    (11, 3, 8, '27.27%')
    """
    return code_of_core(core_of_text(_core.Code, text))


def code_of_core(core: Any) -> Code:
    """A code of the core as Python has it."""
    generator = np.asarray(core.generator(), dtype=np.uint8)
    return of_core(Code, core, places=tuple(core.places), generator=generator)


def of_core(kind: Callable[..., _Kind], core: Any, **others: Any) -> _Kind:
    """An object with what a core's object says of itself, and with other attributes."""
    names = {one.name for one in fields(kind)} - {"_core", *others}  # type: ignore[arg-type]
    return kind(**{name: getattr(core, name) for name in names}, **others, _core=core)


def core_of_text(kind: Callable[[str], Any], text: str) -> Any:
    """What the core makes of a code's text.

    Args:
        kind: The core's class.

    Raises:
        ConfigError: It is no text, or the core refuses it.
    """
    is_own = isinstance(text, str) and is_of_plugin(text)
    label = text if is_own else read_code(text, "code").label
    with core_errors():
        return kind(label)


def check_losses(losses: int, pieces: int) -> None:
    """Refuse more losses than there are pieces, with a `ConfigError`."""
    (losses,) = numbers_of([losses], "losses")
    if losses > pieces:
        rule = f"there are {pieces} pieces to lose"
        raise ConfigError(rule, "ask for fewer", key="losses", value=show(losses))


def numbers_of(values: Sequence[int], key: str) -> list[int]:
    """Pieces' numbers or counts as the core takes them; others raise a `ConfigError`."""
    rule = "pieces are numbered and counted by whole numbers from 0"
    return [whole(key, value, most=_NUMBER_MAX, rule=rule, remedy="") for value in values]
