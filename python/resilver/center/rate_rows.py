"""Rows of a CSV of rates, with errors that name the line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, name_remedy, placed, show
from resilver.text import read_text, refuse
from resilver.units import BytesPerSecond

SI_COLUMN = "rate_bytes_per_second"
"""The column of rates that are bare numbers; `rate` has them with their unit."""


def csv_lines(path: Path, remedy: str) -> tuple[list[str], list[tuple[int, dict[str, Any]]]]:
    """The columns of a CSV with a header, and each line's number with its cells by column."""
    reader = csv.DictReader(StringIO(read_text(path)), strict=True)
    try:
        names = [str(name).strip() for name in reader.fieldnames or ()]
        return names, [
            (reader.line_num, dict(zip(names, row.values(), strict=False))) for row in reader
        ]
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", remedy)


def rate_rows(
    path: Path, first: str, columns: Sequence[str], each: str
) -> tuple[list[str], list[tuple[str, dict[str, Any]]]]:
    """The rows of a CSV of rates.

    Args:
        path: The file, with a header.
        first: The column that is needed beside the rate.
        columns: All columns that it may have.
        each: What a line is, for errors.

    Returns:
        The columns that it has, and each line's place, for errors, with its cells by column.

    Raises:
        ConfigError: It cannot be read, or has not these columns, or no line.
    """
    names, rows = csv_lines(path, "is a quote missing, or the file cut off?")
    if first not in names or not {"rate", SI_COLUMN} & set(names):
        have = ", ".join(names[:8]) or "none"
        rule = f"columns {first} and rate are needed, and there are: {have}"
        refuse(path, rule, f"begin with a line such as {first},rate")
    for name in names:
        if name not in columns:
            remedy = name_remedy(name, columns, "columns")
            refuse(path, f"there is no such column: {show(name)}", remedy)
    if not rows:
        refuse(path, "there is no rate in it", f"add a line {each}")
    return names, [(f"{path}, line {line}", row) for line, row in rows]


def text_in(row: dict[str, Any], column: str, place: str) -> str:
    """The text of a cell, which must have some."""
    text = row.get(column)
    if not isinstance(text, str) or not text.strip():
        refuse(place, f"the line has no {column}", "is the file cut off?")
    return text.strip()


def rate_in(row: dict[str, Any], place: str) -> float:
    """A rate in bytes per second, above zero."""
    column = "rate" if row.get("rate") is not None else SI_COLUMN
    text = text_in(row, column, place)
    try:
        with placed(place):
            rate = float(text) if column == SI_COLUMN else float(BytesPerSecond.parse(text))
    except ConfigError:
        raise
    except ValueError:
        refuse(place, f"{show(text)} is not a number of bytes per second", "such as 512e6")
    if not 0.0 < rate < float("inf"):
        refuse(place, f"{show(text)}: a rate is above zero", "leave out what was not measured")
    return rate
