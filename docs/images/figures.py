"""What the pictures of the documentation share: how they are written, and lines with a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resilver.charts.vega import Spec, colours, drawn, rows

HERE = Path(__file__).parent


def save(spec: Spec, name: str, width: int) -> None:
    """Write a picture beside this file, and say which.

    Args:
        spec: A specification by the conventions of `resilver.charts.vega`.
        name: The file's name without its ending.
        width: Its width in pixels.
    """
    (HERE / f"{name}.png").write_bytes(drawn(spec, "png", "", width))
    print(f"{name}.png")


def banded(lines: Mapping[str, tuple[str, Mapping[float, Sequence[float]]]]) -> list[Spec]:
    """Lines through medians, each with the range from the least to the greatest of its runs.

    Args:
        lines: By name, the colour and the values of the runs at each place.
    """
    found = [
        (name, x, sorted(values))
        for name, (_, points) in lines.items()
        for x, values in sorted(points.items())
    ]
    named = colours([*lines], [colour for colour, _ in lines.values()]) | {"field": "kind"}
    data = rows(
        kind=[name for name, _, _ in found],
        x=[x for _, x, _ in found],
        low=[values[0] for _, _, values in found],
        high=[values[-1] for _, _, values in found],
        y=[median(values) for _, _, values in found],
    )
    band = {"y": {"field": "low"}, "y2": {"field": "high"}, "color": named}
    line: dict[str, Any] = {"type": "line", "strokeWidth": 2.25, "point": {"size": 45}}
    return [
        {"data": data, "mark": {"type": "area", "opacity": 0.2}, "encoding": band},
        {"data": data, "mark": line, "encoding": {"y": {"field": "y"}, "color": named}},
    ]


def median(values: Sequence[float]) -> float:
    """The median of sorted values."""
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2.0
