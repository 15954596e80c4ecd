"""Numbers, deviations and limits of comparisons in words, for the page and the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resilver.reproduce.compare import Comparison


def number_words(value: float, unit: str) -> str:
    """A number with its unit: counts in full, else four digits, or five with an exponent.

    >>> number_words(351765871, "objects"), number_words(49.38, "GiB/s"), number_words(0.9, "%")
    ('351,765,871', '49.38 GiB/s', '0.9 %')
    >>> number_words(2.30789e10, "d"), number_words(4.99611e-7, "")
    ('2.3079e10 d', '4.9961e-7')
    """
    if unit in ("objects", "groups", "replicas"):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    text = _digits(value)
    if not unit:
        return text
    return f"{text} {unit_words(unit)}"


def unit_words(unit: str) -> str:
    """A unit as it is printed.

    >>> unit_words("us"), unit_words("thousand/s")
    ('µs', 'thousand/s')
    """
    return "µs" if unit == "us" else unit


def deviation_words(deviation: float | None) -> str:
    """A deviation as a percentage with its sign, or as a factor where it is large.

    >>> deviation_words(0.075), deviation_words(-0.2), deviation_words(9.0), deviation_words(None)
    ('+7.5 %', '-20.0 %', '10 times', '')
    """
    if deviation is None:
        return ""
    if deviation > 1.0:
        return f"{deviation + 1.0:,.3g} times"
    return f"{100.0 * deviation:+.1f} %" if abs(deviation) >= 0.0005 else "0.0 %"


def allowed_words(one: Comparison) -> str:
    """What a number may be: its limits, or nothing."""
    if one.low is None and one.high is None:
        return ""
    if one.low is None:
        return f"at most {_limit(one.high)}"
    if one.high is None:
        return f"at least {_limit(one.low)}"
    if one.low == one.high:
        return f"exactly {_limit(one.low)}"
    return f"{_limit(one.low)} to {_limit(one.high)}"


def _limit(value: float | None) -> str:
    assert value is not None
    return _digits(value)


def _digits(value: float) -> str:
    if value and not 1e-3 <= abs(value) < 1e9:
        return f"{value:.5g}".replace("e+", "e").replace("e-0", "e-")
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
