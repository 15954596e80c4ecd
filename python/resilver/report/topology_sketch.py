"""A small network sketched in the terminal, in dots of braille."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resilver.report.topology_lines import lines_of

COLUMNS = 48
"""The width of a sketch in letters."""

ROWS_MAX = 18
"""The greatest height of a sketch in lines."""

# A letter of braille has two columns of four dots; U+2800 and these bits make it (Unicode 16.0,
# chapter 21.1).
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def sketch(positions: npt.NDArray[np.float64], ends: npt.NDArray[np.int32]) -> list[str]:
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
