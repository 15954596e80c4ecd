"""Tables of a report: shown in words and units, and carried as CSV in SI units."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from resilver.importers.csv_rows import plain_cell
from resilver.quantities import decimal, decimal_bytes, decimal_rate
from resilver.units import format_duration, format_rate
from resilver.words import amount, chance, percent, size_of

ROWS_CARRIED_MAX = 2000
"""Rows of a CSV on the page, so that a page stays small; the Parquet tables have all."""

Cell = str | float | int | None


@dataclass(frozen=True)
class Column:
    """One column.

    Args:
        name: Its name in the CSV, the unit last (`rebuilt_bytes`).
        heading: Its heading on the page.
        kind: "text", "count", "amount" (three digits from 100,000 on), "bytes", "seconds", "rate",
            "share", "chance" (a probability) or "number"; "fill" is a share to a tenth of a
            percent; "TB" and "TB/s" are sizes and rates in decimal units, as disks are sold;
            "watts" are a power. A "note" is a text about the column before it: below that on a
            page, and beside it in a terminal with room.
    """

    name: str
    heading: str
    kind: str


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Args:
        columns: Its columns.
        rows: Raw values in SI units, one sequence a row.
        note: What the table leaves out or merges; may be empty.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]] = field(repr=False)
    note: str = ""


def table(*columns: tuple[str, str, str, Iterable[object]], note: str = "") -> Table:
    """A table from its columns, all of one length.

    Args:
        columns: For each its name, heading, kind and values.
        note: What the table leaves out or merges.
    """
    values = [[_cell(value, kind) for value in data] for _, _, kind, data in columns]
    heads = tuple(Column(name, heading, kind) for name, heading, kind, _ in columns)
    return Table(heads, list(zip(*values, strict=True)), note)


def table_of(
    rows: Sequence[object], *columns: tuple[str, str, str], note: str = "", filled: bool = False
) -> Table:
    """A table with a row a thing.

    Args:
        rows: The things.
        columns: For each its name, which is that of the things' attribute, heading and kind.
        note: What the table leaves out or merges.
        filled: Leave out columns that have no value at all.
    """
    made = [(*column, [getattr(one, column[0]) for one in rows]) for column in columns]
    shown = [one for one in made if not filled or any(value is not None for value in one[3])]
    return table(*shown, note=note)


def _cell(value: object, kind: str) -> Cell:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return None
    if kind in ("count", "bytes") and isinstance(value, float):
        return int(value)
    return value if isinstance(value, str | int | float) else str(value)


_WORDS: dict[str, Callable[[float], str]] = {
    "count": lambda value: f"{value:,.0f}",
    "amount": amount,
    "bytes": size_of,
    "seconds": format_duration,
    "rate": format_rate,
    "share": percent,
    "chance": chance,
    "fill": lambda value: f"{100.0 * value:.1f} %",
    "number": lambda value: f"{value:,.4g}",
    "TB": decimal_bytes,
    "TB/s": decimal_rate,
    "watts": lambda value: decimal(value, "W"),
}


def cell_text(value: Cell, kind: str) -> str:
    """A value for people; a dash for none, and of a note nothing."""
    if value is None or value != value:
        return "" if kind == "note" else "-"
    if isinstance(value, str) or kind in ("text", "note"):
        return str(value)
    return _WORDS[kind](value)


def to_csv(table: Table, rows_max: int | None = ROWS_CARRIED_MAX) -> str:
    """A table in SI units, nothing where a value is missing.

    Args:
        table: The table.
        rows_max: How many of its rows; None for all.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows[:rows_max]:
        known = ("" if value is None or value != value else value for value in row)
        writer.writerow([plain_cell(value) for value in known])
    return text.getvalue()
