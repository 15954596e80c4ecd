"""Numbers and nouns as every sentence of a report has them."""

from __future__ import annotations

from collections.abc import Sequence

from resilver.units import format_bytes


def percent(share: float) -> str:
    """A share as a percentage of two significant digits, "0 %" only for nothing."""
    value = 100.0 * share
    if value == 0.0:
        return "0 %"
    if value < 0.1:
        return "under 0.1 %"
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def chance(probability: float) -> str:
    """A probability of two digits: `7.6e-12`, or a percentage from a thousandth on.

    >>> chance(7.55e-12), chance(0.0123), chance(0.0)
    ('7.6e-12', '1.2 %', '0')
    """
    if probability == 0.0:
        return "0"
    if probability >= 1e-3:
        return percent(probability)
    digits, _, power = f"{probability:.1e}".partition("e")
    return f"{digits}e{int(power)}"


def against(ratio: float, what: str) -> str:
    """A ratio in words: `3.2 times the mean`, `4.0 % above the mean`, `equal to the mean`."""
    if abs(ratio - 1.0) < 0.0005:
        return f"equal to {what}"
    if 0.5 < ratio < 1.5:
        return f"{percent(abs(ratio - 1.0))} {'above' if ratio > 1.0 else 'below'} {what}"
    return f"{ratio:.1f} times {what}" if ratio < 9.95 else f"{ratio:,.0f} times {what}"


def amount(value: float) -> str:
    """A count, every digit while there are few, then three of them and an SI prefix.

    >>> amount(86_016), amount(351_765_871)
    ('86,016', '352 M')
    """
    if value < 100_000:
        return f"{value:,.0f}"
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value / 1e3:.0f},000"


def size_of(value: float) -> str:
    """A size for people."""
    return format_bytes(round(value))


def plural(count: float, noun: str) -> str:
    """`1 server`, `2 servers`, `3 switches`, with separators."""
    ending = "" if round(count) == 1 else "es" if noun.endswith(("ch", "s", "x")) else "s"
    return f"{count:,.0f} {noun}{ending}"


def listed(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
