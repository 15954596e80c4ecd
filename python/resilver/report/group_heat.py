"""Heat map of groups of disks: how far each is below its reference, before and after culling."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from resilver.charts.chart import Chart
from resilver.charts.idioms import fields, heat
from resilver.charts.style import BLUE, VERMILLION
from resilver.charts.vega import Spec, rows, tip
from resilver.report.arrays import Floats
from resilver.tables import Cell, table

if TYPE_CHECKING:
    from resilver.center.culling import Reference

_GROUPS_MAX = 6000
"""Groups whose heat map a page carries."""
_ACROSS_MAX = 64
"""Groups of a unit side by side; on a telephone each is then five pixels wide."""
_KINDS = ("within the envelope", "outside")


def heat_chart(
    states: Sequence[tuple[str, Floats]],
    groups: Sequence[str],
    units: Sequence[str],
    within: float,
    of: Reference,
) -> Chart | None:
    """Every group, a row a unit, by its rate over the reference; one scale for all states.

    The hue says on which side of the envelope a group is, the depth how far it is below the
    reference, so that either can be read without the other.

    Args:
        states: What each is called, such as before and after culling, and the groups' rates then.
        groups: The groups' names.
        units: The unit of each.
        within: The envelope.
        of: Its reference.

    Returns:
        The chart; None of more groups than a page should carry.
    """
    from resilver.center.culling import judge
    from resilver.center.profiling import reference_words

    if len(groups) > _GROUPS_MAX:
        return None
    judged = [judge(rates, within, of, np.asarray(units)) for _, rates in states]
    shares = [one.rates / one.reference for one in judged]
    outside = [one.rates < one.least for one in judged]
    counts = [int(one.sum()) for one in outside]
    across, down = _places(units)
    ends = [min(float(one.min()) for one in shares), max(float(one.max()) for one in shares)]
    words = [f"{count:,} {title}" for (title, _), count in zip(states, counts, strict=True)]
    heading = f"Outside the envelope, of {len(groups):,} groups: {', '.join(words)}"
    rows_are = "Rows are units. " if len(set(units)) > 1 else ""
    text = (
        f"Each field is a group. {rows_are}The deeper a field, the slower the group: full colour "
        f"is {100 * ends[0]:.3g} % of {reference_words(of)} in the same state, the palest "
        f"{100 * ends[1]:.3g} %, in all states alike."
    )

    names = [f"{unit} {group}".strip() for unit, group in zip(units, groups, strict=True)]

    def spec() -> Spec:
        views = []
        for (title, _), share, is_outside in zip(states, shares, outside, strict=True):
            kinds = [_KINDS[int(one)] for one in is_outside]
            data = rows(x=across, y=down, depth=100 * share, kind=kinds, text=names)
            views.append(_view(title, data, max(down) + 1, ends))
        return {"hconcat": views}

    columns: list[tuple[str, str, str, Sequence[Cell]]] = [
        ("unit", "unit", "text", list(units)),
        ("group", "group", "text", list(groups)),
    ]
    columns += [
        (title, title, "number", share.tolist())
        for (title, _), share in zip(states, shares, strict=True)
    ]
    made = table(*columns, note="Rates over the reference.")
    return Chart("groups", heading, text, spec, made, "groups by their rate over the reference")


def _view(title: str, data: Spec, lines: int, ends: Sequence[float]) -> Spec:
    """The fields of one state, whose shares lie between these ends in some state."""
    named = dict(zip(_KINDS, (BLUE, VERMILLION), strict=True))
    made = heat(
        data,
        fields("x", None),
        fields("y", None),
        (100 * ends[0], 100 * ends[1]),
        named,
        depths=(1.0, 0.12),
        height=max(90, 9 * lines),
        read=tip(("text", "group"), ("depth", "% of the reference")),
    )
    return made | {"title": {"text": title, "fontSize": 12}, "room": (8, 8)}


def _places(units: Sequence[str]) -> tuple[list[int], list[int]]:
    """The column and the row of each group: a row a unit, or several of a large one."""
    sizes = Counter(units)
    most = max(sizes.values())
    # One unit alone would be a single long row.
    width = math.ceil(math.sqrt(2 * most)) if len(sizes) == 1 else min(most, _ACROSS_MAX)
    width = min(width, _ACROSS_MAX)
    lines = math.ceil(most / width)
    first = {unit: lines * number for number, unit in enumerate(sizes)}
    met: Counter[str] = Counter()
    across, down = [], []
    for unit in units:
        line, column = divmod(met[unit], width)
        across.append(column)
        down.append(first[unit] + line)
        met[unit] += 1
    return across, down
