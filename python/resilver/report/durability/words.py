"""Figures of durability in words: no digit more than is known, and intervals beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from resilver.data_loss.answer import Durability, nines
from resilver.figure import TOO_FEW, Figure
from resilver.quantities import decimal_bytes
from resilver.words import size_of

SAME_OVERHEAD = 0.005
"""Overheads that differ by no more than this share are equal."""


def label(of: Durability) -> str:
    """What a system is called: its name, with its code where the name does not say it."""
    return of.name if of.code in of.name else f"{of.name} ({of.code})"


def labels(systems: Sequence[Durability]) -> list[str]:
    """What systems are called beside each other: a code that all have says nothing, nor does the
    key that a study sweeps; and two of one name are numbered.
    """
    are_alike = len(systems) > 1 and len({one.code for one in systems}) == 1
    keys = {one.name.rpartition(" = ")[0] for one in systems}
    if len(systems) > 1 and len(keys) == 1:
        systems = [replace(one, name=one.name.rpartition(" = ")[2]) for one in systems]
    names = [one.name if are_alike else label(one) for one in systems]
    return [
        f"{name}, {names[: at + 1].count(name)}" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def within(of: Durability) -> str:
    """``within a year``."""
    return f"within {mission(of.mission_seconds)}"


def is_yearly(of: Durability) -> bool:
    """Whether its mission is a year, so that its probability is that of a year."""
    return mission(of.mission_seconds) == "a year"


def known(systems: Sequence[Durability]) -> list[Durability]:
    """Those of which a probability is known, the safest first; the cheaper first of equal ones."""
    found = [one for one in systems if one.annual.value is not None]
    return sorted(found, key=lambda one: (one.annual.value or 0.0, one.overhead))


def are_apart(one: Figure, other: Figure) -> bool:
    """Whether two figures' intervals do not overlap; exact ones are apart where they differ."""
    return one.high < other.low or other.high < one.low


def have_one_overhead(systems: Sequence[Durability]) -> bool:
    """Whether all keep as many bytes for a byte."""
    all_of = [one.overhead for one in systems]
    return max(all_of) - min(all_of) <= SAME_OVERHEAD * max(all_of)


def pareto(systems: Sequence[Durability]) -> list[Durability]:
    """Those than which no other is both as cheap and as safe, and better in one; cheapest first."""
    found: list[Durability] = []
    ordered = sorted(known(systems), key=lambda one: (one.overhead, one.annual.value or 0.0))
    for one in ordered:
        if not found or (one.annual.value or 0.0) < (found[-1].annual.value or 0.0):
            found.append(one)
    return found


def stored_words(of: Durability) -> str:
    """What it stores, in the units in which sizes were given."""
    stored = of.user_bytes or 0.0
    return decimal_bytes(stored) if of.is_decimal else size_of(stored)


def lost_size(of: Durability) -> str | None:
    """The bytes that it is expected to lose, in those units; None without a volume."""
    lost = of.expected_lost_bytes
    return None if lost is None else size(lost, of.is_decimal)


YEAR_SECONDS = 365.25 * 86_400
_BACKBLAZE_YEAR_SECONDS = 365.0 * 86_400
DIGITS = 2
"""Digits of a figure that is known to more."""
UNKNOWN = "unknown"

_SPANS = ((YEAR_SECONDS, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_PREFIXES = list(enumerate(("", "k", "M", "G", "T", "P", "E")))[::-1]
_BINARY = [(2.0 ** (10 * power), f"{sign.upper()}iB" if sign else "B") for power, sign in _PREFIXES]
_DECIMAL = [(10.0 ** (3 * power), f"{sign}B") for power, sign in _PREFIXES]
_PERCENT_FROM = 1e-3
"""Chances from here on are percentages."""
_SURE = 0.9999


def chance(figure: Figure) -> str:
    """A probability: ``3.1e-9``, ``0.12 %``, ``99.7 %``, ``at most 3.0e-6``."""
    if figure.value is None and figure.high >= 1.0:
        return UNKNOWN
    return _value(figure, _chance)


def chance_between(figure: Figure) -> str:
    """The 95 % interval of a probability, its ends rounded outwards; empty where it has none."""
    return _between(figure, _chance)


def span(figure: Figure) -> str:
    """A time: ``3.2e8 years``, ``250 days``, ``never``."""
    return _with_unit(figure, _SPANS, "never", lambda of: _value(of, _number))


def span_between(figure: Figure) -> str:
    """The 95 % interval of a time; empty where it has none."""
    return _with_unit(figure, _SPANS, "", lambda of: _between(of, _number))


def size(figure: Figure, is_decimal: bool = False) -> str:
    """Bytes, also less than one: ``1.2 GiB``, ``4.0e-6 B``; ``1.3 GB`` where sizes are decimal."""
    units = _DECIMAL if is_decimal else _BINARY
    return _with_unit(figure, units, UNKNOWN, lambda of: _value(of, _number), least=1.0)


def size_between(figure: Figure, is_decimal: bool = False) -> str:
    """The 95 % interval of bytes; empty where it has none."""
    units = _DECIMAL if is_decimal else _BINARY
    return _with_unit(figure, units, "", lambda of: _between(of, _number), least=1.0)


def nines_of(probability: Figure) -> str:
    """The nines of a probability of loss: ``8.5``, ``8 to 9``, ``over 5.5``, ``-`` for none.

    A tenth of a nine is a quarter of the probability, so that one digit behind the point needs a
    relative error below 0.46.
    """
    if probability.value is None:
        least = nines(probability.high)
        if not least or probability.high >= 0.5:
            return UNKNOWN
        return f"over {_rounded(least, -1, ROUND_FLOOR)}"
    found = nines(probability.value)
    assert found is not None
    if not math.isfinite(found):
        return "no loss"
    if probability.low > 0.0 and _off(probability) > 0.46:
        ends = [round(-math.log10(end), 0) + 0.0 for end in (probability.high, probability.low)]
        least, most = (max(0.0, end) for end in ends)
        return f"{least:.0f} to {most:.0f}" if least < most else f"{least:.0f}"
    return f"{found + 0.0:.1f}"


def mission(seconds: float) -> str:
    """How long data has to last: ``a year``, ``10 years``, ``30 days``."""
    for year in (YEAR_SECONDS, _BACKBLAZE_YEAR_SECONDS):
        years = seconds / year
        if math.isclose(years, round(years), rel_tol=1e-9) and round(years):
            return "a year" if round(years) == 1 else f"{round(years):,} years"
    length, unit = next((one for one in _SPANS if seconds >= one[0]), _SPANS[-1])
    count = f"{seconds / length:,.4g}"
    return f"a {unit.removesuffix('s')}" if (count, unit) == ("1", "days") else f"{count} {unit}"


def times_words(ratio: float) -> str:
    """A ratio of at least 1 as how many times: ``3.4``, ``120``, ``2.0e6``."""
    return _number(ratio, _power(ratio, DIGITS), ROUND_HALF_EVEN)


# ------------------------------------------------------------------------------------- the digits

_Words = Callable[[float, int, str], str]
"""A value as text: the value, the power of ten that is its last digit, and the way of rounding."""


def _power(value: float, digits: int) -> int:
    """The power of ten of the last of so many digits."""
    return math.floor(math.log10(value)) - digits + 1


def _off(figure: Figure) -> float:
    """The relative standard error; where nothing says it, what the interval says."""
    assert figure.value is not None
    if figure.relative_error is not None:
        return figure.relative_error
    return (figure.high - figure.low) / (3.92 * figure.value) if figure.value else 0.0


def _last(figure: Figure) -> int:
    """The last digit that is known: a power of ten of which the standard error has at most 4."""
    assert figure.value
    finest, first = _power(figure.value, DIGITS), _power(figure.value, 1)
    error = _off(figure) * figure.value
    if error <= 0.0:
        return finest
    return min(first, max(finest, math.ceil(math.log10(error / 4.0))))


def _value(figure: Figure, words: _Words) -> str:
    if figure.value is None:
        if not math.isfinite(figure.high) or figure.high <= 0.0:
            return UNKNOWN
        return f"at most {words(figure.high, _power(figure.high, DIGITS), ROUND_CEILING)}"
    if figure.value <= 0.0:
        return words(0.0, 0, ROUND_HALF_EVEN)
    return words(figure.value, _last(figure), ROUND_HALF_EVEN)


def _between(figure: Figure, words: _Words) -> str:
    value, low, high = figure.value, figure.low, figure.high
    if not figure.has_interval:
        return TOO_FEW
    if not value or not low < high:
        return ""
    power = _last(figure)
    low_words = words(low, min(power, _power(low, 1)), ROUND_FLOOR) if low > 0.0 else "0"
    if not math.isfinite(high):
        return f"over {low_words}"
    return f"{low_words} to {words(high, min(power, _power(high, 1)), ROUND_CEILING)}"


def _with_unit(
    figure: Figure,
    units: Sequence[tuple[float, str]],
    endless: str,
    words: Callable[[Figure], str],
    least: float = 2.0,
) -> str:
    """A quantity in the largest unit of which it has so many at least, or in the smallest."""
    value = figure.high if figure.value is None else figure.value
    if figure.value is None and figure.high >= 1.0:
        return UNKNOWN if endless else ""
    if not math.isfinite(value):
        return endless if figure.value is not None else UNKNOWN
    length, unit = next((one for one in units if value >= least * one[0]), units[-1])
    scaled = None if figure.value is None else figure.value / length
    low, high = figure.low / length, figure.high / length
    text = words(replace(figure, value=scaled, low=low, high=high))
    return text if text in ("", UNKNOWN, TOO_FEW) else f"{text} {unit}"


def _rounded(value: float, power: int, way: str) -> Decimal:
    # What a float's shortest text has is the figure, not what its bits have beyond.
    return Decimal(repr(float(value))).quantize(Decimal((0, (1,), power)), rounding=way)


def _number(value: float, power: int, way: str) -> str:
    """A number whose last digit is that of a power of ten; far from 1 with an exponent."""
    if value == 0.0:
        return "0"
    made = _rounded(value, power, way)
    if made and not -3 <= made.adjusted() < 5:
        return _scientific(made, value, power)
    return f"{made:,.{max(0, -power)}f}"


def _scientific(rounded: Decimal, value: float, power: int) -> str:
    exponent = rounded.adjusted()
    # What rounds up to a power of ten has as many digits as it had.
    behind = math.floor(math.log10(value)) - power
    return f"{rounded.scaleb(-exponent):.{max(0, behind)}f}e{exponent}"


def _chance(value: float, power: int, way: str) -> str:
    if value <= 0.0:
        return "0"
    if value < _PERCENT_FROM:
        return _scientific(_rounded(value, power, way), value, power)
    if value >= 1.0:
        return "100 %"
    if value > _SURE:
        return f"over {100.0 * _SURE:g} %"
    # Near 1 what is left to 1 has the digits.
    power = min(power, _power(1.0 - value, DIGITS)) if value > 0.99 else power
    return f"{_number(100.0 * value, min(power + 2, 1), way)} %"
