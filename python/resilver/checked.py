"""Numbers that callers give, checked: a refusal names the number, its value and the rule."""

from __future__ import annotations

import math

import numpy as np

from resilver.errors import ConfigError, show

SEED_MAX = 2**64 - 1
"""The largest seed: the core's random streams are keyed by 64 bits."""

_RULE = "this is a whole number from {least:,} to {most:,}"


def whole(
    key: str,
    value: int,
    *,
    least: int = 0,
    most: int = 2**31,
    rule: str = _RULE,
    remedy: str = "write one of these",
) -> int:
    """The whole number, in its range; else a `ConfigError` of the rule.

    >>> whole("groups", 3)
    3
    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        raise ConfigError(rule.format(least=least, most=most), remedy, key=key, value=show(value))
    return int(value)


def checked_seed(seed: int, remedy: str = "") -> int:
    """The seed; else a `ConfigError`."""
    rule = "a seed is a whole number from 0 to 2^64 - 1"
    return whole("seed", seed, most=SEED_MAX, rule=rule, remedy=remedy)


def number(key: str, value: float, *, positive: bool = False) -> float:
    """The number, finite and zero or more (above zero where `positive`); else a `ConfigError`.

    >>> number("failure_rate", 1e-9)
    1e-09
    """
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0 or (positive and value == 0):
        rule = f"this is a finite number {'above zero' if positive else 'of zero or more'}"
        raise ConfigError(rule, "write such a number", key=key, value=show(value))
    return float(value)


def share(key: str, value: float) -> float:
    """The probability or share, from 0 to 1; else a `ConfigError`.

    >>> share("unreadable", 0.1)
    0.1
    """
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= 1.0:
        rule = "this is a probability, from 0 to 1"
        raise ConfigError(rule, "write one", key=key, value=show(value))
    return float(value)
