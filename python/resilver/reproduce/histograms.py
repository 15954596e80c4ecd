"""Counts and volumes by size, a panel a population."""

from __future__ import annotations

import math
from collections.abc import Mapping

from resilver.charts.idioms import columns
from resilver.charts.style import BLUE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.tables import table_of
from resilver.units import exact_bytes

_EXPONENTS_A_TICK = 6

_Bins = list[tuple[int, float, float]]
"""The exponent of each bin of a population, and its per cent of the number and of the volume."""


def histogram(spec: PictureSpec, tables: Tables, _: object) -> Chart | None:
    """The panels of a picture; None where nothing is stored.

    Args:
        spec: What to draw.
        tables: The entry's tables.
    """
    names, records = tables.ask(spec.query)
    panels: dict[str, _Bins] = {}
    for name in dict.fromkeys(row[0] for row in records):
        own = [row[1:] for row in records if row[0] == name and row[2]]
        count, volume = sum(row[1] for row in own), sum(row[2] for row in own)
        if count and volume:
            panels[name] = [
                (math.frexp(max(least, 1))[1] - 1, 100.0 * files / count, 100.0 * size / volume)
                for least, files, size in own
            ]
    if not panels:
        return None
    share = f"share of {names[2]}"
    return Chart(
        spec.name,
        spec.heading,
        "Bars side by side for each power of two: the share of the number and of the volume.",
        lambda: _drawn(panels, share),
        table_of(
            [
                (name, 2**exponent, count / 100.0, volume / 100.0)
                for name, bins in panels.items()
                for exponent, count, volume in bins
            ],
            ("population", "population", "text"),
            ("bin_min_bytes", "from", "bytes"),
            (f"{names[2]}_share", share, "share"),
            ("volume_share", "share of the volume", "share"),
        ),
        "shares by size",
    )


def _drawn(panels: Mapping[str, _Bins], share: str) -> Spec:
    """The panels as a specification: two bars side by side for each power of two."""
    exponents = [exponent for bins in panels.values() for exponent, _, _ in bins]
    low, high = min(exponents), max(exponents)
    first = -(-low // _EXPONENTS_A_TICK) * _EXPONENTS_A_TICK
    labelled = range(first, high + 2, _EXPONENTS_A_TICK)
    ticks = {float(exponent): exact_bytes(2**exponent) for exponent in labelled}
    kinds = {share: VERMILLION, "share of the volume": BLUE}
    views = []
    for at, (name, bins) in enumerate(panels.items(), 1):
        data = rows(
            x=[exponent + middle for middle in (0.28, 0.72) for exponent, _, _ in bins],
            y=[shares[side] for side in (1, 2) for shares in bins],
            kind=[kind for kind in kinds for _ in bins],
        )
        across = axis("x", "size" * (at == len(panels)), ends=(low - 0.2, high + 1.2), ticks=ticks)
        views.append(columns(data, across, axis("y", f"{name} (%)"), kinds, wide=0.44, height=150))
    return {"vconcat": views}
