"""Figures of an answer that follow from others."""

from __future__ import annotations

import math
from dataclasses import replace

from resilver.failure_rates import YEAR_SECONDS
from resilver.figure import Figure


def annual_of(loss: Figure, mission_seconds: float) -> Figure:
    """The loss probability of a year at the rate of a mission's: 1 - (1 - p)^(year / mission).

    Args:
        loss: The loss probability of the mission.
        mission_seconds: How long that is.

    >>> annual_of(Figure.exact(0.19), 2 * YEAR_SECONDS).value
    0.1
    """
    share = YEAR_SECONDS / mission_seconds

    def of_year(p: float) -> float:
        return 1.0 if p >= 1 else -math.expm1(share * math.log1p(-p))

    value = loss.value
    error = loss.relative_error
    if value and error and value < 1:
        # By its derivative: share (1 - p)^(share - 1) dp.
        slope = share * math.exp((share - 1) * math.log1p(-value))
        error = error * value * slope / of_year(value)
    return replace(
        loss,
        value=None if value is None else of_year(value),
        low=of_year(loss.low),
        high=of_year(loss.high),
        relative_error=error,
    )


def times_of(figure: Figure, factor: float) -> Figure:
    """A figure times what is known exactly."""
    value = None if figure.value is None else figure.value * factor
    return replace(figure, value=value, low=figure.low * factor, high=figure.high * factor)
