"""Typed access to parsed JSON, with errors that say where in the document and what was expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar
from unicodedata import category

from resilver.errors import show
from resilver.text import refuse

_Default = TypeVar("_Default")

# Marks that turn the direction of what follows, which so looks like another name.
_TURNS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Node:
    """A value of a JSON document and the path that leads to it.

    Attributes:
        value: The value.
        path: Its path, such as ``osdmap.pools[0].size``.
        file: The document's file, for messages.
    """

    value: Any
    path: str
    file: str

    def fail(self, expected: str) -> NoReturn:
        """Raise a `ConfigError` that names this place, its value and what was expected."""
        where = f"{self.file}: {self.path}" if self.path else self.file
        refuse(f"{where} = {show(self.value)}", f"expected {expected}")

    def has(self, key: str) -> bool:
        """Whether this is an object with `key`."""
        return isinstance(self.value, dict) and key in self.value

    def get(self, *keys: str) -> Node | None:
        """The member under the first of `keys` that is there, or None.

        Args:
            keys: Names of the member, the newest first; Ceph has renamed some.

        Raises:
            ConfigError: This is not an object.
        """
        if not isinstance(self.value, dict):
            self.fail("an object")
        for key in keys:
            if key in self.value:
                return Node(self.value[key], f"{self.path}.{key}" if self.path else key, self.file)
        return None

    def at(self, *keys: str) -> Node:
        """The member under the first of `keys` that is there.

        Raises:
            ConfigError: This is not an object, or has none of them.
        """
        node = self.get(*keys)
        if node is None:
            self.fail("a member named " + " or ".join(f'"{key}"' for key in keys))
        return node

    def items(self) -> Iterator[Node]:
        """The elements of this array.

        Raises:
            ConfigError: This is not an array.
        """
        if not isinstance(self.value, list):
            self.fail("an array")
        for index, value in enumerate(self.value):
            yield Node(value, f"{self.path}[{index}]", self.file)

    def items_of(self, key: str) -> Iterator[Node]:
        """The elements of the array under `key`; none where there is no such member.

        Raises:
            ConfigError: This is not an object, or the member is not an array.
        """
        node = self.get(key)
        return iter(()) if node is None else node.items()

    def text_of(self, key: str, default: str = "") -> str:
        """The text under `key`, else the default; raises as `get` and `text` do."""
        node = self.get(key)
        return default if node is None else node.text()

    def integer_of(
        self, *keys: str, least: int = 0, most: int = 2**63 - 1, default: _Default
    ) -> int | _Default:
        """The integer under the first of `keys`, or the default; raises as `get` and `integer`."""
        node = self.get(*keys)
        return default if node is None else node.integer(least, most)

    def integer(self, least: int, most: int = 2**63 - 1) -> int:
        """This value as an integer between `least` and `most`.

        Raises:
            ConfigError: It is not one.
        """
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, int)
            or not least <= self.value <= most
        ):
            self.fail(
                f"an integer from {least} to {most}"
                if most < 2**62
                else f"an integer of at least {least}"
            )
        return self.value

    def whole(self, least: int, most: int) -> int:
        """The value as a whole number that may be written as text, as Ceph writes profiles.

        Raises:
            ConfigError: It is neither, or out of its range.
        """
        if isinstance(self.value, str) and self.value.isascii() and self.value.isdigit():
            if least <= int(self.value) <= most:
                return int(self.value)
            self.fail(f"a whole number from {least} to {most}")
        return self.integer(least, most)

    def number(self, least: float, most: float) -> float:
        """This value as a number between `least` and `most`.

        Raises:
            ConfigError: It is not one.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.fail("a number")
        if not least <= self.value <= most:
            self.fail(f"a number from {least:g} to {most:g}")
        return float(self.value)

    def text(self) -> str:
        """This value as text.

        Raises:
            ConfigError: It is not text.
        """
        if not isinstance(self.value, str):
            self.fail("text")
        # Names are shown, and a terminal or a page would obey these instead.
        if any(category(letter) == "Cc" or letter in _TURNS for letter in self.value):
            self.fail("text of printable characters")
        return self.value
