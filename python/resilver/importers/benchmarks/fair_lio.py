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
from resilver.importers.benchmarks.table import MIB, Found, count_of, mode_of, rate_of
from resilver.text import refuse

PROGRAM = "fair-lio"
KNOWN = re.compile(r"^(?:\S+: )?run time: [\d.]+ seconds", re.MULTILINE)
"""What fair-lio prints first of a run."""

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

    Returns:
        Of each run the rate of all devices, and of each where there are several.

    Raises:
        ConfigError: No run in it is whole, or its figures contradict each other.
    """
    found = Found(path, PROGRAM)
    runs: dict[str, _Run] = {}
    host = ""
    lines = [line.rstrip() for line in text.splitlines()]
    for number, line in enumerate(lines, start=1):
        around = [*lines[max(number - 2, 0) : number - 1], *lines[number : number + 1]]
        if len(around) == 2 and all(map(_RULE.fullmatch, around)):
            # dshbak puts the hosts of what follows between two rules.
            host = line.strip()
            continue
        if not _step(runs, host, line, number, found) and (ahead := _AHEAD.fullmatch(line)):
            _step(runs, ahead["host"], ahead["rest"], number, found)
    for run in runs.values():
        found.notes.append(f"{path.name}: the run that begins at line {run.line} is cut off")
    return found.whole("no run of fair-lio in it is whole", "give its whole output")


def _step(runs: dict[str, _Run], host: str, line: str, number: int, found: Found) -> bool:
    """Take one line of a host's run; answers whether it is of one."""
    place, name = f"{found.path}, line {number}", found.path.name
    if match := _TIME.fullmatch(line):
        if host in runs:
            found.notes.append(f"{name}: the run that begins at line {runs[host].line} is cut off")
        runs[host] = _begun(match, number, place, found)
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
        _end(run, match, host, number, found)
    elif match := _DEVICE.fullmatch(line):
        run.devices.append((match[1], int(match[2]), match[3], number))
    else:
        return False
    return True


def _begun(match: re.Match[str], number: int, place: str, found: Found) -> _Run:
    printed = rate_of(match[1], 1.0, place, "run time")
    seconds, rest = printed, printed - round(printed)
    if match[2] and abs(rest) < _TENTH:
        seconds = round(printed) + 10.0 * rest
        found.note(
            number,
            "a device came to its end, where fair-lio prints a tenth of the seconds after the last "
            f"whole one; {seconds:g} s are taken",
        )
    if not seconds > 0:
        refuse(place, f"the run took {match[1]} s", "run it again on a larger device")
    return _Run(number, seconds, printed)


def _end(run: _Run, match: re.Match[str], host: str, number: int, found: Found) -> None:
    """Add the rates of a run that its last line ends."""
    place = f"{found.path}, line {number}"
    if run.operation is None or run.size is None or run.queue is None or not run.devices:
        rule = "lines of this run are missing: its operation, queue, request size or devices"
        refuse(place, rule, "give the whole output")
    order, what = run.operation
    if what == "mixed":
        found.note(run.line, "reads and writes are mixed: left out")
        return
    names = [name for name, _, _, _ in run.devices]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        refuse(place, f"device {show(twice)} stands twice in one run", "name each device once")
    if sum(moved for _, moved, _, _ in run.devices) != int(match[1]):
        refuse(place, "the total is not the sum of its devices", "give the whole output")
    several = len(names) > 1
    unit = _unit(run, int(match[1]), match[2], place)

    def add(moved: int, device: str, line: int, skew: float | None) -> None:
        found.add(
            "block",
            f"{order} {what}",
            line,
            mode=mode_of(what == "write", order == "random"),
            request_bytes=run.size,
            queue=run.queue,
            devices=len(names),
            device=f"{host}:{device}" if host and device else device,
            bytes_per_second=rate_of(str(moved / run.seconds), 1.0, f"{found.path}, line {line}"),
            skew_bytes_per_second=skew,
        )

    skew = float(match[3]) * unit * run.printed_seconds / run.seconds if several else None
    add(int(match[1]), "" if several else names[0], number, skew)
    for name, moved, _, line in run.devices if several else ():
        add(moved, name, line, None)


def _unit(run: _Run, moved: int, printed: str, place: str) -> float:
    """What this program's MB is: told by the bytes that it moved."""
    for unit in _UNITS:
        if abs(moved / run.printed_seconds / unit - float(printed)) <= _ROUNDED:
            return unit
    rate = moved / run.printed_seconds / MIB
    rule = f"it prints {printed} MB/s, and its bytes over its run time are {rate:.2f} MiB/s"
    refuse(place, rule, "was the file changed? give the program's own output")
