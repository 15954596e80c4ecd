"""Populations by size, as numbers and as a picture: files and objects of each class of sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError
from resilver.report.static import PAGE_INCHES, STYLE
from resilver.report.style import BLUE, VERMILLION
from resilver.units import exact_bytes, format_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = ("files", "file_bytes", "objects", "object_bytes")
_EXPECTED = "expected of the histogram"
_PANELS_A_ROW = 2
_LEAST_SHOWN = 0.002
"""The smallest expected share that is marked."""


@dataclass(frozen=True, eq=False)
class PopulationSizes:
    """What a population holds, by classes of sizes [2^k, 2^(k+1)).

    Attributes:
        name: What it is called.
        cut: What its objects are, in words.
        first_class: The *k* of the first class.
        drawn: A row a class: files, their bytes, objects, their bytes; shape (classes, 4).
        expected: A row a class: the expected share of files, and the bytes of the mean file that
            are in the class; shape (classes, 2).
    """

    name: str
    cut: str
    first_class: int
    drawn: npt.NDArray[np.int64]
    expected: npt.NDArray[np.float64]

    @classmethod
    def of_census(
        cls,
        name: str,
        cut: str,
        census: pa.Table,
        expected: Mapping[int, tuple[Fraction, Fraction]],
    ) -> PopulationSizes:
        """From a census and what was expected of it.

        Args:
            name: What the population is called.
            cut: What its objects are, in words.
            census: A table as `resilver.census` returns it.
            expected: As `resilver.importers.sizes.expected_by_class` returns it.
        """
        edges = census["bin_min_bytes"].to_pylist()
        numbers = [edge.bit_length() - 1 for edge in edges]
        every = [*numbers, *expected]
        first, end = min(every, default=0), max(every, default=-1) + 1
        drawn = np.zeros((end - first, len(_COLUMNS)), np.int64)
        shares = np.zeros((end - first, 2))
        for column, key in enumerate(_COLUMNS):
            for number, value in zip(numbers, census[key].to_pylist(), strict=True):
                drawn[number - first, column] = value
        for number, (share, size) in expected.items():
            shares[number - first] = float(share), float(size)
        return cls(name, cut, first, drawn, shares)

    @property
    def file_count(self) -> int:
        """How many files were drawn."""
        return int(self.drawn[:, 0].sum())

    @property
    def object_count(self) -> int:
        """How many objects they consist of."""
        return int(self.drawn[:, 2].sum())

    @property
    def bytes(self) -> int:
        """What they hold, before replication."""
        return int(self.drawn[:, 1].sum())

    @property
    def mean_file_bytes(self) -> float | None:
        """The mean size of a drawn file; None without files."""
        return self.bytes / self.file_count if self.file_count else None

    @property
    def mean_object_bytes(self) -> float | None:
        """The mean size of an object; None without objects."""
        return self.bytes / self.object_count if self.object_count else None

    @property
    def expected_mean_file_bytes(self) -> float:
        """The expected size of a file."""
        return float(self.expected[:, 1].sum())

    def rows(self) -> list[dict[str, Any]]:
        """The classes, sizes rising, as flat dictionaries."""
        mean = self.expected_mean_file_bytes
        return [
            {
                "min_bytes": 2 ** (self.first_class + index),
                "max_bytes": 2 ** (self.first_class + index + 1),
                **dict(zip(_COLUMNS, map(int, drawn), strict=True)),
                "expected_file_share": float(share),
                "expected_file_bytes_share": float(size) / mean if mean else 0.0,
            }
            for index, (drawn, (share, size)) in enumerate(
                zip(self.drawn, self.expected, strict=True)
            )
        ]


def write_population_figure(populations: Sequence[PopulationSizes], path: Path) -> Path:
    """Draw populations side by side: files above, objects below, by count and by volume.

    Args:
        populations: The populations, at least one.
        path: The file, ending in .png or .svg.

    Returns:
        The file.

    Raises:
        ConfigError: It cannot be written.
    """
    import matplotlib as mpl

    kind = path.suffix.lower().removeprefix(".")
    with mpl.rc_context(STYLE):
        figure = draw_populations(populations)
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        try:
            figure.savefig(path, format=kind, dpi=300, metadata=metadata)
        except OSError as error:
            raise ConfigError(
                f"{str(path)!r} cannot be written: {error.strerror}; choose another with -o FILE"
            ) from error
    return path


def draw_populations(populations: Sequence[PopulationSizes]) -> Figure:
    """Populations side by side as a matplotlib figure.

    Args:
        populations: The populations, at least one.
    """
    from matplotlib.figure import Figure

    columns = min(len(populations), _PANELS_A_ROW)
    blocks = math.ceil(len(populations) / columns)
    width = PAGE_INCHES if columns > 1 else 0.62 * PAGE_INCHES
    figure = Figure(figsize=(width, 4.3 * blocks + 0.3), layout="constrained")
    grid = figure.subplots(2 * blocks, columns, squeeze=False)
    low = min(item.first_class for item in populations)
    high = max(item.first_class + len(item.drawn) for item in populations)
    for axes in grid.flat:
        axes.set_visible(False)
    for index, sizes in enumerate(populations):
        row, column = 2 * (index // columns), index % columns
        files, objects = grid[row][column], grid[row + 1][column]
        for axes in (files, objects):
            axes.set_visible(True)
            axes.set_xlim(low - 0.2, max(high, low + 1) + 0.2)
            _size_axis(axes, low, high)
        head = f"{sizes.name}: {sizes.file_count:,} files, {format_bytes(sizes.bytes)}"
        files.set_title(head, loc="left", fontweight="bold")
        objects.set_title(f"{sizes.object_count:,} objects: {sizes.cut}", loc="left")
        _bars(files, sizes, 0, expected=True)
        _bars(objects, sizes, 2, expected=False)
        files.set_xlabel("file size")
        objects.set_xlabel("object size")
        if column == 0:
            files.set_ylabel("share of all files (%)")
            objects.set_ylabel("share of all objects (%)")
    named = dict(zip(*reversed(grid[0][0].get_legend_handles_labels()), strict=True))
    order = [name for name in ("by count", "by volume", _EXPECTED) if name in named]
    handles = [named[name] for name in order]
    figure.legend(handles, order, loc="outside lower center", ncols=len(order))
    return figure


def _bars(axes: Axes, sizes: PopulationSizes, column: int, *, expected: bool) -> None:
    """Two bars a class: its share of the count, and its share of the volume."""
    middles = sizes.first_class + np.arange(len(sizes.drawn)) + 0.5
    mean = sizes.expected_mean_file_bytes
    series = (
        ("by count", VERMILLION, -0.2, sizes.drawn[:, column], sizes.expected[:, 0]),
        ("by volume", BLUE, 0.2, sizes.drawn[:, column + 1], sizes.expected[:, 1] / (mean or 1.0)),
    )
    for name, colour, aside, values, shares in series:
        total = int(values.sum())
        percent = 100.0 * values / total if total else np.zeros(len(values))
        axes.bar(middles + aside, percent, width=0.4, color=colour, label=name)
        if expected:
            # Marks of shares that no bar shows would lie on the axis and hide it.
            seen = shares > _LEAST_SHOWN
            axes.plot(
                (middles + aside)[seen],
                100.0 * shares[seen],
                linestyle="",
                marker="_",
                markersize=4.5,
                markeredgewidth=0.9,
                color="black",
                label=_EXPECTED if aside > 0 else None,
            )
    axes.set_ylim(bottom=0.0)


def _size_axis(axes: Axes, low: int, high: int) -> None:
    """Edges of classes as ticks, in units for people, as many as have room."""
    step = next((step for step in (1, 2, 5) if high - low <= 7 * step), 10)
    ticks = [k for k in range(low, high + 1) if k % step == 0]
    axes.set_xticks(ticks, [exact_bytes(2**k) for k in ticks])
    axes.grid(axis="x", visible=False)
