"""How fast one server encodes and decodes: a rate, a measured table, or as if it took no time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationInfo

from resilver import catalog
from resilver.errors import ConfigError, Problem, name_remedy, show, under
from resilver.spec.code import ErasureCode, code_of
from resilver.spec.section import TEXT, either, file_path, one_key
from resilver.text import name_of, read_toml
from resilver.units import BytesPerSecond, exact_rate

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
