"""LogGP tables as netgauge measures them.

Source of the model: A. Alexandrov, M. F. Ionescu, K. E. Schauser, C. Scheiman, "LogGP:
incorporating long messages into the LogP model", SPAA 1995; of the measurement: T. Hoefler, A.
Lichei, W. Rehm, "Low-overhead LogGP parameter assessment for modern interconnection networks",
IPDPS 2007.

A message of s bytes takes the first row whose size is strictly larger than s, or the last row when
none is. Rows keep the file's order for that reason: where a size stands twice, the first of the two
serves the messages below it and the second serves none. (In the QDR InfiniBand table the first of
the two 262,144-byte rows carries the gaps of the 8,192-byte row, and is the row that applies.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from resilver.text import name_of, read_text, refuse

_COLUMNS = (
    "size",
    "n",
    "PRTT(1,0,s)",
    "PRTT(n,0,s)",
    "PRTT(n,PRTT(1,0,s),s)",
    "L",
    "o_s",
    "o_r",
    "g",
    "G",
    "lsqu(g,G)",
)
_NEEDED = ("size", "L", "g", "G")
_MICRO = Decimal("1e-6")
_MICROSECONDS_MAX = Decimal("1e12")
_LINE_LENGTH_MAX = 10_000
_EXAMPLE = "expected microseconds, such as 1.079925"


@dataclass(frozen=True)
class LogGpRow:
    """The LogGP parameters of one message size.

    Attributes:
        size_bytes: The message size measured.
        latency_seconds: L.
        gap_seconds: g, the least time between messages; a fit, so it may be negative.
        gap_per_byte_seconds: G, the further time a byte.
    """

    size_bytes: int
    latency_seconds: float
    gap_seconds: float
    gap_per_byte_seconds: float


@dataclass(frozen=True)
class SkippedRow:
    """A row of the file that no message can use.

    Attributes:
        line: Its line in the file, from one.
        reason: Why it cannot be used.
    """

    line: int
    reason: str


@dataclass(frozen=True)
class LogGpTable:
    """A LogGP table.

    Attributes:
        label: Its name in the catalog, or the name of its file.
        rows: The usable rows in file order, sizes never falling.
        skipped: The rows left out.
        path: The file it was read from, or None.
    """

    label: str
    rows: tuple[LogGpRow, ...]
    skipped: tuple[SkippedRow, ...] = ()
    path: Path | None = field(default=None, compare=False)


def read_netgauge(path: Path) -> LogGpTable:
    """Read a LogGP table written by netgauge.

    Args:
        path: The file. Times are in microseconds, G in microseconds a byte.

    Returns:
        The table.

    Raises:
        ConfigError: The file cannot be read or is not such a table; the message names the line.
    """
    return replace(parse_netgauge(read_text(path), name_of(path), str(path)), path=path)


def parse_netgauge(text: str, label: str, place: str) -> LogGpTable:
    """Read a LogGP table from the text of a netgauge file.

    Columns are found by the names in the header line ``# size n PRTT...``; a file without one has
    netgauge's own order.

    Raises:
        ConfigError: The text is not such a table.
    """
    columns: tuple[str, ...] = _COLUMNS
    rows: list[LogGpRow] = []
    lines: list[int] = []
    skipped: list[SkippedRow] = []
    for number, line in enumerate(text.splitlines(), start=1):
        at = f"{place}, line {number}"
        if len(line) > _LINE_LENGTH_MAX:
            refuse(
                at,
                "the line is too long for a netgauge table",
                "check that the file is netgauge's LogGP output",
            )
        words = line.lstrip("# \t").split()
        if line.lstrip().startswith("#"):
            if words[:1] == ["size"] and "G" in words:
                columns = _header(words, at)
            continue
        if not words:
            continue
        row, reason = _row(words, columns, at)
        if row is None:
            skipped.append(SkippedRow(number, reason))
            continue
        rows.append(row)
        lines.append(number)
    if not rows:
        refuse(
            place,
            "no usable row",
            "a row needs a size, L, g and G, as netgauge's LogGP pattern writes them",
        )
    for index, rule, remedy in check_rows(rows):
        refuse(f"{place}, line {lines[index]}", rule, remedy)
    return LogGpTable(label, tuple(rows), tuple(skipped))


def _header(words: list[str], at: str) -> tuple[str, ...]:
    missing = [name for name in _NEEDED if name not in words]
    if missing:
        refuse(
            at,
            f"the header names no column {missing[0]}",
            "expected columns size, L, g and G among others",
        )
    return tuple(words)


def _row(words: list[str], columns: tuple[str, ...], at: str) -> tuple[LogGpRow | None, str]:
    if len(words) != len(columns):
        refuse(
            at, f"{len(words)} values for {len(columns)} columns", f"expected {' '.join(columns)}"
        )
    cells = dict(zip(columns, words, strict=True))
    if not re.fullmatch(r"[0-9]{1,18}", cells["size"]) or int(cells["size"]) == 0:
        refuse(at, f'size "{cells["size"]}" is not a positive whole number of bytes')
    values: dict[str, float] = {}
    for name in ("L", "g", "G"):
        try:
            value = Decimal(cells[name])
        except InvalidOperation:
            refuse(at, f'{name} "{cells[name]}" is not a number', _EXAMPLE)
        if value.is_nan():
            return None, f"{name} is not a number: netgauge could not fit this size"
        if not value.is_finite() or not -_MICROSECONDS_MAX <= value <= _MICROSECONDS_MAX:
            refuse(at, f"{name} {cells[name]} is out of range", _EXAMPLE)
        values[name] = float(value * _MICRO)
    return LogGpRow(int(cells["size"]), values["L"], values["g"], values["G"]), ""


def check_rows(rows: Sequence[LogGpRow]) -> Iterator[tuple[int, str, str]]:
    """What is wrong with the rows of a LogGP table.

    A row may have a negative g, as a fit over large messages can, so long as no message that the
    row serves keeps an interface busy for a negative time. With G not negative, the smallest
    message that a row serves decides. L is the time of a message's way, and never negative.

    Yields:
        The index of a row, the rule it breaks and the remedy.
    """
    remedy = "measure the row again, or remove it"
    smallest = 1
    for index, row in enumerate(rows):
        if index and row.size_bytes < rows[index - 1].size_bytes:
            above = rows[index - 1].size_bytes
            rule = f"size {row.size_bytes} is smaller than {above} above it"
            yield index, rule, "sort the rows by size"
        if row.gap_per_byte_seconds < 0:
            yield index, "G is negative, so that a longer message would take less time", remedy
        if row.latency_seconds < 0:
            yield index, "L is negative, so that a message would arrive before it is sent", remedy
        wait = (smallest - 1) * row.gap_per_byte_seconds
        serves = row.size_bytes > smallest or index == len(rows) - 1
        if serves and row.gap_seconds + wait < 0:
            rule = f"g + (s - 1) G is negative for a message of s = {smallest} bytes"
            yield index, f"{rule}, which this row serves", remedy
        smallest = max(smallest, row.size_bytes)
