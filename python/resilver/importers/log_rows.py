"""What logs of servers and of programs hold: rows of who moved what, when and where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PARAMETER = re.compile(r"[\w@:-]+(?:\.[\w@:-]+)*=")
"""What a parameter begins with in a dump of `lctl get_param`."""

_TIME_LEAST = 1e9


@dataclass(frozen=True)
class LogRow:
    """What a log says of one part; None for what it does not say.

    Attributes:
        part: The target, server, network or module of a program.
        job: The job that did it.
        begin_seconds: From when on, since 1970 or, of a program's own clock, its begin.
        end_seconds: Until when.
        read_bytes: What was read in that time.
        write_bytes: What was written.
        reads: How many requests read.
        writes: How many wrote.
        request_bytes: How large each of these was at the most.
        used_bytes: What is used of the part at the end.
        size_bytes: What it holds.
        server: The server that has it.
    """

    part: str
    job: str | None = None
    begin_seconds: float | None = None
    end_seconds: float | None = None
    read_bytes: float | None = None
    write_bytes: float | None = None
    reads: int | None = None
    writes: int | None = None
    request_bytes: int | None = None
    used_bytes: float | None = None
    size_bytes: float | None = None
    server: str | None = None


@dataclass(frozen=True)
class Log:
    """What one file has of one kind.

    Attributes:
        path: The file.
        kind: What it is: counters, space, requests, jobs, network, fill, servers, series, program
            or heat map.
        rows: Its rows.
        note: What a reader must know of it; may be empty.
    """

    path: Path
    kind: str
    rows: tuple[LogRow, ...] = field(repr=False)
    note: str = ""

    @property
    def parts(self) -> int:
        """Of how many parts it tells."""
        return len({row.part for row in self.rows})

    @property
    def begin_seconds(self) -> float | None:
        """Its first time; None where it has none."""
        return min(_told(row.begin_seconds for row in self.rows), default=None)

    @property
    def end_seconds(self) -> float | None:
        """Its last time."""
        return max(_told(row.end_seconds for row in self.rows), default=None)

    @property
    def read_bytes(self) -> float | None:
        """All that was read; None where it tells nothing of that."""
        return _sum(row.read_bytes for row in self.rows)

    @property
    def write_bytes(self) -> float | None:
        """All that was written."""
        return _sum(row.write_bytes for row in self.rows)


def calendar_time(seconds: float | None) -> float | None:
    """A time since 1970; None for what some releases say since the server began."""
    return seconds if seconds is not None and seconds >= _TIME_LEAST else None


def _told(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _sum(values: Iterable[float | None]) -> float | None:
    told = _told(values)
    return sum(told) if told else None


UP, DEGRADED, INACTIVE = "up", "degraded", "inactive"
"""A part that works; one whose RAID misses a device, so that it is slow; one that is not there."""


def worse_state(one: str | None, other: str | None) -> str | None:
    """The worse of two states: what cannot be written, then degraded, then up, then unknown."""
    order = (None, UP, DEGRADED)
    return max(one, other, key=lambda state: order.index(state) if state in order else len(order))


@dataclass(frozen=True)
class PartLoad:
    """What one file says of a part; None where it does not.

    Attributes:
        name: The part, such as ``scratch-OST0003``.
        read_bytes_per_second: What it reads.
        write_bytes_per_second: What it writes.
        streams: How many clients read or write there.
        fill: The share of it that is used.
        server: The server that it is on.
        state: ``up``, ``degraded``, or why it cannot be written: ``inactive``, ``read-only``,
            ``no new objects``, ``out of space`` or ``out of inodes``.
        seconds: When that was, since 1970.
        busy: The share of the time that it works.
    """

    name: str
    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    streams: float | None = None
    fill: float | None = None
    server: str | None = None
    state: str | None = None
    seconds: float | None = None
    busy: float | None = None
