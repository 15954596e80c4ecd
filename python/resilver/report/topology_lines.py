"""Where the lines of a drawn network go, and a small one sketched in dots of braille."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.report.arrays import Flags, Floats, Integers

STUB_LENGTH = 0.38
"""The length of a stub in spacings of the grid: two that meet leave a gap between them."""

FAR = 1.5
"""A link is far from so many steps of the grid on: it would run over the nodes between its ends."""

ARCS_LINKS_MAX = 200
"""The most links of a network in which far ones that close no ring are drawn in full, bowed."""

ARC_PIECES = 15
"""The straight pieces of a bowed link; an odd number, so that one is in the middle."""

PARALLEL_GAP = 0.006
"""The distance of parallel links: three points on a page that is seven inches wide."""

DIRECTIONS = 8
"""The directions in which stubs may point."""


@dataclass(frozen=True)
class Lines:
    """The line segments of a drawing.

    Args:
        segments: Both ends of each segment, shape (segments, 2, 2).
        link: The link that each segment is of.
        is_stub: Whether each is a stub.
        takes_mark: Whether a mark for the link may stand on it: not on every piece of a bow.
    """

    segments: Floats
    link: Integers
    is_stub: Flags
    takes_mark: Flags


def lines_of(positions: Floats, ends: Integers) -> Lines:
    """The segments that show a network's links; parallel links lie side by side.

    In a grid, a link that closes a ring or leads to another plane would cover the nodes between
    its ends. One that closes a ring is drawn as a stub at each end, outwards. Another is bowed
    around the nodes between where links are few, and else a stub aside at each end.

    Args:
        positions: The place of each node, shape (nodes, 2).
        ends: The two nodes of each link, shape (links, 2).
    """
    steps = positions[ends[:, 1]] - positions[ends[:, 0]]
    lengths = np.hypot(steps[:, 0], steps[:, 1])
    pitch = _pitch(positions, steps)
    if pitch is None:
        drawn = lengths[lengths > 0]
        spacing = float(np.median(drawn)) if drawn.size else 1.0
        far = np.zeros(len(ends), dtype=np.bool_)
    else:
        spacing = float(pitch[np.isfinite(pitch)].min())
        far = _far(positions, ends, np.abs(steps), pitch)
    closes = far & _both_outwards(positions, ends, far)
    bowed = far & ~closes if len(ends) <= ARCS_LINKS_MAX else np.zeros_like(far)
    near = np.flatnonzero(~far)
    full = positions[ends[near]] + _aside(positions, ends, near, spacing)
    owner, stubs = _stubs(positions, ends, far & ~bowed, closes, lengths, STUB_LENGTH * spacing)
    arcs = np.flatnonzero(bowed)
    pieces = _arcs(positions[ends[arcs]], 0.35 * spacing)
    counts = (near.size, owner.size, len(pieces))
    middle = np.arange(len(pieces)) % ARC_PIECES == ARC_PIECES // 2
    return Lines(
        segments=np.concatenate([full, stubs, pieces]),
        link=np.concatenate([near, owner, np.repeat(arcs, ARC_PIECES)]),
        is_stub=np.repeat([False, True, False], counts),
        takes_mark=np.concatenate([np.ones(near.size + owner.size, dtype=np.bool_), middle]),
    )


def _pitch(positions: Floats, steps: Floats) -> Floats | None:
    """How far the columns and the rows of a grid are apart; None where nodes stand otherwise."""
    columns = np.unique(np.round(positions[:, 0], 6)).size
    rows = np.unique(np.round(positions[:, 1], 6)).size
    # A square of n nodes has 2 sqrt(n) rows and columns; a tree has as many columns as hosts.
    if columns + rows > max(4 * np.sqrt(len(positions)), len(positions) + 1):
        return None
    along = np.abs(steps) > 1e-9
    level, upright = along[:, 0] & ~along[:, 1], along[:, 1] & ~along[:, 0]
    # Grids have links along rows and along columns, butterflies only along rows; and of a grid's
    # planes at least a third of all links stay within them or lead straight to the next.
    if np.count_nonzero(level | upright) < 0.3 * len(steps):
        return None
    if (columns > 1 and not level.any()) or (rows > 1 and not upright.any()):
        return None
    across = np.abs(steps[level, 0]).min() if level.any() else np.inf
    down = np.abs(steps[upright, 1]).min() if upright.any() else np.inf
    return np.array([across, down])


def _far(positions: Floats, ends: Integers, sizes: Floats, pitch: Floats) -> Flags:
    """The links between equals that run past other nodes; those of a hub show what it reaches."""
    degrees = np.bincount(ends.ravel(), minlength=len(positions))
    is_far = np.any(sizes > FAR * pitch, axis=1)
    # Nodes beside the grid have no neighbour in it that is one step away.
    is_inside = np.zeros(len(positions), dtype=np.bool_)
    is_inside[ends[~is_far].ravel()] = True
    shows_reach = ~is_inside | (degrees > 2 * float(np.median(degrees)))
    return np.asarray(is_far & ~np.any(shows_reach[ends], axis=1), dtype=np.bool_)


def _both_outwards(positions: Floats, ends: Integers, far: Flags) -> Flags:
    """The straight links behind both of whose ends no near link leads on: they close a ring."""
    taken = _taken(positions, ends, far)
    steps = positions[ends[:, 1]] - positions[ends[:, 0]]
    ahead = _direction(steps)
    opposite = (ahead + DIRECTIONS // 2) % DIRECTIONS
    is_straight = np.abs(steps).min(axis=1) < 1e-9
    is_free = ~taken[ends[:, 0], opposite] & ~taken[ends[:, 1], ahead]
    return np.asarray(is_straight & is_free, dtype=np.bool_)


def _taken(positions: Floats, ends: Integers, far: Flags) -> Flags:
    """The directions in which near links leave each node."""
    taken = np.zeros((len(positions), DIRECTIONS), dtype=np.bool_)
    for nodes, others in ((ends[~far, 0], ends[~far, 1]), (ends[~far, 1], ends[~far, 0])):
        taken[nodes, _direction(positions[others] - positions[nodes])] = True
    return taken


def _arcs(ends: Floats, height: float) -> Floats:
    """Bows from end to end, in straight pieces, so high as `height` per node that they pass."""
    along = np.linspace(0.0, 1.0, ARC_PIECES + 1)[None, :, None]
    step = ends[:, 1] - ends[:, 0]
    normal = np.stack([-step[:, 1], step[:, 0]], axis=1)
    normal /= np.hypot(step[:, 0], step[:, 1])[:, None]
    bow = (4 * height * along * (1 - along)) * normal[:, None, :]
    points = ends[:, :1] + along * step[:, None, :] + bow
    return np.stack([points[:, :-1], points[:, 1:]], axis=2).reshape(-1, 2, 2)


def _aside(positions: Floats, ends: Integers, links: Integers, spacing: float) -> Floats:
    """How far each of the links is moved, so that parallel ones lie side by side."""
    shifts = np.zeros((links.size, 1, 2))
    if not links.size:
        return shifts
    pairs = np.sort(ends[links], axis=1)
    _, which, counts = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    if counts.max() == 1:
        return shifts
    order = np.argsort(which, kind="stable")
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.empty(links.size)
    rank[order] = np.arange(links.size) - first[which[order]]
    offset = (rank - (counts[which] - 1) / 2) * min(PARALLEL_GAP, 0.1 * spacing)
    step = positions[pairs[:, 1]] - positions[pairs[:, 0]]
    normal = np.stack([-step[:, 1], step[:, 0]], axis=1)
    length = np.hypot(step[:, 0], step[:, 1])
    shifts[:, 0, :] = normal / np.where(length > 0, length, 1.0)[:, None] * offset[:, None]
    return shifts


def _stubs(
    positions: Floats,
    ends: Integers,
    far: Flags,
    closes: Flags,
    lengths: Floats,
    size: float,
) -> tuple[Integers, Floats]:
    """Two stubs a far link; those that close rings choose their directions first."""
    taken = _taken(positions, ends, far)
    links = np.flatnonzero(far)
    links = links[np.lexsort((lengths[links], ~closes[links]))]
    ahead = _direction(positions[ends[links, 1]] - positions[ends[links, 0]])
    # Outwards first; else aside, nearest to where the other end is.
    turns = [4, 1, -1, 2, -2, 3, -3, 0]
    chosen = np.empty((links.size, 2), dtype=np.int64)
    for row, (start, end, towards) in enumerate(
        zip(ends[links, 0].tolist(), ends[links, 1].tolist(), ahead.tolist(), strict=True)
    ):
        for side, (node, way) in enumerate(((start, towards), (end, towards + 4))):
            free = ((way + turn) % DIRECTIONS for turn in turns)
            at = next((one for one in free if not taken[node, one]), (way + 1) % DIRECTIONS)
            taken[node, at] = True
            chosen[row, side] = at
    angles = chosen.ravel() * (2 * np.pi / DIRECTIONS)
    starts = positions[ends[links].ravel()]
    tips = starts + size * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.repeat(links, 2), np.stack([starts, tips], axis=1)


def _direction(steps: Floats) -> Integers:
    """The nearest of the directions to each step, counted from the right, anticlockwise."""
    turn = np.arctan2(steps[:, 1], steps[:, 0]) / (2 * np.pi) * DIRECTIONS
    return np.round(turn).astype(np.int64) % DIRECTIONS


COLUMNS = 48
"""The width of a sketch in letters."""

ROWS_MAX = 18
"""The greatest height of a sketch in lines."""

# A letter of braille has two columns of four dots; U+2800 and these bits make it (Unicode 16.0,
# chapter 21.1).
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def sketch(positions: Floats, ends: npt.NDArray[np.int32]) -> list[str]:
    """Lines of text that show a network's links.

    Args:
        positions: The place of each node in the unit square, shape (nodes, 2).
        ends: The two nodes of each link, shape (links, 2).

    Returns:
        At most `ROWS_MAX` lines of `COLUMNS` letters.
    """
    segments = lines_of(positions, ends.astype(np.int64)).segments
    points = np.concatenate([segments.reshape(-1, 2), positions])
    low = points.min(axis=0)
    extent = np.maximum(points.max(axis=0) - low, 1e-9)
    # A dot is as wide as high in most fonts: letters are twice as high as wide.
    across = 2 * COLUMNS - 1
    down = min(4 * ROWS_MAX - 1, max(3, round(across * float(extent[1] / extent[0]))))
    scale = min(across / extent[0], down / extent[1])
    rows = down // 4 + 1
    dots = np.zeros((4 * rows, 2 * COLUMNS), dtype=np.bool_)
    for start, end in (segments - low) * scale:
        steps = int(np.ceil(np.abs(end - start).max())) + 1
        trace = np.round(np.linspace(start, end, steps)).astype(np.int64)
        dots[down - trace[:, 1], trace[:, 0]] = True
    letters = (dots.reshape(rows, 4, COLUMNS, 2) * _BITS[None, :, None, :]).sum(axis=(1, 3))
    lines = ["".join(chr(0x2800 + int(letter)) for letter in row) for row in letters]
    return [line.rstrip("\u2800") for line in lines]
