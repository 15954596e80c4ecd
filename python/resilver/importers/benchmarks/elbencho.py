"""elbencho's results as CSV (``--csvfile``) and as JSON (``--jsonfile``, an object a phase).

Rates are those until the last thread ended. The CSV rounds MiB/s down to whole ones; where its
requests per second times the block size agree, they say it exactly. Threads are a host's.

Source: elbencho's source, Statistics.cpp and ProgArgs.cpp of 3.1.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from resilver.importers.benchmarks.table import (
    COUNT_MOST,
    MIB,
    RATE_MOST,
    Found,
    count_of,
    mode_of,
    rate_of,
)
from resilver.importers.jsonpath import Node
from resilver.text import parse_json, refuse

PROGRAM = "elbencho"

_DATA = ("WRITE", "READ")
_NEEDED = ("operation", "path type", "hosts", "threads", "block size", "MiB/s [last]", "random")
_NONE = ("no phase in it ended", "run elbencho again, or give the whole file")


def is_elbencho_csv(text: str) -> bool:
    """Whether a text begins with the header of elbencho's CSV."""
    head = [cell.strip() for cell in text.partition("\n")[0].split(",")]
    return all(name in head for name in _NEEDED)


def is_elbencho_json(text: str) -> bool:
    """Whether a text is what elbencho writes as JSON."""
    return text.lstrip().startswith("{") and '"phase_type"' in text and '"last_done"' in text


def read_elbencho_csv(text: str, path: Path) -> Found:
    """Read elbencho's CSV.

    Returns:
        A rate a phase.

    Raises:
        ConfigError: A line is not what the header says, or there is none.
    """
    found = Found(path, PROGRAM)
    names = [cell.strip() for cell in text.partition("\n")[0].split(",")]
    for number, cells in _rows(text, path):
        if len(cells) != len(names):
            found.note(number, "the line is cut off: left out")
            continue
        row = dict(zip(names, cells, strict=True))
        if row.get("rwmix read MiB/s [last]"):
            found.note(number, "reads and writes mix: left out")
            continue
        _take_cells(row, number, found)
    return found.whole(*_NONE)


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines below the header, which elbencho's quoted command at the end must not join."""
    reader = csv.reader(StringIO(text))
    try:
        for cells in reader:
            if reader.line_num > 1 and cells:
                yield reader.line_num, cells
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", "is the file cut off?")


def _take_cells(row: dict[str, str], number: int, found: Found) -> None:
    operation, place = row["operation"], f"{found.path}, line {number}"
    threads, hosts = (count_of(row[name], place, name) for name in ("threads", "hosts"))
    if operation not in _DATA:
        if row.get("entries/s [last]"):
            rate = rate_of(row["entries/s [last]"], 1.0, place, "entries/s [last]")
            _add(found, number, "metadata", operation, threads, hosts, operations_per_second=rate)
        return
    size = count_of(row["block size"], place, "block size")
    whole = rate_of(row["MiB/s [last]"] or "0", MIB, place, "MiB/s [last]")
    exact = size * float(row["IOPS [last]"]) if row.get("IOPS [last]", "").isdecimal() else 0.0
    rate = exact if whole <= exact < whole + MIB else whole
    depth = row.get("IO depth", "")
    queue = count_of(depth, place, "IO depth") if depth not in ("", "0") else 1
    measured = {"request_bytes": size, "queue": queue, "bytes_per_second": rate}
    mode = mode_of(operation == "WRITE", row["random"] == "1")
    layer = _layer(row["path type"])
    _add(found, number, layer, operation, threads, hosts, mode=mode, **measured)


def read_elbencho_json(text: str, path: Path) -> Found:
    """Read elbencho's JSON.

    Returns:
        A rate a phase.

    Raises:
        ConfigError: It is not JSON, or has no phase that ended.
    """
    found = Found(path, PROGRAM)
    for number, node in _objects(text, path, found):
        config, last = node.at("config"), node.at("last_done")
        operation = node.at("phase_type").text()
        threads, hosts = (config.at(name).whole(1, COUNT_MOST) for name in ("threads", "hosts"))
        if last.has("rwmix_read"):
            found.note(number, "reads and writes mix: left out")
        elif operation not in _DATA:
            if (entries := last.get("entries/s")) is not None:
                rate = float(entries.whole(1, int(RATE_MOST)))
                _add(
                    found, number, "metadata", operation, threads, hosts, operations_per_second=rate
                )
        else:
            size = config.at("block_size").whole(1, COUNT_MOST)
            rate = float(last.at("bytes/s").whole(1, int(RATE_MOST)))
            depth = config.get("io_depth")
            queue = 1 if depth is None else max(depth.whole(0, COUNT_MOST), 1)
            is_random = config.at("random_offsets").value in (True, "true", "1", 1)
            measured = {"request_bytes": size, "queue": queue, "bytes_per_second": rate}
            mode = mode_of(operation == "WRITE", is_random)
            layer = _layer(config.at("path_type").text())
            _add(found, number, layer, operation, threads, hosts, mode=mode, **measured)
    return found.whole(*_NONE)


def _objects(text: str, path: Path, found: Found) -> Iterator[tuple[int, Node]]:
    """The objects of a file that elbencho appends to, with the line that each begins on."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        number = text.count("\n", 0, at) + 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if found.rows:
                found.notes.append(f"{path.name}: what begins at line {number} is cut off")
                return
            # What is wrong with the first object is told with its place.
            value, end = parse_json(text[at:], path), len(text)
        yield number, Node(value, "", f"{path}, line {number}")
        at = end


def _layer(kind: str) -> str:
    return "block" if kind == "blockdev" else "file system"


def _add(
    found: Found, line: int, layer: str, operation: str, threads: int, hosts: int, **more: Any
) -> None:
    """Take a rate of all hosts together, each of so many threads."""
    found.add(layer, operation.lower(), line, threads=threads * hosts, clients=hosts, **more)
