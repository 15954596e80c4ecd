"""Quantities of what fails: times longer than a run, failures a year, errors a byte.

A simulated run ends after 213 days, which is as far as its clock counts; how long parts live, and
how long data has to last, is a matter of years.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Self

from resilver.errors import ConfigError, show
from resilver.units import (
    BYTE_UNITS,
    DURATION_UNITS,
    FREQUENCY_UNITS,
    Quantity,
    shortest_text,
)

YEAR_SECONDS = float(DURATION_UNITS["y"])
"""Seconds in a year of 365.25 days."""

LONGEST_YEARS = 10**12
"""The longest time that may be meant, in years."""

_BIT_BYTES = Fraction(1, 8)


class WrittenQuantity(Quantity, float):
    """A quantity that knows in which units a person would read it.

    One of these gives any number back exactly: the base unit, or a power of two of it.
    """

    text_units: ClassVar[tuple[str, ...]]

    def as_text(self) -> str:
        """The quantity as text that parses back to it, in the unit that writes it shortest."""
        if not self:
            return f"0 {self.text_units[0]}"
        return shortest_text(self, {unit: self.units[unit] for unit in self.text_units})


class LongSeconds(WrittenQuantity):
    """A time of any length in seconds, as parsed from text such as ``"10 y"``.

    >>> LongSeconds.parse("1.5 y"), LongSeconds.parse("1.5 y").as_text()
    (47336400.0, '1.5 y')
    """

    units: ClassVar = DURATION_UNITS
    what = "a duration"
    example = "10 y"
    usual_units = ("h", "y")
    text_units: ClassVar = ("s", "min", "h", "d", "y")
    most = (LONGEST_YEARS * int(DURATION_UNITS["y"]), "the longest time is 10^12 years")


class FailureRate(WrittenQuantity):
    """How often something fails, a second, as parsed from text such as ``"0.1 /y"``."""

    units: ClassVar = FREQUENCY_UNITS
    what = "a frequency"
    example = "0.1 /y"
    usual_units = ("/h", "/y")
    text_units: ClassVar = ("/y", "/d", "/h", "/s")


class FailedShare(WrittenQuantity):
    """The share that fails in a year, as parsed from text such as ``"1.36 %"``.

    >>> round(FailedShare.parse("1.36 %").per_second * YEAR_SECONDS, 6)
    0.013693
    """

    units: ClassVar = {"%": Fraction(1, 100)}
    what = "a share of a year's failures"
    example = "1.36 %"
    usual_units = ("%", "%")
    text_units: ClassVar = ("%",)

    def as_text(self) -> str:
        """The share in percent, all its digits."""
        return f"{Decimal(repr(float(self))).scaleb(2).normalize():f} %"

    @classmethod
    def parse(cls, value: object) -> Self:
        """The share that `value` says, above 0 % and below 100 %."""
        made = super().parse(value)
        if not 0 < made < 1:
            rule = "a share that fails in a year is above 0 % and below 100 %"
            remedy = 'such as "1.36 %", or give mttf, of what fails oftener than once a year'
            raise ConfigError(rule, remedy, value=show(value))
        return made

    @classmethod
    def _no_unit(cls, value: str, number: str) -> ConfigError:
        remedy = f'write "{number} %", or "{100 * float(number):g} %" if {number} of all is meant'
        return ConfigError("a share needs a unit", remedy, value=value)

    @property
    def per_second(self) -> float:
        """The constant rate at which this share has failed after a year, -ln(1 - share) / year."""
        return -math.log1p(-self) / YEAR_SECONDS


class ErrorsPerByte(WrittenQuantity):
    """Errors that a byte meets when it is read, as parsed from text such as ``"1e-15 /bit"``.

    >>> ErrorsPerByte.parse("1e-15 /bit")
    8e-15
    """

    units: ClassVar = {"/bit": 1 / _BIT_BYTES} | {
        f"/{unit}": 1 / size for unit, size in BYTE_UNITS.items()
    }
    what = "a rate of errors"
    example = "1e-15 /bit"
    usual_units = ("/bit", "/TB")
    text_units: ClassVar = ("/bit",)


class ErrorsPerByteSecond(WrittenQuantity):
    """Errors that come up on a stored byte, a second, as parsed from text such as ``"1 /TB/y"``."""

    units: ClassVar = {
        f"/{unit}/{time}": 1 / (size * DURATION_UNITS[time])
        for unit, size in BYTE_UNITS.items()
        for time in ("s", "h", "d", "y")
    }
    what = "a rate of errors"
    example = "0.1 /TB/y"
    usual_units = ("/TB/y", "/TB/h")
    text_units: ClassVar = ("/TB/y", "/TB/h", "/B/s")


def long_words(seconds: float) -> str:
    """A time for people, to four figures in the largest unit of which there is one.

    >>> long_words(900), long_words(1.2e6 * 3600), long_words(0)
    ('15 min', '136.9 y', '0 s')
    """
    for unit in ("y", "d", "h", "min"):
        if seconds >= (size := float(DURATION_UNITS[unit])):
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"


def posterior_rate(failures: int, time: float) -> tuple[float, float, float]:
    """A constant rate by how many failures there were: its mean, and its middle 95 %.

    At a constant rate failures are Poisson; with the prior of Jeffreys, Gamma(1/2), the rate is
    then distributed as Gamma(failures + 1/2) / time.

    Args:
        failures: How many there were.
        time: For how long all that could fail was seen, together.

    >>> [round(one, 4) for one in posterior_rate(94, 25_640.5)]
    [0.0037, 0.003, 0.0045]
    """
    from scipy.special import gammaincinv

    low, high = gammaincinv(failures + 0.5, [0.025, 0.975]) / time
    return (failures + 0.5) / time, float(low), float(high)
