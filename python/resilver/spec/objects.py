"""How files are cut into objects."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver.errors import ConfigError, Problem, Problems, show
from resilver.spec.section import Positive, Section
from resilver.units import Bytes

WIDTH_BY_SERVERS = "servers // copies"
"""The stripe width that grows with the system: an object for each server that a copy has."""

FILE_OBJECTS_MAX = 2**28
"""The most objects of a file: an object's identifier numbers it within its file by 28 bits."""


def _width_of(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**31
    if value is None or value == WIDTH_BY_SERVERS or is_number:
        return value
    rule = f'a stripe width is a whole number of objects or "{WIDTH_BY_SERVERS}"'
    raise ConfigError(rule, value=show(value))


_Piece = Positive[Bytes] | None


class Objects(Section):
    """How a file is cut into objects: into chunks, into stripes, or kept whole."""

    chunk_bytes: _Piece = Field(default=None, alias="chunk", examples=["64 MiB"])
    """The size of a chunk; the last one of a file is shorter."""
    stripe_unit_bytes: _Piece = Field(default=None, alias="stripe_unit", examples=["4 MiB"])
    """Files are dealt round robin, in units of this size, over as many objects as its width."""
    stripe_width: Annotated[
        int | Literal["servers // copies"] | None,
        PlainValidator(_width_of),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": WIDTH_BY_SERVERS}]}),
    ] = Field(default=None, examples=[341])
    """Over how many objects; ``servers // copies`` for one on each server that a copy has."""

    word: ClassVar[str] = "whole"

    def _problems(self) -> Problems:
        if self.given().keys() not in (set(), {"chunk"}, {"stripe_unit", "stripe_width"}):
            rule = "files are chunked or striped, and a stripe has a unit and a width"
            remedy = 'write { chunk = "64 MiB" } or { stripe_unit = "4 MiB", stripe_width = '
            remedy += f'"{WIDTH_BY_SERVERS}" }}'
            yield Problem(rule, remedy)

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
