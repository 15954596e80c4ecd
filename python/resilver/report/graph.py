"""A network drawn: its nodes and links, how busy they are and which have failed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resilver.charts.style import BLUE, FAILED, GREY, INK, LOAD, ORANGE, PAPER
from resilver.charts.vega import READ, Spec, axis, colours, marks, rows, told_apart
from resilver.report.arrays import Flags, Floats, Integers
from resilver.report.topology_lines import Lines, lines_of
from resilver.words import percent, plural

HOTTEST = 5
"""How many of the busiest links are named."""
NODES_DRAWN_MAX = 600
"""Nodes of a network with more are too close together for names and marks of their own."""
_MARKS = {
    "host": ("circle", GREY, 1.0),
    "switch": ("square", INK, 1.6),
    "router": ("diamond", ORANGE, 1.9),
}
"""Each kind of node: mark, colour, size; drawn in this order."""
_LEVELS = 10
"""Steps of load that links are drawn in: each step is one path, however many links it has."""
_GRID = 1000
"""Places of a path are whole thousandths of half the width, which keeps a large network small."""
_LETTER_PIXELS = 6.2
_LABEL_LETTERS = 32


def graph_spec(
    positions: npt.ArrayLike,
    ends: npt.ArrayLike,
    kinds: Sequence[str],
    *,
    load: npt.ArrayLike | None = None,
    failed: npt.ArrayLike = (),
    labels: Sequence[str] = (),
) -> Spec:
    """A network as a chart.

    Args:
        positions: The place of each node in the unit square, shape (nodes, 2).
        ends: The two nodes of each link, shape (links, 2).
        kinds: ``host``, ``router`` or ``switch`` for each node.
        load: How busy each link is, 0 to 1; NaN where it is not known.
        failed: The numbers of the links that failed.
        labels: The name of each node; with a load, the busiest links are named by them.
    """
    places = np.asarray(positions, dtype=np.float64).reshape(-1, 2)
    joined = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
    lines = lines_of(places, joined)
    points = np.concatenate([lines.segments.reshape(-1, 2), places])
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.03 * np.maximum(high - low, 0.2)
    low, high = low - room, high + room
    ratio = float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.35, 1.0))
    dead = np.zeros(len(joined), dtype=np.bool_)
    dead[np.asarray(failed, dtype=np.int64)] = True
    busy = None if load is None else np.where(dead, np.nan, np.asarray(load, dtype=np.float64))
    across, up = (
        axis(name, None, ends=(float(low[at]), float(high[at]))) for at, name in enumerate("xy")
    )
    layers = _links(lines, busy, dead, low, high, ratio)
    hottest = [] if busy is None or not labels else _hottest(busy)
    ranks = _ranked(lines, hottest)
    layers.append(_nodes(places, kinds, labels))
    if labels and len(places) <= NODES_DRAWN_MAX:
        layers += _names(places, kinds, labels, joined, ratio, [at for _, at in ranks])
    if dead.any():
        layers.append(_crosses(lines, joined, dead, labels))
    view: Spec = {
        "ratio": ratio,
        "room": (8, 8),
        "encoding": {"x": across, "y": up},
        "layer": layers,
        "resolve": {"scale": {"color": "independent", "shape": "independent"}},
    }
    if not hottest or busy is None:
        return view
    layers += _ranks(ranks)
    words = [
        f"{rank}   {labels[joined[link][0]]} – {labels[joined[link][1]]}: {percent(busy[link])}"
        for rank, link in enumerate(hottest, 1)
    ]
    listed = {
        "height": 16 * len(words) + 6,
        "room": (8, 8),
        "data": rows(rank=range(len(words)), text=words),
        "mark": {"type": "text", "align": "left", "fontSize": 12, "color": INK},
        "encoding": {
            "x": {"value": 0},
            "y": {"field": "rank", "type": "ordinal", "axis": None, "sort": None},
            "text": READ,
        },
    }
    return {"vconcat": [view, listed], "resolve": {"scale": {"color": "independent"}}}


def _path(segments: Floats, low: Floats, high: Floats, ratio: float) -> str:
    """Segments as an SVG path around the middle, in thousandths of half the width."""
    share = (segments - low) / (high - low) * 2.0 - 1.0
    whole = np.rint(share * (_GRID, -_GRID * ratio)).astype(int).reshape(-1, 4)
    return "".join(f"M{a},{b}L{c},{d}" for a, b, c, d in whole.tolist())


def _links(
    lines: Lines,
    busy: Floats | None,
    dead: Flags,
    low: Floats,
    high: Floats,
    ratio: float,
) -> list[Spec]:
    """Links as a path a step of load, the busiest on top; what failed is dashed."""
    # Thousands of lines must leave white between them: 1.2 pixels for a hundred, 0.4 for 10,000.
    thin = float(np.clip(4.0 / max(len(lines.segments), 1) ** 0.26, 0.45, 1.3))
    broken = dead[lines.link]
    shapes: list[tuple[str, float, float, float]] = []
    top = 1.0
    if busy is None:
        faint = float(np.clip(60.0 / max(len(lines.segments), 1) ** 0.5, 0.55, 0.9))
        shapes.append((_path(lines.segments[~broken], low, high, ratio), 0.0, 1.3 * thin, faint))
    else:
        values = np.nan_to_num(busy[lines.link])
        top = max(float(values.max()), 0.01)
        step = np.minimum((values / top * _LEVELS).astype(int), _LEVELS - 1)
        for at in range(_LEVELS):
            own = lines.segments[~broken & (step == at)]
            if len(own):
                share = (at + 0.5) / _LEVELS
                wide = thin * (0.8 + 2.4 * share)
                middle = 100.0 * top * share
                shapes.append((_path(own, low, high, ratio), middle, wide, 0.55 + 0.45 * share))
    centre = (low + high) / 2.0
    layers = [_strokes(shapes, None if busy is None else 100.0 * top, centre)]
    if broken.any():
        failing = [(_path(lines.segments[broken], low, high, ratio), 0.0, 2.2 * thin, 1.0)]
        dashed = _strokes(failing, None, centre)
        dashed["mark"] |= {"stroke": FAILED, "strokeDash": [3, 2]}
        layers.append(dashed)
    return layers


def _strokes(
    shapes: list[tuple[str, float, float, float]], top: float | None, middle: Floats
) -> Spec:
    size = {"expr": f"pow(width / {_GRID}, 2)"}
    mark: Spec = {"type": "point", "filled": False, "fillOpacity": 0, "size": size, "stroke": GREY}
    encoding: Spec = {
        "x": {"field": "x"},
        "y": {"field": "y"},
        "shape": {"field": "p", "type": "nominal", "scale": None},
        "strokeWidth": {"field": "w", "type": "quantitative", "scale": None, "legend": None},
        "strokeOpacity": {"field": "o", "type": "quantitative", "scale": None, "legend": None},
    }
    if top is not None:
        encoding["stroke"] = {
            "field": "load",
            "type": "quantitative",
            "scale": {"domain": [0, top], "range": list(LOAD), "interpolate": "rgb"},
            "legend": {"title": "busy (%)", "gradientLength": 160, "titleOrient": "left"},
        }
    data = marks("p load w o x y", ((*shape, *middle) for shape in shapes))
    return {"data": data, "mark": mark, "encoding": encoding}


def _nodes(places: Floats, kinds: Sequence[str], labels: Sequence[str]) -> Spec:
    """Marks for the nodes."""
    across = float(np.clip(220.0 / np.sqrt(max(len(places), 1)), 1.6, 8.0))
    counts = {kind: sum(one == kind for one in kinds) for kind in _MARKS}
    names = {kind: plural(counts[kind], kind) for kind in _MARKS if counts[kind]}
    order = [at for kind in names for at in range(len(places)) if kinds[at] == kind]
    if len(order) > 20 * NODES_DRAWN_MAX:
        order = [at for at in order if kinds[at] != "host"]
    text = [labels[at] if labels else "" for at in order]
    data = rows(
        x=places[order, 0],
        y=places[order, 1],
        kind=[names[kinds[at]] for at in order],
        s=[(across * _MARKS[kinds[at]][2]) ** 2 for at in order],
        **({"part": text} if labels and len(order) <= 4 * NODES_DRAWN_MAX else {}),
    )
    shown = [*names.values()]
    named = colours(shown, [_MARKS[kind][1] for kind in names])
    encoding: Spec = {
        "color": named | {"field": "kind"},
        "shape": told_apart(shown, [_MARKS[kind][0] for kind in names]),
        "size": {"field": "s", "type": "quantitative", "scale": None, "legend": None},
    }
    if "part" in data["values"][0]:
        encoding["tooltip"] = {"field": "part", "type": "nominal"}
    point = {"type": "point", "filled": True, "opacity": 1}
    return {"data": data, "mark": point, "encoding": encoding}


def _names(
    places: Floats,
    kinds: Sequence[str],
    labels: Sequence[str],
    ends: Integers,
    ratio: float,
    taken: list[Floats],
) -> list[Spec]:
    """The names of nodes where there is room for them, fewer in a narrow window."""
    heights = places[ends, 1]
    lowest = np.full(len(labels), np.inf)
    for side in (0, 1):
        np.minimum.at(lowest, ends[:, side], heights[:, 1 - side])
    # Below a node all of whose links lead up there is room for its name.
    below = lowest > places[:, 1] + 1e-9
    wide = _with_room(places, kinds, labels, 730, ratio, taken)
    narrow = _with_room(places, kinds, labels, 340, ratio, taken)
    kept = sorted(wide)
    size = {"condition": {"test": "datum.s || width > 600", "value": 11}, "value": 0}
    data = rows(
        x=places[kept, 0],
        y=places[kept, 1],
        text=[_cut(labels[at]) for at in kept],
        s=[at in narrow for at in kept],
        d=[12 if below[at] else -11 for at in kept],
    )
    encoding = {"text": READ, "size": size}
    mark: Spec = {"type": "text", "color": INK, "dy": {"expr": "datum.d"}}
    # A rim of the ground's colour parts names from the lines that they stand on.
    rim = mark | {"stroke": PAPER, "strokeWidth": 3, "color": PAPER}
    return [{"data": data, "mark": one, "encoding": encoding} for one in (rim, mark)]


def _cut(name: str) -> str:
    return name if len(name) <= _LABEL_LETTERS else f"{name[: _LABEL_LETTERS - 1]}…"


def _with_room(
    places: Floats,
    kinds: Sequence[str],
    labels: Sequence[str],
    width: int,
    ratio: float,
    taken: list[Floats],
) -> set[int]:
    """The nodes whose names meet no other name or mark in a map so wide: switches' names first."""
    extent = np.maximum(np.ptp(places, axis=0), 1e-9)
    unit = np.array((0.94 * width, 0.94 * width * ratio)) / extent
    scaled = places * unit
    # A name stands eleven pixels above or below its node, and a mark is a circle of eight.
    ranks = np.array(taken).reshape(-1, 2) * unit
    at_marks = np.concatenate([ranks + np.array((0.0, y)) for y in (11.0, -12.0)])
    around = np.column_stack([at_marks, np.full(len(at_marks), 9.0)])
    shown: set[int] = set()
    placed = around
    for kind in ("switch", "router", "host"):
        for node in (at for at, one in enumerate(kinds) if one == kind):
            x, y = scaled[node]
            half = 0.5 * _LETTER_PIXELS * len(_cut(labels[node])) + 3.0
            beside = np.abs(placed[:, 0] - x) < placed[:, 2] + half
            if not np.any(beside & (np.abs(placed[:, 1] - y) < 15.0)):
                shown.add(node)
                placed = np.vstack([placed, (x, y, half)])
    return shown


def _crosses(lines: Lines, ends: Integers, dead: Flags, labels: Sequence[str]) -> Spec:
    """Crosses in the middles of failed links."""
    chosen = dead[lines.link] & lines.takes_mark
    middles = lines.segments[chosen].mean(axis=1)
    text = [
        f"{labels[ends[link][0]]} – {labels[ends[link][1]]}: failed" if labels else "failed"
        for link in lines.link[chosen]
    ]
    mark = {"type": "point", "shape": "cross", "angle": 45, "size": 80, "filled": True}
    return {
        "data": rows(x=middles[:, 0], y=middles[:, 1], text=text, kind=["failed link"] * len(text)),
        "mark": mark,
        "encoding": {
            "color": colours(["failed link"], [FAILED]) | {"field": "kind"},
            "tooltip": READ,
        },
    }


def _hottest(load: Floats) -> list[int]:
    """The busiest links, the busiest first; of equals the first."""
    order = np.argsort(np.nan_to_num(-load, nan=np.inf), kind="stable")[:HOTTEST]
    return [int(link) for link in order if load[link] > 0]


def _ranked(lines: Lines, hottest: Sequence[int]) -> list[tuple[int, Floats]]:
    """Where the numbers of the busiest links stand."""
    return [
        # Aside from the middle, where links of a tree cross each other.
        (rank, 0.62 * segment[0] + 0.38 * segment[1])
        for rank, link in enumerate(hottest, 1)
        for segment in lines.segments[(lines.link == link) & lines.takes_mark]
    ]


def _ranks(chosen: list[tuple[int, Floats]]) -> list[Spec]:
    """The numbers of the busiest links in circles."""
    data = marks("x y rank", ((*at, str(rank)) for rank, at in chosen))
    disc = {"type": "point", "filled": True, "size": 190, "color": PAPER, "opacity": 1}
    disc |= {"stroke": BLUE, "strokeWidth": 1.5}
    number: Spec = {"type": "text", "fontSize": 10, "fontWeight": "bold", "color": INK}
    number["baseline"] = "middle"
    return [
        {"data": data, "mark": disc},
        {"data": data, "mark": number, "encoding": {"text": {"field": "rank", "type": "nominal"}}},
    ]
