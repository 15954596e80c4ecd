"""Cumulative distributions side by side: what share of something is at most so large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.charts.idioms import lines, series
from resilver.charts.style import DASHES
from resilver.charts.vega import Spec, axis, rows
from resilver.reproduce.compare import DIVISORS
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import number_words
from resilver.tables import Column, Table

# Lines of more points than a screen has columns only make the page slow.
_POINTS_MAX = 400


@dataclass(frozen=True, eq=False)
class Steps:
    """One line.

    Args:
        name: What it is of.
        xs: Sizes in the unit of the axis, ascending.
        shares: The share that is at most so large, from 0 to 1.
        count: Of how many.
    """

    name: str
    xs: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    count: int

    @property
    def median(self) -> float:
        """The least size that half are within."""
        return float(self.xs[int(np.searchsorted(self.shares, 0.5))])


@dataclass(frozen=True)
class Cumulative:
    """Lines over one axis.

    Args:
        spec: What is drawn.
        lines: The lines.
    """

    spec: PictureSpec
    lines: tuple[Steps, ...]


def cumulative(spec: PictureSpec, tables: Tables) -> Cumulative | None:
    """The lines of a picture: the runs of each put together.

    Args:
        spec: What to draw.
        tables: The entry's tables.

    Returns:
        The lines; None where no run has the quantity.
    """
    bins: dict[str, dict[float, int]] = {}
    for name, high, count in tables.ask(spec.query)[1]:
        own = bins.setdefault(str(name), {})
        own[high] = own.get(high, 0) + int(count)
    lines = tuple(_steps(name, own, DIVISORS[spec.x.unit]) for name, own in bins.items())
    return Cumulative(spec, lines) if lines else None


def _steps(name: str, bins: dict[float, int], divisor: float) -> Steps:
    highs = sorted(bins)
    counts = np.cumsum([bins[high] for high in highs])
    shares = counts / counts[-1]
    kept = np.unique(np.linspace(0, len(highs) - 1, min(len(highs), _POINTS_MAX)).round())
    at = kept.astype(np.int64)
    return Steps(name, np.asarray(highs)[at] / divisor, shares[at], int(counts[-1]))


def cumulative_words(made: Cumulative) -> str:
    """What the lines show, for their caption."""
    middles = ", ".join(
        f"{number_words(line.median, made.spec.x.unit)} ({line.name})" for line in made.lines
    )
    return f"The share that is at most so large, all seeds together. Medians: {middles}."


def cumulative_table(made: Cumulative) -> Table:
    """The lines as rows."""
    unit = f"_{made.spec.x.unit}" if made.spec.x.unit else ""
    unit = unit.replace("%", "percent")
    columns = (
        Column("line", "line", "text"),
        Column(f"{made.spec.x.title.replace(' ', '_')}{unit}", made.spec.x.label, "number"),
        Column("share", "share that is at most so large", "share"),
    )
    rows = [
        (line.name, float(x), float(share))
        for line in made.lines
        for x, share in zip(line.xs, line.shares, strict=True)
    ]
    return Table(columns, rows)


def cumulative_drawn(made: Cumulative) -> Spec:
    """The lines as a specification."""
    data = rows(
        kind=[line.name for line in made.lines for _ in line.xs],
        x=np.concatenate([line.xs for line in made.lines]),
        y=100.0 * np.concatenate([line.shares for line in made.lines]),
    )
    upwards = axis("y", "share that is at most so large (%)", ends=(0.0, 101.0))
    named = series(line.name for line in made.lines)
    across = axis("x", made.spec.x.label)
    return lines(data, across, upwards, named, dashes=DASHES[:4], height=320)
