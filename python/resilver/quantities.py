"""Quantities of purchases: power, prices and volumes a day, and decimal units for people.

Disks are sold in powers of ten, and so are file systems: what is asked in TB is answered in TB.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from resilver.errors import ConfigError, show
from resilver.units import RATE_UNITS, BytesPerSecond, Quantity, format_duration

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

DAY_SECONDS = 86_400.0

_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_PRICE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Z]{3})\s*")


class LinkRate(BytesPerSecond):
    """The rate of a link, which networks count in bits: it is written so where that is shorter."""

    @classmethod
    def parse(cls, value: object) -> Self:
        """The rate that `value` says, as `BytesPerSecond` reads it."""
        return value if isinstance(value, cls) else cls(BytesPerSecond.parse(value))


class Watts(Quantity, float):
    """A power in watts, as parsed from text such as ``"12.5 kW"``.

    >>> Watts.parse("12.5 kW")
    12500.0
    """

    units: ClassVar = {"W": Fraction(1), "kW": Fraction(10**3), "MW": Fraction(10**6)}
    what = "a power"
    example = "12.5 kW"
    usual_units = ("W", "kW")


class Inflow(BytesPerSecond):
    """What comes in, in bytes per second, as parsed from text such as ``"1.2 PB/d"``."""

    units: ClassVar = RATE_UNITS | {
        f"{unit[:-2]}/{time}": size / seconds
        for unit, size in RATE_UNITS.items()
        if unit.endswith("B/s")
        for time, seconds in (("h", 3600), ("d", 86_400))
    }
    example = "1.2 PB/d"
    usual_units = ("TB/d", "GB/s")


@dataclass(frozen=True)
class Price:
    """An amount in a currency, as parsed from text such as ``"1200000 USD"``.

    Attributes:
        amount: How much, in units of the currency.
        currency: Its three letters of ISO 4217.
    """

    amount: float
    currency: str

    @classmethod
    def parse(cls, value: object) -> Price:
        """The price that `value` says.

        Args:
            value: Text of a number and three capital letters, or a price.

        Raises:
            ConfigError: It is neither.

        >>> Price.parse("1200000 USD")
        Price(amount=1200000.0, currency='USD')
        """
        if isinstance(value, Price):
            return value
        match = _PRICE.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            rule = "a price is a number and the three letters of its currency"
            raise ConfigError(rule, 'such as "1200000 USD"', value=show(value))
        return cls(float(match[1]), match[2])

    def times(self, count: int) -> Price:
        """The price of so many."""
        return Price(self.amount * count, self.currency)

    def __str__(self) -> str:
        """The price for people, such as ``1,200,000 USD``."""
        return f"{self.amount:,.0f} {self.currency}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "pattern": rf"^{_PRICE.pattern}$", "examples": ["1200000 USD"]}


def decimal(value: float, unit: str, digits: int = 4) -> str:
    """A quantity for people, with a decimal prefix.

    Args:
        value: In `unit`.
        unit: Such as ``B``, ``B/s`` or ``W``.
        digits: How many digits are told; those before the point always are.

    >>> decimal(32.256e15, "B", 5), decimal(1.25e12, "B/s"), decimal(0.0, "B")
    ('32.256 PB', '1.25 TB/s', '0 B')
    """
    if not math.isfinite(value):
        return "n/a"
    power, scaled = 0, value
    # 999.96 GB told to four digits is 1 TB.
    while abs(float(f"{scaled:.{digits}g}")) >= 1000.0 and power < len(_PREFIXES) - 1:
        power, scaled = power + 1, scaled / 1000.0
    text = f"{scaled:.{digits}g}" if abs(scaled) < 10**digits else f"{scaled:.0f}"
    return f"{text} {_PREFIXES[power]}{unit}"


def decimal_bytes(count: float) -> str:
    """A size for people, such as ``22.58 PB``."""
    return decimal(count, "B")


def decimal_rate(bytes_per_second: float) -> str:
    """A rate for people, such as ``1.25 TB/s``."""
    return decimal(bytes_per_second, "B/s")


def daily(bytes_per_second: float) -> str:
    """A rate for people as a volume a day, such as ``1.613 PB/d``."""
    return decimal(bytes_per_second * DAY_SECONDS, "B/d")


def duration(seconds: float) -> str:
    """A duration for people, without units of which there are none: ``6 min``, ``7 min 30 s``."""
    if 1 <= seconds < 60 and seconds == int(seconds):
        return f"{seconds:g} s"
    text = format_duration(seconds)
    return next(
        (text[: -len(end)] for end in (" 0 s", " 0 min", " 0 h") if text.endswith(end)), text
    )
