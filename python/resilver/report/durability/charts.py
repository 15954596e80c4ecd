"""Charts of durability: nines against overhead, losses by cause, and what matters most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from resilver.charts.idioms import curve, points, series
from resilver.charts.named import bars
from resilver.charts.style import BLUE, GREY, INK, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.data_loss.answer import Durability, nines
from resilver.report.durability import tables, words
from resilver.report.durability.sentences import named_factor
from resilver.report.durability.words import labels, pareto
from resilver.words import percent, plural

Side = Literal["above", "left", "right"]
Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels."""

_WIDTH = 290
"""Pixels across on a telephone: what is clear there is clear on anything wider."""
_LETTER, _HALF_HEIGHT, _POINT, _AWAY = 6.3, 7.0, 6.0, 8.0
_OFF_LINE_MAX = 8
"""Points off the line that are named."""


@dataclass(frozen=True)
class Point:
    """A point of a chart: its name, its place, and whether it is on the line."""

    name: str
    x: float
    y: float
    is_on_line: bool


def named_points(
    points: Sequence[Point],
    across: tuple[float, float],
    upwards: tuple[float, float],
    height: float,
) -> list[tuple[Point, Side]]:
    """The points that are named and on which side, those of the line first, its ends before all.

    One of the line is named beside it where its name has no room above.

    Args:
        points: All points; those of the line in its order.
        across: The ends of the axis across.
        upwards: The ends of the axis upwards.
        height: The height of the chart in pixels.
    """

    def place(one: Point) -> tuple[float, float]:
        x = (one.x - across[0]) / (across[1] - across[0]) * _WIDTH
        return x, (upwards[1] - one.y) / (upwards[1] - upwards[0]) * height

    line = [one for one in points if one.is_on_line]
    taken: list[Box] = []
    found: list[tuple[Point, Side]] = []
    for one in [*line[-1:], *line[:1], *line[1:-1]]:
        box = _box(place(one), one.name, "above")
        if box[0] >= 0.0 and not _meets(box, taken):
            taken.append(box)
            found.append((one, "above"))
    places = [place(one) for one in points]
    taken += [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in places]
    taken += _steps([place(one) for one in line])
    for one, (x, y) in zip(points, places, strict=True):
        own = (x - _POINT, y - _POINT, x + _POINT, y + _POINT)
        others = [box for box in taken if box != own]
        for side in () if (one, "above") in found else ("right", "left"):
            box = _box((x, y), one.name, side)
            is_within = box[0] >= 0.0 and box[2] <= _WIDTH
            if is_within and not _meets(box, others) and len(found) < len(line) + _OFF_LINE_MAX:
                taken.append(box)
                found.append((one, side))
                break
    return found


def _box(at: tuple[float, float], name: str, side: Side) -> Box:
    width = _LETTER * len(name)
    middle = at[1] - 6.0 if side == "above" else at[1]
    left = at[0] + _AWAY if side == "right" else at[0] - _AWAY - width
    return left, middle - _HALF_HEIGHT, left + width, middle + _HALF_HEIGHT


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(
        box[0] < right and left < box[2] and box[1] < bottom and top < box[3]
        for left, top, right, bottom in others
    )


def _steps(line: Sequence[tuple[float, float]]) -> Iterator[Box]:
    """The line's flights and rises: from each point across, then up to the next."""
    for (x, y), (next_x, next_y) in pairwise(line):
        yield x, y - 1.0, next_x, y + 1.0
        yield next_x - 1.0, min(y, next_y), next_x + 1.0, max(y, next_y)


_CAUSED_MAX = 24
"""Systems whose causes stand below each other."""
_FACTORS_MAX = 14
_LINE_HEIGHT = 380
_ON, _OFF = "Pareto-optimal", "another is safer at no more overhead"


def pareto_chart(systems: Sequence[Durability], what: str) -> Chart | None:
    """Nines against storage overhead, with the Pareto line; None without a choice.

    Args:
        what: What they are, such as ``codes``.
    """
    shown = [one for one in systems if one.nines is not None and math.isfinite(one.nines)]
    if len(shown) < 2 or len({one.overhead for one in shown}) < 2:
        return None
    line = pareto(shown)
    cheap, safe = line[0], line[-1]
    heading = f"One of {len(shown):,} {what} is both cheapest and safest"
    if len(line) > 1:
        heading = (
            f"{len(line)} of {len(shown):,} {what} are Pareto-optimal, from {cheap.nines:.1f} "
            f"nines at {cheap.overhead:.4g}x storage overhead to {safe.nines:.1f} at "
            f"{safe.overhead:.4g}x"
        )
    text = (
        "Durability in nines (-log10 of the yearly probability of data loss) against storage "
        "overhead. On the line none with the same or lower overhead is safer."
    )
    if any(one.annual.low < one.annual.high for one in shown):
        text += " Vertical lines are 95 % intervals."
    if len(shown) < len(systems):
        left = plural(len(systems) - len(shown), "system")
        text += f" Not shown: {left} that cannot lose data or whose probability is unknown."
    made = tables.compared_table(systems)
    return Chart(
        "pareto", heading, text, lambda: _pareto_spec(shown, line), made, f"{what} by nines"
    )


def _pareto_spec(shown: Sequence[Durability], line: Sequence[Durability]) -> Spec:
    names = dict(zip(map(id, shown), labels(shown), strict=True))
    on = {id(one) for one in line}
    all_nines = [one.nines or 0.0 for one in shown]
    ends = [_ends(one) for one in shown]
    low = min(min(end[0] for end in ends), *all_nines)
    high = max(max(end[1] for end in ends), *all_nines)
    room = 0.06 * max(high - low, 1.0)
    upwards = (max(0.0, low - room), high + room)
    overheads = [one.overhead for one in shown]
    width = max(overheads) - min(overheads)
    across = (min(overheads) - 0.3 * width, max(overheads) + 0.05 * width)
    data = rows(
        x=overheads,
        y=all_nines,
        low=[end[0] for end in ends],
        high=[end[1] for end in ends],
        kind=[_ON if id(one) in on else _OFF for one in shown],
        name=[names[id(one)] for one in shown],
        text=[words.chance(one.annual) for one in shown],
    )
    ordered = [*line, *(one for one in shown if id(one) not in on)]
    placed = [Point(names[id(one)], one.overhead, one.nines or 0.0, id(one) in on)
              for one in ordered]  # fmt: skip
    named = named_points(placed, across, upwards, _LINE_HEIGHT)
    read = tip(("name", "system"), ("x", "storage overhead"), ("y", "nines"))
    read.append({"field": "text", "type": "nominal", "title": "data loss in a year"})
    ticks = _overheads(overheads)
    step = {"interpolate": "step-after"}
    nines_of = [one.nines or 0.0 for one in line]
    return points(
        data,
        axis("x", "storage overhead", ends=across, ticks=ticks),
        axis("y", "durability (nines)", ends=upwards),
        {_ON: BLUE, _OFF: GREY},
        size=55,
        marks=("circle", "diamond"),
        height=_LINE_HEIGHT,
        read=read,
        below=[curve([one.overhead for one in line], nines_of, BLUE, dash=0, **step)],
        over=_names(named),
    )


def _overheads(found: Sequence[float]) -> list[float]:
    """Some five ticks among overheads, of which none is below 1."""
    low, high = max(1.0, min(found)), max(found)
    step = 10.0 ** math.floor(math.log10((high - low) / 6.0))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= 6.0)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [round((first + rank) * step, 9) for rank in range(count)]


def _ends(one: Durability) -> tuple[float, float]:
    """The interval of a system's nines; its value twice where it has none."""
    found = one.nines or 0.0
    least = nines(one.annual.high) if 0.0 < one.annual.high < 1.0 else found
    most = nines(one.annual.low) if 0.0 < one.annual.low < 1.0 else found
    return max(0.0, least or 0.0), most or found


def _names(found: Sequence[tuple[Point, Side]]) -> list[Spec]:
    """The names of points: above left of the line's, beside others."""
    layers: list[Spec] = []
    for side, align, away, up in (("above", "right", -8, -6), ("left", "right", -8, 0),
                                  ("right", "left", 8, 0)):  # fmt: skip
        points = [one for one, chosen in found if chosen == side]
        if not points:
            continue
        data = rows(x=[one.x for one in points], y=[one.y for one in points],
                    text=[one.name for one in points])  # fmt: skip
        mark = {"type": "text", "align": align, "dx": away, "dy": up, "fontSize": 11}
        colour = INK if side == "above" else GREY
        text = {"text": {"field": "text", "type": "nominal"}}
        layers.append({"data": data, "mark": mark | {"color": colour}, "encoding": text})
    return layers


def causes_chart(systems: Sequence[Durability]) -> Chart | None:
    """The losses' causes: a bar each, or a stacked bar a system; None where there is one cause."""
    shown = [one for one in systems if one.causes]
    names = tables.cause_names(shown)
    if len(names) < 2 or len(shown) > _CAUSED_MAX:
        return None
    made = tables.causes_table(shown)
    if len(shown) == 1:
        first = names[0]
        heading = f"{percent(shown[0].causes[first])} of data losses are from {first}"
        text = "The share of each cause in data losses, by the failure that was one too many."
        spec = lambda: _bars(shown[0], names)  # noqa: E731
        return Chart("causes", heading, text, spec, made, "What loses data", printed=24)
    tops = {max(one.causes, key=lambda cause: one.causes[cause]) for one in shown}
    heading = f"{names[0][0].upper()}{names[0][1:]} cause most losses in every system"
    if len(tops) > 1:
        heading = "The main cause of data loss differs between systems"
    text = "The share of each cause in data losses, by system."
    return Chart("causes", heading, text, lambda: _stacked(shown, names), made, "by cause")


def _bars(one: Durability, names: Sequence[str]) -> Spec:
    shares = [100.0 * one.causes.get(name, 0.0) for name in names]
    data = rows(name=names, x=shares, label=[percent(share / 100.0) for share in shares])
    end = 1.25 * max(shares)
    ticks = [at for at in range(0, 101, 20 if end > 50.0 else 5) if at <= end]
    across = axis("x", "share of losses (%)", ends=(0.0, end), ticks=ticks)
    return bars(data, across, noun="cause", step=30, room=170)


def _stacked(shown: Sequence[Durability], names: Sequence[str]) -> Spec:
    data = rows(
        name=[name for name in labels(shown) for _ in names],
        kind=[cause for _ in shown for cause in names],
        x=[100.0 * one.causes.get(cause, 0.0) for one in shown for cause in names],
    )
    across = axis("x", "share of losses (%)", ends=(0.0, 100.0))
    return bars(data, across, series(names), noun="system", step=26, room=170, stacked=True)


def sensitivity_chart(found: Durability) -> Chart | None:
    """By what a loss becomes likelier with 1 % more of each rate; None where nobody asked."""
    effects = tables.sensitivity_rows(found.sensitivity)[:_FACTORS_MAX]
    if not effects:
        return None
    most = effects[0]
    change = f"{abs(most['elasticity']):.2g} %"
    more = "more" if most["elasticity"] > 0.0 else "less"
    heading = f"1 % more of {named_factor(most)} makes data loss {change} {more} likely"
    text = (
        "The change of the probability of data loss if one input is 1 % larger and all others "
        "stay as they are; the largest first."
    )
    is_sampled = any(_is_sampled(one) for one in effects)
    if is_sampled:
        text += " Thin lines are 95 % intervals."
    made = tables.sensitivity_table(found.sensitivity)
    columns = tables.SENSITIVITY_WORDS if is_sampled else tables.SENSITIVITY_WORDS - 1
    spec, title = lambda: _effects(effects), "What matters most"
    return Chart("matters", heading, text, spec, made, title, printed=24, columns=columns)


def _is_sampled(one: dict[str, Any]) -> bool:
    return None not in (one["low"], one["high"]) and one["low"] < one["high"]


def _effects(effects: Sequence[dict[str, Any]]) -> Spec:
    ways = {"more likely": VERMILLION, "less likely": BLUE}
    chosen = ["less likely" if one["elasticity"] < 0.0 else "more likely" for one in effects]
    kinds = [kind for kind in ways if kind in chosen]
    ends = [(one["low"], one["high"]) if _is_sampled(one) else (None, None) for one in effects]
    data = rows(
        name=[one["factor"] for one in effects],
        x=[one["elasticity"] for one in effects],
        kind=chosen,
        low=[low for low, _ in ends],
        high=[high for _, high in ends],
    )
    across = axis("x", "change of the probability (%)", tickCount=7)
    read = tip(("name", "1 % more of"), ("x", "changes it by (%)"))
    shown = {kind: ways[kind] for kind in kinds}
    return bars(data, across, shown, step=30, room=170, signed=True, read=read)
