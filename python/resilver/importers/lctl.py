"""What `lctl` prints of Lustre's object targets: their counters, and which server has them.

Counters are those of ``lctl get_param obdfilter.*.stats obdfilter.*.exports.*.stats
osd-*.*.kbytesfree osd-*.*.kbytestotal`` (Lustre Operations Manual, "Monitoring a Lustre File
System"): bytes since a target began, each behind the time on its server's clock. What a target
moves is the difference of two such dumps. ``lctl dl -t`` on a client says which server has which
target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from resilver.errors import ConfigError, Problem, raise_all, show
from resilver.importers.log_rows import DEGRADED, INACTIVE, UP, LogRow, PartLoad
from resilver.text import read_text, refuse

_TARGET = r"(?P<target>[\w.-]+?-OST[0-9a-fA-F]{4})"
_PARAM = re.compile(r"(?P<key>[\w@:-]+(?:\.[\w@:-]+)+)=(?P<value>.*)")
_STATS = re.compile(rf"obdfilter\.{_TARGET}\.(?:exports\.(?P<client>.+)\.)?stats")
_SPACE = re.compile(rf"(?:osd-\w+|obdfilter)\.{_TARGET}\.(?P<what>kbytesfree|kbytestotal)")
_DEGRADED = re.compile(rf"obdfilter\.{_TARGET}\.degraded")
_COUNTER = re.compile(r"(?P<name>read_bytes|write_bytes)\s+(?P<rest>\d+ samples .*)")
_SUM = re.compile(r"\d+ samples \[bytes\]\s+\d+\s+\d+\s+(?P<sum>\d+)(?:\s+\d+)?\s*")
_BEGUN = re.compile(r"start_time:?\s+(?P<seconds>\d{10,11}(?:\.\d+)?)\b.*")
"""Some releases say here how long the server was up: that is no time of a calendar."""
_TIME = re.compile(r"snapshot_time:?\s+(?P<seconds>\d+(?:\.\d+)?)(?:\s+secs\.n?u?secs)?\s*")
_DEVICE = re.compile(
    r"\s*\d+ (?P<state>[A-Z]{2}) (?P<kind>\w+) (?P<name>\S+) \S+ \d+(?: (?P<nid>\S+))?"
)
_BEGIN = re.compile(r"(?:BEGIN\s+)?(?P<seconds>\d{9,11})")
_APART_SHARE = 0.5
"""How much the time between two dumps of a target may differ from that of most of them."""

DUMP_COMMAND = (
    "lctl get_param obdfilter.*.stats obdfilter.*.exports.*.stats osd-*.*.kbytesfree "
    "osd-*.*.kbytestotal obdfilter.*.degraded"
)
"""What prints all that is read here."""


@dataclass
class Snapshot:
    """The counters of a target at one time.

    Attributes:
        place: The file that says so.
        seconds: The time on its server's clock.
        begun: When its counters began, where that is said.
        read: Bytes read since it began.
        written: Bytes written.
        reads: Requests that read.
        writes: Requests that wrote.
        clients: By client, bytes read and written.
        free: Free blocks of 1,024 bytes; None where that is not said.
        total: All blocks.
        is_degraded: Whether its RAID misses a device; None where that is not said.
    """

    place: str
    seconds: float | None = None
    begun: float | None = None
    read: int = 0
    written: int = 0
    reads: int = 0
    writes: int = 0
    clients: dict[str, int] = field(default_factory=dict)
    free: int | None = None
    total: int | None = None
    is_degraded: bool | None = None


def is_dump(text: str) -> bool:
    """Whether a text is what `lctl get_param` prints of object targets."""
    return any(
        pattern.match(key) for key, _, _ in _params(text) for pattern in (_STATS, _SPACE, _DEGRADED)
    )


def is_devices(text: str) -> bool:
    """Whether a text is what `lctl dl -t` prints."""
    lines = (line for line in text.splitlines() if line.strip() and not _BEGIN.fullmatch(line))
    return _DEVICE.match(next(lines, "")) is not None


def read_dumps(paths: Sequence[Path]) -> tuple[list[PartLoad], tuple[str, ...]]:
    """What targets move, by two dumps or more of their counters.

    Args:
        paths: The dumps; of each target the newest two count, whatever their order.

    Returns:
        A load a target, and the targets whose counters only one dump has.

    Raises:
        ConfigError: There is one dump alone, counters fall, or clocks jumped between two dumps.
    """
    found: dict[str, list[Snapshot]] = {}
    for path in paths:
        for target, snapshot in _snapshots(path).items():
            found.setdefault(target, []).append(snapshot)
    timed = {
        target: sorted((one for one in each if one.seconds is not None), key=_seconds)[-2:]
        for target, each in found.items()
    }
    pairs = {target: (each[0], each[1]) for target, each in timed.items() if len(each) == 2}
    counted = [target for target, each in timed.items() if each]
    if counted and not pairs:
        rule = "a dump of counters says what was moved since the servers began, and not how fast"
        refuse(paths[0], rule, "dump them again some seconds later, and give both")
    _check_clocks(pairs)
    loads = []
    for target, each in found.items():
        pair = pairs.get(target)
        read, written, streams = _moved(target, *pair) if pair else (None, None, None)
        loads.append(
            PartLoad(
                target,
                read,
                written,
                streams,
                _fill(target, each),
                state=_state(each),
                seconds=pair[1].seconds if pair else None,
            )
        )
    return loads, tuple(target for target in counted if target not in pairs)


def counter_rows(path: Path) -> list[LogRow]:
    """What each target moved since its counters began, and how full it is, by one dump.

    Raises:
        ConfigError: No target's counters are in it, or a line is damaged.
    """
    return [
        LogRow(
            target,
            None,
            one.begun,
            one.seconds,
            None if one.seconds is None else one.read,
            None if one.seconds is None else one.written,
            None if one.seconds is None else one.reads,
            None if one.seconds is None else one.writes,
            used_bytes=None if fill is None else 1024.0 * ((one.total or 0) - (one.free or 0)),
            size_bytes=None if fill is None else 1024.0 * (one.total or 0),
        )
        for target, one in _snapshots(path).items()
        for fill in [_fill(target, [one])]
    ]


def read_devices(path: Path) -> list[PartLoad]:
    """Which server has which target, by `lctl dl -t` on a client.

    Args:
        path: What it printed; of a series (``BEGIN`` and seconds before each) the last.

    Raises:
        ConfigError: A line is damaged, or no object target is among them.
    """
    moment: float | None = None
    loads: dict[str, PartLoad] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if begun := _BEGIN.fullmatch(line.strip()):
            moment, loads = float(begun["seconds"]), {}
            continue
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        device = _DEVICE.fullmatch(line.rstrip())
        if device is None:
            refuse(place, f"{show(line[:60])} is no line of lctl dl -t", "fetch the file again")
        target = re.match(rf"{_TARGET}-osc", device["name"]) if device["kind"] == "osc" else None
        if target is None:
            continue
        name = _named(target["target"])
        if not device["nid"]:
            refuse(place, f"{name} has no address of a server", "run lctl dl with -t")
        if name in loads:
            refuse(place, f"{name} stands twice", "keep one listing of each file system")
        state = UP if device["state"] == "UP" else INACTIVE
        loads[name] = PartLoad(name, server=device["nid"], state=state, seconds=moment)
    if not loads:
        refuse(path, "there is no object target (osc) in it", "run lctl dl -t on a client")
    return list(loads.values())


def _params(text: str) -> Iterator[tuple[str, str, int]]:
    """Each parameter's name, the text behind it, and its line."""
    for number, line in enumerate(text.splitlines(), 1):
        if param := _PARAM.match(line):
            yield param["key"], param["value"], number


def _snapshots(path: Path) -> dict[str, Snapshot]:
    """The counters of each target in one dump."""
    found: dict[str, Snapshot] = {}
    lines = read_text(path).splitlines()
    of: tuple[Snapshot, str | None] | None = None
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        place = f"{path}, line {number}"
        if param := _PARAM.match(line):
            of, key = None, param["key"]
            stats, space = _STATS.fullmatch(key), _SPACE.fullmatch(key)
            degraded = _DEGRADED.fullmatch(key)
            if stats or space or degraded:
                if key in seen:
                    rule = f"{key} stands twice in one dump"
                    refuse(place, rule, "keep each dump in a file of its own")
                seen.add(key)
            if stats:
                one = found.setdefault(_named(stats["target"]), Snapshot(str(path)))
                of, line = (one, stats["client"]), param["value"]
            elif space:
                one = found.setdefault(_named(space["target"]), Snapshot(str(path)))
                if not param["value"].isdecimal():
                    refuse(place, f"{show(param['value'][:40])} is no number of blocks")
                is_free = space["what"] == "kbytesfree"
                setattr(one, "free" if is_free else "total", int(param["value"]))
            elif degraded:
                if param["value"].strip() not in ("0", "1"):
                    refuse(place, f"{show(param['value'][:40])}: degraded is 0 or 1")
                one = found.setdefault(_named(degraded["target"]), Snapshot(str(path)))
                one.is_degraded = param["value"].strip() == "1"
        if of is not None:
            _count(line.strip(), *of, place)
    if not found:
        refuse(path, "no target's counters are in it", f"run: {DUMP_COMMAND}")
    return found


def _count(line: str, one: Snapshot, client: str | None, place: str) -> None:
    """Take a line of a target's, or of a target's client's, counters."""
    if client is None and line.startswith("snapshot_time"):
        time = _TIME.fullmatch(line)
        if time is None:
            refuse(place, f"{show(line[:60])} is no time", "fetch the file again")
        one.seconds = float(time["seconds"])
    elif client is None and (begun := _BEGUN.fullmatch(line)):
        one.begun = float(begun["seconds"])
    elif line.startswith(("read_bytes", "write_bytes")):
        counter = _COUNTER.fullmatch(line)
        total = _SUM.fullmatch(counter["rest"]) if counter else None
        if counter is None or total is None:
            rule = f"{show(line[:60])}: samples, [bytes], least, most and sum are expected"
            refuse(place, rule, "fetch the file again")
        moved = int(total["sum"])
        if client is not None:
            one.clients[client] = one.clients.get(client, 0) + moved
        elif counter["name"] == "read_bytes":
            one.read, one.reads = moved, int(counter["rest"].split()[0])
        else:
            one.written, one.writes = moved, int(counter["rest"].split()[0])


def _moved(target: str, before: Snapshot, after: Snapshot) -> tuple[float, float, float | None]:
    """Bytes read and written a second, and how many clients did."""
    rates = []
    seconds = _seconds(after) - _seconds(before)
    for what, first, last in (
        ("read_bytes", before.read, after.read),
        ("write_bytes", before.written, after.written),
    ):
        if last < first:
            rule = f"{what} of {target} falls from {first:,} to {last:,}, as after a restart"
            place = f"{before.place} and {after.place}"
            raise ConfigError(rule, "take two dumps after it", place=place)
        rates.append((last - first) / seconds)
    streams = None
    if before.clients and after.clients:
        # A counter that fell is of a client that was gone and came back: it moved something.
        streams = float(
            sum(after.clients[one] != before.clients.get(one, 0) for one in after.clients)
        )
    return rates[0], rates[1], streams


def _check_clocks(pairs: Mapping[str, tuple[Snapshot, Snapshot]]) -> None:
    """Each target is timed by its own server's clock, which must go as the others' do."""
    if not pairs:
        return
    apart = {target: _seconds(last) - _seconds(first) for target, (first, last) in pairs.items()}
    usual = median(apart.values())
    problems = []
    for target, seconds in apart.items():
        first, last = pairs[target]
        place = f"{first.place} and {last.place}"
        if seconds <= 0.0:
            rule = f"both dumps of {target} are of the same time"
            problems.append(Problem(rule, "dump them some seconds apart", place=place))
        elif abs(seconds - usual) > max(1.0, _APART_SHARE * usual):
            rule = f"the dumps of {target} are {seconds:,.1f} s apart, those of most targets "
            rule += f"{usual:,.1f} s: a clock was set, or they are of different dumps"
            problems.append(
                Problem(rule, "dump all servers twice, at about the same times", place=place)
            )
    raise_all(problems)


def _fill(target: str, each: Sequence[Snapshot]) -> float | None:
    told = [one for one in each if one.total is not None and one.free is not None]
    if not told:
        return None
    last = max(told, key=lambda one: one.seconds or 0.0)
    assert last.total is not None and last.free is not None
    if not last.total or last.free > last.total:
        refuse(last.place, f"{target} has {last.free:,} free of {last.total:,} blocks")
    return 1.0 - last.free / last.total


def _state(each: Sequence[Snapshot]) -> str | None:
    """Whether a target is degraded, by the newest dump that says so."""
    said = [one for one in each if one.is_degraded is not None]
    if not said:
        return None
    last = max(said, key=lambda one: one.seconds or 0.0)
    return DEGRADED if last.is_degraded else UP


def _seconds(one: Snapshot) -> float:
    assert one.seconds is not None
    return one.seconds


def _named(target: str) -> str:
    """A target's name as Lustre writes it: its number in lower-case hexadecimal."""
    head, number = target[:-4], target[-4:]
    return head + number.lower()
