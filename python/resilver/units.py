"""Quantities with units: exact parsing, and formatting for people.

A quantity is written as a number and a unit, ``"64 MiB"``, ``"1.5 GiB/s"``, ``"4.16 ms"``.
Arithmetic is exact (rational numbers) until the last step, so that ``"0.1 GB"`` is 100,000,000 B
and not a byte less. Units are case sensitive, since their case carries meaning: TB (10^12 bytes) is
not TiB (2^40), and b (bit) is not B (byte).
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from resilver.errors import ConfigError, name_remedy, show

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

_DECIMAL = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}

BYTE_UNITS: dict[str, Fraction] = {
    **{f"{prefix}B": Fraction(1000**power) for prefix, power in _DECIMAL.items()},
    **{f"{prefix}B": Fraction(1024**power) for prefix, power in _BINARY.items()},
}
"""Bytes in one of each unit of size."""

_BIT_UNITS: dict[str, Fraction] = {
    unit[:-1] + ending: size / 8 for unit, size in BYTE_UNITS.items() for ending in ("b", "bit")
}

RATE_UNITS: dict[str, Fraction] = {f"{unit}/s": size for unit, size in BYTE_UNITS.items()} | {
    f"{unit}/s": size for unit, size in _BIT_UNITS.items()
}
"""Bytes per second in one of each unit of rate. Bits are allowed, as network links use them."""

DURATION_UNITS: dict[str, Fraction] = {
    "ps": Fraction(1, 10**12),
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "\u00b5s": Fraction(1, 10**6),
    "\u03bcs": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
    "y": Fraction(31_557_600),
}
"""Seconds in one of each unit of time; both signs of mu mean micro, and a year is 365.25 days."""

FREQUENCY_UNITS: dict[str, Fraction] = {
    f"/{unit}": 1 / DURATION_UNITS[unit] for unit in ("s", "min", "h", "d", "y")
}
"""Events per second in one of each unit of frequency."""

BYTES_MAX = 2**63 - 1
"""The largest size: result tables hold sizes as signed 64-bit integers."""

VOLUME_MAX = 2**62
"""The most data a system may hold before replication, 4 EiB: the core adds sizes in 64 bits."""

SECONDS_MAX = 18_446_744
"""The longest duration: the core counts picoseconds in an unsigned 64-bit integer, 213 days."""

_NUMBER = re.compile(
    r"\s*([+-]?)(\d+(?:\.\d+)?|\.\d+)(?:[eE]([+-]?\d{1,3}))?\s*(.*?)\s*", re.DOTALL
)
_TEXT_LENGTH_MAX = 64
_EXPONENT_MAX = 60


class Quantity:
    """What the kinds of quantity share: how text becomes a number, and how pydantic sees it."""

    units: ClassVar[dict[str, Fraction]]
    what: ClassVar[str]
    example: ClassVar[str]
    usual_units: ClassVar[tuple[str, str]]
    most: ClassVar[tuple[float, str] | None] = None

    @classmethod
    def _exact(cls, value: object) -> Fraction:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if value == 0:
                return Fraction(0)
            if math.isfinite(value) and value > 0:
                raise cls._no_unit(show(value), show(value))
            raise cls._refused(value, f"{cls.what} is a finite number, zero or more, with its unit")
        if not isinstance(value, str):
            remedy = f'such as "{cls.example}"'
            raise cls._refused(value, f"{cls.what} is text with a number and a unit", remedy)
        match = _NUMBER.fullmatch(value) if len(value) <= _TEXT_LENGTH_MAX else None
        if match is None:
            remedy = f'write it as in "{cls.example}"'
            raise cls._refused(value, f"{cls.what} is a finite number and a unit", remedy)
        sign, digits, exponent, unit = match.groups()
        power = int(exponent or 0)
        if abs(power) > _EXPONENT_MAX:
            raise cls._refused(value, "the exponent is out of any range that could be meant")
        number = Fraction(digits) * Fraction(10) ** power
        if sign == "-" and number != 0:
            raise cls._refused(value, f"{cls.what} cannot be negative", "remove the minus sign")
        if not unit:
            if number == 0:
                return number
            raise cls._no_unit(show(value), value.strip())
        if unit not in cls.units:
            raise cls._refused(value, *cls._unknown_unit(unit))
        return number * cls.units[unit]

    @classmethod
    def _refused(cls, value: object, rule: str, remedy: str = "") -> ConfigError:
        return ConfigError(rule, remedy, value=show(value))

    @classmethod
    def _no_unit(cls, value: str, number: str) -> ConfigError:
        small, large = cls.usual_units
        remedy = f'write "{number} {small}" or "{number} {large}"'
        return ConfigError(f"{cls.what} needs a unit", remedy, value=value)

    @classmethod
    def _unknown_unit(cls, unit: str) -> tuple[str, str]:
        rule = f'"{unit}" is not a unit of {cls.what.split(" ", 1)[1]}'
        if unit + "/s" in cls.units:
            return f"{rule} (it says no time)", f'write "{unit}/s"'
        if unit in _BIT_UNITS:
            size = unit.removesuffix("it").removesuffix("b") + "B"
            return f"{rule} (b is bits, B is bytes)", f'write "{size}" if bytes are meant'
        if unit.removesuffix("/s") == "KB":
            tail = unit[2:]
            return rule, f'write "kB{tail}" (1000 bytes) or "KiB{tail}" (1024 bytes)'
        if unit == "m":
            return rule, 'write "min" for minutes or "ms" for milliseconds'
        if unit.endswith("bps"):
            return rule, f'write "{unit[:-3]}b/s" for bits or "{unit[:-3]}B/s" for bytes'
        known = [name for name in cls.units if name.isascii() and "bit" not in name]
        return rule, name_remedy(unit, known, "units")

    @classmethod
    def parse(cls, value: object) -> Self:
        """The quantity that `value` says.

        Args:
            value: Text with a unit, a bare zero, or a quantity of this type already.

        Returns:
            The quantity, in the base unit of its type.

        Raises:
            ConfigError: It is not such a quantity; the message says why and what to write.
        """
        if isinstance(value, cls):
            return value
        exact = cls._exact(value)
        if cls.most is not None and exact > cls.most[0]:
            raise cls._refused(value, cls.most[1])
        return cls(exact)  # type: ignore[call-arg]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        units = "|".join(re.escape(unit) for unit in cls.units)
        pattern = rf"^\s*\+?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d{{1,3}})?\s*({units})\s*$"
        return {
            "anyOf": [
                {"type": "string", "pattern": pattern, "examples": [cls.example]},
                {"enum": [0, "0"]},
            ],
            "description": f"{cls.what[0].upper()}{cls.what[1:]}, with its unit.",
        }


class Bytes(Quantity, int):
    """A size: a whole number of bytes, as parsed from text such as ``"64 MiB"``."""

    units = BYTE_UNITS
    what = "a size"
    example = "64 MiB"
    usual_units = ("B", "TiB")
    most = (BYTES_MAX, "the largest size is 8 EiB less one byte")

    @classmethod
    def parse(cls, value: object) -> Self:
        """The size that `value` says: text such as ``"64 MiB"``, a bare zero, or `Bytes` already.

        >>> Bytes.parse("1.5 KiB")
        1536
        """
        exact = value if isinstance(value, cls) else cls._exact(value)
        if exact.denominator != 1:
            rule = f"a size is a whole number of bytes, and this is {float(exact):g} B"
            raise cls._refused(value, rule, f'write "{math.ceil(exact)} B"')
        return super().parse(value)


class Seconds(Quantity, float):
    """A duration in seconds, as parsed from text such as ``"4.16 ms"``.

    >>> Seconds.parse("4.16 ms").picoseconds
    4160000000
    """

    units = DURATION_UNITS
    what = "a duration"
    example = "4.16 ms"
    usual_units = ("s", "ms")
    most = (SECONDS_MAX, "the longest duration is 213 days")

    @property
    def picoseconds(self) -> int:
        """The duration in whole picoseconds, the core's clock; exact below two hours."""
        return round(Fraction(float(self)) * 10**12)


class BytesPerSecond(Quantity, float):
    """A rate in bytes per second, as parsed from text such as ``"1.5 GiB/s"`` or ``"10 Gb/s"``.

    >>> BytesPerSecond.parse("10 Gb/s")
    1250000000.0
    """

    units = RATE_UNITS
    what = "a rate"
    example = "1.5 GiB/s"
    usual_units = ("B/s", "GiB/s")
    most = (BYTES_MAX, "the largest rate is 8 EiB/s less one byte")


class PerSecond(Quantity, float):
    """How many of something come a second, as parsed from text such as ``"1000 /s"``.

    >>> PerSecond.parse("90 /min")
    1.5
    """

    units = FREQUENCY_UNITS
    what = "a frequency"
    example = "1000 /s"
    usual_units = ("/s", "/min")
    # A picosecond is the clock's step, so nothing can come more often than once in each.
    most = (10**12, "the most is 10^12 /s")


def exact_bytes(count: int) -> str:
    """`count` bytes as text that parses back to it, in the unit that writes it shortest.

    >>> exact_bytes(16 * 2**20), exact_bytes(20 * 10**9), exact_bytes(1025)
    ('16 MiB', '20 GB', '1025 B')
    """
    texts = []
    for unit, size in reversed(BYTE_UNITS.items()):
        digits = f"{(Decimal(count) / int(size)).normalize():f}"
        if size <= count and Fraction(digits) * size == count:
            texts.append(f"{digits} {unit}")
    return min(texts, key=len, default=f"{count} B")


def exact_duration(seconds: float) -> str:
    """`seconds` as text that parses back to the same number, in the unit that writes it shortest.

    >>> exact_duration(0.00416)
    '4.16 ms'
    """
    return shortest_text(
        seconds, {unit: DURATION_UNITS[unit] for unit in ("s", "ms", "us", "ns", "ps")}
    )


def exact_rate(bytes_per_second: float, bits: bool = False) -> str:
    """`bytes_per_second` as text that parses back to it, in the unit that writes it shortest.

    Units of bits are among them where `bits` says so: links have them, and disks do not.

    >>> exact_rate(1.5 * 2**30), exact_rate(500e6), exact_rate(500e6, bits=True)
    ('1.5 GiB/s', '500 MB/s', '4 Gb/s')
    """
    units = ["B/s", "KiB/s", "MiB/s", "GiB/s", "MB/s", "GB/s"] + ["Mb/s", "Gb/s"] * bits
    return shortest_text(bytes_per_second, {unit: RATE_UNITS[unit] for unit in units})


def exact_frequency(per_second: float) -> str:
    """`per_second` as text that parses back to the same number, such as ``1000 /s``."""
    return shortest_text(per_second, {unit: FREQUENCY_UNITS[unit] for unit in ("/s", "/min", "/h")})


def shortest_text(value: float, units: dict[str, Fraction]) -> str:
    """The shortest text among `units` that gives back `value`; the first unit's always does."""
    # The shortest decimal that means this float, so that 0.00416 s is exactly 4.16 ms.
    decimal = Fraction(repr(float(value)))
    texts = []
    for unit, size in units.items():
        digits = repr(float(decimal / size)).removesuffix(".0")
        if float(Fraction(digits) * size) == value:
            texts.append(f"{digits} {unit}")
    plain = [text for text in texts if "e" not in text]
    return min(plain or texts, key=len)


def format_bytes(count: float) -> str:
    """`count` bytes for people, in binary units.

    >>> format_bytes(65_498_251_264)
    '61.0 GiB'
    """
    value = float(count)
    if not math.isfinite(value):
        return "n/a"
    if round(abs(value)) < 1024:
        return f"{value:.0f} B"
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        value /= 1024
        # Compare what will be printed, so that 1023.96 KiB becomes 1.0 MiB and not 1024.0 KiB.
        if round(abs(value), 1) < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} EiB"


def format_rate(bytes_per_second: float) -> str:
    """A rate for people, in binary units.

    >>> format_rate(1.5 * 2**30)
    '1.5 GiB/s'
    """
    text = format_bytes(bytes_per_second)
    return text if text == "n/a" else f"{text}/s"


def format_duration(seconds: float) -> str:
    """A duration for people: three figures below a minute, then two units.

    >>> format_duration(0.00416), format_duration(192.4), format_duration(90000)
    ('4.16 ms', '3 min 12 s', '1 d 1 h')
    """
    if not math.isfinite(seconds):
        return "n/a"
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if seconds == 0:
        return "0 s"
    if seconds < 59.95:
        for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)):
            # 0.9995 of a unit prints as 1.00 of it.
            if seconds >= 0.9995 * size or unit == "ps":
                return f"{_three_figures(seconds / size)} {unit}"
    for big, small, big_name, small_name in (
        (86400, 3600, "d", "h"),
        (3600, 60, "h", "min"),
        (60, 1, "min", "s"),
    ):
        count = round(seconds / small)
        if count * small >= big:
            rest = count % (big // small)
            return f"{count // (big // small)} {big_name} {rest} {small_name}"
    raise AssertionError(f"a duration of {seconds} s fits no unit")


def _three_figures(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"
