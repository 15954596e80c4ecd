"""How the pictures of a reproduction are drawn: bars, lines, cumulative lines and histograms.

Each function makes one specification by the conventions of `resilver.charts.vega`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resilver.charts.scales import log_ticks
from resilver.charts.style import BLUE, DASHES, GREY, INK, MARKS, PURPLE, SERIES, VERMILLION
from resilver.charts.vega import READ, Spec, colours, letters, rows, told_apart
from resilver.charts.vega import number as axis

BarRow = tuple[str, str, float, float, float, str]
"""A bar: its group, its series, its height, its least and its greatest run, and its words."""


def bars_spec(bars: Sequence[BarRow], across: str, upwards: str, *, log: bool) -> Spec:
    """Bars in groups, each with the range of its runs where they differ.

    Args:
        bars: The bars, groups and series in order.
        across: The title of the axis across.
        upwards: The title of the axis upwards.
        log: Whether the axis upwards is logarithmic.
    """
    groups = list(dict.fromkeys(bar[0] for bar in bars))
    series = list(dict.fromkeys(bar[1] for bar in bars))
    width = 0.84 / len(series)
    places = [
        groups.index(bar[0]) + (series.index(bar[1]) - len(series) / 2.0) * width for bar in bars
    ]
    values = [value for bar in bars for value in bar[2:5]]
    floor = min(0.0, *values)
    if log:
        floor = min(value for value in values if value > 0.0) / 1.5
    data = rows(
        x=places,
        x2=[place + 0.92 * width for place in places],
        middle=[place + 0.46 * width for place in places],
        kind=[bar[1] for bar in bars],
        y=[bar[2] for bar in bars],
        base=[floor if log else 0.0] * len(bars),
        low=[bar[3] for bar in bars],
        high=[bar[4] for bar in bars],
        text=[bar[5] for bar in bars],
    )
    top = max(values)
    heights = axis("y", upwards, ends=(floor * 1.05, top * 1.05 if top > 0.0 else 0.0))
    if log:
        ticks = log_ticks(floor, top)
        heights = axis("y", upwards, ends=(floor, top * 1.2), log=10, ticks=ticks)
    named = colours(series, SERIES, legend=len(series) > 1) | {"field": "kind"}
    bar = {"type": "rect", "strokeWidth": 0}
    encoding = {"x2": {"field": "x2"}, "y2": {"field": "base"}, "color": named, "tooltip": READ}
    layers: list[Spec] = [{"mark": bar, "encoding": encoding}]
    if any(one[3] < one[4] for one in bars):
        spread = {"x": {"field": "middle"}, "y": {"field": "low"}, "y2": {"field": "high"}}
        layers.append(
            {"mark": {"type": "rule", "strokeWidth": 1.25, "color": INK}, "encoding": spread}
        )
    labels = {float(at): group for at, group in enumerate(groups)}
    ends = (-0.6, len(groups) - 0.4)
    return {
        "height": 300,
        "letters": letters(groups),
        "data": data,
        "encoding": {
            "x": axis("x", across, ends=ends, ticks=labels, labelOverlap=False),
            "y": heights,
        },
        "layer": layers,
    }


LineRow = tuple[str, bool, Sequence[float], Sequence[float], Sequence[str]]
"""A line: its name, whether a formula says so and no run, places, heights, and their words."""


def lines_spec(
    lines: Sequence[LineRow],
    published: Sequence[tuple[float, float, str]],
    ticks: Mapping[float, str],
    across: str,
    upwards: str,
    *,
    log: bool,
) -> Spec:
    """Lines with marks at their points, and a source's numbers as stars.

    Args:
        lines: The lines; places are positions on a linear axis.
        published: A star each: place, height and words.
        ticks: The labelled places.
        across: The title of the axis across.
        upwards: The title of the axis upwards.
        log: Whether the axis upwards is logarithmic.
    """
    names = [name for name, _, _, _, _ in lines]
    # A line beyond the colours has another mark than the line of the same colour before it.
    count = len(SERIES)
    marks = [MARKS[(at + at // count) % len(MARKS)] for at in range(len(names))]
    shades = [GREY if line[1] else SERIES[at % count] for at, line in enumerate(lines)]
    named = colours(names, shades, legend=len(names) > 1) | {"field": "kind"}
    found = [
        (name, is_expected, x, y, text)
        for name, is_expected, xs, ys, words in lines
        for x, y, text in zip(xs, ys, words, strict=True)
    ]
    columns = dict(zip(("kind", "told", "x", "y", "text"), zip(*found, strict=True), strict=True))
    ys = [y for _, _, _, y, _ in found] + [y for _, y, _ in published]
    point = {"type": "point", "filled": True, "size": 55}
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"strokeDash": told_apart(names, DASHES[:4])},
        },
        {
            "transform": [{"filter": "!datum.told"}],
            "mark": point,
            "encoding": {
                "shape": told_apart(names, marks),
                "tooltip": READ,
            },
        },
    ]
    layers = [
        layer | {"data": rows(**columns), "encoding": layer["encoding"] | {"color": named}}
        for layer in layers
    ]
    if published:
        xs, stars, words = zip(*published, strict=True)
        mark = {"type": "text", "text": "★", "fontSize": 20, "color": PURPLE}
        data = rows(x=xs, y=stars, text=words)
        layers.append({"data": data, "mark": mark, "encoding": {"tooltip": READ}})
    places = [x for _, _, x, _, _ in found]
    room = 0.03 * (max(places) - min(places)) or 0.5
    return {
        "height": 320,
        "letters": letters(ticks.values()),
        "encoding": {
            "x": axis("x", across, ends=(min(places) - room, max(places) + room), ticks=ticks),
            "y": _heights(ys, upwards, log=log),
        },
        "layer": layers,
    }


def _heights(values: Sequence[float], title: str, *, log: bool) -> Spec:
    """An axis upwards that holds all values, from 0 where it is linear."""
    if not log:
        return axis("y", title, ends=(0.0, 1.12 * max(values) or 1.0))
    low, high = min(value for value in values if value > 0.0), max(values)
    ticks = log_ticks(low, high)
    return axis("y", title, ends=(low / 1.2, 1.2 * high), log=10, ticks=ticks)


def cumulative_spec(
    lines: Sequence[tuple[str, Sequence[float], Sequence[float]]], across: str
) -> Spec:
    """Cumulative lines over one axis.

    Args:
        lines: For each its name, its places, and what share in per cent is at most so large.
        across: The title of the axis across.
    """
    names = [name for name, _, _ in lines]
    found = [(n, x, y) for n, xs, ys in lines for x, y in zip(xs, ys, strict=True)]
    kind, xs, ys = zip(*found, strict=True)
    return {
        "height": 320,
        "data": rows(kind=kind, x=xs, y=ys),
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": axis("x", across),
            "y": axis("y", "share that is at most so large (%)", ends=(0.0, 101.0)),
            "color": colours(names, SERIES) | {"field": "kind"},
            "strokeDash": told_apart(names, DASHES[:4]),
        },
    }


def histogram_spec(
    panels: Sequence[tuple[str, Sequence[int], Sequence[float], Sequence[float]]],
    ticks: Mapping[float, str],
    names: tuple[str, str],
) -> Spec:
    """Shares of a number and of a volume by size, a panel a population.

    Args:
        panels: For each its name, exponents of sizes, and both shares in per cent.
        ticks: The labelled exponents.
        names: What the two shares are of.
    """
    exponents = [exponent for _, own, _, _ in panels for exponent in own]
    ends = (min(exponents) - 0.2, max(exponents) + 1.2)
    named = colours(names, (VERMILLION, BLUE)) | {"field": "kind"}
    views = []
    for at, (title, own, counts, volumes) in enumerate(panels):
        data = rows(
            x=[exponent + aside for aside in (0.06, 0.5) for exponent in own],
            x2=[exponent + aside + 0.44 for aside in (0.06, 0.5) for exponent in own],
            y=[*counts, *volumes],
            kind=[name for name in names for _ in own],
            base=[0.0] * (2 * len(own)),
        )
        is_last = at == len(panels) - 1
        across = axis("x", "size" if is_last else "", ends=ends, ticks=ticks)
        views.append(
            {
                "height": 150,
                "data": data,
                "mark": {"type": "rect"},
                "encoding": {
                    "x": across,
                    "x2": {"field": "x2"},
                    "y": axis("y", f"{title} (%)"),
                    "y2": {"field": "base"},
                    "color": named,
                    "tooltip": {"field": "y", "type": "quantitative", "format": ".3~g"},
                },
            }
        )
    return {"vconcat": views}
