"""Chart idioms of names from the top down: bars by rank, stacked or grouped, and points by name.

What is drawn follows from the columns of the data, as in `resilver.charts.idioms`: `name` and `x`,
and where they are there `kind`, `x2` (a pale rest up to it), `mark` (a tick), `low` and `high` (an
interval), `label` (words behind the bar), `text` (what the pointer reads) and `part`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.charts.idioms import Kinds, Read, apart, coloured, count_of, has, read_of, zero_line
from resilver.charts.style import BLUE, GREY, INK, MARKS
from resilver.charts.vega import Spec

_ENDS = ("x", "x2", "mark", "high")
"""The columns at whose largest a label stands."""


def _by_name(
    data: Spec, across: Spec, layers: Sequence[Spec], step: int, room: int, **axis: Any
) -> Spec:
    """Layers over a line a name, from the top down."""
    count = len({row["name"] for row in data["values"]})
    down: Spec = {"field": "name", "type": "nominal", "sort": None, "title": None}
    down["axis"] = {"minExtent": 0, "maxExtent": 400, "labelLimit": 150, **axis}
    return {
        "height": step * max(count, 1),
        "room": (room, 24),
        "data": data,
        "encoding": {"y": down, "x": across},
        "layer": list(layers),
    }


def _interval(data: Spec, **mark: Any) -> list[Spec]:
    if not has(data, "low"):
        return []
    rule = {"type": "rule", "color": INK, "strokeWidth": 1.25, **mark}
    return [{"mark": rule, "encoding": {"x": {"field": "low"}, "x2": {"field": "high"}}}]


def _tick(data: Spec, told: Read, step: int, **mark: Any) -> list[Spec]:
    if not has(data, "mark"):
        return []
    tick = {"type": "tick", "thickness": 2.5, "size": round(0.78 * step), "color": INK, **mark}
    return [{"mark": tick, "encoding": {"x": {"field": "mark"}, "tooltip": told}}]


def _read_of(data: Spec, read: Read, noun: str, kinds: Kinds, across: Spec) -> Read:
    name = {"field": "name", "title": noun}
    kind = [{"field": "kind", "title": "what"}] if count_of(kinds) > 1 else []
    return read_of(data, read, "", BLUE, name, *kind, across)


def bars(
    data: Spec,
    across: Spec,
    kinds: Kinds = BLUE,
    *,
    noun: str = "name",
    step: int = 34,
    room: int = 130,
    stacked: bool = False,
    grouped: bool = False,
    signed: bool = False,
    read: Read = None,
    **axis: Any,
) -> Spec:
    """Bars by name, the first on top: in one piece, with a pale rest, stacked or side by side.

    Args:
        data: Columns `name` and `x`, and those of this module.
        across: The axis across, of `x`.
        noun: What a name is, for the pointer.
        step: Pixels of a name.
        room: Pixels left of the bars, for the names.
        stacked: Whether bars of one name follow each other, in the order of the kinds.
        grouped: Whether they stand below each other.
        signed: Whether bars go both ways from a line at zero.
        axis: More about the axis of the names, in Vega-Lite's words.
    """
    order = [] if isinstance(kinds, str) else list(kinds)
    told = _read_of(data, read, noun, kinds, across)
    bar: Spec = {"type": "bar", "height": {"band": 0.6}}
    more: Spec = {}
    if grouped:
        bar = {"type": "bar"}
        more = {"yOffset": {"field": "kind", "type": "nominal", "sort": order}}
    if stacked:
        for row in data["values"]:
            row["rank"] = order.index(row["kind"])
        more = {"order": {"field": "rank", "type": "quantitative"}}
    across = across | {"stack": "zero" if stacked else None}
    layers = [coloured(bar, kinds, tooltip=told, **more)]
    if has(data, "x2"):
        rest = coloured(bar | {"fillOpacity": 0.3}, kinds, tooltip=told, x2={"field": "x2"})
        layers.append(rest)
    layers += [*_interval(data), *_tick(data, told, step)]
    if has(data, "label"):
        layers.append(_labels(data))
    layers += [zero_line()] if signed else []
    return _by_name(data, across, layers, step, room, **axis)


def _labels(data: Spec) -> Spec:
    """The words behind each bar, its rest, its tick and its interval."""
    for row in data["values"]:
        row["end"] = max(row[name] for name in _ENDS if row.get(name) is not None)
    mark = {"type": "text", "align": "left", "dx": 5, "color": INK}
    place = {"field": "end", "type": "quantitative"}
    return {"mark": mark, "encoding": {"x": place, "text": {"field": "label", "type": "nominal"}}}


def dots(
    data: Spec,
    across: Spec,
    kinds: Kinds = BLUE,
    *,
    noun: str = "name",
    step: int = 17,
    room: int = 130,
    marks: Sequence[str] = MARKS,
    large: str = "",
    wide: float = 1.5,
    read: Read = None,
    over: Sequence[Spec] = (),
    **axis: Any,
) -> Spec:
    """Points by name, several kinds on one line, with the span between `low` and `high`.

    Args:
        data: Columns `name` and `x`, and those of this module.
        across: The axis across, of `x`.
        noun: What a name is, for the pointer.
        step: Pixels of a name.
        room: Pixels left of the points, for the names.
        marks: The marks of the kinds.
        large: The kind whose points are larger, so that what is behind another is seen.
        wide: Of a span, in pixels.
        over: Layers over the points.
        axis: More about the axis of the names, in Vega-Lite's words.
    """
    told = _read_of(data, read, noun, kinds, across)
    size: Spec = {"value": 60}
    if large:
        test = f"datum.kind === {large!r}"
        size = {"condition": {"test": test, "value": 110}, "value": 35}
    point = {"type": "point", "filled": True}
    layers = [
        *_interval(data, color=GREY, strokeWidth=wide, strokeOpacity=1.0 if wide < 3.0 else 0.5),
        *_tick(data, told, step),
        coloured(point, kinds, size=size, tooltip=told, **apart(kinds, marks, "shape")),
    ]
    many = {"grid": True} if count_of(kinds) > 1 and not has(data, "low") else {}
    return _by_name(data, across, [*layers, *over], step, room, **many, **axis)
