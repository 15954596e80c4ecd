"""Where the boxes of a metric stand over a swept axis: shared by both ways of drawing them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap

import numpy as np

from resilver.report.charts_data import Floats, RateChart
from resilver.report.metrics import REBUILD_RATE
from resilver.report.scales import Scale

LABELS_ROOM = 16
"""The most tick labels that fit below the chart."""
LOGARITHMIC_SPREAD = {"rate": 3.0, "mean-delay": 30.0, "p99-delay": 30.0}
"""Metrics whose values differ by more than this factor get a logarithmic axis, as does an ideal
line. Of others the axis begins at 0: goodput saturates, and a share has an end."""

_LINE_LETTERS = 16
"""Letters of a line of a tick label, so that the eight topologies of a study stand side by side."""
_COLUMN_LETTERS = 60
"""Letters of all tick labels together that fit below a chart of a column's width."""


@dataclass(frozen=True)
class RateLayout:
    """Positions on the horizontal axis, which is linear: boxes need equal widths.

    Args:
        numeric: Whether a value's position is its logarithm to base 2, or the value itself.
        scale: The unit of the metric.
        slot: The width of one series at one value.
        series: The number of series that share a value's place.
        limits: The ends of the axis.
        ticks: (position, label) of each labelled value.
        logarithmic: Whether the axis of the metric is logarithmic.
    """

    numeric: bool
    scale: Scale
    slot: float
    series: int
    limits: tuple[float, float]
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool

    @property
    def needs_room(self) -> bool:
        """Whether the tick labels are too long for a chart of a column's width."""
        return sum(len(label) + 2 for _, label in self.ticks) > _COLUMN_LETTERS

    @property
    def narrowest_pixels(self) -> int:
        """The width below which tick labels, broken into lines, would have to be turned."""
        lines = [line for label in self.broken("\n") for line in label.split("\n")]
        letters = max(map(len, lines), default=0)
        return 112 + 7 * (letters + 1) * len(self.ticks)

    def broken(self, line_end: str) -> list[str]:
        """The tick labels, long ones on several lines."""
        # A number stays with the word before it: "routers 128" is one thing.
        kept = [re.sub(r"(?<=[a-z]) (?=\d)", "\u00a0", label) for _, label in self.ticks]
        return [line_end.join(wrap(label, _LINE_LETTERS)) or label for label in kept]

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
    # Rebuild rates differ by orders of magnitude and have the unit of the least.
    medians = [box.median for box in boxes] or [1.0]
    unit_of = min(medians) if chart.metric is REBUILD_RATE else max(medians)
    wide = low > 0.0 and high > low * LOGARITHMIC_SPREAD.get(chart.metric.name, math.inf)
    return RateLayout(
        numeric=chart.numeric,
        scale=chart.metric.scale(unit_of),
        slot=0.6 * gap / max(1, len(chart.series)),
        series=len(chart.series),
        limits=(min(xs, default=0.0) - margin, max(xs, default=0.0) + margin),
        ticks=tuple((x, labels[x]) for x in shown),
        logarithmic=chart.numeric and (chart.ideal is not None or wide),
    )


def jitter(count: int) -> Floats:
    """Sideways offsets in -1..1 that part neighbouring points: multiples of the golden ratio."""
    if count < 2:
        return np.zeros(count)
    return np.asarray(2.0 * ((np.arange(count) * 0.6180339887498949) % 1.0) - 1.0)
