"""Which points of a chart can be named without a name upon another name, a point or the line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

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
