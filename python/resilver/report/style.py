"""Colours and axis titles that both ways of drawing share.

The colours are Okabe and Ito's set, which people with any common colour blindness can tell apart
(M. Okabe, K. Ito, "Color Universal Design", 2008). Each is legible on white and on near-black.
"""

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
GREY = "#8A8A8A"

SERIES = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, GREY)
"""The colours of series in order; series beyond them start over."""

SERIES_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x")
"""Plotly's marks of the same series, so that colour is not the only difference."""

SERIES_MARKS_STATIC = ("o", "s", "D", "^", "P", "*", "X")
"""matplotlib's names of the same marks."""
