"""Tables of a report: shown in words and units, and carried as CSV in SI units."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

from resilver.report.words import percent, size_of
from resilver.units import format_duration, format_rate

ROWS_SHOWN_MAX = 40
"""Rows of a chart's table on the page; its CSV has the rest."""
ROWS_CARRIED_MAX = 2000
"""Rows of a CSV on the page, so that a page stays small; the Parquet tables have all."""

Cell = str | float | int | None


@dataclass(frozen=True)
class Column:
    """One column.

    Args:
        name: Its name in the CSV, the unit last (`rebuilt_bytes`).
        heading: Its heading on the page.
        kind: "text", "count", "bytes", "seconds", "rate", "share" or "number".
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


_WORDS: dict[str, Callable[[float], str]] = {
    "count": lambda value: f"{value:,.0f}",
    "bytes": size_of,
    "seconds": format_duration,
    "rate": format_rate,
    "share": percent,
    "number": lambda value: f"{value:,.4g}",
}


def cell_text(value: Cell, kind: str) -> str:
    """A value for people; a dash for none."""
    if value is None or value != value:
        return "-"
    if isinstance(value, str) or kind == "text":
        return str(value)
    return _WORDS[kind](value)


def to_csv(table: Table) -> str:
    """The table's first `ROWS_CARRIED_MAX` rows in SI units, nothing where a value is missing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows[:ROWS_CARRIED_MAX]:
        writer.writerow(["" if value is None or value != value else value for value in row])
    return text.getvalue()


def to_html(table: Table, caption: str, rows_max: int = ROWS_SHOWN_MAX) -> str:
    """The table's first rows as an HTML table that scrolls within itself.

    Args:
        table: What to show.
        caption: What the table is, for those who hear it.
        rows_max: The most rows to show.
    """
    shown = table.rows[:rows_max]
    head = "".join(
        f'<th scope="col"{_align(column)}>{escape(column.heading)}</th>' for column in table.columns
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{_align(column)}>{escape(cell_text(value, column.kind))}</td>"
            for column, value in zip(table.columns, row, strict=True)
        )
        + "</tr>"
        for row in shown
    )
    notes = [table.note] if table.note else []
    if len(table.rows) > len(shown):
        notes.append(
            f"The first {len(shown):,} of {len(table.rows):,} rows; the CSV and the Parquet tables "
            "have more."
        )
    note = f'<p class="note">{escape(" ".join(notes))}</p>' if notes else ""
    label = escape(caption, quote=True)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table>'
        f'<caption class="unseen">{label}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>{note}"
    )


def _align(column: Column) -> str:
    """Numbers stand right, so that their digits line up."""
    return "" if column.kind == "text" else ' class="n"'
