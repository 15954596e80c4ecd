"""What a log says of one part of a storage system: how busy it is, how full, and since when."""

from __future__ import annotations

from dataclasses import dataclass

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
