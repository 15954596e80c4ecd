"""Traces of requests: CSV with a header and one request a line.

The columns are ``time`` (with a unit) or ``seconds`` (without), ``kind`` (read or write), ``size``
(bytes, or with a unit), and optionally ``target`` (a server's name; empty for one drawn at random).
Times count from the start of the run and do not fall.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from resilver.errors import ConfigError, show
from resilver.importers.csv_rows import columns_of, csv_rows
from resilver.text import decode, name_of, read_bytes, refuse
from resilver.units import BYTES_MAX, SECONDS_MAX, Bytes, Seconds

REQUESTS_MAX = 10_000_000
"""The most requests of a trace."""

_COLUMNS = ("time", "seconds", "kind", "size", "target")
_EXAMPLE = 'such as "time,kind,size,target"'


@dataclass(frozen=True)
class RequestTrace:
    """The requests of a trace, in order of time.

    Attributes:
        label: The file's name.
        path: The file.
        sha256: The hash of its bytes, in hexadecimal digits.
        seconds: When each request is issued.
        is_read: Whether it reads.
        bytes: How much it reads or writes.
        targets: The name of its server; empty for one drawn at random.
        lines: On which line of the file it stands.
    """

    label: str
    path: Path
    sha256: str
    seconds: tuple[float, ...]
    is_read: tuple[bool, ...]
    bytes: tuple[int, ...]
    targets: tuple[str, ...]
    lines: tuple[int, ...]


def read_trace(path: Path) -> RequestTrace:
    """Read a trace of requests.

    Raises:
        ConfigError: The file cannot be read, has no requests, or has a bad line, which the message
            names.
    """
    data = read_bytes(path)
    text = decode(data, path)
    return parse_trace(text, path, hashlib.sha256(data).hexdigest())


def parse_trace(text: str, path: Path, sha256: str) -> RequestTrace:
    """Read a trace of requests from text; see `read_trace`.

    Raises:
        ConfigError: As for `read_trace`.

    >>> text = "time,kind,size,target\\n0 s,read,512 KiB,server.3\\n1.5 ms,write,4096,\\n"
    >>> trace = parse_trace(text, Path("requests.csv"), "")
    >>> trace.seconds, trace.is_read, trace.bytes, trace.targets
    ((0.0, 0.0015), (True, False), (524288, 4096), ('server.3', ''))
    """
    found: list[tuple[float, bool, int, str, int]] = []
    remedy = "give each column a value; an empty target is a drawn one"
    for row in csv_rows(text, path, _header, remedy, _EXAMPLE):
        cells, place = row.cells, row.place
        if len(found) == REQUESTS_MAX:
            refuse(place, f"a trace has at most {REQUESTS_MAX} requests", "cut it in parts")
        if "time" in cells:
            seconds = float(_quantity(Seconds.parse, cells["time"], place))
        else:
            seconds = _seconds(cells["seconds"], place)
        if found and seconds < found[-1][0]:
            rule = "this request comes before the one on the line above it"
            refuse(place, rule, "sort the lines by time")
        is_read, size = _is_read(cells["kind"], place), _size(cells["size"], place)
        found.append((seconds, is_read, size, cells.get("target", ""), row.line))
    if not found:
        refuse(path, "the trace has no requests", "add a line for each")
    return RequestTrace(name_of(path), path, sha256, *zip(*found, strict=True))


def _header(cells: list[str], place: str) -> dict[str, int]:
    """The place of each column."""
    at = columns_of(cells, place, _COLUMNS, (), "a trace", _EXAMPLE)
    if ("time" in at) == ("seconds" in at):
        rule = "a trace has one column of times: time, with units, or seconds, without"
        refuse(place, rule, _EXAMPLE)
    return columns_of(cells, place, _COLUMNS, ("kind", "size"), "a trace", _EXAMPLE)


def _seconds(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= SECONDS_MAX:
        rule = f"{show(text)} is not a number of seconds from 0 to 213 days"
        refuse(place, rule, 'write such as 0.25, or name the column "time" and give units')
    return value


def _is_read(text: str, place: str) -> bool:
    kind = text.casefold()
    if kind not in ("read", "write"):
        refuse(place, f"{show(text)} is not a kind of request", "write read or write")
    return kind == "read"


def _size(text: str, place: str) -> int:
    if text.isascii() and text.isdecimal() and len(text) < 20:
        size = int(text)
    else:
        size = int(_quantity(Bytes.parse, text, place))
    if not 0 < size <= BYTES_MAX:
        refuse(place, f"{show(text)} is not the size of a request", "write such as 512 KiB")
    return size


def _quantity(parse: Callable[[object], float], text: str, place: str) -> float:
    try:
        return parse(text)
    except ConfigError as error:
        problem = error.problems[0]
        refuse(place, f"{problem.value}: {problem.rule}", problem.remedy)
