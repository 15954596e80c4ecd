"""Rows of CSV with a header, each with its place: blank lines and comments are passed over."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resilver.errors import name_remedy, show
from resilver.text import refuse


def plain_cell(value: object) -> object:
    """A cell of CSV that no spreadsheet computes: a text that begins as a formula gets a quote.

    >>> plain_cell("=1+1"), plain_cell("-1"), plain_cell("default"), plain_cell(-1.5)
    ("'=1+1", '-1', 'default', -1.5)
    """
    if not isinstance(value, str) or not value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


Header = Callable[[list[str], str], dict[str, int]]
"""Takes the header's cells and its place, and gives the place of each column by its name."""


@dataclass(frozen=True)
class Row:
    """A row below the header.

    Attributes:
        cells: Its cells, without blanks around them, by column.
        place: The file and the line, for errors.
        line: The line's number, from 1.
    """

    cells: dict[str, str]
    place: str
    line: int


def csv_rows(
    text: str, path: Path, header: Header, remedy: str, example: str | None = None
) -> Iterator[Row]:
    """The rows of a CSV text.

    Args:
        path: Where it came from.
        header: Reads the header.
        remedy: What to do about a row that is too long or too short.
        example: A header that could be, for the error of an empty file; None where that is none.

    Raises:
        ConfigError: It is no CSV, is empty though it may not be, or a row has not as many values
            as there are columns.
    """
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
    at: dict[str, int] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            place = f"{path}, line {reader.line_num}"
            if not any(cells) or cells[0].startswith("#"):
                continue
            if at is None:
                at = header(cells, place)
                continue
            if len(cells) != len(at):
                rule = f"this line has {len(cells)} values, and the header {len(at)} columns"
                refuse(place, rule, remedy)
            named = {name: cells[index] for name, index in at.items()}
            yield Row(named, place, reader.line_num)
    except csv.Error as error:
        refuse(f"{path}, line {reader.line_num}", f"not valid CSV: {error}")
    if at is None and example is not None:
        refuse(path, "the file is empty", f"begin it with a header {example}")


def columns_of(
    cells: list[str],
    place: str,
    known: Sequence[str],
    needed: Sequence[str],
    what: str,
    example: str,
) -> dict[str, int]:
    """The place of each column of a header.

    Args:
        cells: The header's cells.
        place: The file and the line.
        known: The columns that there may be.
        needed: Those that there are.
        what: What the file is, such as ``a trace``.
        example: A header that could be.

    Raises:
        ConfigError: A column is not known, stands twice, or is missing.
    """
    names = [cell.casefold() for cell in cells]
    for name in names:
        if name not in known:
            rule = f"{show(name)} is not a column of {what}"
            refuse(place, rule, f"{name_remedy(name, known, 'columns')} ({example})")
        if names.count(name) > 1:
            refuse(place, f"the column {show(name)} stands twice", "name each once")
    for name in needed:
        if name not in names:
            refuse(place, f"the column {name} is missing", example)
    return {name: index for index, name in enumerate(names)}
