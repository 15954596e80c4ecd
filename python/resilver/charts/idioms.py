"""Chart idioms over two axes of numbers: lines, points, columns and heat.

An idiom is a function of data and words that returns a specification by the conventions of
`resilver.charts.vega`. What it draws follows from the columns of its data: `x` and `y`; `kind`,
which tells series apart by colour, mark and dash; `low` and `high`, an interval; `text`, what the
pointer reads in place of the axes' titles; and `part`, by which a page links charts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resilver.charts.style import BLUE, DASHES, GREY, INK, MARKS, PURPLE, SERIES, VERMILLION
from resilver.charts.vega import READ, UPRIGHT, Spec, colours, rows, tip, told_apart, zoom

if TYPE_CHECKING:
    from resilver.tables import Table

Kinds = str | Mapping[str, str]
"""The colour of all data, or the colour of each kind in the order of the legend."""
Read = Sequence[Spec] | Spec | None
"""What the pointer reads; None for the column `text`, or what the axes are titled."""


def series(names: Iterable[str], shades: Sequence[str] = SERIES) -> dict[str, str]:
    """A colour for each name, in order; names beyond the colours start over.

    >>> series(["a", "b", "a"], ["#111", "#222"])
    {'a': '#111', 'b': '#222'}
    """
    return {name: shades[at % len(shades)] for at, name in enumerate(dict.fromkeys(names))}


def data_of(table: Table, units: Mapping[str, float] | None = None, **columns: str) -> Spec:
    """Data of a chart from the columns of its table; shares become per cent.

    Args:
        table: The table that the chart stands beside.
        units: What one unit of an axis is in the table's, by the chart's column.
        columns: For each column of the chart that of the table.
    """
    at = {column.name: rank for rank, column in enumerate(table.columns)}
    values: dict[str, list[Any]] = {}
    for name, column in columns.items():
        rank = at[column]
        unit = (units or {}).get(name, 0.01 if table.columns[rank].kind == "share" else 1.0)
        found = [row[rank] for row in table.rows]
        values[name] = [
            one if one is None or isinstance(one, str) or unit == 1.0 else one / unit
            for one in found
        ]
    return rows(**values)


def has(data: Spec, column: str) -> bool:
    """Whether data have a column."""
    return any(column in row for row in data["values"][:1])


def count_of(kinds: Kinds) -> int:
    """How many kinds a legend has to tell apart."""
    return 1 if isinstance(kinds, str) else len(kinds)


def coloured(mark: Spec, kinds: Kinds, **encoding: Any) -> Spec:
    """A layer in the colour of its kinds.

    Args:
        mark: Its mark.
        kinds: One colour, or that of each kind.
        encoding: Its channels but for the colour.
    """
    if isinstance(kinds, str):
        return {"mark": {"color": kinds, **mark}, "encoding": encoding}
    named = colours(list(kinds), list(kinds.values()), legend=len(kinds) > 1)
    return {"mark": mark, "encoding": {"color": named | {"field": "kind"}, **encoding}}


def apart(kinds: Kinds, ways: Sequence[Any], channel: str) -> Spec:
    """The channel that tells kinds apart beside their colour; none of a single kind."""
    if isinstance(kinds, str) or len(kinds) < 2:
        return {}
    return {channel: told_apart(list(kinds), ways)}


def read_of(data: Spec, read: Read, noun: str, kinds: Kinds, *axes: Spec) -> Read:
    """What the pointer reads: as said, else the column `text`, else kind and axes."""
    if read is not None:
        return read
    if has(data, "text"):
        return READ
    of_kind = [("kind", noun)] if count_of(kinds) > 1 else []
    return tip(*of_kind, *((axis["field"], axis.get("title") or axis["field"]) for axis in axes))


def frame(data: Spec, across: Spec, upwards: Spec, layers: Sequence[Spec], height: int) -> Spec:
    """Layers over two axes."""
    return {
        "height": height,
        "data": data,
        "encoding": {"x": across, "y": upwards},
        "layer": list(layers),
    }


def lines(
    data: Spec,
    across: Spec,
    upwards: Spec,
    kinds: Kinds = BLUE,
    *,
    noun: str = "series",
    steps: str = "",
    dots: str = "",
    interval: str = "area",
    dashes: Sequence[Sequence[int]] = DASHES,
    marks: Sequence[str] = MARKS,
    width: float = 2.0,
    height: int = 260,
    read: Read = None,
    zooms: bool = False,
    below: Sequence[Spec] = (),
    over: Sequence[Spec] = (),
) -> Spec:
    """Lines over an axis, several told apart by colour and dash, with their intervals and dots.

    Args:
        data: Columns `x` and `y`; may have `kind`, `low` and `high`, `text`, `part`.
        across: The axis across.
        upwards: The axis upwards.
        kinds: The colours.
        noun: What a kind is, for the pointer.
        steps: How Vega-Lite interpolates steps; empty for straight lines.
        dots: A condition on data, in Vega's words, of those that get a dot; "true" for all.
        interval: What `low` and `high` are drawn as: "area", "rule", or "bare" for an area that
            the line bounds.
        dashes: The dashes of the kinds.
        marks: The dots of the kinds.
        width: Of a line, in pixels.
        height: In pixels.
        read: What the pointer reads.
        zooms: Whether a reader can move and widen the axis across.
        below: Layers below the lines.
        over: Layers over them.
    """
    told = read_of(data, read, noun, kinds, across, upwards)
    clip = {"clip": True} if zooms else {}
    joined = {"interpolate": steps} if steps else {}
    made: list[Spec] = list(below)
    if has(data, "low"):
        ends = {"y": {"field": "low"}, "y2": {"field": "high"}}
        mark = {"type": "area", "fillOpacity": 0.2, **joined, **clip}
        if interval == "rule":
            mark = {"type": "rule", "strokeWidth": 1.25}
        made.append(coloured(mark, kinds, **ends))
    line = {"type": "line", "strokeWidth": width, **joined, **clip}
    made.append(coloured(line, kinds, tooltip=told, **apart(kinds, dashes, "strokeDash")))
    if dots:
        point = {"type": "point", "filled": True, "size": 55, **clip}
        dot = coloured(point, kinds, tooltip=told, **apart(kinds, marks, "shape"))
        made.append(dot if dots == "true" else {"transform": [{"filter": dots}], **dot})
    if zooms:
        made[len(below)]["params"] = [zoom()]
    return frame(data, across, upwards, [*made, *over], height)


def points(
    data: Spec,
    across: Spec,
    upwards: Spec,
    kinds: Kinds = BLUE,
    *,
    noun: str = "series",
    size: int = 30,
    marks: Sequence[str] = MARKS,
    height: int = 260,
    read: Read = None,
    zooms: str = "",
    below: Sequence[Spec] = (),
    over: Sequence[Spec] = (),
    **mark: Any,
) -> Spec:
    """Points over two axes, told apart by colour and mark, with upright intervals.

    Args:
        data: Columns `x` and `y`; may have `kind`, `low` and `high`, `text`, `part`.
        across: The axis across.
        upwards: The axis upwards.
        kinds: The colours.
        noun: What a kind is, for the pointer.
        size: Of a point, in square pixels.
        marks: The marks of the kinds.
        height: In pixels.
        read: What the pointer reads.
        zooms: What the selection is called by which a reader moves the axis across; empty for none.
        below: Layers below the points.
        over: Layers over them.
        mark: More about the points' mark, in Vega-Lite's words.
    """
    told = read_of(data, read, noun, kinds, across, upwards)
    made: list[Spec] = []
    if has(data, "low"):
        rule = {"type": "rule", "strokeWidth": 1.25}
        made.append(coloured(rule, kinds, y={"field": "low"}, y2={"field": "high"}))
    point = {"type": "point", "filled": True, "size": size, "clip": bool(zooms), **mark}
    dots = coloured(point, kinds, tooltip=told, **apart(kinds, marks, "shape"))
    if zooms:
        dots["params"] = [zoom(zooms)]
    return frame(data, across, upwards, [*below, *made, dots, *over], height)


def columns(
    data: Spec,
    across: Spec,
    upwards: Spec,
    kinds: Kinds = BLUE,
    *,
    wide: float = 0.86,
    noun: str = "series",
    height: int = 240,
    read: Read = None,
    zooms: bool = False,
    over: Sequence[Spec] = (),
) -> Spec:
    """Upright bars over an axis of numbers with ends: a histogram, or bars by rank.

    Args:
        data: Columns `x`, the middle of a bar, and `y`; may have `base`, `kind`, `low` and `high`,
            `text`, `part`.
        across: The axis across.
        upwards: The axis upwards.
        kinds: The colours.
        wide: How wide a bar is, in units of the axis across; never below a pixel.
        noun: What a kind is, for the pointer.
        height: In pixels.
        read: What the pointer reads.
        zooms: Whether a reader can move and widen the axis across.
        over: Layers over the bars.
    """
    low, high = across["scale"]["domain"]
    # On an axis of numbers a bar has no width by itself.
    width = {"expr": f"max(1, {wide / (high - low):.6g} * width)"}
    mark = {"type": "bar", "orient": "vertical", "clip": True, "width": width}
    base = {"field": "base"} if has(data, "base") else {"datum": 0}
    told = read_of(data, read, noun, kinds, across, upwards)
    # Vega-Lite widens an axis of bars by itself, so that what stands below would not be in line.
    across = across | {"scale": across["scale"] | {"padding": 0}}
    layers = [coloured(mark, kinds, y2=base, tooltip=told)]
    if zooms:
        layers[0]["params"] = [zoom("zoom0")]
    if has(data, "low"):
        rule = {"type": "rule", "strokeWidth": 1.25, "color": INK}
        layers.append({"mark": rule, "encoding": {"y": {"field": "low"}, "y2": {"field": "high"}}})
    return frame(data, across, upwards, [*layers, *over], height)


def heat(
    data: Spec,
    across: Spec,
    upwards: Spec,
    ends: tuple[float, float],
    kinds: Kinds = BLUE,
    *,
    depths: tuple[float, float] = (0.05, 1.0),
    legend: str = "",
    height: int = 220,
    read: Read = None,
    words: bool = False,
    **mark: Any,
) -> Spec:
    """Fields over two axes of names or whole numbers, the deeper the more.

    How dark a field is reads alike on paper and on a dark page.

    Args:
        data: Columns `x`, `y` and `depth`; may have `kind`, `text`, `part`.
        across: The axis across.
        upwards: The axis upwards.
        ends: The values that are palest and deepest.
        kinds: The colours.
        depths: The opacity at both ends.
        legend: What the depth is; empty for no legend.
        height: In pixels.
        read: What the pointer reads.
        words: Whether the column `text` stands in the fields.
        mark: More about the fields' mark, in Vega-Lite's words.
    """
    depth: Spec = {"field": "depth", "type": "quantitative"}
    depth["scale"] = {"domain": list(ends), "range": list(depths)}
    depth |= {"title": legend} if legend else {"legend": None}
    layers = [coloured({"type": "rect", **mark}, kinds, fillOpacity=depth, tooltip=read or READ)]
    if words:
        letters = {"type": "text", "color": INK, "fontSize": 10}
        layers.append({"mark": letters, "encoding": {"text": READ}})
    return frame(data, across, upwards, layers, height)


def fields(field: str, title: str | None, order: Sequence[Any] | str | None = None) -> Spec:
    """A channel of whole numbers or names with a field each; without a title it has no axis."""
    made: Spec = {"field": field, "type": "ordinal", "title": title}
    made |= {} if order is None else {"sort": order}
    axis = {"labelAngle": 0, "ticks": False}
    return made | {"axis": None if title is None else axis}


def levels(places: Mapping[float, str], colour: str = VERMILLION, at: float | None = None) -> Spec:
    """Dashed lines across a chart, each with its words above its left end.

    Args:
        places: The words of each height; may be empty ones.
        colour: Of the lines.
        at: Where words begin on the axis across; None for the left edge.
    """
    data = rows(y=list(places), text=list(places.values()))
    rule = {"type": "rule", "color": colour, "strokeDash": DASHES[1], "strokeWidth": 1.5}
    label = {"type": "text", "align": "left", "dx": 3, "dy": -6, "color": INK}
    height = {"field": "y", "type": "quantitative"}
    ends: Spec = {"x": {"value": 0}, "x2": {"value": {"expr": "width"}}, "y": height}
    begin = {"value": 0} if at is None else {"datum": at}
    layers: list[Spec] = [{"mark": rule, "encoding": ends}]
    if any(places.values()):
        layers.append({"mark": label, "encoding": {"x": begin, "y": height, "text": READ}})
    return {"data": data, "layer": layers}


def stars(places: Sequence[tuple[float, float, str]], size: int = 20) -> list[Spec]:
    """A source's numbers as stars: a layer, or none.

    Args:
        places: For each its place across, its height, and what the pointer reads.
        size: Of a star, in pixels.
    """
    if not places:
        return []
    xs, ys, words = zip(*places, strict=True)
    mark = {"type": "text", "text": "★", "fontSize": size, "color": PURPLE}
    encoding = {"x": {"field": "x"}, "y": {"field": "y"}, "tooltip": READ}
    return [{"data": rows(x=xs, y=ys, text=words), "mark": mark, "encoding": encoding}]


def curve(
    xs: Sequence[float], ys: Sequence[float], colour: str = GREY, dash: int = 1, **mark: Any
) -> Spec:
    """One line beside the data of a chart, such as an ideal: a layer.

    Args:
        xs: Its places across.
        ys: Its heights.
        colour: Its colour.
        dash: Which of `DASHES`.
        mark: More about its mark, in Vega-Lite's words.
    """
    line = {"type": "line", "color": colour, "strokeDash": DASHES[dash], "strokeWidth": 1.5, **mark}
    encoding = {"x": {"field": "x"}, "y": {"field": "y"}}
    return {"data": rows(x=xs, y=ys), "mark": line, "encoding": encoding}


def panels(views: Sequence[Spec]) -> Spec:
    """Views below each other, of which the last alone has the labels of the axis across."""
    for view in views[:-1]:
        across = view["encoding"]["x"]
        silent = {"labels": False, "title": None, "ticks": False}
        view["encoding"]["x"] = across | {"axis": across["axis"] | silent}
    return {"vconcat": list(views)}


def zero_line() -> Spec:
    """An upright line at zero: a layer."""
    rule = {"type": "rule", "color": INK, "strokeWidth": 1}
    return {"data": rows(x=[0.0]), "mark": rule, "encoding": {"x": {"field": "x"}, **UPRIGHT}}
