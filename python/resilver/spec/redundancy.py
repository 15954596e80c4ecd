"""What a piece of data needs to survive: copies, or a code over several pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from resilver.errors import Problems
from resilver.spec.code import CODE_SCHEMA, ErasureCode, code_of
from resilver.spec.coding import CODING_SCHEMA, CodingSpeed, coding_of
from resilver.spec.section import Count, Positive, Section
from resilver.units import Bytes

_REPLICAS = 3


class Redundancy(Section):
    """Replication, or a code.

    >>> Redundancy(code="rs 8+3").pieces
    11
    """

    replicas: Count | None = Field(default=None, le=16, examples=[3])
    """How many copies of an object there are, the first included. Default: 3, where no code is
    given.
    """
    code: Annotated[ErasureCode | None, PlainValidator(code_of), WithJsonSchema(CODE_SCHEMA)] = (
        Field(default=None, examples=["rs 8+3"])
    )
    """Instead of replicas: ``rs 8+3`` (Reed-Solomon), ``lrc 8+5 local 4`` (locally repairable),
    ``lrc 12+2+2`` (12 data, 2 local and 2 global parities: Azure's) or ``copies 3``. An object is
    cut into data pieces of equal size, and parity pieces are computed from them.
    """
    strip: Positive[Bytes] | None = Field(default=None, examples=["64 KiB"])
    """One device's part of a stripe, which streams over groups read and write. Of objects that are
    placed, a stripe is an object.
    """
    coding: Annotated[CodingSpeed, PlainValidator(coding_of), WithJsonSchema(CODING_SCHEMA)] = (
        Field(default=CodingSpeed("none"), examples=["5 GB/s"])
    )
    """How fast one server encodes or decodes, in user data a second: a rate, or a name of the
    catalog. Default: ``none``, as if it took no time.
    """

    @classmethod
    def defaults_beside(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Three copies where no code is given."""
        return {} if "code" in given else {"replicas": _REPLICAS}

    def _problems(self) -> Problems:
        if self.code is not None and self.replicas is not None:
            remedy = f'remove it, or write code = "copies {self.replicas}"'
            yield self.problem("replicas", "a code says how many pieces there are", remedy)
        elif self.code is not None:
            yield from self.coding.problems(self.code)
        else:
            rule = "copies that are pulled whole have no such thing"
            remedy = f'remove it, or write code = "copies {self.replicas}" instead of replicas'
            given = {"strip": self.strip is not None, "coding": self.coding.label != "none"}
            yield from [self.problem(key, rule, remedy) for key in given if given[key]]

    @property
    def pieces(self) -> int:
        """On how many devices an object is: pieces under a code, else copies."""
        return self.code.pieces if self.code is not None else self.replicas or _REPLICAS

    @property
    def key(self) -> str:
        """The key that says how many pieces there are, for messages."""
        return "redundancy.replicas" if self.code is None else "redundancy.code"

    @property
    def coding_rate(self) -> float | None:
        """User data that one server encodes or decodes a second; None where it takes no time."""
        return None if self.code is None else self.coding.rate_of(self.code)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: sizes in bytes, rates in bytes a second."""
        if self.code is None:
            return {"replicas": self.replicas}
        return {
            "code": self.code.label,
            "strip": None if self.strip is None else int(self.strip),
            "coding": {"label": self.coding.label, "bytes_per_second": self.coding_rate},
        }
