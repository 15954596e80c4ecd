"""What a choice changes in the core's input, found by comparing inputs: no rule is written twice.

A page cannot run the code that makes the core's input of a study or a cluster. It gets the input
as it is, and what each choice of each control changes in it, which is found here.
"""

from __future__ import annotations

import copy
import marshal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]

_LIST_SHARE = 4
"""A list of which more than one in so many entries change is put whole."""


@dataclass(frozen=True)
class Patch:
    """One place of an input and what it becomes.

    Attributes:
        path: The keys and numbers that lead to it.
        value: What it becomes; `Patch.GONE` where the place goes.
    """

    path: Path
    value: Any

    def to_json(self) -> list[Any]:
        """The patch as the page reads it: the path, and the value where the place stays."""
        return [list(self.path)] if self.value is GONE else [list(self.path), self.value]


class _Gone:
    """The value of a place that goes."""

    def __repr__(self) -> str:
        return "GONE"


GONE = _Gone()


def changes_between(base: Any, other: Any, path: Path = ()) -> list[Patch]:
    """What makes one JSON-able value of another, place by place.

    Args:
        base: The value before.
        other: The value after.
        path: Where both stand.
    """
    if base is other:
        return []
    if isinstance(base, dict) and isinstance(other, dict):
        found = [Patch((*path, key), GONE) for key in base if key not in other]
        for key, value in other.items():
            if key in base:
                found += changes_between(base[key], value, (*path, key))
            else:
                found.append(Patch((*path, key), value))
        return found
    if _same(base, other):
        return []
    if isinstance(base, list) and isinstance(other, list) and len(base) == len(other):
        differing = [
            at for at, pair in enumerate(zip(base, other, strict=True)) if not _same(*pair)
        ]
        if len(differing) * _LIST_SHARE <= len(base) or any(
            isinstance(base[at], dict) for at in differing
        ):
            each = (changes_between(base[at], other[at], (*path, at)) for at in differing)
            return [patch for patches in each for patch in patches]
    return [Patch(path, other)]


def _same(one: Any, other: Any) -> bool:
    """Whether both are written alike: 1, 1.0 and true are not."""
    if one is other:
        return True
    if type(one) is not type(other) or one != other:
        return False
    if not isinstance(one, dict | list):
        return True
    # Alike in bytes is alike; what is not may have its keys in another order.
    return marshal.dumps(one, 2) == marshal.dumps(other, 2) or _same_within(one, other)


def _same_within(one: Any, other: Any) -> bool:
    """The same of two equal dicts, or lists."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return all(map(_same, one, other))


def patched(base: Any, patches: Iterable[Patch]) -> Any:
    """A copy of an input with patches made, in their order; what the page does likewise."""
    made = {"input": copy.deepcopy(base)}
    for patch in patches:
        *above, last = ("input", *patch.path)
        place: Any = made
        for key in above:
            place = place[key]
        if patch.value is GONE:
            del place[last]
        else:
            place[last] = copy.deepcopy(patch.value)
    return made["input"]
