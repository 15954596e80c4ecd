"""IOR's text: what all processes of a job write to a file system and read from it.

A file holds one test or several, each with its options, then a line a result, whose columns differ
between versions; IOR prints MiB/s. What a job that failed had printed before is kept. Results of
data that came back wrong are left out, since they are of no transfer.

Source: IOR's source, src/ior-output.c of 3.0 to 4.1 and src/C/IOR.c of 2.10.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from resilver.importers.benchmarks.table import MIB, Found, count_of, mode_of, rate_of
from resilver.text import refuse

PROGRAM = "IOR"
KNOWN = re.compile(r"^IOR-\S+: MPI Coordinated Test of Parallel I/O", re.MULTILINE)
"""What IOR prints first."""

_OPTION = re.compile(r"\s*([A-Za-z][A-Za-z ]{1,22}?)\s*[:=]\s*(\S.*)")
_COUNT = re.compile(r"(\d{1,12})\b")
_SIZE = re.compile(r"(\d{1,14}(?:\.\d+)?) (bytes|KiB|MiB|GiB|TiB)\b")
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_RESULT = re.compile(r"(write|read)\s+(\S+)\s+(.*)")
_MAX = re.compile(r"Max (Write|Read):\s+(\d+\.\d\d) MiB/sec \(")
_WRONG = re.compile(r"WARNING: Incorrect data on (write|read) \((\d+) errors found\)")
_FAILED = re.compile(r"ERROR: (.*)|.*(?:exited on signal|non-zero (?:exit|status)|MPI_ABORT was).*")
_DIGITS = re.compile(r"\d{1,12}(?:\.\d{1,9})?")


@dataclass
class _Test:
    """The options of the test that is read."""

    size: int | None = None
    processes: int | None = None
    random: bool = False
    columns: tuple[str, ...] = ()


def read_ior(text: str, path: Path) -> Found:
    """Read what IOR printed.

    Returns:
        A rate a result.

    Raises:
        ConfigError: It has no result, with the error that IOR ended with.
    """
    found, best = Found(path, PROGRAM), Found(path, PROGRAM)
    test, failure = _Test(), ""
    wrong: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(("IOR-", "Options:", "TestID", "Summary:")):
            test = _Test(columns=test.columns)
        elif line.startswith("access "):
            test.columns = tuple(re.sub(r"\(\S*\)", "", word) for word in line.split())
        elif match := _RESULT.fullmatch(line.rstrip()):
            _add(match, test, number, found)
        elif match := _MAX.match(line):
            _add_rate(match[1].lower(), match[2], test, number, best)
        elif match := _WRONG.match(line):
            wrong[match[1]] = match[2]
        elif match := _FAILED.fullmatch(line.rstrip()):
            failure = failure or (match[1] or line.strip())[:120]
        elif match := _OPTION.fullmatch(line.rstrip()):
            _take(match[1].strip(), match[2], test, f"{path}, line {number}")
    # A quiet IOR prints the best of its results alone.
    found.rows = found.rows or best.rows
    for access, errors in wrong.items():
        found.rows = [one for one in found.rows if not str(one.mode).endswith(access)]
        found.notes.append(f"{path.name}: {errors} errors in what it {access}s: left out")
    if failure:
        found.notes.append(f"{path.name}: IOR failed ({failure}): what it printed before is kept")
    return found.whole("IOR printed no result", "run it again, or give its whole output")


def _take(name: str, value: str, test: _Test, place: str) -> None:
    """An option that says what was measured."""
    if name == "xfersize" and (match := _SIZE.match(value)):
        size = round(float(match[1]) * _UNITS[match[2]])
        test.size = count_of(str(size), place, name)
    elif name in ("tasks", "clients", "Participating tasks") and (match := _COUNT.match(value)):
        test.processes = count_of(match[1], place, name)
    elif name == "ordering in a file":
        test.random = value.strip().startswith("random")


def _add(match: re.Match[str], test: _Test, number: int, found: Found) -> None:
    """A line of results; those of the summary after all tests say the same again."""
    cells = match[0].split()
    if not test.columns:
        return
    if len(cells) < len(test.columns):
        found.note(number, "the line is cut off: left out")
        return
    if len(cells) > len(test.columns) + 1:
        return
    _add_rate(match[1], match[2], test, number, found)
    if test.size is None and "xfer" in test.columns:
        refuse(
            f"{found.path}, line {number}", "no xfersize stands above it", "give the whole output"
        )


def _add_rate(access: str, rate: str, test: _Test, number: int, found: Found) -> None:
    place = f"{found.path}, line {number}"
    if not _DIGITS.fullmatch(rate):
        refuse(place, "its rate is not a number", "give IOR's own output")
    found.add(
        "file system",
        access,
        number,
        mode=mode_of(access == "write", test.random),
        request_bytes=test.size,
        clients=test.processes,
        bytes_per_second=rate_of(rate, MIB, place, "bw(MiB/s)"),
    )
