"""Who sends to whom: the flows of a rebuild, and their geometry as a chord diagram."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from resilver.report.charts_data import column, rows_of_run
from resilver.report.source import ResultsLike, SystemRuns

if TYPE_CHECKING:
    import pyarrow as pa

ARCS_MAX = 64
"""More arcs than this leave no room for their names around a circle of a laptop's height."""
RIBBONS_MAX = 400
"""More ribbons than this cover each other, so the arcs are merged until fewer remain."""
GAP_SHARE = 0.12
"""The share of the circle left empty between arcs."""
RING_INNER = 0.95
"""The inner radius of the ring of arcs, whose outer radius is 1; ribbons end a little inside it."""
LABEL_ANGLE_MIN = math.radians(2.6)
"""Labels closer than this would touch: 2.6 degrees of the page's circle are 12 pixels."""
LABEL_LENGTH_MAX = 18
"""Longer names are cut, so that none leaves the picture."""

Point = tuple[float, float]


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
    matrix: npt.NDArray[np.float64]
    servers_per_arc: int
    kind: str
    pairs: int

    @property
    def sent(self) -> npt.NDArray[np.float64]:
        """Bytes sent by each arc."""
        return np.asarray(self.matrix.sum(axis=1))

    @property
    def received(self) -> npt.NDArray[np.float64]:
        """Bytes received by each arc."""
        return np.asarray(self.matrix.sum(axis=0))


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
    """One flow: an outline of a start point and then lines ("L") and quadratic curves ("Q").

    Args:
        source: Arc index it starts from.
        destination: Arc index it ends on.
        bytes: How much flows.
        outline: (command, points): "M" and "L" have one point, "Q" a control point and an end.
        spine: Points along its middle, where the pointer finds it.
    """

    source: int
    destination: int
    bytes: float
    outline: tuple[tuple[str, tuple[Point, ...]], ...]
    spine: tuple[Point, ...]


@dataclass(frozen=True)
class Chord:
    """The whole diagram."""

    arcs: tuple[Arc, ...]
    ribbons: tuple[Ribbon, ...]


def flows(results: ResultsLike, point: SystemRuns) -> Flows:
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


def _groupings(
    names: list[str], servers: pa.Table
) -> list[tuple[str, npt.NDArray[np.int64], list[str]]]:
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


def on_circle(angle: float, radius: float = 1.0) -> Point:
    """The point at an angle in radians clockwise from the top."""
    return (radius * math.sin(angle), radius * math.cos(angle))


def chord(flow: Flows) -> Chord:
    """Lay the flows out: arcs in index order, as wide as what they send and receive together.

    On each arc ribbons leave in the order in which they reach the circle counter-clockwise, which
    keeps ribbons of one arc from crossing each other.
    """
    count = len(flow.labels)
    total = float(flow.sent.sum() + flow.received.sum())
    if count == 0 or total <= 0.0:
        return Chord((), ())
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
        _ribbon(
            int(i),
            int(j),
            float(flow.matrix[i, j]),
            starts[int(i), int(j)],
            ends[int(i), int(j)],
            radians,
        )
        for i, j in zip(*np.nonzero(flow.matrix), strict=True)
    ]
    ribbons.sort(key=lambda ribbon: (ribbon.bytes, ribbon.source, ribbon.destination))
    return Chord(tuple(arcs), tuple(ribbons))


def label_arcs(flow: Flows, diagram: Chord) -> list[tuple[Arc, str]]:
    """The arcs that get a label, and the label: where room is short, those of the widest arcs.

    Args:
        flow: The flows, for the names.
        diagram: Their diagram.
    """
    chosen: list[tuple[Arc, str]] = []
    for arc in sorted(diagram.arcs, key=lambda arc: (arc.start - arc.end, arc.index)):
        nearest = min(
            (abs(math.remainder(arc.middle - other.middle, 2.0 * math.pi)) for other, _ in chosen),
            default=math.inf,
        )
        if nearest >= LABEL_ANGLE_MIN:
            name = flow.labels[arc.index]
            short = len(name) <= LABEL_LENGTH_MAX
            chosen.append((arc, name if short else f"{name[: LABEL_LENGTH_MAX - 1]}…"))
    return chosen


def ring(start: float, end: float) -> list[Point]:
    """The closed outline of a piece of the ring, a corner at least every two degrees."""
    steps = max(2, math.ceil((end - start) / math.radians(2.0)) + 1)
    angles = [start + (end - start) * step / (steps - 1) for step in range(steps)]
    outer = [on_circle(angle) for angle in angles]
    inner = [on_circle(angle, RING_INNER) for angle in reversed(angles)]
    return [*outer, *inner, outer[0]]


def _ribbon(
    source: int, destination: int, moved: float, start: float, end: float, radians: float
) -> Ribbon:
    """The outline of one flow, between equally wide pieces of its two arcs."""
    width = radians * moved
    leave, arrive = RING_INNER - 0.01, RING_INNER - 0.04
    from_middle, to_middle = start + width / 2.0, end + width / 2.0
    control = _control(from_middle, to_middle)
    outline: list[tuple[str, tuple[Point, ...]]] = [("M", (on_circle(start, leave),))]
    outline += [("L", (point,)) for point in _arc_points(start, start + width, leave)]
    outline.append(("Q", (control, on_circle(end, arrive))))
    outline += [("L", (point,)) for point in _arc_points(end, end + width, arrive)]
    outline += [("Q", (control, on_circle(start, leave)))]
    a, b = on_circle(from_middle, leave), on_circle(to_middle, arrive)
    spine = tuple(_quadratic(a, control, b, t) for t in (0.08, 0.3, 0.5, 0.7, 0.92))
    return Ribbon(source, destination, moved, tuple(outline), spine)


def _control(first: float, second: float) -> Point:
    """The control point of a ribbon's curves: the centre for opposite ends, else further out."""
    difference = math.remainder(second - first, 2.0 * math.pi)
    depth = 0.8 * (1.0 - abs(difference) / math.pi)
    return on_circle(first + difference / 2.0, depth)


def _arc_points(start: float, end: float, radius: float) -> list[Point]:
    """Points after the first along an arc, one at least every four degrees."""
    steps = max(1, math.ceil((end - start) / math.radians(4.0)))
    return [on_circle(start + (end - start) * step / steps, radius) for step in range(1, steps + 1)]


def _quadratic(a: Point, control: Point, b: Point, t: float) -> Point:
    """The point at parameter t of a quadratic Bezier curve."""
    u = 1.0 - t
    return (
        u * u * a[0] + 2.0 * u * t * control[0] + t * t * b[0],
        u * u * a[1] + 2.0 * u * t * control[1] + t * t * b[1],
    )
