"""How files are cut into objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from resilver.errors import ConfigError, Problem, show
from resilver.spec.section import unknown_key
from resilver.units import Bytes

WIDTH_BY_SERVERS = "servers // copies"
"""The stripe width that grows with the system: an object for each server that a copy has."""

FILE_OBJECTS_MAX = 2**28
"""The most objects of a file: an object's identifier numbers it within its file by 28 bits."""


@dataclass(frozen=True)
class Objects:
    """How a file is cut into objects; exactly one of the three ways.

    Attributes:
        chunk_bytes: Cut into chunks of this size, the last one shorter; None otherwise.
        stripe_unit_bytes: Dealt round robin in units of this size over `stripe_width` objects; None
            otherwise.
        stripe_width: How many objects, or ``servers // copies``; None unless striped.

    With all three None, a file is one object.
    """

    chunk_bytes: Bytes | None = None
    stripe_unit_bytes: Bytes | None = None
    stripe_width: int | Literal["servers // copies"] | None = None

    def width(self, servers: int, copies: int) -> int:
        """Over how many objects a file is striped, where it is."""
        if isinstance(self.stripe_width, int):
            return self.stripe_width
        return max(1, servers // copies)

    def count(self, file_bytes: int, width: int) -> int:
        """Into how many objects a file is cut.

        Args:
            file_bytes: Its size, at least 1.
            width: The stripe width, where files are striped.
        """
        piece = self.chunk_bytes or self.stripe_unit_bytes
        if piece is None:
            return 1
        pieces = -(-file_bytes // piece)
        return pieces if self.chunk_bytes else min(pieces, width)

    def largest(self, file_bytes: int, width: int) -> int:
        """The size of the largest object of a file, its first; arguments as in `count`."""
        if self.chunk_bytes is not None:
            return min(file_bytes, self.chunk_bytes)
        if self.stripe_unit_bytes is None:
            return file_bytes
        rounds, rest = divmod(file_bytes, self.stripe_unit_bytes * width)
        return rounds * self.stripe_unit_bytes + min(rest, self.stripe_unit_bytes)


def objects_of(value: object) -> Objects | None:
    """The cut that a study file's ``objects`` means.

    Args:
        value: ``"whole"``, ``{ chunk = "64 MiB" }``, ``{ stripe_unit = "4 MiB", stripe_width = 341
            }`` or `Objects`.

    Raises:
        ConfigError: It is none of these.
    """
    if value is None or isinstance(value, Objects):
        return value
    if value == "whole":
        return Objects()
    ways = (
        'write "whole", { chunk = "64 MiB" } '
        'or { stripe_unit = "4 MiB", stripe_width = "servers // copies" }'
    )
    if not isinstance(value, dict) or not value:
        raise ConfigError(
            Problem("files are kept whole, chunked or striped", ways, value=show(value))
        )
    known = ["chunk", "stripe_unit", "stripe_width"]
    problems = [
        unknown_key(str(key), known, show(item)) for key, item in value.items() if key not in known
    ]
    if problems:
        raise ConfigError(problems)
    if set(value) == {"chunk"}:
        return Objects(chunk_bytes=_positive(value["chunk"], "chunk"))
    if set(value) != {"stripe_unit", "stripe_width"}:
        raise ConfigError(
            Problem("files are chunked or striped, and a stripe has a unit and a width", ways)
        )
    width = value["stripe_width"]
    if width != WIDTH_BY_SERVERS and (
        isinstance(width, bool) or not isinstance(width, int) or not 1 <= width < 2**31
    ):
        rule = f'a stripe width is a whole number of objects or "{WIDTH_BY_SERVERS}"'
        raise ConfigError(Problem(rule, key="stripe_width", value=show(width)))
    return Objects(
        stripe_unit_bytes=_positive(value["stripe_unit"], "stripe_unit"), stripe_width=width
    )


def _positive(value: object, key: str) -> Bytes:
    try:
        size = Bytes.parse(value)
    except ConfigError as error:
        raise ConfigError(problem.under(key) for problem in error.problems) from None
    if size == 0:
        raise ConfigError(Problem("the size must be above zero", key=key, value=show(value)))
    return size


OBJECTS_SCHEMA: dict[str, Any] = {
    "description": "How files are cut. Default: the catalog population's way, else 64 MiB chunks.",
    "examples": [{"chunk": "64 MiB"}, "whole"],
    "anyOf": [
        {"const": "whole"},
        {
            "type": "object",
            "properties": {"chunk": {"type": "string"}},
            "required": ["chunk"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {
                "stripe_unit": {"type": "string"},
                "stripe_width": {
                    "anyOf": [{"type": "integer", "minimum": 1}, {"const": WIDTH_BY_SERVERS}]
                },
            },
            "required": ["stripe_unit", "stripe_width"],
            "additionalProperties": False,
        },
    ],
}
"""How a study file's ``objects`` looks, as a JSON schema."""
