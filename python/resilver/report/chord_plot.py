"""The chord diagram drawn with Plotly: ribbons as shapes, the ring as filled lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.report import words
from resilver.report.chord import Chord, Flows, Point, chord, label_arcs, on_circle, ring
from resilver.report.plots import empty_figure, text_of
from resilver.report.style import BLUE, ORANGE, VERMILLION

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SIZE = 760
"""Width and height in pixels: fixed, because the arcs' names do not shrink with the circle."""

_MARGIN = 8
_LABEL_PIXELS = 6.4


def chord_figure(flow: Flows) -> Figure:
    """Who sends to whom; what the busiest receiver gets stands out."""
    figure = empty_figure(SIZE)
    diagram = chord(flow)
    top = int(np.argmax(flow.received)) if diagram.arcs else -1
    figure.update_layout(
        shapes=[
            {
                "type": "path",
                "path": _svg_path(ribbon.outline),
                "layer": "below",
                "line": {"width": 0},
                "fillcolor": VERMILLION if ribbon.destination == top else BLUE,
                "opacity": 0.75 if ribbon.destination == top else 0.28,
            }
            for ribbon in sorted(diagram.ribbons, key=lambda ribbon: ribbon.destination == top)
        ],
        annotations=_labels(flow, diagram),
    )
    for name, colour, pieces in (
        ("sends", BLUE, [(arc.start, arc.turn) for arc in diagram.arcs]),
        ("receives", ORANGE, [(arc.turn, arc.end) for arc in diagram.arcs]),
    ):
        xs, ys = _outlines([ring(start, end) for start, end in pieces if end > start])
        figure.add_scatter(
            x=xs,
            y=ys,
            fill="toself",
            mode="lines",
            line={"width": 0, "color": colour},
            fillcolor=colour,
            name=name,
            hoverinfo="skip",
        )
    points = _hover_points(flow, diagram)
    figure.add_scatter(
        x=[round(at[0], 4) for at, _ in points],
        y=[round(at[1], 4) for at, _ in points],
        mode="markers",
        marker={"size": 9, "opacity": 0, "color": BLUE},
        text=[text for _, text in points],
        hoverinfo="text",
        showlegend=False,
    )
    # The circle leaves room for the longest label, so its radius is what remains of half the size.
    longest = max((len(text) for _, text in label_arcs(flow, diagram)), default=0)
    half = SIZE / 2.0 - _MARGIN
    edge = round(half / (half - _LABEL_PIXELS * longest - 14.0), 4)
    hidden: dict[str, Any] = {"visible": False, "range": [-edge, edge], "fixedrange": True}
    figure.update_xaxes(**hidden)
    figure.update_yaxes(**hidden, scaleanchor="x")
    figure.update_layout(
        width=SIZE,
        margin={"l": _MARGIN, "r": _MARGIN, "t": _MARGIN, "b": _MARGIN},
        hovermode="closest",
        legend={"orientation": "v", "x": 0, "y": 1, "yanchor": "top"},
    )
    return figure


def _hover_points(flow: Flows, diagram: Chord) -> list[tuple[Point, str]]:
    """Where the pointer finds ribbons and arcs, and what it then reads."""
    names = [text_of(label) for label in flow.labels]
    points = [
        (
            at,
            f"{names[ribbon.source]} sends {words.size_of(ribbon.bytes)} "
            f"to {names[ribbon.destination]}",
        )
        for ribbon in diagram.ribbons
        for at in ribbon.spine
    ]
    points += [
        (
            on_circle(arc.middle, 0.975),
            f"{names[arc.index]}<br>sends {words.size_of(float(flow.sent[arc.index]))}, "
            f"receives {words.size_of(float(flow.received[arc.index]))}",
        )
        for arc in diagram.arcs
    ]
    return points


def _svg_path(outline: tuple[tuple[str, tuple[Point, ...]], ...]) -> str:
    """The outline as an SVG path in data coordinates."""
    words = [
        command + " ".join(f"{x:.4f},{y:.4f}" for x, y in points) for command, points in outline
    ]
    return " ".join(words) + "Z"


def _outlines(pieces: list[list[Point]]) -> tuple[list[float | None], list[float | None]]:
    """Closed outlines one after another, a gap between each two."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for piece in pieces:
        xs += [*(round(x, 4) for x, _ in piece), None]
        ys += [*(round(y, 4) for _, y in piece), None]
    return xs, ys


def _labels(flow: Flows, diagram: Chord) -> list[dict[str, Any]]:
    """Names around the ring, reading outwards."""
    labels = []
    for arc, text in label_arcs(flow, diagram):
        # Plotly turns a label about its centre, so the centre is moved out by half its length.
        reach = 0.5 * _LABEL_PIXELS * len(text) + 5.0
        x, y = on_circle(arc.middle, 1.01)
        degrees = math.degrees(arc.middle)
        labels.append(
            {
                "x": round(x, 4),
                "y": round(y, 4),
                "text": text_of(text),
                "showarrow": False,
                "font": {"size": 11},
                "xanchor": "center",
                "yanchor": "middle",
                "xshift": round(reach * math.sin(arc.middle), 1),
                "yshift": round(reach * math.cos(arc.middle), 1),
                "textangle": round(degrees - 90.0 if degrees <= 180.0 else degrees + 90.0, 1),
            }
        )
    return labels
