"""Who sends how much to whom in a rebuild, merged until a person can tell: a chord diagram."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from resilver.charts.style import BLUE, INK, ORANGE, VERMILLION
from resilver.charts.vega import READ, Chart, Spec, colours, marks
from resilver.report.arrays import Floats, Integers, column, rows_of_run
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns
from resilver.tables import table_of
from resilver.words import percent, plural, size_of

if TYPE_CHECKING:
    import pyarrow as pa

ARCS_MAX = 64
"""More arcs than this leave no room for their names around a circle of a laptop's height."""
RIBBONS_MAX = 400
"""More ribbons than this cover each other, so the arcs are merged until fewer remain."""


@dataclass(frozen=True, eq=False)
class Flows:
    """Bytes from each sender to each receiver.

    Args:
        labels: One name an arc: a server, a host, or a block of servers.
        matrix: Bytes, shape (arcs, arcs), row = source, column = destination.
        servers_per_arc: The most servers that one arc stands for; 1 if arcs are servers.
        kind: What an arc is: "server", "host" or "block of servers".
        pairs: The number of (source, destination) server pairs with traffic.
    """

    labels: tuple[str, ...]
    matrix: Floats
    servers_per_arc: int
    kind: str
    pairs: int

    @property
    def sent(self) -> Floats:
        """Bytes sent by each arc."""
        return np.asarray(self.matrix.sum(axis=1))

    @property
    def received(self) -> Floats:
        """Bytes received by each arc."""
        return np.asarray(self.matrix.sum(axis=0))


def flows(results: StudyTables, point: SystemRuns) -> Flows:
    """The flows of the system's median run, merged until a person can tell the arcs apart.

    Up to `ARCS_MAX` servers and `RIBBONS_MAX` ribbons, an arc is a server. Beyond, arcs are hosts
    if the cluster has several servers on each, else blocks of servers with neighbouring indices,
    doubled in size until both limits hold.
    """
    run = point.median["run"]
    servers = rows_of_run(results.servers, run)
    transfers = rows_of_run(results.transfers, run)
    names = [str(name) for name in servers["name"].to_pylist()]
    index_of = {int(number): row for row, number in enumerate(servers["server"].to_pylist())}
    source = np.array([index_of[int(s)] for s in transfers["source"].to_pylist()], dtype=np.int64)
    target = np.array(
        [index_of[int(d)] for d in transfers["destination"].to_pylist()], dtype=np.int64
    )
    moved = np.nan_to_num(column(transfers, "bytes"))
    keep = moved > 0.0
    source, target, moved = source[keep], target[keep], moved[keep]
    for way in _groupings(names, servers):
        kind, group, labels = way
        arcs, between = np.unique(np.stack((group[source], group[target])), return_inverse=True)
        rows, columns = between.reshape(2, -1)
        ribbons = np.unique(rows * arcs.size + columns).size
        if arcs.size <= ARCS_MAX and ribbons <= RIBBONS_MAX:
            break
    # The last grouping is one block of all servers, so the loop always ends with `break`; only
    # then is a square matrix made, which for many thousand servers would not fit.
    matrix = np.zeros((arcs.size, arcs.size))
    np.add.at(matrix, (rows, columns), moved)
    size = int(np.bincount(group).max()) if group.size else 1
    return Flows(tuple(labels[arc] for arc in arcs), matrix, size, kind, int(moved.size))


def _groupings(names: list[str], servers: pa.Table) -> list[tuple[str, Integers, list[str]]]:
    """The ways to merge servers, finest first: (kind, arc of each server, label of each arc)."""
    count = len(names)
    ways = [("server", np.arange(count), names)]
    hosts = [str(host) for host in servers["host"].to_pylist()]
    distinct = list(dict.fromkeys(hosts))
    if 1 < len(distinct) < count:
        position = {host: row for row, host in enumerate(distinct)}
        ways.append(("host", np.array([position[host] for host in hosts]), distinct))
    size = 2
    while size < 2 * count:
        group = np.arange(count) // size
        labels = []
        for block in range(-(-count // size)):
            last = min(count, (block + 1) * size) - 1
            labels.append(_block_label(names[block * size], names[last]))
        ways.append(("block of servers", group, labels))
        size *= 2
    return ways


def _block_label(first: str, last: str) -> str:
    """`server.16-31` for `server.16` to `server.31`; both names in full if they share no stem."""
    stem, dot, _ = first.rpartition(".")
    other, _, tail = last.rpartition(".")
    if first == last:
        return first
    return f"{first}-{tail}" if dot and stem == other else f"{first} to {last}"


GAP_SHARE = 0.12
"""The share of the circle left empty between arcs."""
RING_INNER = 0.95
"""The inner radius of the ring of arcs, whose outer radius is 1; ribbons end a little inside it."""
LABEL_ANGLE_MIN = math.radians(2.6)
"""Labels closer than this would touch: 2.6 degrees of the page's circle are 12 pixels."""
LABEL_LENGTH_MAX = 18
"""Longer names are cut, so that none leaves the picture."""


@dataclass(frozen=True)
class Arc:
    """One arc of the ring, in radians clockwise from the top.

    Args:
        index: The index into `Flows.labels`.
        start: Where it starts; it sends from here to `turn`.
        turn: Where sending ends and receiving starts.
        end: Where it ends.
    """

    index: int
    start: float
    turn: float
    end: float

    @property
    def middle(self) -> float:
        """The angle of the label."""
        return (self.start + self.end) / 2.0


@dataclass(frozen=True)
class Ribbon:
    """One flow.

    Args:
        source: Arc index it starts from.
        destination: Arc index it ends on.
        bytes: How much flows.
        path: Its outline as an SVG path around the middle of a circle of radius 1.
    """

    source: int
    destination: int
    bytes: float
    path: str


def _at(angle: float, radius: float) -> str:
    """A point of an SVG path at an angle in radians clockwise from the top."""
    return f"{radius * math.sin(angle):.3f},{-radius * math.cos(angle):.3f}"


def _bend(start: float, end: float, radius: float) -> str:
    """The rest of an arc from one angle to another, clockwise where the second is larger."""
    large, sweep = int(abs(end - start) > math.pi), int(end > start)
    # A full circle has no one arc; two halves have.
    if abs(end - start) > 1.9 * math.pi:
        middle = (start + end) / 2.0
        return _bend(start, middle, radius) + _bend(middle, end, radius)
    return f"A{radius:g},{radius:g} 0 {large} {sweep} {_at(end, radius)}"


def ring(start: float, end: float) -> str:
    """The outline of a piece of the ring as an SVG path."""
    outer = f"M{_at(start, 1.0)}{_bend(start, end, 1.0)}"
    return f"{outer}L{_at(end, RING_INNER)}{_bend(end, start, RING_INNER)}Z"


def chord(flow: Flows) -> tuple[list[Arc], list[Ribbon]]:
    """Lay the flows out: arcs in index order, as wide as what they send and receive together.

    On each arc ribbons leave in the order in which they reach the circle counter-clockwise, which
    keeps ribbons of one arc from crossing each other.
    """
    count = len(flow.labels)
    total = float(flow.sent.sum() + flow.received.sum())
    if count == 0 or total <= 0.0:
        return [], []
    gap = 2.0 * math.pi * GAP_SHARE / count if count > 1 else 0.0
    radians = (2.0 * math.pi - gap * count) / total
    arcs: list[Arc] = []
    angle = gap / 2.0
    for index in range(count):
        turn = angle + radians * float(flow.sent[index])
        end = turn + radians * float(flow.received[index])
        arcs.append(Arc(index, angle, turn, end))
        angle = end + gap
    starts: dict[tuple[int, int], float] = {}
    ends: dict[tuple[int, int], float] = {}
    for arc in arcs:
        out_angle, in_angle = arc.start, arc.turn
        for step in range(1, count + 1):
            other = (arc.index - step) % count
            starts[arc.index, other] = out_angle
            out_angle += radians * float(flow.matrix[arc.index, other])
            ends[other, arc.index] = in_angle
            in_angle += radians * float(flow.matrix[other, arc.index])
    ribbons = [
        Ribbon(i, j, size, _ribbon(starts[i, j], ends[i, j], radians * size))
        for i, j in np.argwhere(flow.matrix).tolist()
        for size in [float(flow.matrix[i, j])]
    ]
    ribbons.sort(key=lambda ribbon: (ribbon.bytes, ribbon.source, ribbon.destination))
    return arcs, ribbons


def _ribbon(start: float, end: float, width: float) -> str:
    """The outline of one flow, between equally wide pieces of its two arcs."""
    leave, arrive = RING_INNER - 0.01, RING_INNER - 0.04
    # The control point of both curves: the centre for opposite ends, else further out.
    difference = math.remainder(end - start, 2.0 * math.pi)
    control = _at(start + (width + difference) / 2.0, 0.8 * (1.0 - abs(difference) / math.pi))
    return (
        f"M{_at(start, leave)}{_bend(start, start + width, leave)}Q{control} {_at(end, arrive)}"
        f"{_bend(end, end + width, arrive)}Q{control} {_at(start, leave)}Z"
    )


def label_arcs(flow: Flows, arcs: list[Arc]) -> list[tuple[Arc, str]]:
    """The arcs that get a label, and the label: where room is short, those of the widest arcs."""
    chosen: list[tuple[Arc, str]] = []
    for arc in sorted(arcs, key=lambda arc: (arc.start - arc.end, arc.index)):
        nearest = min(
            (abs(math.remainder(arc.middle - other.middle, 2.0 * math.pi)) for other, _ in chosen),
            default=math.inf,
        )
        if nearest >= LABEL_ANGLE_MIN:
            name = flow.labels[arc.index]
            short = len(name) <= LABEL_LENGTH_MAX
            chosen.append((arc, name if short else f"{name[: LABEL_LENGTH_MAX - 1]}…"))
    return chosen


def transfers(results: StudyTables, point: SystemRuns) -> Chart | None:
    """Who sends to whom in the system's median run; None where nobody sends."""
    flow = flows(results, point)
    total = float(flow.matrix.sum())
    if total <= 0.0:
        return None
    top = int(np.argmax(flow.received))
    text = (
        "Each ribbon is data that flows from a source (blue part of its arc) to a destination "
        "(orange part), as wide as the bytes it carries; what the busiest destination receives is "
        "red."
    )
    note = ""
    if flow.kind == "host":
        note = f"{point.holder}s are merged by host."
    elif flow.servers_per_arc > 1:
        note = (
            f"{point.holder}s are merged in blocks of {flow.servers_per_arc:,} neighbouring ones."
        )
    note = note[:1].upper() + note[1:]
    pairs = [(int(i), int(j)) for i, j in np.argwhere(flow.matrix)]
    pairs.sort(key=lambda pair: (-flow.matrix[pair], pair))
    moved = [
        (flow.labels[i], flow.labels[j], flow.matrix[i, j], flow.matrix[i, j] / total)
        for i, j in pairs
    ]
    return Chart(
        "transfers",
        f"{flow.labels[top]} receives most, {percent(float(flow.received[top]) / total)} of all "
        f"bytes; {plural(flow.pairs, 'pair')} of {point.holder}s exchange {size_of(total)}",
        f"{text} {note}".strip(),
        lambda: chord_spec(flow),
        table_of(
            moved,
            ("source", "source", "text"),
            ("destination", "destination", "text"),
            ("bytes", "data", "bytes"),
            ("share", "share of all", "share"),
            note=note,
        ),
        "transfers by source and destination",
        is_for_experts=True,
    )


_KINDS = ("sends", "receives", "to the busiest")


def chord_spec(flow: Flows) -> Spec:
    """The diagram of at least one flow: ribbons and ring as paths around the middle, and names."""
    arcs, ribbons = chord(flow)
    named = label_arcs(flow, arcs)
    longest = max((len(text) for _, text in named), default=0)
    # The circle leaves room for the longest name, of which a narrow window shows the beginning.
    reach = f"(width / 2 - (width < 560 ? 64 : {14 + 6 * longest}))"
    shapes = _shapes(flow, arcs, ribbons)
    middle = {"value": {"expr": "width / 2"}}
    drawn: Spec = {
        "data": marks("p kind o text part other", shapes),
        "mark": {"type": "point", "filled": True, "size": {"expr": f"pow(2 * {reach}, 2)"}},
        "encoding": {
            "x": middle,
            "y": {"value": {"expr": "height / 2"}},
            "shape": {"field": "p", "type": "nominal", "scale": None},
            "color": colours(_KINDS, (BLUE, ORANGE, VERMILLION)) | {"field": "kind"},
            "fillOpacity": {"field": "o", "type": "quantitative", "scale": None, "legend": None},
            "tooltip": READ,
        },
    }
    layers = [drawn, *(_names(named, reach, is_right) for is_right in (True, False))]
    return {"ratio": 1.0, "most": 720, "room": (4, 4), "layer": layers}


def _shapes(
    flow: Flows, arcs: list[Arc], ribbons: list[Ribbon]
) -> list[tuple[str, str, float, str, str, str]]:
    """Ribbons, those to the busiest on top, and the ring: path, kind, opacity, words and ends."""
    top = int(np.argmax(flow.received))
    ribbons = sorted(ribbons, key=lambda ribbon: ribbon.destination == top)
    shapes = [
        (
            ribbon.path,
            _KINDS[2] if ribbon.destination == top else _KINDS[0],
            0.75 if ribbon.destination == top else 0.3,
            f"{flow.labels[ribbon.source]} sends {size_of(ribbon.bytes)} to "
            f"{flow.labels[ribbon.destination]}",
            flow.labels[ribbon.source],
            flow.labels[ribbon.destination],
        )
        for ribbon in ribbons
    ]
    for arc in arcs:
        text = (
            f"{flow.labels[arc.index]} sends {size_of(float(flow.sent[arc.index]))}, receives "
            f"{size_of(float(flow.received[arc.index]))}"
        )
        for start, end, kind in ((arc.start, arc.turn, _KINDS[0]), (arc.turn, arc.end, _KINDS[1])):
            if end > start:
                label = flow.labels[arc.index]
                shapes.append((ring(start, end), kind, 1.0, text, label, label))
    return shapes


def _names(named: list[tuple[Arc, str]], reach: str, is_right: bool) -> Spec:
    """The names beside one half of the ring, reading outwards on the right and inwards left."""
    own = [(arc.middle, text) for arc, text in named if (arc.middle <= math.pi) is is_right]
    turn = -90.0 if is_right else 90.0
    place = {"type": "quantitative", "scale": None, "axis": None}
    return {
        "data": marks("a g text", ((at, math.degrees(at) + turn, text) for at, text in own)),
        "transform": [
            {"calculate": f"width / 2 + ({reach} + 5) * sin(datum.a)", "as": "x"},
            {"calculate": f"height / 2 - ({reach} + 5) * cos(datum.a)", "as": "y"},
        ],
        "mark": {
            "type": "text",
            "align": "left" if is_right else "right",
            "baseline": "middle",
            "fontSize": 10,
            "color": INK,
            "limit": {"expr": "width < 560 ? 58 : 200"},
        },
        "encoding": {
            "x": {"field": "x", **place},
            "y": {"field": "y", **place},
            "angle": {"field": "g", "type": "quantitative", "scale": None},
            "text": {"field": "text"},
        },
    }
