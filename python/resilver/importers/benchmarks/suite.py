"""The OLCF suite's CSV: rates of block devices that its scripts took from fair-lio.

Its shell scripts write a line a test, with the median of its runs; the later program that replaces
them a line a run. Their MB are fair-lio's, 2^20 bytes.

Source: the scripts of the OLCF-3 block I/O benchmark, S. Oral and D. Dillow, Oak Ridge National
Laboratory, 2009 to 2016; bio.py, F. Wang.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from resilver.errors import name_remedy, show
from resilver.importers.benchmarks.table import MIB, Found, count_of, mode_of, rate_of
from resilver.text import refuse

PROGRAM = "OLCF suite"

_MEDIANS = ("io-mode", "block-size", "queue-size", "num-devices")
_MEDIANS_AFTER = ("max", "min", "median", "average", "stddev")
_RUNS = ("host", "devices", *_MEDIANS, "bw", "iter")
_MODES = {
    "seq_wr": (True, False),
    "seq_rd": (False, False),
    "rand_wr": (True, True),
    "rand_rd": (False, True),
}


def is_suite(text: str) -> bool:
    """Whether a text begins with the header of the suite's CSV."""
    head = _cells(text.partition("\n")[0].lstrip("#"))
    return head in ([*_MEDIANS, *_MEDIANS_AFTER], [*_RUNS])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]


def read_suite(text: str, path: Path) -> Found:
    """Read the suite's CSV.

    Returns:
        A rate a line: of a test the median of its runs.

    Raises:
        ConfigError: A line is not what the header says, or there is none.
    """
    found = Found(path, PROGRAM)
    names: Sequence[str] = _cells(text.partition("\n")[0].lstrip("#"))
    try:
        lines = list(csv.reader(StringIO(text), strict=True))
    except csv.Error as error:
        refuse(path, f"this is not valid CSV: {error}", "is the file cut off?")
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        place = f"{path}, line {number}"
        if len(cells) != len(names):
            if number == len(lines):
                found.notes.append(f"{path.name}: its last line is cut off and left out")
                continue
            rule = f"{len(cells)} values for {len(names)} columns"
            refuse(place, rule, f"expected {','.join(names)}")
        row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
        _add(row, number, found)
    if not found.rows:
        refuse(path, "there is no test in it", "give the CSV that the suite wrote at its end")
    return found


def _add(row: dict[str, str], number: int, found: Found) -> None:
    place = f"{found.path}, line {number}"
    way = _MODES.get(row["io-mode"])
    if way is None:
        remedy = name_remedy(row["io-mode"], list(_MODES), "modes")
        refuse(place, f"io-mode {show(row['io-mode'])} is none of the suite's", remedy)
    devices = count_of(row["num-devices"], place, "num-devices")
    column = "median" if "median" in row else "bw"
    rate = rate_of(row[column], MIB, place, column)
    if column == "median":
        _check_order(row, place)
    device = row.get("devices", "") if devices == 1 else ""
    host = row.get("host", "")
    found.add(
        "block",
        row["io-mode"],
        number,
        mode=mode_of(*way),
        request_bytes=count_of(row["block-size"], place, "block-size"),
        queue=count_of(row["queue-size"], place, "queue-size"),
        devices=devices,
        device=f"{host}:{device}" if host and device else device,
        bytes_per_second=rate,
    )


def _check_order(row: dict[str, str], place: str) -> None:
    """That the median lies between the least and the most."""
    try:
        least, middle, most = (float(row[name]) for name in ("min", "median", "max"))
    except ValueError:
        refuse(place, "min, median and max are not all numbers", "is the line cut off?")
    if not (math.isfinite(least) and least <= middle <= most):
        rule = f"the median {row['median']} is not between {row['min']} and {row['max']}"
        refuse(place, rule, "columns are max, min, median, average, stddev")
