"""Populations by size, as numbers and as a picture: files and objects of each class of sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Shown, sections_of
from resilver.charts.idioms import coloured, columns
from resilver.charts.style import BLUE, INK, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, marks
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
        classes: A row a class, sizes rising: its edges, files, their bytes, objects, their bytes,
            and of the files and of their bytes the expected shares.
        expected_mean_file_bytes: The expected size of a file.
    """

    name: str
    cut: str
    classes: list[dict[str, Any]]
    expected_mean_file_bytes: float = 0.0

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
        drawn = {row["bin_min_bytes"].bit_length() - 1: row for row in census.to_pylist()}
        every = [*drawn, *expected]
        mean = float(sum(size for _, size in expected.values()))
        nothing = dict.fromkeys(_COLUMNS, 0)
        classes = []
        for number in range(min(every, default=0), max(every, default=-1) + 1):
            share, size = map(float, expected.get(number, (0.0, 0.0)))
            found = drawn.get(number, nothing)
            classes.append(
                {
                    "min_bytes": 2**number,
                    "max_bytes": 2 ** (number + 1),
                    **{key: found[key] for key in _COLUMNS},
                    "expected_file_share": share,
                    "expected_file_bytes_share": size / mean if mean else 0.0,
                }
            )
        return cls(name, cut, classes, mean)

    def total(self, key: str) -> int:
        """The sum of a column of the classes, such as ``objects``."""
        return sum(row[key] for row in self.classes)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; mean sizes are None of none."""
        files, objects, size = map(self.total, ("files", "objects", "file_bytes"))
        return {
            "name": self.name,
            "objects_are": self.cut,
            "files": files,
            "objects": objects,
            "bytes": size,
            "mean_file_bytes": size / files if files else None,
            "expected_mean_file_bytes": self.expected_mean_file_bytes,
            "mean_object_bytes": size / objects if objects else None,
            "classes": self.classes,
        }

    def table(self) -> Table:
        """The classes that hold anything, a row each: shares of files and of objects."""
        files, objects, size = map(self.total, ("files", "objects", "file_bytes"))
        shares = (
            ("files", "files", files),
            ("expected_file_share", "expected", 1),
            ("file_bytes", "volume", size),
            ("expected_file_bytes_share", "expected", 1),
            ("objects", "objects", objects),
            ("object_bytes", "volume", size),
        )
        shown = [row for row in self.classes if any(row[key] for key, _, _ in shares)]
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
            f"{one['name']}: {plural(one['files'], 'file')} hold {format_bytes(one['bytes'])} in "
            f"{plural(one['objects'], 'object')}."
            for one in records
        ],
        sections_of(
            ("Populations", [Shown("totals", "In all", totals, is_turned=True), chart]),
            ("By size", classes),
        ),
        records,
    )


def population_spec(populations: Sequence[PopulationSizes]) -> Spec:
    """One population or more side by side, two in a row."""
    every = [row for sizes in populations for row in sizes.classes]
    low = min((_class(row) for row in every), default=0)
    high = max((_class(row) + 1 for row in every), default=0)
    blocks = []
    for sizes in populations:
        volume = format_bytes(sizes.total("file_bytes"))
        files = f"{sizes.name}: {sizes.total('files'):,} files, {volume}"
        objects = f"{sizes.total('objects'):,} objects: {sizes.cut}"
        panels = (("file", files), ("object", objects))
        views = [_panel(sizes, what, title, (low, high)) for what, title in panels]
        blocks.append({"vconcat": views})
    rows_of_blocks = [{"hconcat": blocks[at : at + 2]} for at in range(0, len(blocks), 2)]
    return {"vconcat": rows_of_blocks} if len(blocks) > 1 else blocks[0]


def _class(row: Mapping[str, Any]) -> int:
    """The *k* of a class."""
    return int(row["min_bytes"]).bit_length() - 1


def _panel(sizes: PopulationSizes, what: str, title: str, ends: tuple[int, int]) -> Spec:
    """Two bars a class: its share of the count, and its share of the volume."""
    low, high = ends
    bars: list[tuple[float, float, str]] = []
    expected: list[tuple[float, float, float, str]] = []
    for kind, aside, key, of in (
        (_KINDS[0], -0.2, f"{what}s", f"expected_{what}_share"),
        (_KINDS[1], 0.2, f"{what}_bytes", f"expected_{what}_bytes_share"),
    ):
        total = sizes.total(key) or 1
        for row in sizes.classes:
            x = _class(row) + 0.5 + aside
            if row[key]:
                bars.append((x, 100.0 * row[key] / total, kind))
            # Nothing is expected of objects, and marks of shares that no bar shows would lie on
            # the axis and hide it.
            if (share := row.get(of, 0.0)) > _LEAST_SHOWN:
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
