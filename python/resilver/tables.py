"""Tables of a report: shown in words and units, and carried as CSV in SI units."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from resilver.importers.csv_rows import plain_cell
from resilver.quantities import decimal, decimal_bytes, decimal_rate
from resilver.units import format_duration, format_rate
from resilver.words import amount, chance, percent, size_of

if TYPE_CHECKING:
    import pyarrow as pa

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
            "watts" are a power; "us" are seconds, shown in microseconds. A "note" is a text about
            the column before it: below that on a page, and beside it in a terminal with room.
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
    rows: Sequence[Any],
    *columns: tuple[str, str, str] | tuple[str, str, str, Callable[[Any], object]],
    note: str = "",
    filled: bool = False,
) -> Table:
    """A table with a row a thing.

    Args:
        rows: The things.
        columns: For each its name, heading and kind, and what it holds of a thing: by default the
            attribute of its name, the value under it where things are mappings, or what is in its
            place where they are tuples.
        note: What the table leaves out or merges.
        filled: Leave out columns that have no value at all.
    """
    made = []
    for place, (name, heading, kind, *of) in enumerate(columns):
        value = of[0] if of else partial(_own, name=name, place=place)
        made.append((name, heading, kind, [value(one) for one in rows]))
    shown = [one for one in made if not filled or any(value is not None for value in one[3])]
    return table(*shown, note=note)


def _own(one: Any, name: str, place: int) -> object:
    """What a thing itself has for a column."""
    if isinstance(one, Mapping):
        return one[name]
    return one[place] if type(one) is tuple else getattr(one, name)


def _cell(value: object, kind: str) -> Cell:
    # A number of NumPy, which tables of texts need not import.
    if hasattr(value, "item"):
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
    "us": lambda value: f"{value * 1e6:,.3f} us",
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
        rows_max: How many of its rows; None for all.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows[:rows_max]:
        known = ("" if value is None or value != value else value for value in row)
        writer.writerow([plain_cell(value) for value in known])
    return text.getvalue()


def table_bytes(table: pa.Table, suffix: str) -> bytes:
    """A table as a file: CSV, where lists are words, or else Parquet.

    Args:
        suffix: The ending of the file's name, ".csv" or ".parquet".
    """
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    file = io.BytesIO()
    if suffix == ".csv":
        arrow_csv.write_csv(_without_lists(table), file)
    else:
        parquet.write_table(table, file)
    return file.getvalue()


def _without_lists(table: pa.Table) -> pa.Table:
    import pyarrow as pa

    for index, column in enumerate(table.schema):
        if pa.types.is_list(column.type):
            texts = [" ".join(map(str, one or ())) for one in table[column.name].to_pylist()]
            table = table.set_column(index, column.name, pa.array(texts, pa.string()))
    return table
