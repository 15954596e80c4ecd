"""Bars in groups, with the range of their runs, as they are or as the change from a base case."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from resilver.charts.idioms import columns, series
from resilver.charts.scales import log_ticks
from resilver.charts.vega import Chart, Spec, axis, letters, rows
from resilver.reproduce.compare import DIVISORS
from resilver.reproduce.published import PictureSpec
from resilver.reproduce.tables import Tables
from resilver.reproduce.words import number_words, unit_words
from resilver.tables import Table, table_of


class _Bar(NamedTuple):
    """One bar, in the unit of the axis: its place, its height, and the range of its runs."""

    group: str
    series: str
    median: float
    least: float
    most: float
    runs: int

    @property
    def name(self) -> str:
        """What it is called in words."""
        return f"{self.group}, {self.series}" if self.series else self.group


def bars(spec: PictureSpec, tables: Tables, _: object) -> Chart | None:
    """The bars of a picture; None where no row has what it needs.

    Args:
        spec: What to draw.
        tables: The entry's tables.
    """
    (*names, _height), records = tables.ask(spec.query)
    parts: dict[tuple[str, str], list[float]] = {}
    for *key, value in records:
        if value is not None and key[0] is not None:
            group, part = (*map(str, key), "")[:2]
            parts.setdefault((group, part), []).append(float(value) / DIVISORS[spec.y.unit])
    if not parts:
        return None
    drawn = [
        _Bar(*key, float(statistics.median(values)), min(values), max(values), len(values))
        for key, values in parts.items()
    ]
    table = _table(spec, drawn, names)
    return Chart(
        spec.name, spec.heading, _words(spec, drawn), lambda: _drawn(spec, drawn), table, "the bars"
    )


def _words(spec: PictureSpec, drawn: Sequence[_Bar]) -> str:
    """What the bars show, for their caption."""
    top, low = (pick(drawn, key=attrgetter("median")) for pick in (max, min))
    runs = max(bar.runs for bar in drawn)
    text = "A bar is a median" if runs > 1 else "A bar is of one run"
    if runs > 1:
        text += f" over {runs} seeds, its line reaches from the least to the greatest"
    most, least = (number_words(bar.median, spec.y.unit) for bar in (top, low))
    if low.median == top.median:
        return f"{text}. All are {most}."
    return f"{text}. Most: {most} ({top.name}); least: {least} ({low.name})."


def _table(spec: PictureSpec, drawn: Sequence[_Bar], names: Sequence[str]) -> Table:
    """The bars as rows, by the columns that tell groups apart, and series if there are any."""
    unit = spec.y.unit.replace("/s", "_per_second").replace("%", "percent").lower()
    name = f"{spec.y.title.replace(' ', '_')}_{unit}".rstrip("_")
    return table_of(
        drawn,
        (names[0], spec.x.title, "text", attrgetter("group")),
        *((other, "case", "text", attrgetter("series")) for other in names[1:]),
        (f"{name}_median", spec.y.label, "number", attrgetter("median")),
        (f"{name}_least", "least", "number", attrgetter("least")),
        (f"{name}_most", "most", "number", attrgetter("most")),
        ("runs", "runs", "count"),
    )


def _drawn(spec: PictureSpec, drawn: Sequence[_Bar]) -> Spec:
    """The bars as a specification, each with the range of its runs where they differ."""
    groups = list(dict.fromkeys(bar.group for bar in drawn))
    series_of = list(dict.fromkeys(bar.series for bar in drawn))
    unit, is_log = unit_words(spec.y.unit), spec.y.logarithmic
    width = 0.84 / len(series_of)
    values = [value for bar in drawn for value in (bar.median, bar.least, bar.most)]
    top, floor = max(values), min(0.0, *values)
    heights = axis("y", spec.y.label, ends=(1.05 * floor, max(1.05 * top, 0.0)))
    if is_log:
        floor = min(value for value in values if value > 0.0) / 1.5
        ticks = log_ticks(floor, top)
        heights = axis("y", spec.y.label, ends=(floor, 1.2 * top), log=10, ticks=ticks)
    spread = {
        "low": [bar.least for bar in drawn],
        "high": [bar.most for bar in drawn],
    } if any(bar.least < bar.most for bar in drawn) else {}  # fmt: skip
    data = rows(
        x=[
            groups.index(bar.group)
            + (series_of.index(bar.series) + 0.46 - len(series_of) / 2.0) * width
            for bar in drawn
        ],
        y=[bar.median for bar in drawn],
        kind=[bar.series for bar in drawn],
        base=[floor if is_log else 0.0] * len(drawn),
        text=[
            f"{bar.name}: {bar.median:,.4g} {unit}, min {bar.least:,.4g}, max {bar.most:,.4g} "
            f"of {bar.runs} {'run' if bar.runs == 1 else 'runs'}"
            for bar in drawn
        ],
        **spread,
    )
    labels = {float(at): group for at, group in enumerate(groups)}
    ends = (-0.6, len(groups) - 0.4)
    across = axis("x", spec.x.title, ends=ends, ticks=labels, labelOverlap=False)
    view = columns(data, across, heights, series(series_of), wide=0.92 * width, height=300)
    return view | {"letters": letters(groups)}
