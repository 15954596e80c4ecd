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


def side_by_side(
    table: Table, value: str, kinds: Mapping[str, str], unit: float = 1.0, **columns: str
) -> Spec:
    """Data of a chart from a table with a column a kind, as `data_of` has it: a mark a cell.

    Args:
        value: The column of the chart that takes the values of all of them.
        kinds: What the values of each of these columns of the table are of.
        unit: What one unit of their axis is in the table's.
    """
    of_kinds = {
        kind: data_of(table, {value: unit}, **columns, **{value: column})["values"]
        for column, kind in kinds.items()
    }
    return {"values": [{"kind": kind, **row} for kind, of in of_kinds.items() for row in of]}


def has(data: Spec, column: str) -> bool:
    """Whether data have a column with a value in it; Vega complains of axes over nothing."""
    return any(row.get(column) is not None for row in data["values"])


def count_of(kinds: Kinds) -> int:
    """How many kinds a legend has to tell apart."""
    return 1 if isinstance(kinds, str) else len(kinds)


def coloured(mark: Spec, kinds: Kinds, **encoding: Any) -> Spec:
    """A layer in the colour of its kinds.

    Args:
        kinds: One colour, or that of each kind.
        encoding: Its channels but for the colour.
    """
    if isinstance(kinds, str):
        return {"mark": {"color": kinds, **mark}, "encoding": encoding}
    named = colours(list(kinds), list(kinds.values()), legend=len(kinds) > 1)
    return {"mark": mark, "encoding": {"color": named | {"field": "kind"}, **encoding}}


def apart(kinds: Kinds, ways: Sequence[Any], channel: str) -> Spec:
    """The channel that tells kinds apart beside their colour; none of a single kind."""
    if isinstance(kinds, str) or len(kinds) < 2 or not ways:
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
    encoding = {"x": across, "y": upwards}
    return {"height": height, "data": data, "encoding": encoding, "layer": list(layers)}


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
    filled: bool = False,
    cut: bool = False,
    zooms: str = "",
    dashes: Sequence[Sequence[int]] = DASHES,
    marks: Sequence[str] = MARKS,
    width: float = 2.0,
    size: int | Spec = 55,
    height: int = 260,
    read: Read = None,
    below: Sequence[Spec] = (),
    over: Sequence[Spec] = (),
    **dot: Any,
) -> Spec:
    """Lines over an axis, several told apart by colour and dash, with their intervals and dots.

    Args:
        data: Columns `x` and `y`; may have `kind`, `low` and `high`, `text`, `part`.
        noun: What a kind is, for the pointer.
        steps: How Vega-Lite interpolates steps; empty for straight lines.
        dots: A condition on data, in Vega's words, of those that get a dot; "true" for all.
        interval: What `low` and `high` are drawn as: "area" or "rule".
        filled: Whether the lines bound areas from zero.
        cut: Whether what is drawn ends at the ends of the axes.
        zooms: What the selection is called by which a reader moves and widens the axis across;
            empty for none.
        dashes: The dashes of the kinds; none where another layer has dashes of its own.
        marks: The marks of the kinds' dots.
        width: Of a line, in pixels; 0 for no line.
        size: Of a dot, in square pixels.
        height: In pixels.
        below: Layers below the lines.
        over: Layers over them.
        dot: More about the mark of dots, in Vega-Lite's words.
    """
    told = read_of(data, read, noun, kinds, across, upwards)
    more = ({"clip": True} if zooms or cut else {}) | ({"interpolate": steps} if steps else {})
    made: list[Spec] = []
    if has(data, "low"):
        area = {"type": "area", "fillOpacity": 0.2, **more}
        mark = area if interval == "area" else {"type": "rule", "strokeWidth": 1.25}
        made.append(coloured(mark, kinds, y={"field": "low"}, y2={"field": "high"}))
    if filled:
        area = {"type": "area", "fillOpacity": 0.22, **more}
        made.append(coloured(area, kinds, y={"field": "y", "stack": None}))
    if width:
        line = {"type": "line", "strokeWidth": width, **more}
        made.append(coloured(line, kinds, tooltip=told, **apart(kinds, dashes, "strokeDash")))
    if dots:
        clip = {"clip": bool(zooms or cut)}
        point = {"type": "point", "filled": True, "size": size, **clip, **dot}
        layer = coloured(point, kinds, tooltip=told, **apart(kinds, marks, "shape"))
        made.append(layer if dots == "true" else {"transform": [{"filter": dots}], **layer})
    if zooms:
        made[0]["params"] = [zoom(zooms)]
    return frame(data, across, upwards, [*below, *made, *over], height)


def points(
    data: Spec, across: Spec, upwards: Spec, kinds: Kinds = BLUE, size: Any = 30, **look: Any
) -> Spec:
    """Points over two axes, told apart by colour and mark: `lines` without lines.

    Args:
        data: Columns `x` and `y`; may have `kind`, `low` and `high`, `text`, `part`.
        size: Of a point, in square pixels.
        look: What else `lines` takes.
    """
    bare: dict[str, Any] = {"width": 0.0, "dots": "true", "interval": "rule", "size": size}
    return lines(data, across, upwards, kinds, **bare | look)


def columns(
    data: Spec,
    across: Spec,
    upwards: Spec,
    kinds: Kinds = BLUE,
    *,
    wide: float = 0.86,
    height: int = 240,
    read: Read = None,
    zooms: bool = False,
    over: Sequence[Spec] = (),
) -> Spec:
    """Upright bars over an axis of numbers with ends: a histogram, or bars by rank.

    Args:
        data: Columns `x`, the middle of a bar, and `y`; may have `base`, `kind`, `low` and `high`,
            `text`, `part`.
        wide: How wide a bar is, in units of the axis across.
        height: In pixels.
        zooms: Whether a reader can move and widen the axis across.
        over: Layers over the bars.
    """
    field = across["field"]
    for row in data["values"]:
        row["left"], row["right"] = row[field] - 0.5 * wide, row[field] + 0.5 * wide
    base = {"field": "base"} if has(data, "base") else {"datum": 0}
    told = read_of(data, read, "series", kinds, across, upwards)
    edges: Spec = {"x": {"field": "left"}, "x2": {"field": "right"}, "y2": base}
    layers = [coloured({"type": "rect", "clip": True}, kinds, **edges, tooltip=told)]
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
        ends: The values that are palest and deepest.
        depths: The opacity at both ends.
        legend: What the depth is; empty for no legend.
        height: In pixels.
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


def levels(places: Mapping[float, str], colour: str = VERMILLION) -> Spec:
    """Dashed lines across a chart of one view, each with its words above its left end.

    Args:
        places: The words of each height; may be empty ones.
    """
    data = rows(y=list(places), text=list(places.values()))
    rule = {"type": "rule", "color": colour, "strokeDash": DASHES[1], "strokeWidth": 1.5}
    label = {"type": "text", "align": "left", "dx": 3, "dy": -6, "color": INK}
    height = {"field": "y", "type": "quantitative"}
    ends: Spec = {"x": {"value": 0}, "x2": {"value": {"expr": "width"}}, "y": height}
    layers: list[Spec] = [{"mark": rule, "encoding": ends}]
    if any(places.values()):
        layers.append({"mark": label, "encoding": {"x": {"value": 0}, "y": height, "text": READ}})
    return {"data": data, "layer": layers}


def uprights(places: Sequence[float | str], height: int, colour: str = VERMILLION) -> Spec:
    """Dashed upright lines in a view of this height, one of several or alone: a layer."""
    rule = {"type": "rule", "color": colour, "strokeDash": DASHES[1], "strokeWidth": 1.5}
    ends: Spec = {"y": {"value": 0}, "y2": {"value": height}}
    return {"data": rows(x=places), "mark": rule, "encoding": {"x": {"field": "x"}, **ends}}


def stars(data: Spec, size: int = 20) -> list[Spec]:
    """A source's numbers as stars, with their bands where these are said: layers, or none.

    Args:
        data: Columns `x`, `y`, `text`; may have `low` and `high`.
        size: Of a star, in pixels.
    """
    star = {"type": "text", "text": "★", "fontSize": size}
    encoding = {"x": {"field": "x"}, "y": {"field": "y"}}
    made = [coloured(star, PURPLE, **encoding, tooltip=READ)]
    if has(data, "low"):
        band = {"y": {"field": "low"}, "y2": {"field": "high"}}
        made.insert(0, coloured({"type": "rule", "strokeWidth": 2}, PURPLE, **band))
    return [{"data": data, **layer} for layer in made] if data["values"] else []


def curve(
    xs: Iterable[float | str], ys: Iterable[float], colour: str = GREY, dash: int = 1, **mark: Any
) -> Spec:
    """One line beside the data of a chart, such as an ideal: a layer.

    Args:
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
        silent = {"labels": False, "title": None}
        view["encoding"]["x"] = across | {"axis": across["axis"] | silent}
    return {"vconcat": list(views)}


def zero_line() -> Spec:
    """An upright line at zero: a layer."""
    rule = {"type": "rule", "color": INK, "strokeWidth": 1}
    return {"data": rows(x=[0.0]), "mark": rule, "encoding": {"x": {"field": "x"}, **UPRIGHT}}
