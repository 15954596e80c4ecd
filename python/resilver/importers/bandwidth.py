"""Point-to-point measurements by message size, as mpptest, OSU's and Intel's benchmarks print them.

A file is columns under a header line that names them with their units, ``# size time(us)`` or ``#
Size  Bandwidth (MB/s)``. Other lines that begin with ``#`` are remarks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from resilver.text import read_text, refuse
from resilver.units import DURATION_UNITS, RATE_UNITS

_SIZE_NAMES = ("size", "len", "length", "bytes")
_TIME_NAMES = ("time", "latency", "t", "avetime")
_RATE_NAMES = ("bandwidth", "rate", "throughput")
# What benchmarks call units that our own parser spells otherwise. OSU's and Intel's MB are 10^6
# bytes, and Intel's column is named by its unit alone.
_UNIT_WORDS = {"usec": "us", "msec": "ms", "sec": "s", "Mbytes/sec": "MB/s", "bytes/s": "B/s"}
_COLUMN = re.compile(r"#?\s*([A-Za-z_][A-Za-z_ ]*?|Mbytes/sec)\s*(?:[(\[]\s*([^)\]]+?)\s*[)\]])?")
_REMEDY = 'name the columns and their units first, as in "# size time(us)" or "# size rate(MB/s)"'
_LINE_LENGTH_MAX = 10_000
_RATE_LEAST, _RATE_MOST = 1e-6, 1e18


@dataclass(frozen=True)
class PointToPoint:
    """Measured bandwidths.

    Attributes:
        label: The file's name.
        sizes_bytes: The message sizes, rising.
        bytes_per_second: The bandwidth of each: its size over the time of one way.
    """

    label: str
    sizes_bytes: tuple[int, ...]
    bytes_per_second: tuple[float, ...]


def read_point_to_point(path: Path) -> PointToPoint:
    """Read point-to-point measurements.

    Args:
        path: The file. A size of zero, which has no bandwidth, is passed over.

    Raises:
        ConfigError: The file cannot be read, its columns have no names or units, a value is no
            positive number, or a size stands twice; the message names the line.
    """
    columns: list[tuple[str, str, str]] | None = None
    found: dict[int, float] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        at = f"{path}, line {number}"
        if len(line) > _LINE_LENGTH_MAX:
            refuse(at, "the line is too long for a table of measurements", _REMEDY)
        header = columns_of(line)
        if header is not None:
            columns = header
        elif line.strip() and not line.lstrip().startswith("#"):
            if columns is None:
                refuse(at, "no line above names the columns and their units", _REMEDY)
            _add(line.split(), columns, at, found)
    if not found:
        refuse(path, "there is no measurement in it", _REMEDY)
    sizes = sorted(found)
    return PointToPoint(path.name, tuple(sizes), tuple(found[size] for size in sizes))


def columns_of(line: str) -> list[tuple[str, str, str]] | None:
    """The columns that a header line names.

    Returns:
        Each column's name as written, kind (``size``, ``time``, ``rate`` or none of them) and unit;
        None where the line does not name a size and what was measured.

    >>> columns_of("# size time(us)")
    [('size', 'size', ''), ('time', 'time', 'us')]
    >>> columns_of("4096 3.1") is None
    True
    """
    # A unit belongs to the word before it, and mpptest's "ave time" is one column.
    text = re.sub(r"\bave time\b", "avetime", line.strip())
    text = re.sub(r"\s+([(\[])", r"\1", text).lstrip("# \t")
    columns = []
    for word in text.split():
        match = _COLUMN.fullmatch(word.lstrip("#"))
        if match is None:
            columns.append((word, "", ""))
            continue
        name, unit = match[1], _UNIT_WORDS.get(match[2] or "", match[2] or "")
        kind, low = "", name.lower()
        if low in _SIZE_NAMES:
            kind = "size"
        elif low in _TIME_NAMES or (low.startswith("t_") and unit in DURATION_UNITS):
            kind = "time"
        elif low in _RATE_NAMES or name in _UNIT_WORDS:
            kind, unit = "rate", unit or _UNIT_WORDS.get(name, "")
        columns.append((name, kind, unit))
    kinds = [kind for _, kind, _ in columns]
    return columns if "size" in kinds and {"time", "rate"} & {*kinds} else None


def _add(
    words: list[str], columns: list[tuple[str, str, str]], at: str, found: dict[int, float]
) -> None:
    if len(words) != len(columns):
        names = " ".join(name for name, _, _ in columns)
        refuse(at, f"{len(words)} values for {len(columns)} columns", f"expected {names}")
    cells = list(zip(columns, words, strict=True))
    size_text = next(word for (_, kind, _), word in cells if kind == "size")
    if not re.fullmatch(r"[0-9]{1,15}", size_text):
        refuse(at, f'size "{size_text[:40]}" is not a whole number of bytes')
    size = int(size_text)
    (name, kind, unit), word = next(
        (cell for cell in cells if cell[0][1] == "time"),
        next((cell for cell in cells if cell[0][1] == "rate"), cells[0]),
    )
    known = DURATION_UNITS if kind == "time" else RATE_UNITS
    if unit not in known:
        what = "a time" if kind == "time" else "a rate"
        refuse(at, f'column {name} has "{unit}" for a unit, which is not one of {what}', _REMEDY)
    try:
        value = float(word) * float(known[unit])
    except ValueError:
        refuse(at, f'{name} "{word[:40]}" is not a number')
    if size == 0:
        return
    remedy = "measure the size again, or remove it"
    if not value > 0:
        refuse(at, f"{name} {word[:40]} is not above zero", remedy)
    rate = size / value if kind == "time" else value
    if not _RATE_LEAST <= rate <= _RATE_MOST:
        refuse(at, f"{name} {word[:40]} means {rate:g} B/s, which no network has", remedy)
    if size in found:
        refuse(at, f"size {size} stands twice", "keep one of the two rows")
    found[size] = rate
