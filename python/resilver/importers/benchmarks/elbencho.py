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

from resilver.importers.benchmarks.table import (
    MIB,
    RATE_MOST,
    Benchmark,
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
_COUNT_MOST = 2**40


def is_elbencho_csv(text: str) -> bool:
    """Whether a text begins with the header of elbencho's CSV."""
    head = [cell.strip() for cell in text.partition("\n")[0].split(",")]
    return all(name in head for name in _NEEDED)


def is_elbencho_json(text: str) -> bool:
    """Whether a text is what elbencho writes as JSON."""
    return text.lstrip().startswith("{") and '"phase_type"' in text and '"last_done"' in text


def read_elbencho_csv(text: str, path: Path) -> Found:
    """Read elbencho's CSV.

    Args:
        text: The CSV.
        path: Where it came from.

    Returns:
        A rate a phase.

    Raises:
        ConfigError: A line is not what the header says, or there is none.
    """
    found = Found()
    names = [cell.strip() for cell in text.partition("\n")[0].split(",")]
    for number, cells in _rows(text, path):
        place = f"{path}, line {number}"
        if len(cells) != len(names):
            found.notes.append(f"{path.name}, line {number}: the line is cut off: left out")
            continue
        row = dict(zip(names, cells, strict=True))
        if row.get("rwmix read MiB/s [last]"):
            found.notes.append(f"{path.name}, line {number}: reads and writes mix: left out")
            continue
        made = _of_cells(row, place, number, path)
        if made is not None:
            found.rows.append(made)
    return _whole(found, path)


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines below the header, which elbencho's quoted command at the end must not join."""
    reader = csv.reader(StringIO(text))
    try:
        for cells in reader:
            if reader.line_num > 1 and cells:
                yield reader.line_num, cells
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", "is the file cut off?")


def _of_cells(row: dict[str, str], place: str, number: int, path: Path) -> Benchmark | None:
    operation = row["operation"]
    threads, hosts = (count_of(row[name], place, name) for name in ("threads", "hosts"))
    if operation not in _DATA:
        if not row.get("entries/s [last]"):
            return None
        rate = rate_of(row["entries/s [last]"], 1.0, place, "entries/s [last]")
        return _names(operation, rate, threads, hosts, number, path)
    size = count_of(row["block size"], place, "block size")
    whole = rate_of(row["MiB/s [last]"] or "0", MIB, place, "MiB/s [last]")
    exact = size * float(row["IOPS [last]"]) if row.get("IOPS [last]", "").isdecimal() else 0.0
    rate = exact if whole <= exact < whole + MIB else whole
    depth = row.get("IO depth", "")
    queue = count_of(depth, place, "IO depth") if depth not in ("", "0") else 1
    is_random = row["random"] == "1"
    kind = row["path type"]
    return _data(operation, kind, is_random, size, queue, rate, threads, hosts, number, path)


def read_elbencho_json(text: str, path: Path) -> Found:
    """Read elbencho's JSON.

    Args:
        text: Objects, one after another.
        path: Where it came from.

    Returns:
        A rate a phase.

    Raises:
        ConfigError: It is not JSON, or has no phase that ended.
    """
    found = Found()
    for number, node in _objects(text, path, found):
        config, last = node.at("config"), node.at("last_done")
        operation = node.at("phase_type").text()
        threads, hosts = (config.at(name).whole(1, _COUNT_MOST) for name in ("threads", "hosts"))
        if last.has("rwmix_read"):
            found.notes.append(f"{path.name}, line {number}: reads and writes mix: left out")
        elif operation not in _DATA:
            if (entries := last.get("entries/s")) is not None:
                rate = float(entries.whole(1, int(RATE_MOST)))
                found.rows.append(_names(operation, rate, threads, hosts, number, path))
        else:
            size = config.at("block_size").whole(1, _COUNT_MOST)
            rate = float(last.at("bytes/s").whole(1, int(RATE_MOST)))
            depth = config.get("io_depth")
            queue = 1 if depth is None else max(depth.whole(0, _COUNT_MOST), 1)
            is_random = config.at("random_offsets").value in (True, "true", "1", 1)
            kind = config.at("path_type").text()
            found.rows.append(
                _data(operation, kind, is_random, size, queue, rate, threads, hosts, number, path)
            )
    return _whole(found, path)


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


def _names(
    operation: str, rate: float, threads: int, hosts: int, number: int, path: Path
) -> Benchmark:
    return Benchmark(
        "metadata",
        PROGRAM,
        operation.lower(),
        threads=threads * hosts,
        clients=hosts,
        operations_per_second=rate,
        file=path.name,
        line=number,
    )


def _data(
    operation: str,
    kind: str,
    is_random: bool,
    size: int,
    queue: int,
    rate: float,
    threads: int,
    hosts: int,
    number: int,
    path: Path,
) -> Benchmark:
    return Benchmark(
        "block" if kind == "blockdev" else "file system",
        PROGRAM,
        operation.lower(),
        mode_of(operation == "WRITE", is_random),
        size,
        queue,
        threads=threads * hosts,
        clients=hosts,
        bytes_per_second=rate,
        file=path.name,
        line=number,
    )


def _whole(found: Found, path: Path) -> Found:
    if not found.rows:
        why = f": {found.notes[0]}" if found.notes else ""
        refuse(path, f"no phase in it ended{why}", "run elbencho again, or give the whole file")
    return found
