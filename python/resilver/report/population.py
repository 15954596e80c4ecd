"""Populations by size, as numbers and as a picture: files and objects of each class of sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.answer import Answer, Shown, sections_of
from resilver.charts.idioms import coloured, columns
from resilver.charts.style import BLUE, INK, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, marks
from resilver.report.arrays import Floats, Integers
from resilver.tables import Table, table, table_of
from resilver.units import exact_bytes, format_bytes
from resilver.words import listed, plural

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ("files", "file_bytes", "objects", "object_bytes")
_KINDS = ("by count", "by volume", "expected of the histogram")
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
    drawn: Integers
    expected: Floats

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
            for index, drawn in enumerate(self.drawn)
            for share, size in [self.expected[index]]
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; mean sizes are None of none."""
        files, objects, size = self.file_count, self.object_count, self.bytes
        return {
            "name": self.name,
            "objects_are": self.cut,
            "files": files,
            "objects": objects,
            "bytes": size,
            "mean_file_bytes": size / files if files else None,
            "expected_mean_file_bytes": self.expected_mean_file_bytes,
            "mean_object_bytes": size / objects if objects else None,
            "classes": self.rows(),
        }

    def table(self) -> Table:
        """The classes that hold anything, a row each: shares of files and of objects."""
        shares = (
            ("files", "files", self.file_count),
            ("expected_file_share", "expected", 1),
            ("file_bytes", "volume", self.bytes),
            ("expected_file_bytes_share", "expected", 1),
            ("objects", "objects", self.object_count),
            ("object_bytes", "volume", self.bytes),
        )
        shown = [row for row in self.rows() if any(row[key] for key, _, _ in shares)]
        return table(
            ("min_bytes", "from", "bytes", [row["min_bytes"] for row in shown]),
            *(
                (f"{key}_of_all", heading, "fill", [row[key] / (whole or 1) for row in shown])
                for key, heading, whole in shares
            ),
            note="From a power of two up to the next: shares of the count and of the volume.",
        )


def population_answer(populations: Sequence[PopulationSizes]) -> Answer:
    """The answer of one population or more side by side: files and objects, by count and volume."""
    records = [sizes.to_dict() for sizes in populations]
    totals = table_of(
        records,
        ("name", "population", "text"),
        ("file_count", "files", "count", itemgetter("files")),
        ("object_count", "objects", "count", itemgetter("objects")),
        ("bytes", "volume", "bytes"),
        ("mean_file_bytes", "mean file", "bytes"),
        ("expected_mean_file_bytes", "expected mean file", "bytes"),
        ("mean_object_bytes", "mean object", "bytes"),
        ("cut", "objects are", "text", itemgetter("objects_are")),
    )
    classes = [
        Shown(f"classes-{rank}", f"{sizes.name} by size", sizes.table(), printed=64)
        for rank, sizes in enumerate(populations)
    ]
    names = listed([sizes.name for sizes in populations])
    chart = Chart(
        "population",
        f"Files and objects of {names} by size",
        "Shares of files, above, and of objects, below, by size: by count and by volume.",
        lambda: population_spec(populations),
        totals,
        "populations",
    )
    return Answer(
        f"Files and objects of {names}",
        [
            f"{sizes.name}: {plural(sizes.file_count, 'file')} hold {format_bytes(sizes.bytes)} in "
            f"{plural(sizes.object_count, 'object')}."
            for sizes in populations
        ],
        sections_of(
            ("Populations", [Shown("totals", "In all", totals, is_turned=True), chart]),
            ("By size", classes),
        ),
        records,
    )


def population_spec(populations: Sequence[PopulationSizes]) -> Spec:
    """One population or more side by side, two in a row."""
    low = min(item.first_class for item in populations)
    high = max(item.first_class + len(item.drawn) for item in populations)
    blocks = []
    for sizes in populations:
        files = f"{sizes.name}: {sizes.file_count:,} files, {format_bytes(sizes.bytes)}"
        objects = f"{sizes.object_count:,} objects: {sizes.cut}"
        panels = ((0, files), (2, objects))
        views = [_panel(sizes, column, title, (low, high)) for column, title in panels]
        blocks.append({"vconcat": views})
    rows_of_blocks = [{"hconcat": blocks[at : at + 2]} for at in range(0, len(blocks), 2)]
    return {"vconcat": rows_of_blocks} if len(blocks) > 1 else blocks[0]


def _panel(sizes: PopulationSizes, column: int, title: str, ends: tuple[int, int]) -> Spec:
    """Two bars a class: its share of the count, and its share of the volume."""
    what = "object" if column else "file"
    middles = sizes.first_class + np.arange(len(sizes.drawn)) + 0.5
    mean = sizes.expected_mean_file_bytes or 1.0
    low, high = ends
    bars: list[tuple[float, float, str]] = []
    expected: list[tuple[float, float, float, str]] = []
    for rank, (aside, values, shares) in enumerate(
        (
            (-0.2, sizes.drawn[:, column], sizes.expected[:, 0]),
            (0.2, sizes.drawn[:, column + 1], sizes.expected[:, 1] / mean),
        )
    ):
        percents = 100.0 * values / max(int(values.sum()), 1)
        for x, y, share in zip(middles + aside, percents, shares, strict=True):
            if y:
                bars.append((x, y, _KINDS[rank]))
            # Marks of shares that no bar shows would lie on the axis and hide it.
            if not column and share > _LEAST_SHOWN:
                expected.append((x - 0.2, x + 0.2, 100.0 * share, _KINDS[2]))
    step = next((step for step in (1, 2, 5) if high - low <= 7 * step), 10)
    ticks = {float(k): exact_bytes(2**k) for k in range(low, high + 1) if k % step == 0}
    kinds = dict(zip(_KINDS, (VERMILLION, BLUE, INK), strict=True))
    across = axis("x", f"{what} size", ends=(low - 0.2, max(high, low + 1) + 0.2), ticks=ticks)
    upwards = axis("y", f"share of all {what}s (%)")
    over: list[Spec] = []
    if expected:
        rule = coloured({"type": "rule", "strokeWidth": 2}, kinds, x2={"field": "x2"})
        over = [{"data": marks("x x2 y kind", expected), **rule}]
    drawn = marks("x y kind", bars)
    view = columns(drawn, across, upwards, kinds, wide=0.4, height=170, over=over)
    return view | {"title": {"text": title, "fontSize": 12}}
