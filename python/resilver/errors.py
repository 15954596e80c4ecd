"""The errors resilver raises, and how one problem with the input is put into words."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

_VALUE_WIDTH = 72
_PROBLEMS_SHOWN = 20
_NUMBERED_MIN = 4
_ITEMS_SHOWN = 12


class ResilverError(Exception):
    """Base of every error that resilver raises on purpose."""


class PlacementError(ResilverError):
    """A map or a rule that cannot place anything as asked."""


class SimulationError(ResilverError):
    """A simulation that cannot go on: beyond the time horizon, or a conservation law broken."""


class Interrupted(ResilverError):
    """The caller asked the simulation to stop before its end."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the input.

    Args:
        rule: What must hold, as a clause: "a quantity needs a unit".
        remedy: What to do about it, as a clause: 'write "20 B" or "20 TiB"'. May be empty.
        key: Dotted key in the study file, such as ``population.bytes_per_server``. May be empty.
        value: The value as written in TOML, or None to leave it out of the message.
        place: A file and position, such as ``sizes.txt, line 3``. May be empty.
    """

    rule: str
    remedy: str = ""
    key: str = ""
    value: str | None = None
    place: str = ""

    def __str__(self) -> str:
        """The message: key, value, place, rule and remedy, as far as each is known."""
        head = self.key
        if self.value is not None:
            head = f"{head} = {self.value}" if head else self.value
        parts = [part for part in (head, self.place) if part]
        clause = f"{self.rule}; {self.remedy}" if self.remedy else self.rule
        return ": ".join([*parts, clause])

    def under(self, prefix: str) -> Problem:
        """This problem with its key placed below `prefix`."""
        if not prefix:
            return self
        return replace(self, key=f"{prefix}.{self.key}" if self.key else prefix)


Problems: TypeAlias = Iterator[Problem]
"""What is wrong, one problem after the other."""


class ConfigError(ResilverError, ValueError):
    """Input that cannot be used, with every problem found in it.

    Args:
        problems: What must hold, with the rest of one problem behind it; or one, or several. Equal
            messages are kept once.
        remedy: As of `Problem`, where `problems` is what must hold.
        key: Likewise.
        value: Likewise.
        place: Likewise.

    Its text has one line a problem. It is a ValueError too, which lets a validator raise it.
    """

    problems: tuple[Problem, ...]

    def __init__(
        self,
        problems: str | Problem | Iterable[Problem],
        remedy: str = "",
        key: str = "",
        value: str | None = None,
        place: str = "",
    ) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems, remedy, key, value, place)]
        elif isinstance(problems, Problem):
            problems = [problems]
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One line a problem; past twenty, how many more there are."""
        lines = [str(problem) for problem in self.problems[:_PROBLEMS_SHOWN]]
        hidden = len(self.problems) - len(lines)
        if hidden:
            lines.append(f"... and {hidden} more problems")
        return "\n".join(lines)


def raise_all(problems: Iterable[Problem]) -> None:
    """Raise a `ConfigError` with these problems; nothing where there are none."""
    if found := list(problems):
        raise ConfigError(found)


@contextmanager
def under(prefix: str) -> Iterator[None]:
    """Have the problems of a `ConfigError` that is raised meanwhile stand below a key."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(problem.under(prefix) for problem in error.problems) from None


@contextmanager
def placed(place: str, **changes: str) -> Iterator[None]:
    """Have the problems of a `ConfigError` that is raised meanwhile say of which place they are."""
    try:
        yield
    except ConfigError as error:
        problems = error.problems
        raise ConfigError(replace(one, place=place, **changes) for one in problems) from None


@contextmanager
def collected(problems: list[Problem], prefix: str = "") -> Iterator[None]:
    """Add the problems of a `ConfigError` that is raised meanwhile to others, and go on."""
    try:
        yield
    except ConfigError as error:
        problems += [problem.under(prefix) for problem in error.problems]


def show(value: Any) -> str:
    """`value` as a study file would write it, cut to one line of readable length.

    Args:
        value: Anything that a TOML file or a caller in Python may supply.

    Returns:
        Text such as ``"20"`` (with its quotes), ``64``, ``true``, ``[1, 2]`` or ``{ servers = 1
        }``.
    """
    text = _show(value)
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 3] + "..."


def _show(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return json.dumps(value[: 2 * _VALUE_WIDTH], ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        try:
            return str(value)
        except ValueError:  # Python refuses to print integers of more than 4300 digits.
            return "an integer of thousands of digits"
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_show(item)}" for key, item in list(value.items())[:8])
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        more = ["..."] if len(value) > _ITEMS_SHOWN else []
        return "[" + ", ".join([*map(_show, value[:_ITEMS_SHOWN]), *more]) + "]"
    return f"a {type(value).__name__}"


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be.

    Args:
        name: What was written.
        known: The valid names.

    Returns:
        The closest of them, ignoring case, or None when none is close.
    """
    by_folded = {item.casefold(): item for item in known}
    match = difflib.get_close_matches(str(name).casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[match[0]] if match else None


def _numbered(name: object, known: Sequence[str]) -> str | None:
    """Which numbers follow a name's word, where none is the name's; None where few do."""
    written = re.fullmatch(r"(.*\D)\d+", str(name))
    if written is None:
        return None
    word = written.group(1)
    tails = [one.removeprefix(word) for one in known if one.startswith(word)]
    tails = sorted((tail for tail in tails if tail.isascii() and tail.isdecimal()), key=int)
    if len(tails) < _NUMBERED_MIN:
        return None
    return f"there are {len(tails)}, {word}{tails[0]} to {word}{tails[-1]}"


def name_remedy(name: object, known: Sequence[str], what: str = "names") -> str:
    """The remedy for an unknown name: the nearest one, or the list when none is near.

    Args:
        name: What was written.
        known: The valid names.
        what: What they are called in the sentence, in the plural.

    Returns:
        A clause such as ``did you mean "servers"?`` or ``valid names: "a", "b"``; where the name
        is a word with a number that none of many has, which numbers there are.

    >>> name_remedy("osd.99", [f"osd.{number}" for number in range(88)])
    'there are 88, osd.0 to osd.87'
    """
    if (numbered := _numbered(name, known)) is not None:
        return numbered
    close = nearest(name, known)
    if close is not None:
        return f'did you mean "{close}"?'
    shown = ", ".join(f'"{item}"' for item in known[:12])
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    return f"valid {what}: {shown}{more}" if known else f"there are no valid {what} here"
