"""Where the boxes of the rate chart stand: shared by both ways of drawing it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from resilver.report.charts_data import Floats, RateChart
from resilver.report.scales import Scale, rate_scale

LABELS_ROOM = 16
"""The most tick labels that fit below the chart."""
LOGARITHMIC_SPREAD = 3.0
"""Rates that differ by more than this factor get a logarithmic axis, as does an ideal line."""


@dataclass(frozen=True)
class RateLayout:
    """Positions on the horizontal axis, which is linear: boxes need equal widths.

    Args:
        numeric: Whether a value's position is its logarithm to base 2, or the value itself.
        scale: The unit of the rates.
        slot: The width of one series at one value.
        series: The number of series that share a value's place.
        limits: The ends of the axis.
        ticks: (position, label) of each labelled value.
        logarithmic: Whether the axis of rates is logarithmic.
    """

    numeric: bool
    scale: Scale
    slot: float
    series: int
    limits: tuple[float, float]
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool

    def place(self, x: float) -> float:
        """The position of a swept value."""
        return math.log2(x) if self.numeric else x

    def offset(self, rank: int) -> float:
        """How far the series of this rank stands from its value's position."""
        return (rank - (self.series - 1) / 2.0) * self.slot


def rate_layout(chart: RateChart) -> RateLayout:
    """Lay the rate chart out.

    Args:
        chart: The boxes; may be empty.

    Returns:
        A layout in which neither boxes nor labels overlap.
    """
    boxes = [box for series in chart.series for box in series.boxes]
    place = math.log2 if chart.numeric else float
    labels = {place(box.x): box.label for box in boxes}
    xs = sorted(labels)
    gap = min((b - a for a, b in pairwise(xs)), default=1.0)
    margin = 0.75 * gap if len(xs) > 1 else 2.5 * gap
    shown = xs[:: max(1, -(-len(xs) // LABELS_ROOM))] if chart.key else []
    low = min((box.low for box in boxes), default=1.0)
    high = max((box.high for box in boxes), default=1.0)
    return RateLayout(
        numeric=chart.numeric,
        scale=rate_scale(min((box.median for box in boxes), default=1.0)),
        slot=0.6 * gap / max(1, len(chart.series)),
        series=len(chart.series),
        limits=(min(xs, default=0.0) - margin, max(xs, default=0.0) + margin),
        ticks=tuple((x, labels[x]) for x in shown),
        logarithmic=chart.numeric and (chart.ideal is not None or high > LOGARITHMIC_SPREAD * low),
    )


def jitter(count: int) -> Floats:
    """Sideways offsets in -1..1 that part neighbouring points: multiples of the golden ratio."""
    if count < 2:
        return np.zeros(count)
    return np.asarray(2.0 * ((np.arange(count) * 0.6180339887498949) % 1.0) - 1.0)
