"""What a piece of data needs to survive: copies, or a code over several pieces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema

from resilver import catalog
from resilver.errors import ConfigError, Problem, Problems, name_remedy, show, under
from resilver.spec.code import CODE_SCHEMA, ErasureCode, code_of
from resilver.spec.section import TEXT, Count, Positive, Section, either, file_path, one_key
from resilver.text import name_of, read_toml
from resilver.units import Bytes, BytesPerSecond, exact_rate

CODING_SCHEMA = either({"file": TEXT})
"""What an editor is told of coding speeds."""

_WAYS = 'write "none", a rate such as "5 GB/s", a name of the catalog or { file = "coding.toml" }'


@dataclass(frozen=True)
class CodingSpeed:
    """User data that one server encodes or decodes a second.

    Attributes:
        label: ``none``, the rate, the catalog's name or the file's.
        rate: One rate for any code; None where a table says it, or coding takes no time.
        rates: Of a table: the rate of each code, by its label.
        file: The file it was read from, as a study file names it; empty for none.
    """

    label: str
    rate: BytesPerSecond | None = None
    rates: tuple[tuple[str, BytesPerSecond], ...] = ()
    file: str = ""

    def rate_of(self, code: ErasureCode) -> float | None:
        """Bytes of user data a second under a code; None where coding takes no time.

        Args:
            code: The code. Copies are made without coding.
        """
        if code.family == "copies":
            return None
        rate = dict(self.rates).get(code.label, self.rate)
        return None if rate is None else float(rate)

    def problems(self, code: ErasureCode) -> list[Problem]:
        """What is wrong where a table does not have a code.

        Returns:
            The problem, with the key ``coding``.
        """
        known = dict(self.rates)
        if not known or code.label in known or code.family == "copies":
            return []
        rule = f'it has no rate for "{code.label}", but for {", ".join(known)}'
        remedy = "use one of these, or give a rate"
        return [Problem(rule, remedy, key="coding", value=show(self.label))]


def coding_of(value: object, info: ValidationInfo) -> CodingSpeed:
    """The speed that a study file's ``coding`` means.

    Args:
        value: ``none``, a rate, a name of the catalog, ``{ file = ... }``, or `CodingSpeed`.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(value, CodingSpeed):
        return value
    if value is None or value == "none":
        return CodingSpeed("none")
    if isinstance(value, dict):
        one_key(value, ("file",))
        path = file_path(value["file"], info)
        with under("file"):
            return CodingSpeed(name_of(path), rates=rates_of(read_toml(path)), file=str(path))
    if isinstance(value, str) and value.strip()[:1] not in set("+-.0123456789"):
        known = catalog.list("coding")
        if value not in known:
            remedy = f"{name_remedy(value, ['none', *known])} ({_WAYS})"
            rule = "this is neither a rate nor a name of the catalog"
            raise ConfigError(rule, remedy, value=show(value))
        return CodingSpeed(value, rates=rates_of(catalog.load("coding", value).content))
    rate = BytesPerSecond.parse(value)
    if not 0 < rate < math.inf:
        rule, remedy = "the rate must be above zero", 'write "none" for coding without time'
        raise ConfigError(rule, remedy, value=show(value))
    return CodingSpeed(exact_rate(rate), rate=rate)


def rates_of(table: Mapping[str, object]) -> tuple[tuple[str, BytesPerSecond], ...]:
    """The rates of a table of measured speeds; of encoding and decoding, the slower.

    Args:
        table: The content of its TOML file: under ``codes`` a list of tables with ``code``,
            ``encode`` and ``decode``.

    Returns:
        The rate of each code, by its label.

    Raises:
        ConfigError: It is no such table.
    """
    rows = table.get("codes")
    if not isinstance(rows, list) or not rows:
        rule = "a table of coding speeds has a list of codes"
        remedy = 'write one with `resilver calibrate coding "rs 8+3" -o FILE`'
        raise ConfigError(rule, remedy, key="codes")
    rates = []
    for index, row in enumerate(rows):
        with under(f"codes.{index}"):
            rates.append(_row(row))
    return tuple(rates)


def _row(row: object) -> tuple[str, BytesPerSecond]:
    if not isinstance(row, dict) or "code" not in row:
        raise ConfigError("a row says of which code it is", 'such as code = "rs 8+3"')
    code = code_of(row["code"])
    if code is None:
        raise ConfigError("a row says of which code it is", 'such as code = "rs 8+3"')
    rates = []
    for name in ("encode", "decode"):
        with under(name):
            rates.append(BytesPerSecond.parse(row.get(name)))
    slower = min(rates)
    if slower <= 0:
        raise ConfigError("the rates must be above zero", "measure them again")
    return code.label, slower


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
