"""Calibrating a LogGP table with netgauge, and its point-to-point bandwidth."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.calibration.errors import ModelError
from resilver.errors import ConfigError
from resilver.importers.bandwidth import PointToPoint, read_point_to_point
from resilver.importers.netgauge import LogGpTable, read_netgauge
from resilver.record import record

SIZES = tuple(2**power for power in range(27))
"""The message sizes of a curve where none are asked for: 1 B to 64 MiB."""


@dataclass(frozen=True)
class NetworkPoint:
    """The bandwidth between two endpoints at one message size.

    Attributes:
        message_bytes: The size.
        modelled_bytes_per_second: The table's.
        measured_bytes_per_second: What was measured, or None.
    """

    message_bytes: int
    modelled_bytes_per_second: float
    measured_bytes_per_second: float | None = None


@dataclass(frozen=True)
class NetworkCalibration:
    """A LogGP table and how well it repeats point-to-point measurements.

    Attributes:
        table: The usable rows, as ``cluster.fabric.table`` takes them.
        points: The bandwidth by size: at the sizes measured, else at powers of two.
        rmse: The error of the modelled bandwidth, or None where nothing was measured.
        notes: What a reader must know, a sentence each: rows left out among them.
    """

    table: LogGpTable
    points: tuple[NetworkPoint, ...]
    rmse: ModelError | None
    notes: tuple[str, ...]

    def bandwidth(self, sizes: Iterable[int]) -> npt.NDArray[np.float64]:
        """The bandwidth between two endpoints that are otherwise idle.

        It is what a ping-pong measures: the message's size over the time of one way, L + (s - 1)
        G. A test holds it to the simulator.

        Args:
            sizes: Message sizes in bytes, above zero.

        Returns:
            Bytes per second, one a size.

        Raises:
            ValueError: A size is not above zero.
        """
        return bandwidth(self.table, sizes)

    def to_netgauge(self) -> str:
        """The usable rows as a file that ``{ netgauge = "..." }`` reads."""
        return write_netgauge(self.table)

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-able, with units in the names."""
        found = record(self, "points", "rmse", "notes")
        return {**found, "table": [asdict(row) for row in self.table.rows]}


def calibrate_network(
    path: str | os.PathLike[str], measured: str | os.PathLike[str] | None = None
) -> NetworkCalibration:
    """Read a LogGP table and say what bandwidth it gives between two endpoints.

    Args:
        path: What netgauge's LogGP pattern wrote.
        measured: Point-to-point measurements to compare with; see
            `resilver.importers.bandwidth.read_point_to_point`.

    Returns:
        The table, its bandwidths, and how far they are from those measured.

    Raises:
        ConfigError: A file cannot be read or is not such a table.

    >>> from resilver.catalog import entries
    >>> file = entries.resources.files("resilver.catalog") / "networks" / "qdr-infiniband.dat"
    >>> rates = calibrate_network(str(file)).bandwidth([4 * 2**20, 8 * 2**20])
    >>> [round(rate / 2**20) for rate in rates]
    [1913, 1856]
    """
    table = read_netgauge(Path(path))
    return calibrate_table(table, None if measured is None else read_point_to_point(Path(measured)))


def calibrate_table(table: LogGpTable, measured: PointToPoint | None = None) -> NetworkCalibration:
    """Calibrate a table that is read already; see `calibrate_network`.

    Raises:
        ConfigError: The table gives a message no time at all.
    """
    label = table.label
    notes = [f"{label}, line {row.line} is left out: {row.reason}" for row in table.skipped]
    notes += _oddities(table)
    sizes = SIZES if measured is None else measured.sizes_bytes
    rates = bandwidth(table, sizes)
    for size in np.asarray(sizes)[np.isinf(rates)].tolist():
        rule = f"a message of {size} B takes no time by its row: L and G are zero"
        raise ConfigError(rule, "measure the row again, or remove it", place=label)
    if measured is None:
        points = tuple(map(NetworkPoint, SIZES, rates.tolist()))
        return NetworkCalibration(table, points, None, tuple(notes))
    points = tuple(
        map(NetworkPoint, measured.sizes_bytes, rates.tolist(), measured.bytes_per_second)
    )
    error = ModelError.of(measured.bytes_per_second, rates.tolist())
    beyond = [size for size in measured.sizes_bytes if size >= table.rows[-1].size_bytes]
    if beyond:
        notes.append(
            f"the table's last row serves {measured.label}'s sizes from {beyond[0]} B on, which "
            "are not below its own"
        )
    return NetworkCalibration(table, points, error, tuple(notes))


def bandwidth(table: LogGpTable, sizes: Iterable[int]) -> npt.NDArray[np.float64]:
    """The bandwidth of single messages; see `NetworkCalibration.bandwidth`.

    Args:
        sizes: Message sizes in bytes, above zero.

    Returns:
        Bytes per second, one a size; infinite where the table gives a message no time.

    Raises:
        ValueError: A size is not above zero.
    """
    asked = np.fromiter(sizes, np.float64)
    if asked.size and asked.min() <= 0:
        raise ValueError(f"a message of {asked.min():g} bytes has no bandwidth; ask above zero")
    rows = table.rows
    # The first row that is strictly larger, and the last for all beyond.
    bounds = np.array([row.size_bytes for row in rows], np.float64)
    index = np.minimum(np.searchsorted(bounds, asked, side="right"), len(rows) - 1)
    latency = np.array([row.latency_seconds for row in rows])[index]
    per_byte = np.array([row.gap_per_byte_seconds for row in rows])[index]
    with np.errstate(divide="ignore"):
        return np.asarray(asked / (latency + (asked - 1) * per_byte), np.float64)


def write_netgauge(table: LogGpTable) -> str:
    """A table as netgauge's file, with the columns that the model uses.

    Returns:
        The file: times in microseconds, G in microseconds a byte, to the last digit.
    """
    lines = ["# size L g G"]
    for row in table.rows:
        times = (row.latency_seconds, row.gap_seconds, row.gap_per_byte_seconds)
        lines.append(" ".join([str(row.size_bytes), *map(_microseconds, times)]))
    return "\n".join(lines) + "\n"


def _microseconds(seconds: float) -> str:
    text = f"{Decimal(repr(seconds)).scaleb(6):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _oddities(table: LogGpTable) -> list[str]:
    notes = []
    for before, row in zip(table.rows, table.rows[1:], strict=False):
        if before.size_bytes == row.size_bytes:
            notes.append(
                f"size {row.size_bytes} stands twice; messages below it take the first of the rows"
            )
    negative = [row.size_bytes for row in table.rows if row.gap_seconds < 0]
    if negative:
        shown = ", ".join(str(size) for size in negative[:4]) + (", ..." if negative[4:] else "")
        notes.append(
            f"g is negative at {shown} B; every message there still keeps its interface busy, "
            "g + (s - 1) G"
        )
    return notes
