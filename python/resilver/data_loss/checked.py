"""Numbers of the survival models, checked: a refusal names the number, its value and the rule."""

from __future__ import annotations

import math

import numpy as np

from resilver.errors import ConfigError, show


def whole(key: str, value: int, *, least: int = 0, most: int = 2**31) -> int:
    """The whole number, in its range; else a `ConfigError`.

    >>> whole("groups", 3)
    3
    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        rule = f"this is a whole number from {least:,} to {most:,}"
        raise ConfigError(rule, "write one of these", key=key, value=show(value))
    return int(value)


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
