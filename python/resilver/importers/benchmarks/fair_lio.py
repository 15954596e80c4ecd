"""fair-lio: what each block device moves while others beside it are busy, and their skew.

It prints 2^20 bytes as a MB. Bytes and run time stand beside each rate, so rates are taken from
these. Where a device came to its end, the run time that it prints counts a nanosecond as 1e-10
seconds; the whole seconds are right, and so the rest is ten times what it prints. Outputs of
several runs may follow each other, and those of several hosts as ``pdsh`` and ``dshbak`` join them.

Source: fair-lio.c, D. Dillow, Y. Kim and S. Oral, Oak Ridge National Laboratory, 2009 to 2011.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from resilver.errors import show
from resilver.importers.benchmarks.table import MIB, Benchmark, Found, count_of, mode_of, rate_of
from resilver.text import refuse

PROGRAM = "fair-lio"

_TIME = re.compile(r"run time: (\d{1,9}\.\d{6}) seconds( \(end of device reached\))?")
_QUEUE = re.compile(r"queue depth: (\d{1,6})")
_OPERATION = re.compile(r"operation: (random|sequential) (read|write|mixed)\b.*")
_SIZE = re.compile(r"request size: (\d{1,12}) bytes")
_TOTAL = re.compile(
    r"total: (\d{1,20}) (\d{1,12}\.\d{2}) MB/s skew (\d{1,12}\.\d{2}) MB/s(?:  .*)?"
)
_DEVICE = re.compile(r"[mM ]? ?(\S+): (\d{1,20}) (\d{1,12}\.\d{2}) MB/s(?:  .*)?")
_AHEAD = re.compile(r"(?P<host>[\w.-]{1,253}): (?P<rest>.*)")
_RULE = re.compile(r"-{8,}")
_UNITS = (MIB, 1e6)
_ROUNDED = 0.0051
_TENTH = 0.1


def is_fair_lio(text: str) -> bool:
    """Whether a text begins with what fair-lio prints."""
    return re.search(r"^(?:\S+: )?run time: [\d.]+ seconds", text, re.MULTILINE) is not None


@dataclass
class _Run:
    """One run as far as it is read."""

    line: int
    seconds: float
    printed_seconds: float
    queue: int | None = None
    size: int | None = None
    operation: tuple[str, str] | None = None
    devices: list[tuple[str, int, str, int]] = field(default_factory=list)


def read_fair_lio(text: str, path: Path) -> Found:
    """Read what fair-lio printed.

    Args:
        text: Its output, or several.
        path: Where it came from.

    Returns:
        Of each run the rate of all devices, and of each where there are several.

    Raises:
        ConfigError: No run in it is whole, or its figures contradict each other.
    """
    found = Found()
    runs: dict[str, _Run] = {}
    host = ""
    lines = [line.rstrip() for line in text.splitlines()]
    for number, line in enumerate(lines, start=1):
        if number > 1 and _RULE.fullmatch(lines[number - 2]) and _is_rule(lines, number):
            # dshbak puts the hosts of what follows between two rules.
            host = line.strip()
            continue
        place = f"{path}, line {number}"
        if not _step(runs, host, line, number, place, found, path):
            ahead = _AHEAD.fullmatch(line)
            if ahead is not None:
                _step(runs, ahead["host"], ahead["rest"], number, place, found, path)
    for run in runs.values():
        found.notes.append(f"{path.name}: the run that begins at line {run.line} is cut off")
    if not found.rows:
        why = f": {found.notes[0]}" if found.notes else ""
        refuse(path, f"no run of fair-lio in it is whole{why}", "give its whole output")
    return found


def _is_rule(lines: list[str], index: int) -> bool:
    return index < len(lines) and _RULE.fullmatch(lines[index]) is not None


def _step(
    runs: dict[str, _Run], host: str, line: str, number: int, place: str, found: Found, path: Path
) -> bool:
    """Take one line of a host's run; answers whether it is of one."""
    if match := _TIME.fullmatch(line):
        if host in runs:
            begun = runs[host].line
            found.notes.append(f"{path.name}: the run that begins at line {begun} is cut off")
        runs[host] = _begun(match, number, place, found, path)
        return True
    run = runs.get(host)
    if run is None:
        return False
    if match := _QUEUE.fullmatch(line):
        run.queue = count_of(match[1], place, "queue depth")
    elif match := _OPERATION.fullmatch(line):
        run.operation = (match[1], match[2])
    elif match := _SIZE.fullmatch(line):
        run.size = count_of(match[1], place, "request size")
    elif match := _TOTAL.fullmatch(line):
        del runs[host]
        _end(run, match, host, number, place, found, path)
    elif match := _DEVICE.fullmatch(line):
        run.devices.append((match[1], int(match[2]), match[3], number))
    else:
        return False
    return True


def _begun(match: re.Match[str], number: int, place: str, found: Found, path: Path) -> _Run:
    printed = rate_of(match[1], 1.0, place, "run time")
    seconds, rest = printed, printed - round(printed)
    if match[2] and abs(rest) < _TENTH:
        seconds = round(printed) + 10.0 * rest
        found.notes.append(
            f"{path.name}, line {number}: a device came to its end, where fair-lio prints a tenth "
            f"of the seconds after the last whole one; {seconds:g} s are taken"
        )
    if not seconds > 0:
        refuse(place, f"the run took {match[1]} s", "run it again on a larger device")
    return _Run(number, seconds, printed)


def _end(
    run: _Run, match: re.Match[str], host: str, number: int, place: str, found: Found, path: Path
) -> None:
    """Add the rates of a run that its last line ends."""
    if run.operation is None or run.size is None or run.queue is None or not run.devices:
        rule = "lines of this run are missing: its operation, queue, request size or devices"
        refuse(place, rule, "give the whole output")
    order, what = run.operation
    if what == "mixed":
        found.notes.append(f"{path.name}, line {run.line}: reads and writes are mixed: left out")
        return
    names = [name for name, _, _, _ in run.devices]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        refuse(place, f"device {show(twice)} stands twice in one run", "name each device once")
    if sum(moved for _, moved, _, _ in run.devices) != int(match[1]):
        refuse(place, "the total is not the sum of its devices", "give the whole output")
    several = len(names) > 1
    unit = _unit(run, int(match[1]), match[2], place)

    def row(moved: int, device: str, line: int, skew: float | None) -> Benchmark:
        return Benchmark(
            "block",
            PROGRAM,
            f"{order} {what}",
            mode_of(what == "write", order == "random"),
            run.size,
            run.queue,
            devices=len(names),
            device=f"{host}:{device}" if host and device else device,
            bytes_per_second=rate_of(str(moved / run.seconds), 1.0, f"{path}, line {line}"),
            skew_bytes_per_second=skew,
            file=path.name,
            line=line,
        )

    skew = float(match[3]) * unit * run.printed_seconds / run.seconds if several else None
    found.rows.append(row(int(match[1]), "" if several else names[0], number, skew))
    if several:
        found.rows += [row(moved, name, line, None) for name, moved, _, line in run.devices]


def _unit(run: _Run, moved: int, printed: str, place: str) -> float:
    """What this program's MB is: told by the bytes that it moved."""
    for unit in _UNITS:
        if abs(moved / run.printed_seconds / unit - float(printed)) <= _ROUNDED:
            return unit
    rate = moved / run.printed_seconds / MIB
    rule = f"it prints {printed} MB/s, and its bytes over its run time are {rate:.2f} MiB/s"
    refuse(place, rule, "was the file changed? give the program's own output")
