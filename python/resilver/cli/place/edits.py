"""Edits of a map, as the command line has them: any number, in the order in which they stand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resilver.errors import ConfigError, Problem

if TYPE_CHECKING:
    from resilver.simulate import CrushMap

SEPARATOR = "\x1f"
"""Joins the words of an option; no name can contain it."""

WORDS = {
    "--add-item": ("ID", "WEIGHT", "NAME"),
    "--update-item": ("ID", "WEIGHT", "NAME"),
    "--remove-item": ("NAME",),
    "--move": ("NAME",),
    "--reweight-item": ("NAME", "WEIGHT"),
    "--loc": ("TYPE", "NAME"),
}
"""The options whose order counts, each with what it takes."""

_PLACED = ("--add-item", "--update-item", "--move")
_ID_MAX = 2**31


@dataclass
class Edit:
    """One edit.

    Attributes:
        option: Its option.
        words: What the option was given.
        location: Where the item goes: a bucket's name by its type.
    """

    option: str
    words: tuple[str, ...]
    location: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """As it was written."""
        return " ".join([self.option, *self.words])

    def made(self, crush: CrushMap) -> CrushMap:
        """The map after the edit.

        Raises:
            ConfigError: A number is none.
            PlacementError: The edit cannot be made.
        """
        match self.option, self.words:
            case "--add-item", (id, weight, name):
                device = self._id(id)
                return crush.with_item(name, number(weight, self.option), self.location, id=device)
            case "--update-item", (id, weight, name):
                device = self._id(id)
                return crush.with_item_updated(
                    name, number(weight, self.option), self.location, id=device
                )
            case "--remove-item", (name,):
                return crush.without_item(name)
            case "--reweight-item", (name, weight):
                return crush.reweighted(name, number(weight, self.option))
            case _, (name, *_):
                return crush.moved(name, self.location)
        raise AssertionError(self.option)

    def _id(self, text: str) -> int:
        if text.isascii() and text.isdecimal() and int(text) < _ID_MAX:
            return int(text)
        raise ConfigError(f'{self.text}: "{text}" is not a number of a device; write one, as 16')


def number(text: str, option: str) -> float:
    """A finite number.

    Args:
        text: What was given.
        option: The option's name, for the message.

    Returns:
        The number.

    Raises:
        ConfigError: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f'{option} = "{text}": a weight is a finite number; write one, as 0.5')
    return value


def edits_of(given: Mapping[str, Iterable[str]]) -> tuple[list[Edit], list[Problem]]:
    """The edits in the order in which they stand, each with the places that are its own.

    A ``--loc`` belongs to the edit before it, or to the first one where it stands before all.

    Args:
        given: For each option of `WORDS` its values, each the place in the command line and the
            words, joined by `SEPARATOR`.

    Returns:
        The edits, and what is wrong with them.
    """
    tokens: list[tuple[int, str, tuple[str, ...]]] = []
    problems = []
    for option, values in given.items():
        for value in values:
            place, *words = value.split(SEPARATOR)
            if len(words) == len(WORDS[option]):
                tokens.append((int(place), option, tuple(words)))
                continue
            shape = " ".join([option, *WORDS[option]])
            rule = f"it takes {len(WORDS[option])} words"
            problems.append(Problem(rule, f"write {shape}", f"{option} {' '.join(words)}"))
    edits: list[Edit] = []
    first: dict[str, str] = {}
    for _, option, given_words in sorted(tokens):
        if option != "--loc":
            edits.append(Edit(option, given_words))
            continue
        placed = [edit for edit in edits if edit.option in _PLACED]
        (placed[-1].location if placed else first)[given_words[0]] = given_words[1]
    if problems:
        return edits, problems
    placed = [edit for edit in edits if edit.option in _PLACED]
    if first and not placed:
        remedy = "add --add-item, --update-item or --move, whose place it is"
        problems.append(Problem("it means nothing by itself", remedy, "--loc"))
    elif first:
        placed[0].location = {**first, **placed[0].location}
    problems += [
        Problem("it does not say where the item goes", "write --loc TYPE NAME behind it", edit.text)
        for edit in placed
        if not edit.location
    ]
    return edits, problems
