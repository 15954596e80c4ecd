"""A network drawn with matplotlib: its nodes and links, how busy they are and which have failed."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resilver.report.static import CHARACTERS_PER_INCH, PAGE_INCHES, STYLE
from resilver.report.style import BLUE, GREY, ORANGE
from resilver.report.topology_lines import Lines, lines_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOTTEST = 5
"""How many of the busiest links are named."""

NAMED_NODES_MAX = 40
"""The most nodes that are all named: more names than that cover each other."""

SVG_LINKS_MAX = 3000
"""The most links that a page takes as lines; an SVG of more is larger than its pixels."""

_MARKS = {
    "host": ("o", BLUE, "#9aa4ad", 1.0),
    "switch": ("s", "#3c4650", "#5d6872", 1.6),
    "router": ("D", ORANGE, "#1b1f24", 1.9),
}
"""Each kind of node: mark, colour, colour beside a load's, size; drawn in this order."""

_FAILED = "#000000"
"""The colour of what failed, which no load has."""


def draw_topology(
    positions: npt.ArrayLike,
    ends: npt.ArrayLike,
    kinds: Sequence[str] | npt.NDArray[np.str_],
    *,
    load: npt.ArrayLike | None = None,
    failed: npt.ArrayLike | None = None,
    failed_nodes: npt.ArrayLike | None = None,
    title: str = "",
    labels: Sequence[str] | None = None,
    size_inches: tuple[float, float] | None = None,
) -> Figure:
    """Draw a network.

    Args:
        positions: The place of each node in the unit square, shape (nodes, 2).
        ends: The two nodes of each link, shape (links, 2).
        kinds: ``host``, ``router`` or ``switch`` for each node.
        load: How busy each link is, 0 to 1, or None; NaN where it is not known.
        failed: The numbers of the links that failed.
        failed_nodes: The numbers of the nodes that failed.
        title: What the picture shows.
        labels: The name of each node; with a load, the busiest links are named by them.
        size_inches: Width and height; by default as the places need them.

    Returns:
        The figure; `save_topology` writes it, `topology_html` puts it into a page.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    places = np.asarray(positions, dtype=np.float64).reshape(-1, 2)
    joined = np.asarray(ends, dtype=np.int64).reshape(-1, 2)
    kinds = np.asarray(kinds)
    lines = lines_of(places, joined)
    busy = None if load is None else np.asarray(load, dtype=np.float64)
    dead = np.zeros(len(joined), dtype=np.bool_)
    if failed is not None:
        dead[np.asarray(failed, dtype=np.int64)] = True
    hottest = [] if busy is None or labels is None else _hottest(np.where(dead, np.nan, busy))
    width, height = size_inches or _size(places, len(joined), busy is not None, len(hottest))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.margins(0.03)
        if title:
            broken = "\n".join(wrap(title, round(width * CHARACTERS_PER_INCH)))
            figure.suptitle(broken, x=0.02, ha="left", fontsize=8, fontweight="bold")
        _links(axes, lines, busy, dead)
        across = _nodes(axes, places, kinds, lines.spacing, width, has_load=busy is not None)
        _failures(axes, places, lines, dead, failed_nodes, across)
        if labels is not None and len(places) <= NAMED_NODES_MAX:
            _name_nodes(axes, places, labels, across)
        if labels is not None and busy is not None:
            _name_hottest(axes, lines, joined, hottest, busy, labels)
        has_failures = bool(dead.any()) or failed_nodes is not None
        _legend(axes, kinds, has_failures, has_load=busy is not None)
        axes.autoscale_view()
    return figure


def save_topology(figure: Figure, path: Path) -> None:
    """Write a drawing; equal drawings give equal files.

    Args:
        figure: What `draw_topology` made.
        path: A file whose name ends in .png, .svg or .pdf.
    """
    path.write_bytes(picture_bytes(figure, path.suffix.lower().lstrip(".")))


def topology_html(figure: Figure, alternative: str) -> str:
    """A drawing as a part of a page that needs nothing else.

    Args:
        figure: What `draw_topology` made.
        alternative: What it shows, for people who cannot see it.

    Returns:
        An ``img`` element that holds the picture: lines where they are few, else pixels.
    """
    lines = sum(
        len(collection.get_paths()) for axes in figure.axes for collection in axes.collections
    )
    format, kind = ("svg", "svg+xml") if lines <= SVG_LINKS_MAX else ("png", "png")
    data = base64.b64encode(picture_bytes(figure, format)).decode("ascii")
    text = escape(alternative, quote=True)
    return f'<img src="data:image/{kind};base64,{data}" alt="{text}" style="max-width:100%">'


def picture_bytes(figure: Figure, format: str) -> bytes:
    """A drawing as a file's bytes; equal drawings give equal bytes.

    Args:
        figure: What `draw_topology` made.
        format: ``png``, ``svg`` or ``pdf``.

    Returns:
        The bytes.
    """
    import matplotlib as mpl

    # Dates and versions would make equal drawings differ.
    metadata: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None},
    }
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=format, dpi=200, metadata=metadata[format])
    return buffer.getvalue()


def _size(
    places: npt.NDArray[np.float64], links: int, has_load: bool, named: int
) -> tuple[float, float]:
    """A page's width, and as high as the places need between a third of it and all."""
    extent = np.ptp(places, axis=0)
    ratio = float(extent[1] / extent[0]) if extent[0] > 0 else 1.0
    width = PAGE_INCHES if links > 60 else 0.7 * PAGE_INCHES
    # The bar of colours takes an inch beside the picture; title and legend half an inch, and each
    # named link a line.
    drawn = width - (1.0 if has_load else 0.2)
    return width, drawn * min(max(ratio, 0.35), 1.0) + 0.55 + 0.11 * named


def _links(
    axes: Axes,
    lines: Lines,
    load: npt.NDArray[np.float64] | None,
    dead: npt.NDArray[np.bool_],
) -> None:
    """Links as lines: grey alone, or by load in width and colour, the busiest on top."""
    from matplotlib.collections import LineCollection

    # Thousands of lines must leave white between them: 0.9 points for a hundred, 0.3 for 10,000.
    thin = float(np.clip(3.0 / max(len(lines.segments), 1) ** 0.26, 0.25, 1.0))
    steps = lines.segments[:, 1] - lines.segments[:, 0]
    covered = float(np.hypot(steps[:, 0], steps[:, 1]).sum()) * thin / (72 * PAGE_INCHES)
    alive = ~dead[lines.link]
    if load is None:
        # Where lines would cover the picture, each is fainter, so that their density shows.
        faint = float(np.clip(0.5 / max(covered, 1e-9), 0.15, 0.75))
        plain = LineCollection(
            list(lines.segments[alive]), colors=GREY, linewidths=thin, alpha=faint, zorder=1
        )
        axes.add_collection(plain)
        return
    values = load[lines.link]
    shown = np.flatnonzero(alive)
    shown = shown[np.argsort(np.nan_to_num(values[shown], nan=-1.0), kind="stable")]
    # Of lines that would cover each other, thinner ones leave those below to be seen.
    thin *= float(np.clip(0.4 / max(covered, 1e-9), 0.4, 1.0))
    widths = thin * (0.7 + 2.3 * np.nan_to_num(values[shown]))
    most = float(np.nanmax(values[shown])) if np.isfinite(values[shown]).any() else 1.0
    coloured = LineCollection(
        list(lines.segments[shown]),
        array=np.ma.masked_invalid(values[shown]),
        cmap=_load_colours(),
        linewidths=widths,
        capstyle="round",
        zorder=1,
    )
    coloured.set_clim(0.0, _round_up(most))
    axes.add_collection(coloured)
    figure = axes.figure
    bar = figure.colorbar(coloured, ax=axes, shrink=0.6, aspect=28, pad=0.02)
    bar.set_label("share of time that the link is busy")
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    bar.outline.set_linewidth(0.4)


def _load_colours() -> Any:
    """From pale blue to dark red by way of orange: legible on white from the first step on."""
    from matplotlib.colors import LinearSegmentedColormap

    steps = ["#c3d3e0", "#7fb2d6", "#f0b429", "#d9601a", "#8c1414"]
    return LinearSegmentedColormap.from_list("load", steps)


def _round_up(largest: float) -> float:
    """The least of 1, 2, 5, 10 % and so on, and of tens from 10 % on, that holds `largest`."""
    if largest <= 0.0:
        return 1.0
    for end in (0.01, 0.02, 0.05, *(0.1 * tens for tens in range(1, 10))):
        if largest <= end * (1 + 1e-9):
            return end
    return 1.0


def _nodes(
    axes: Axes,
    places: npt.NDArray[np.float64],
    kinds: npt.NDArray[np.str_],
    spacing: float,
    width: float,
    *,
    has_load: bool,
) -> float:
    """Marks for the nodes; returns how wide a host's is, in points."""
    extent = max(float(np.ptp(places, axis=0).max()), 1e-9)
    page = 72 * width * 0.8
    points = page * min(spacing / extent, 1.0)
    crowd = page / np.sqrt(max(len(places), 1))
    # A quarter of the distance to the neighbour, so that the links between remain to be seen.
    across = float(np.clip(0.24 * min(points, crowd), 0.9, 7.0))
    for kind, (mark, plain, beside_load, factor) in _MARKS.items():
        some = places[kinds == kind]
        room = 0.75 * page * _closest(some) / extent
        axes.scatter(
            some[:, 0],
            some[:, 1],
            s=max(min(across * factor, across + 3.0, room), 0.9) ** 2,
            marker=mark,
            color=beside_load if has_load else plain,
            linewidths=0.0,
            zorder=2 if kind == "host" else 3,
        )
    return across


def _closest(places: npt.NDArray[np.float64]) -> float:
    """The usual distance of neighbours in a row or a column; infinite where there are none."""
    found = [np.inf]
    for along, across in ((0, 1), (1, 0)):
        order = np.lexsort((places[:, along], np.round(places[:, across], 9)))
        steps = np.abs(np.diff(places[order], axis=0))
        in_line = steps[(steps[:, across] < 1e-9) & (steps[:, along] > 1e-9), along]
        # A few that stand in one row by chance say nothing.
        if in_line.size > len(places) / 2:
            found.append(float(np.median(in_line)))
    return min(found)


def _failures(
    axes: Axes,
    places: npt.NDArray[np.float64],
    lines: Lines,
    dead: npt.NDArray[np.bool_],
    failed_nodes: npt.ArrayLike | None,
    across: float,
) -> None:
    """Failed links broken and crossed out in their middles, failed nodes crossed out."""
    from matplotlib.collections import LineCollection

    cross = min(max(16.0, 4 * across**2), 64.0)
    broken = dead[lines.link]
    if broken.any():
        segments = lines.segments[broken]
        style = {"colors": _FAILED, "linewidths": 1.2, "linestyles": (0, (2, 1.5))}
        axes.add_collection(LineCollection(list(segments), zorder=4, **style))
        middles = lines.segments[broken & lines.takes_mark].mean(axis=1)
        axes.scatter(
            middles[:, 0],
            middles[:, 1],
            s=cross,
            marker="x",
            color=_FAILED,
            linewidths=1.3,
            zorder=5,
        )
    if failed_nodes is not None:
        gone = places[np.asarray(failed_nodes, dtype=np.int64)]
        axes.scatter(
            gone[:, 0],
            gone[:, 1],
            s=2 * cross,
            marker="X",
            color=_FAILED,
            linewidths=0.0,
            zorder=5,
        )


def _name_nodes(
    axes: Axes, places: npt.NDArray[np.float64], labels: Sequence[str], across: float
) -> None:
    from matplotlib.patheffects import withStroke

    for (x, y), label in zip(places, labels, strict=True):
        axes.annotate(
            label,
            (x, y),
            xytext=(0, across / 2 + 3),
            textcoords="offset points",
            ha="center",
            fontsize=5.5,
            path_effects=[withStroke(linewidth=1.6, foreground="white")],
            zorder=6,
        )


def _hottest(load: npt.NDArray[np.float64]) -> list[int]:
    """The busiest links, the busiest first; of equals the first."""
    order = np.argsort(np.nan_to_num(-load, nan=np.inf), kind="stable")[:HOTTEST]
    return [int(link) for link in order if load[link] > 0]


def _name_hottest(
    axes: Axes,
    lines: Lines,
    ends: npt.NDArray[np.int64],
    hottest: Sequence[int],
    load: npt.NDArray[np.float64],
    labels: Sequence[str],
) -> None:
    """A list of the busiest links below the picture, and their numbers where they are drawn."""
    names = []
    for rank, link in enumerate(hottest, 1):
        start, end = ends[link]
        names.append(f"{rank}  {labels[start]} – {labels[end]}: {100 * load[link]:.3g} %")
        for segment in lines.segments[(lines.link == link) & lines.takes_mark]:
            axes.annotate(
                str(rank),
                segment.mean(axis=0),
                ha="center",
                va="center",
                fontsize=5,
                fontweight="bold",
                bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "#8c1414", "lw": 0.6},
                zorder=7,
            )
    if names:
        heading = "the busiest links:\n" if len(names) > 1 else "the busiest link:\n"
        axes.figure.supxlabel(heading + "\n".join(names), fontsize=6, x=0.02, ha="left")


def _legend(axes: Axes, kinds: npt.NDArray[np.str_], has_failures: bool, *, has_load: bool) -> None:
    from matplotlib.lines import Line2D

    handles, names = [], []
    for kind, (mark, plain, beside_load, factor) in _MARKS.items():
        count = int(np.count_nonzero(kinds == kind))
        if count:
            colour = beside_load if has_load else plain
            size = 3 + factor
            handles.append(Line2D([], [], marker=mark, color=colour, ls="none", markersize=size))
            plural = {"switch": "es"}.get(kind, "s") if count > 1 else ""
            names.append(f"{count:,} {kind}{plural}")
    if has_failures:
        handles.append(Line2D([], [], marker="x", color=_FAILED, ls="none", markersize=4))
        names.append("failed")
    axes.legend(
        handles,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=4,
        handletextpad=0.3,
        columnspacing=1.2,
    )
