"""Codes as a study file writes them: ``rs 8+3``, ``lrc 12+2+2``, ``copies 3``, or of these.

What a code survives and what a repair gathers, only the core knows, which a study file's sections
may not ask; here is how many pieces there are, which is what the rest of a study must fit. Python
reads codes here and nowhere else, in other systems' words too (``ec 8+3``, ``8+3``, ``replica 3``,
``raid6 8+2``, ``raidz2 10``); the core gets a code by its label, and a test holds its reading and
this one to each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from resilver.core_errors import check_code
from resilver.errors import ConfigError, nearest, show
from resilver.words import plural

_RAIDS = {"raid5": 1, "raid6": 2, "raidz": 1, "raidz1": 1, "raidz2": 2, "raidz3": 3}
"""Parity disks of RAID levels, whose sets are written by data and parity or by all their disks."""

_COPIES = ("copies", "replica", "replicas", "replicated", "mirror", "raid1")
_REED_SOLOMON = ("rs", "ec", "erasure")
_SUM = r"\s+\d+\s*\+\s*\d+"
_LRC = rf"[Ll][Rr][Cc]{_SUM}(\s+local\s+\d+|\s*\+\s*\d+)"
_PLAIN = (
    rf"([Rr][Ss]{_SUM}|([Ee][Cc]|[Ee]rasure){_SUM}|\d+\s*\+\s*\d+|{_LRC}|"
    r"([Cc]opies|[Rr]eplicas?|[Rr]eplicated|[Mm]irror|[Rr][Aa][Ii][Dd]1)\s+\d+|"
    r"[Rr][Aa][Ii][Dd]([56]|[Zz][123]?)\s+\d+(\s*\+\s*\d+)?)"
)

_LEVEL = rf"({_PLAIN}|[Pp]roduct\s+{_PLAIN}\s+x\s+{_PLAIN})"

CODE_SCHEMA = {
    "type": "string",
    "pattern": rf"^\s*{_LEVEL}(\s+over\s+{_LEVEL})*\s*$",
    "description": "The code: Reed-Solomon, locally repairable, copies, a product of two, or one "
    "whose pieces are groups under another.",
    "examples": [
        "rs 8+3",
        "lrc 8+5 local 4",
        "lrc 12+2+2",
        "copies 3",
        "product rs 4+2 x rs 3+1",
        "rs 3+1 over rs 8+2",
    ],
}
"""What an editor is told of a code."""

_GLOBALS_MAX = 2
"""The most global parities for which the core knows maximally recoverable coefficients."""

_FAMILIES = (*_REED_SOLOMON, "lrc", *_COPIES, "product", *_RAIDS)
_FORMS = (
    'write "rs 8+3" (or "ec 8+3", "8+3"), "copies 3" (or "replica 3"), "raid6 8+2", "raidz2 10" '
    '(disks in all), "lrc 8+5 local 4", "lrc 12+2+2", "product rs 4+2 x rs 3+1" or "rs 3+1 over '
    'rs 8+2"'
)


@dataclass(frozen=True)
class ErasureCode:
    """A code by its numbers; build one from text with `code_of`.

    Attributes:
        family: ``rs`` (Reed-Solomon), ``lrc`` (locally repairable), ``copies``, ``product``, or
            ``levels``.
        data: How many pieces hold the data.
        parity: How many pieces are made from it besides.
        local: Of a locally repairable code: how many data pieces a local group has.
        groups: Of a maximally recoverable one, as Azure's is: how many local groups there are.
        factors: Of a product code: the code of its columns, and that of its rows. Of levels: the
            upper code, each piece of which is a group under the other.
    """

    family: Literal["rs", "lrc", "copies", "product", "levels"]
    data: int
    parity: int
    local: int | None = None
    groups: int | None = None
    factors: tuple[ErasureCode, ...] = ()

    @property
    def pieces(self) -> int:
        """How many pieces an object has, each on a device of its own."""
        return self.data + self.parity

    @property
    def is_separable(self) -> bool:
        """Whether any `data` pieces are enough, so that only the number of losses counts."""
        return self.family in ("rs", "copies")

    @property
    def repair_pieces(self) -> int:
        """How many survivors are gathered to make one lost piece anew, no other being lost."""
        if self.family == "levels":
            return self.factors[1].repair_pieces
        if self.factors:
            return min(factor.repair_pieces for factor in self.factors)
        return self.local if self.local is not None else self.data

    @property
    def tolerance(self) -> int:
        """How many losses are survived wherever they are, at least."""
        if self.factors:
            upper, lower = self.factors
            return (upper.tolerance + 1) * (lower.tolerance + 1) - 1
        if self.local is None:
            return self.parity
        return self.parity - self.data // self.local + (self.groups is not None)

    @property
    def variant(self) -> str:
        """Which of two codes by the same numbers it is, for a locally repairable one."""
        if self.local is None or self.parity == self.data // self.local:
            return ""
        return "an implied parity" if self.groups is None else "maximally recoverable, as Azure's"

    @property
    def levels(self) -> tuple[int, ...]:
        """How many groups there are, of how many groups each, and at last of how many pieces."""
        if self.family != "levels":
            return (self.pieces,)
        return (self.factors[0].pieces, *self.factors[1].levels)

    @property
    def label(self) -> str:
        """The code as a study file writes it, in one way only."""
        if self.family == "copies":
            return f"copies {self.pieces}"
        if self.family == "levels":
            return " over ".join(factor.label for factor in self.factors)
        if self.factors:
            return "product " + " x ".join(factor.label for factor in self.factors)
        if self.groups is not None:
            return f"lrc {self.data}+{self.groups}+{self.parity - self.groups}"
        text = f"{self.family} {self.data}+{self.parity}"
        return text if self.local is None else f"{text} local {self.local}"

    def __str__(self) -> str:
        """The same as `label`."""
        return self.label


def code_of(value: object) -> ErasureCode | None:
    """The code that a study file's ``code`` means.

    Args:
        value: Text such as ``rs 8+3``, an `ErasureCode`, or None.

    Raises:
        ConfigError: It is no code, or one that cannot be.

    >>> code = code_of("lrc 8+5 local 4")
    >>> code.pieces, code.repair_pieces, code.label
    (13, 4, 'lrc 8+5 local 4')
    """
    if value is None or isinstance(value, ErasureCode):
        return value
    return erasure_of(value)


def erasure_of(value: object, key: str = "") -> ErasureCode:
    """The code that a text means, whose numbers can be.

    Args:
        value: Such as ``rs 8+2``.
        key: What names it, for an error.

    Raises:
        ConfigError: It is no text, no code, or one that cannot be.
    """
    code = read_code(value, key)
    check_code(code.label, key, show(value))
    return code


def read_code(value: object, key: str = "") -> ErasureCode:
    """The code that a text means, whether or not its numbers can be.

    Args:
        key: What names it, for an error.

    Raises:
        ConfigError: It is no text, or no code.

    >>> [read_code(text).label for text in ("ec 8+3", "8+3", "replica 3", "raidz2 10")]
    ['rs 8+3', 'rs 8+3', 'copies 3', 'rs 8+2']
    """
    if not isinstance(value, str):
        raise ConfigError("a code is text", _FORMS, key, show(value))
    if is_of_plugin(value):
        rule = (
            "codes of Ceph's plugins are those of real clusters, of `durability` and `redundancy`"
        )
        raise ConfigError(rule, _FORMS, key, show(value))
    words = value.lower().replace("+", " + ").split()
    code = _over([_parsed(level) for level in _split(words, "over")])
    if code is not None:
        return code
    family = words[0] if words else ""
    close = None if family in _FAMILIES else nearest(family, _FAMILIES)
    hint = "" if close is None else f'did you mean "{close}"? '
    rule = "this is not a code"
    if family in _RAIDS and _are_numbers(*words[1:2]):
        rule = f"a set of {family} has {plural(_RAIDS[family], 'parity disk')}"
    raise ConfigError(rule, hint + _FORMS, key, show(value))


def is_of_plugin(text: str) -> bool:
    """Whether a text names a code of Ceph's plugins lrc, clay and shec, which the core reads."""
    return re.match(r"\s*(ceph|clay|shec)\b", text, re.IGNORECASE) is not None


def _parsed(words: Sequence[str]) -> ErasureCode | None:
    """The code of these words, whose numbers need not fit; None where they are none."""
    match words:
        case ["product", *factors]:
            return _product([_parsed(factor) for factor in _split(factors, "x")])
        case [data, "+", parity] if _are_numbers(data, parity):
            return ErasureCode("rs", int(data), int(parity))
        case [family, data, "+", parity] if _are_numbers(data, parity):
            is_known = family in _REED_SOLOMON or _RAIDS.get(family) == int(parity)
            return ErasureCode("rs", int(data), int(parity)) if is_known else None
        case [raid, disks] if raid in _RAIDS and _are_numbers(disks):
            data_disks = int(disks) - _RAIDS[raid]
            return ErasureCode("rs", data_disks, _RAIDS[raid]) if data_disks > 0 else None
        case ["lrc", data, "+", parity, "local", local] if _are_numbers(data, parity, local):
            return ErasureCode("lrc", int(data), int(parity), int(local))
        case ["lrc", data, "+", groups, "+", rest] if _are_numbers(data, groups, rest):
            each = int(data) // (int(groups) or 1)
            return ErasureCode("lrc", int(data), int(groups) + int(rest), each, int(groups))
        case [family, copies] if family in _COPIES and _are_numbers(copies):
            return ErasureCode("copies", 1, int(copies) - 1)
    return None


def _over(levels: Sequence[ErasureCode | None]) -> ErasureCode | None:
    """The code of these levels, from the top; None where one of them is none."""
    *above, code = levels
    for upper in reversed(above):
        if upper is None or code is None:
            return None
        data, pieces = upper.data * code.data, upper.pieces * code.pieces
        code = ErasureCode("levels", data, pieces - data, factors=(upper, code))
    return code


def _product(codes: Sequence[ErasureCode | None]) -> ErasureCode | None:
    """The product of two codes; None where these are not two."""
    factors = tuple(code for code in codes if code is not None)
    if len(codes) != 2 or len(factors) != 2:
        return None
    data = math.prod(code.data for code in factors)
    pieces = math.prod(code.pieces for code in factors)
    return ErasureCode("product", data, pieces - data, factors=factors)


def _split(words: Sequence[str], at: str) -> list[list[str]]:
    """The words between those that are `at`."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == at:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _are_numbers(*words: str) -> bool:
    return all(word.isascii() and word.isdigit() and len(word) < 10 for word in words)


def lrc_notes(text: str) -> list[str]:
    """Which locally repairable codes a text names: two have the same numbers and differ.

    Args:
        text: Codes by their labels.

    >>> [note.partition(",")[0] for note in lrc_notes("rs 2+1 over lrc 12+2+2")]
    ['lrc 12+2+2 is maximally recoverable']
    """
    if is_of_plugin(text):
        note = (
            f"{text} is decoded as Ceph's plugin does it: from the last layer to the first, once. "
            "A local parity and another shard of its group are too many losses."
        )
        return [note] if "lrc" in text else []
    codes = (code_of(found.group()) for found in re.finditer(_LRC, text))
    return [_lrc_note(code) for code in dict.fromkeys(codes) if code is not None and code.variant]


def _lrc_note(code: ErasureCode) -> str:
    assert code.local is not None, "a code with a variant is locally repairable"
    groups = code.data // code.local
    rest = code.parity - groups
    azure = f"lrc {code.data}+{groups}+{rest}"
    other = f"lrc {code.data}+{code.parity} local {code.local}"
    if code.groups is not None:
        return (
            f"{azure} is maximally recoverable, as Azure's LRC({code.data}, {groups}, {rest}) is: "
            f"it survives any {rest + 1} losses, and rebuilds a global parity from {code.data} "
            f"pieces. {other} is another code."
        )
    note = f"{other} has an implied parity: all its parities sum to zero (as in HDFS-Xorbas), so "
    note += f"a global one is rebuilt from {min(code.data, code.parity - 1)} pieces"
    if code.local > rest:
        note += f", and it survives any {rest} losses"
    if rest > _GLOBALS_MAX:
        return f"{note}."
    return f"{note}. Azure's LRC of these numbers is {azure}, and survives any {rest + 1}."
