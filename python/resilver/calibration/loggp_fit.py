"""LogGP parameters from round trips of one message and of several in a row.

PRTT(n, s) is the time from sending the first of n messages of s bytes, without a pause between
them, to having the single answer of s bytes that follows the last. One message and its answer take
twice the time of a way; each further message adds g + (s - 1) G. So L is half of PRTT(1, 1), and
the gaps (PRTT(n, s) - PRTT(1, s)) / (n - 1) lie on a straight line over s wherever the network
handles sizes alike.

Source: T. Hoefler, A. Lichei, W. Rehm, "Low-overhead LogGP parameter assessment for modern
interconnection networks", IPDPS 2007, where a third series with pauses gives the overhead o, which
the simulated fabric does not use. As netgauge does, a row's line is fitted to all sizes up to its
own since the network last changed its way with them. Unlike netgauge, which notices a change some
rows later, a row whose own gap and the next one's both leave the line begins a line of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from resilver.errors import ConfigError
from resilver.importers.bandwidth import PointToPoint
from resilver.importers.netgauge import LogGpRow, LogGpTable

_OFF_THE_LINE = 0.3
"""How far off the line a gap is another protocol's: buffering and rendezvous differ by more, and
the scatter of medians is below it."""


@dataclass(frozen=True)
class Round:
    """The round trips of one message size.

    Attributes:
        message_bytes: The size s.
        count: The number n of messages in a row, above one.
        single_seconds: PRTT(1, s).
        burst_seconds: PRTT(n, s).
    """

    message_bytes: int
    count: int
    single_seconds: float
    burst_seconds: float

    @property
    def gap_seconds(self) -> float:
        """The time that each message after the first adds; never below zero."""
        return max(self.burst_seconds - self.single_seconds, 0.0) / (self.count - 1)


def table_of(rounds: Sequence[Round], label: str) -> tuple[LogGpTable, PointToPoint]:
    """The LogGP table of round trips, and the bandwidths that the single ones measured.

    Args:
        rounds: One or more a size, sizes rising, at least two.
        label: What to call both.

    Returns:
        A row for each size from the second on, and the bandwidth of each size.

    Raises:
        ConfigError: There are fewer than two sizes, or a round trip took no time.

    >>> rounds = [Round(size, 11, 20e-6 + 2e-9 * size, 30e-6 + 12e-9 * size)
    ...           for size in (1, 1024, 4096)]
    >>> table, _ = table_of(rounds, "example")
    >>> [(row.size_bytes, round(row.gap_per_byte_seconds * 1e9, 6)) for row in table.rows]
    [(1024, 1.0), (4096, 1.0)]
    """
    if len(rounds) < 2 or min(item.single_seconds for item in rounds) <= 0:
        rule = "a table needs round trips of two message sizes or more, each longer than zero"
        raise ConfigError(rule, "measure again", place=label)
    latency = rounds[0].single_seconds / 2
    starts = _starts(rounds)
    rows: list[LogGpRow] = []
    for index in range(1, len(rounds)):
        start = starts[index]
        line = _line(rounds[start : max(index, start + 1) + 1])
        served_from = rounds[index - 1].message_bytes if rows else 1
        gap, per_byte = _possible(line, rounds[start : index + 1], served_from)
        rows.append(LogGpRow(rounds[index].message_bytes, latency, gap, per_byte))
    rates = tuple(2 * item.message_bytes / item.single_seconds for item in rounds)
    sizes = tuple(item.message_bytes for item in rounds)
    return LogGpTable(label, tuple(rows)), PointToPoint(label, sizes, rates)


def _starts(rounds: Sequence[Round]) -> list[int]:
    """For each size, the first size that the network handles in the same way."""
    starts = [0] * len(rounds)
    start = 0
    for index in range(2, len(rounds)):
        if index - start >= 2 and index + 1 < len(rounds):
            line = _line(rounds[start:index])
            if _is_off(line, rounds[index]) and _is_off(line, rounds[index + 1]):
                start = index
        starts[index] = start
    return starts


def _is_off(line: tuple[float, float], item: Round) -> bool:
    expected = line[0] + (item.message_bytes - 1) * line[1]
    return abs(item.gap_seconds - expected) > _OFF_THE_LINE * item.gap_seconds


def _line(rounds: Sequence[Round]) -> tuple[float, float]:
    """g and G of the least-squares line through the gaps over s - 1."""
    xs = [item.message_bytes - 1 for item in rounds]
    ys = [item.gap_seconds for item in rounds]
    x_mean, y_mean = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    spread = math.fsum((x - x_mean) ** 2 for x in xs)
    slope = (
        math.fsum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread
        if spread
        else 0.0
    )
    return y_mean - slope * x_mean, slope


def _possible(
    line: tuple[float, float], rounds: Sequence[Round], served_from: int
) -> tuple[float, float]:
    """The line, made one that a fabric can have: no time is negative for a message it serves."""
    gap, per_byte = line
    if per_byte < 0:
        return math.fsum(item.gap_seconds for item in rounds) / len(rounds), 0.0
    if gap + (served_from - 1) * per_byte < 0:
        return 0.0, math.fsum(item.gap_seconds / item.message_bytes for item in rounds) / len(
            rounds
        )
    return gap, per_byte


def write_times(rounds: Sequence[Round]) -> str:
    """The time of one way by size, in the form that `read_point_to_point` reads."""
    lines = [f"{item.message_bytes} {item.single_seconds / 2 * 1e6:.4f}" for item in rounds]
    return "\n".join(["# size time(us)", *lines]) + "\n"
