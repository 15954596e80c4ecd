"""Counts and volumes by size, a panel a population."""

from __future__ import annotations

import math
from dataclasses import dataclass

from resilver.charts.idioms import columns
from resilver.charts.style import BLUE, VERMILLION
from resilver.charts.vega import Spec, axis, rows
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.tables import Column, Table
from resilver.units import exact_bytes

_EXPONENTS_A_TICK = 6


@dataclass(frozen=True)
class Panel:
    """One population: the share of each bin in the number and in the volume, in per cent."""

    name: str
    exponents: tuple[int, ...]
    counts: tuple[float, ...]
    volumes: tuple[float, ...]


@dataclass(frozen=True)
class Histogram:
    """Panels over one axis of sizes.

    Args:
        spec: What is drawn.
        panels: The panels, from the top.
        counted: What is counted.
    """

    spec: PictureSpec
    panels: tuple[Panel, ...]
    counted: str

    @property
    def limits(self) -> tuple[int, int]:
        """The exponents of the least and the greatest size."""
        found = [exponent for panel in self.panels for exponent in panel.exponents]
        return min(found), max(found)

    @property
    def ticks(self) -> list[int]:
        """The exponents that are labelled."""
        low, high = self.limits
        first = -(-low // _EXPONENTS_A_TICK) * _EXPONENTS_A_TICK
        return list(range(first, high + 2, _EXPONENTS_A_TICK))


def histogram(spec: PictureSpec, tables: Tables) -> Histogram | None:
    """The panels of a picture.

    Args:
        spec: What to draw.
        tables: The entry's tables.

    Returns:
        The histogram; None where nothing is stored.
    """
    names, rows = tables.ask(spec.query)
    panels = []
    for name in dict.fromkeys(row[0] for row in rows):
        own = [row[1:] for row in rows if row[0] == name and row[2]]
        count, volume = sum(row[1] for row in own), sum(row[2] for row in own)
        if count and volume:
            panels.append(
                Panel(
                    name,
                    tuple(math.frexp(max(row[0], 1))[1] - 1 for row in own),
                    tuple(100.0 * row[1] / count for row in own),
                    tuple(100.0 * row[2] / volume for row in own),
                )
            )
    return Histogram(spec, tuple(panels), names[2]) if panels else None


def histogram_words(_: Histogram) -> str:
    """What the bars show, for their caption."""
    return "Bars side by side for each power of two: the share of the number and of the volume."


def histogram_table(made: Histogram) -> Table:
    """The bins as rows."""
    columns = (
        Column("population", "population", "text"),
        Column("bin_min_bytes", "from", "bytes"),
        Column(f"{made.counted}_share", f"share of {made.counted}", "share"),
        Column("volume_share", "share of the volume", "share"),
    )
    rows = [
        (panel.name, 2**exponent, count / 100.0, volume / 100.0)
        for panel in made.panels
        for exponent, count, volume in zip(
            panel.exponents, panel.counts, panel.volumes, strict=True
        )
    ]
    return Table(columns, rows)


def histogram_drawn(made: Histogram) -> Spec:
    """The panels as a specification: two bars side by side for each power of two."""
    ticks = {float(exponent): exact_bytes(2**exponent) for exponent in made.ticks}
    low, high = made.limits
    kinds = {f"share of {made.counted}": VERMILLION, "share of the volume": BLUE}
    views = []
    for at, panel in enumerate(made.panels, 1):
        data = rows(
            x=[exponent + middle for middle in (0.28, 0.72) for exponent in panel.exponents],
            y=[*panel.counts, *panel.volumes],
            kind=[name for name in kinds for _ in panel.exponents],
        )
        across = axis(
            "x", "size" * (at == len(made.panels)), ends=(low - 0.2, high + 1.2), ticks=ticks
        )
        upwards = axis("y", f"{panel.name} (%)")
        views.append(columns(data, across, upwards, kinds, wide=0.44, height=150))
    return {"vconcat": views}
