"""Codes as a study file writes them: ``rs 8+3``, ``lrc 8+5 local 4`` or ``copies 3``.

What a code survives and what a repair gathers, only the core knows; here is how many pieces there
are, which is what the rest of a study must fit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from resilver.errors import ConfigError, Problem, name_remedy, show

PIECES_MAX = 64
"""The most pieces of an object: the core keeps a set of them in a word of 64 bits."""

CODE_SCHEMA = {
    "type": "string",
    "pattern": r"^\s*([Rr][Ss]\s+\d+\s*\+\s*\d+|[Ll][Rr][Cc]\s+\d+\s*\+\s*\d+\s+local\s+\d+"
    r"|[Cc]opies\s+\d+)\s*$",
    "description": "The code: Reed-Solomon, locally repairable, or copies.",
    "examples": ["rs 8+3", "lrc 8+5 local 4", "copies 3"],
}
"""What an editor is told of a code."""

_FAMILIES = ("rs", "lrc", "copies")
_FORMS = 'write "rs 8+3", "lrc 8+5 local 4" or "copies 3"'
_RS = re.compile(r"rs\s+(\d{1,9})\s*\+\s*(\d{1,9})")
_LRC = re.compile(r"lrc\s+(\d{1,9})\s*\+\s*(\d{1,9})\s+local\s+(\d{1,9})")
_COPIES = re.compile(r"copies\s+(\d{1,9})")


@dataclass(frozen=True)
class ErasureCode:
    """A code by its numbers; build one from text with `code_of`.

    Attributes:
        family: ``rs`` (Reed-Solomon), ``lrc`` (locally repairable) or ``copies``.
        data: How many pieces hold the data.
        parity: How many pieces are made from it besides.
        local: Of a locally repairable code: how many survivors remake any one lost piece.
    """

    family: Literal["rs", "lrc", "copies"]
    data: int
    parity: int
    local: int | None = None

    @property
    def pieces(self) -> int:
        """How many pieces an object has, each on a device of its own."""
        return self.data + self.parity

    @property
    def repair_pieces(self) -> int:
        """How many survivors are gathered to make one lost piece anew, no other being lost."""
        return self.local if self.local is not None else self.data

    @property
    def label(self) -> str:
        """The code as a study file writes it, in one way only."""
        if self.family == "copies":
            return f"copies {self.pieces}"
        text = f"{self.family} {self.data}+{self.parity}"
        return text if self.local is None else f"{text} local {self.local}"

    def __str__(self) -> str:
        """The same as `label`."""
        return self.label


def code_of(value: object) -> ErasureCode | None:
    """The code that a study file's ``code`` means.

    Args:
        value: Text such as ``rs 8+3``, an `ErasureCode`, or None.

    Returns:
        The code, or None for None.

    Raises:
        ConfigError: It is no code, or one that cannot be.

    >>> code = code_of("lrc 8+5 local 4")
    >>> code.pieces, code.repair_pieces, code.label
    (13, 4, 'lrc 8+5 local 4')
    """
    if value is None or isinstance(value, ErasureCode):
        return value
    if not isinstance(value, str):
        raise ConfigError(Problem("a code is text", _FORMS, value=show(value)))
    text = value.strip().lower()
    code = _parsed(text)
    if code is None:
        family = text.split(maxsplit=1)[0] if text else ""
        hint = "" if family in _FAMILIES else name_remedy(family, _FAMILIES, "codes") + "; "
        raise ConfigError(Problem("this is not a code", hint + _FORMS, value=show(value)))
    if problem := _problem(code):
        rule, remedy = problem
        raise ConfigError(Problem(rule, remedy, value=show(value)))
    return code


def _parsed(text: str) -> ErasureCode | None:
    if match := _RS.fullmatch(text):
        return ErasureCode("rs", int(match[1]), int(match[2]))
    if match := _LRC.fullmatch(text):
        return ErasureCode("lrc", int(match[1]), int(match[2]), int(match[3]))
    if match := _COPIES.fullmatch(text):
        return ErasureCode("copies", 1, int(match[1]) - 1)
    return None


def _problem(code: ErasureCode) -> tuple[str, str] | None:
    """The rule that a code's numbers break, and what to do."""
    if code.data < 1 or code.pieces < 1:
        return "a code has at least one piece of data", "such as rs 8+3"
    if code.parity < 1 and code.family != "copies":
        return "without parity nothing survives a loss", "add parity, or write copies 1"
    if code.pieces > PIECES_MAX:
        return f"{code.pieces} pieces are more than {PIECES_MAX}", "use fewer"
    if code.local is None:
        return None
    if code.local < 1 or code.data % code.local:
        rule = f"local groups of {code.local} pieces do not divide {code.data} pieces of data"
        return rule, f"use a divisor of {code.data}"
    groups = code.data // code.local
    if code.parity < groups:
        rule = f"each of {groups} local groups has a parity of its own, and there are {code.parity}"
        return rule, f"use at least {groups} parities, or larger groups"
    return None
