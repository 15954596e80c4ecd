"""Colours and lettering of every chart, for light ground and for dark.

The hues are Okabe and Ito's, which people with any common colour blindness can tell apart
(M. Okabe, K. Ito, "Color Universal Design", 2008). Each is darkened until it stands 4.5 : 1 or more
against white; its counterpart in `DARK` does so against the page's near-black.
"""

from __future__ import annotations

from typing import Any

BLUE = "#0072B2"
ORANGE = "#8F5F00"
GREEN = "#007A5A"
VERMILLION = "#B84A00"
PURPLE = "#A5437A"
SKY = "#00788A"
GREY = "#666E76"
INK = "#1b1f24"
SOFT = "#555d66"
GRID = "#d9dde1"
PAPER = "#ffffff"

SERIES = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, GREY)
"""The colours of series in order; series beyond them start over."""

MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-left")
"""The marks of the same series, so that colour is not the only difference."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [12, 3])
"""The dashes of lines, likewise."""

LOAD = ("#64747F", "#2F78AB", "#9C6600", "#B5121B")
"""From an idle link to a busy one."""
FAILED = "#A21CAF"
"""What failed, which the scale of loads does not have."""

DARK = {
    BLUE: "#56B4E9",
    ORANGE: "#E69F00",
    GREEN: "#2FBF95",
    VERMILLION: "#FF8F5A",
    PURPLE: "#DE8FBF",
    SKY: "#4CC7DB",
    GREY: "#9AA4AD",
    INK: "#e4e7eb",
    SOFT: "#a3abb5",
    GRID: "#3a4048",
    PAPER: "#15181c",
    LOAD[0]: "#8796A3",
    LOAD[1]: "#4FA3DB",
    LOAD[2]: "#F0B429",
    LOAD[3]: "#FF6B5E",
    FAILED: "#E879F9",
}
"""What stands for each colour on the page's dark ground."""

FONT = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": None,
    # A chart has one label for all of it; one for every mark would triple an SVG.
    "aria": False,
    "lineBreak": "\n",
    "view": {"stroke": None},
    # Each mark that is not opaque is drawn by way of a picture of its own, which takes long.
    "point": {"opacity": 1},
    "rect": {"opacity": 1},
    "axis": {
        "labelColor": SOFT,
        "titleColor": INK,
        "domainColor": GREY,
        "tickColor": GREY,
        "gridColor": GRID,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 6,
        "labelOverlap": True,
    },
    # Every chart's axis upwards takes the same room, so that panels stand below each other.
    "axisY": {"minExtent": 42, "maxExtent": 42, "domain": False, "ticks": False, "tickCount": 5},
    "axisX": {"grid": False, "tickCount": 10},
    "legend": {
        "orient": "top",
        "title": None,
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "labelLimit": 400,
        "columnPadding": 14,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
        "padding": 0,
        "offset": 8,
    },
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": 14,
        "subtitleColor": SOFT,
        "offset": 12,
        "frame": "bounds",
    },
    "concat": {"spacing": 14},
}
"""What all charts have in common."""
