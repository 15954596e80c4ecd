"""Series of `lfs df`: how full each target of a Lustre file system was, and when.

Each table stands behind the time at which it was printed: ``BEGIN`` and seconds since 1970, as
TOKIO's collectors write it (github.com/NERSC/pytokio), the seconds alone (``date +%s``), or a time
as ``date -Is`` writes it. Sizes are the blocks of 1,024 bytes that plain `lfs df` prints; how full
a target is now may come from the rounded ones of `lfs df -h` too. Letters behind a target's mount
point are its state (Lustre's manual page lfs-df(1)).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError, show
from resilver.importers.log_rows import DEGRADED, INACTIVE, UP, LogRow, PartLoad
from resilver.text import read_text, refuse

_BEGIN = re.compile(r"(?:BEGIN\s+)?(\d{9,11})")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?.*")
_TARGET = re.compile(r"(\S+?)-(OST|MDT)([0-9a-fA-F]{4})_UUID")
_INACTIVE = re.compile(r"(\S+-)?(OST|MDT)([0-9a-fA-F]{4})(?:_UUID)?\s*:\s*(.+)")
_LETTERS = re.compile(r"\[OST:\d+\]\s*(\w*)")
_STATES = {
    "R": "read-only",
    "N": "no new objects",
    "S": "out of space",
    "I": "out of inodes",
    "D": DEGRADED,
}
"""What each letter says, what counts most first; others say what kind of device it is."""
_ROUNDED = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)")
_UNITS = "KMGTPE"
_BLOCK_BYTES = 1024
_HEADER = "UUID"
_NO_TIME = 0.0

Floats = npt.NDArray[np.float64]


class _Row(NamedTuple):
    """What one line says of a target: its size and use in bytes, and its state."""

    size: int
    used: int
    state: str


Snapshots = dict[str, dict[float, dict[str, _Row]]]
"""By file system, time and target."""


@dataclass(frozen=True)
class FillSeries:
    """How full the targets of one file system were.

    Attributes:
        name: The file system.
        seconds: The times, since 1970, rising: shape (snapshots,).
        targets: The targets that every snapshot has, in their order.
        used_bytes: By snapshot and target: shape (snapshots, targets).
        size_bytes: What each target holds: shape (targets,).
        left_out: Targets that some snapshot says are inactive, or does not have.
    """

    name: str
    seconds: Floats = field(repr=False)
    targets: tuple[str, ...] = field(repr=False)
    used_bytes: Floats = field(repr=False)
    size_bytes: Floats = field(repr=False)
    left_out: tuple[str, ...] = ()

    @property
    def fill(self) -> Floats:
        """The share that is used, by snapshot and target."""
        return np.asarray(self.used_bytes / self.size_bytes)


def read_lfs_df(paths: Sequence[Path]) -> list[FillSeries]:
    """Read a series of `lfs df`.

    Args:
        paths: Files with one snapshot or more each, each behind its time; gzipped or not.

    Returns:
        A series a file system, by name. Object targets (OST) alone are kept.

    Raises:
        ConfigError: A table has no time, sizes are rounded (``lfs df -h``), a line is damaged,
            there are fewer than three snapshots, or no target is active in all of them.
    """
    found: Snapshots = {}
    inactive: dict[str, set[str]] = {}
    for path in paths:
        _read(path, found, inactive)
    if not found:
        refuse(paths[0], "there is no line of lfs df", "run: date -Is; lfs df")
    return [_series(name, found[name], inactive.get(name, set())) for name in sorted(found)]


def is_df(text: str) -> bool:
    """Whether a text is what `lfs df` prints, with or without times."""
    lines = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if line and _moment(line) is None), "")
    return line.startswith(_HEADER) or (_TARGET.match(line) or _INACTIVE.match(line)) is not None


def read_last_df(path: Path) -> list[PartLoad]:
    """How full each object target is, by the last table of a file.

    Args:
        path: What `lfs df`, `lfs df -h` or `lfs df -hv` printed, with or without times; gzipped or
            not.

    Returns:
        A load a target with its state; those that it says are inactive among them.

    Raises:
        ConfigError: A line is damaged, or there is no target.
    """
    found: Snapshots = {}
    inactive: dict[str, set[str]] = {}
    _read(path, found, inactive, need_time=False, may_round=True)
    loads = []
    for name in sorted({*found, *inactive}):
        times = found.get(name, {})
        moment = max(times, default=_NO_TIME)
        seconds = None if moment == _NO_TIME else moment
        gone = inactive.get(name, set()) - set(times.get(moment, {}))
        rows = {
            target: (row.used / row.size, row.state)
            for target, row in times.get(moment, {}).items()
        }
        for target in sorted({*rows, *gone}):
            fill, state = rows.get(target, (None, INACTIVE))
            loads.append(PartLoad(f"{name}-{target}", fill=fill, state=state, seconds=seconds))
    if not loads:
        refuse(path, "there is no line of lfs df", "run: lfs df")
    return loads


def fill_rows(path: Path) -> list[LogRow]:
    """What each object target holds and has used, at each time of a file.

    Args:
        path: What `lfs df` printed, with or without times; gzipped or not.

    Raises:
        ConfigError: Sizes are rounded, a line is damaged, or there is no active target.
    """
    found: Snapshots = {}
    _read(path, found, {}, need_time=False)
    if not found:
        refuse(path, "no target is active in it", "run: lfs df")
    rows = []
    for name, times in found.items():
        for moment, targets in sorted(times.items()):
            seconds = None if moment == _NO_TIME else moment
            for target, row in targets.items():
                part = f"{name}-{target}"
                rows.append(
                    LogRow(
                        part,
                        begin_seconds=seconds,
                        end_seconds=seconds,
                        used_bytes=row.used,
                        size_bytes=row.size,
                    )
                )
    return rows


def _read(
    path: Path,
    found: Snapshots,
    inactive: dict[str, set[str]],
    *,
    need_time: bool = True,
    may_round: bool = False,
) -> None:
    moment: float | None = None if need_time else _NO_TIME
    name = ""
    for number, raw in enumerate(read_text(path).splitlines(), 1):
        line, place = raw.strip(), f"{path}, line {number}"
        if not line or line.startswith(("filesystem_summary", "filesystem summary")):
            continue
        if (told := _moment(line)) is not None:
            moment = told
        elif line.startswith(_HEADER):
            if "1K-blocks" not in line and not (may_round and " bytes " in line):
                rule = "the table does not count blocks of 1,024 bytes"
                refuse(place, rule, "run lfs df without -h, -i and other options")
        elif gone := _INACTIVE.match(line):
            if gone[2] == "OST":
                owner = (gone[1] or f"{name}-").rstrip("-")
                inactive.setdefault(owner, set()).add(f"OST{gone[3].lower()}")
        elif target := _TARGET.match(line):
            name = target[1]
            if moment is None:
                rule = "no time stands before this table"
                refuse(place, rule, "write it before each one: date -Is; lfs df")
            if target[2] == "OST":
                key = f"OST{target[3].lower()}"
                row = _row(line, place, may_round)
                of_time = found.setdefault(name, {}).setdefault(moment, {})
                if key in of_time:
                    refuse(place, f"{key} stands twice in one snapshot", "remove one of them")
                of_time[key] = row
        else:
            refuse(place, f"{show(line[:60])} is no line of lfs df", "keep its tables and times")


def _moment(line: str) -> float | None:
    """The time that a line says; None for other lines."""
    if match := _BEGIN.fullmatch(line):
        return float(match[1])
    if _ISO.fullmatch(line):
        try:
            return datetime.fromisoformat(line).astimezone().timestamp()
        except ValueError:
            return None
    return None


def _row(line: str, place: str, may_round: bool) -> _Row:
    """Size, use and state of a target."""
    words = line.split()[1:4]
    rounded = [_ROUNDED.fullmatch(word) for word in words]
    if len(words) < 3 or not all(rounded) or not (may_round or "".join(words).isdecimal()):
        rule = f"{show(line[:60])}: blocks, used and available are whole numbers"
        refuse(place, rule, "run lfs df without -h")
    # A bare number counts blocks of 1,024 bytes; with -h a unit stands behind it.
    size, used = (
        int(float(one[1]) * _BLOCK_BYTES ** (1 + _UNITS.find(one[2] or "K")))
        for one in rounded[:2]
        if one
    )
    if not size or used > size:
        refuse(place, f"{show(line[:60])}: a target uses no more than it has")
    letters = _LETTERS.search(line)
    said = letters[1] if letters else ""
    return _Row(size, used, next((_STATES[one] for one in _STATES if one in said), UP))


def _series(name: str, of_times: dict[float, dict[str, _Row]], inactive: set[str]) -> FillSeries:
    times = sorted(of_times)
    if len(times) < 3:
        rule = f"{name} has {len(times)} snapshots, and a slope needs at least 3"
        raise ConfigError(rule, "add more, each behind its time", key="lfs_df")
    seen = {target for time in times for target in of_times[time]} | inactive
    kept = sorted(
        target for target in seen - inactive if all(target in of_times[time] for time in times)
    )
    if not kept:
        rule = f"no target of {name} is active in every snapshot"
        raise ConfigError(rule, "leave out the snapshots without them", key="lfs_df")
    used = [[of_times[time][target].used for target in kept] for time in times]
    sizes = [of_times[times[-1]][target].size for target in kept]
    return FillSeries(
        name,
        np.array(times),
        tuple(kept),
        np.array(used, dtype=np.float64),
        np.array(sizes, dtype=np.float64),
        tuple(sorted(seen - set(kept))),
    )
