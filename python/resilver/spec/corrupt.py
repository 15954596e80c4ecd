"""Soft errors: strips that are made anew in place, while all servers are alive."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver.errors import ConfigError, Problems, show
from resilver.spec.code import CODE_SCHEMA, ErasureCode, code_of
from resilver.spec.section import Count, Section
from resilver.spec.streams import WINDOW_MAX

STRIPS_MAX = 2**40
"""The most strips that a server rebuilds."""


def groups_of(value: object) -> int | tuple[int, ...]:
    """How many groups are drawn at random, or which rebuild.

    Args:
        value: A whole number from 1, or a list of group numbers from 0.

    Raises:
        ConfigError: It is neither, or a number stands twice.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    numbers = list(value) if isinstance(value, list | tuple) else []
    if not numbers or not all(
        isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in numbers
    ):
        rule = "this is how many groups rebuild, from 1, or a list of their numbers, from 0"
        raise ConfigError(rule, "write 4 or [0, 3]", value=show(value))
    if len(set(numbers)) < len(numbers):
        raise ConfigError("a group stands twice", "name each once", value=show(value))
    return tuple(sorted(numbers))


class Corrupt(Section):
    """Groups of which every server rebuilds strips of its own, gathered from its peers."""

    groups: Annotated[
        int | tuple[int, ...],
        PlainValidator(groups_of),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "integer", "minimum": 1},
                    {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "integer", "minimum": 0},
                        "uniqueItems": True,
                    },
                ],
                "description": "How many groups rebuild, drawn at random, or their numbers.",
            }
        ),
    ] = Field(examples=[4])
    """How many groups, drawn at random, or their numbers from 0."""
    strips: Count | None = Field(default=None, le=STRIPS_MAX, examples=[1000])
    """How many strips each server rebuilds. Default: for as long as the traffic lasts."""
    code: Annotated[ErasureCode | None, PlainValidator(code_of), WithJsonSchema(CODE_SCHEMA)] = (
        Field(default=None, examples=["lrc 8+5 local 4"])
    )
    """The code of what is rebuilt. Default: that of ``redundancy``."""
    window: Count | None = Field(default=None, le=WINDOW_MAX, examples=[16])
    """How many strips a server rebuilds at a time. Default: as many as it has client operations
    under way.
    """

    def _problems(self) -> Problems:
        if self.code is not None and self.code.pieces == 1:
            rule = "a single copy cannot be reconstructed from others"
            yield self.problem("code", rule, "use a code with parity")

    @property
    def words(self) -> str:
        """What happens, in words: ``soft errors in 4 groups``."""
        if isinstance(self.groups, int):
            count = self.groups
            where = f"{count} {'group' if count == 1 else 'groups'}"
        else:
            names = ", ".join(map(str, self.groups))
            where = f"{'group' if len(self.groups) == 1 else 'groups'} {names}"
        code = "" if self.code is None else f" ({self.code.label})"
        return f"soft errors in {where}{code}"

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        return {
            "groups": self.groups if isinstance(self.groups, int) else list(self.groups),
            "strips": self.strips,
            "code": None if self.code is None else self.code.label,
            "window": self.window,
        }
