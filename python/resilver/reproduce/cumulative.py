"""Cumulative distributions side by side: what share of something is at most so large."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from resilver.charts.idioms import lines, series
from resilver.charts.style import DASHES
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.reproduce.compare import DIVISORS
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import number_words
from resilver.tables import table_of

# Lines of more points than a screen has columns only make the page slow.
_POINTS_MAX = 400

Floats = npt.NDArray[np.float64]
_Line = tuple[Floats, Floats]
"""Sizes in the unit of the axis, rising, and the share that is at most so large, from 0 to 1."""


def cumulative(spec: PictureSpec, tables: Tables, _: object) -> Chart | None:
    """The lines of a picture, each of all its runs; None where no run has the quantity.

    Args:
        spec: What to draw.
        tables: The entry's tables.
    """
    bins: dict[str, dict[float, int]] = {}
    for name, high, count in tables.ask(spec.query)[1]:
        own = bins.setdefault(str(name), {})
        own[high] = own.get(high, 0) + int(count)
    if not bins:
        return None
    shares_of = {name: _line(own, DIVISORS[spec.x.unit]) for name, own in bins.items()}
    middles = ", ".join(
        f"{number_words(float(xs[int(np.searchsorted(shares, 0.5))]), spec.x.unit)} ({name})"
        for name, (xs, shares) in shares_of.items()
    )
    unit = f"_{spec.x.unit}".replace("%", "percent") if spec.x.unit else ""
    return Chart(
        spec.name,
        spec.heading,
        f"The share that is at most so large, all seeds together. Medians: {middles}.",
        lambda: _drawn(spec, shares_of),
        table_of(
            [(name, *point) for name, of in shares_of.items() for point in zip(*of, strict=True)],
            ("line", "line", "text"),
            (f"{spec.x.title.replace(' ', '_')}{unit}", spec.x.label, "number"),
            ("share", "share that is at most so large", "share"),
        ),
        "the lines' points",
    )


def _line(bins: dict[float, int], divisor: float) -> _Line:
    highs = sorted(bins)
    counts = np.cumsum([bins[high] for high in highs])
    kept = np.unique(np.linspace(0, len(highs) - 1, min(len(highs), _POINTS_MAX)).round())
    at = kept.astype(np.int64)
    return np.asarray(highs)[at] / divisor, (counts / counts[-1])[at]


def _drawn(spec: PictureSpec, shares_of: Mapping[str, _Line]) -> Spec:
    """The lines as a specification."""
    data = rows(
        kind=[name for name, (xs, _) in shares_of.items() for _ in xs],
        x=np.concatenate([xs for xs, _ in shares_of.values()]),
        y=100.0 * np.concatenate([shares for _, shares in shares_of.values()]),
    )
    upwards = axis("y", "share that is at most so large (%)", ends=(0.0, 101.0))
    across = axis("x", spec.x.label)
    return lines(data, across, upwards, series(shares_of), dashes=DASHES[:4], height=320)
