"""Units of axes: one divisor and one unit name for a whole axis, chosen from its largest value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """How an axis shows an SI quantity.

    Args:
        divisor: What one unit of the axis is in SI units.
        unit: The unit's symbol, empty for a count.
    """

    divisor: float
    unit: str


_BYTES = ((2**50, "PiB"), (2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_SECONDS = ((86400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def _first(
    largest: float, units: Sequence[tuple[float, str]], rest: Scale, least: float = 1.0
) -> Scale:
    """The first of these units of which `largest` has at least so many."""
    return next((Scale(float(size), of) for size, of in units if largest >= least * size), rest)


def byte_scale(largest: float) -> Scale:
    """The binary unit in which `largest` bytes is at least 1."""
    return _first(largest, _BYTES, Scale(1.0, "B"))


def count_scale(largest: float) -> Scale:
    """The power of a thousand that leaves an axis of counts up to `largest` short labels."""
    units = ((1e9, "billions"), (1e6, "millions"), (1e3, "thousands"))
    return _first(largest, units, Scale(1.0, ""), 20.0)


def rate_scale(largest: float) -> Scale:
    """The binary unit a second in which `largest` bytes a second is at least 1."""
    scale = byte_scale(largest)
    return Scale(scale.divisor, f"{scale.unit}/s")


def decimal_scale(largest: float, unit: str) -> Scale:
    """The unit with a decimal prefix in which `largest` is at least 1, as disks are sold.

    Args:
        unit: The unit without a prefix, such as ``B/s``.

    >>> decimal_scale(2.5e12, "B/s")
    Scale(divisor=1000000000000.0, unit='TB/s')
    """
    units = [(1e15, f"P{unit}"), (1e12, f"T{unit}"), (1e9, f"G{unit}"), (1e6, f"M{unit}")]
    return _first(largest, units, Scale(1.0, unit))


def time_scale(largest: float) -> Scale:
    """The unit of time in which `largest` seconds is at least 2: one tick says little."""
    rest = Scale(1e-6, "µs") if largest > 0.0 else Scale(1.0, "s")
    return _first(largest, _SECONDS, rest, 2.0)


def time_title(fault_seconds: tuple[float, ...]) -> str:
    """The title of an axis of time, which begins with the run, without its unit.

    Args:
        fault_seconds: When something breaks, from the beginning of the run; empty for its beginning
            alone.

    >>> time_title(()), time_title((0.0, 60.0)), time_title((5.0,))
    ('time since the failure', 'time since the first failure', 'time since the beginning')
    """
    if fault_seconds and min(fault_seconds) > 0.0:
        return "time since the beginning"
    return f"time since the {'first ' if any(fault_seconds) else ''}failure"


def log_ticks(low: float, high: float) -> list[float]:
    """Ticks around `low` to `high` of a logarithmic axis: 1, 2 and 5 of each decade, 1 if many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(decades) <= 5 else (1.0,)
    return [step * 10.0**decade for decade in decades for step in steps]
