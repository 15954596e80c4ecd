"""Calibrating a volume's service-time table with fio."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resilver.calibration.block_rates import read_disk
from resilver.calibration.errors import ModelError
from resilver.importers.fio import MODES, FioReport
from resilver.record import record
from resilver.spec.device import DeviceTable, fitted_table
from resilver.spec.disk_fit import Method, fit_disk
from resilver.spec.tables import to_plain
from resilver.spec.toml import write_keys


@dataclass(frozen=True)
class DiskPoint:
    """One pattern at one size, measured and modelled.

    Attributes:
        mode: ``read``, ``write``, ``randread`` or ``randwrite``.
        request_bytes: The size of the requests.
        measured_bytes_per_second: fio's mean bandwidth.
        modelled_bytes_per_second: The table's, with the same queue.
        measured_latency_seconds: fio's median completion latency.
        modelled_latency_seconds: The table's, with the same queue.
    """

    mode: str
    request_bytes: int
    measured_bytes_per_second: float
    modelled_bytes_per_second: float
    measured_latency_seconds: float
    modelled_latency_seconds: float


@dataclass(frozen=True)
class DiskCalibration:
    """A service-time table and how well it repeats what it was fitted to.

    Attributes:
        table: The table, as ``cluster.device`` takes it.
        queue_depth: How many requests were outstanding.
        points: Measured and modelled figures by pattern and size.
        rmse: The error of the modelled bandwidth, by pattern.
        notes: What a reader must know, a sentence each.
    """

    table: DeviceTable
    queue_depth: int
    points: tuple[DiskPoint, ...]
    rmse: dict[str, ModelError]
    notes: tuple[str, ...]

    def to_toml(self) -> str:
        """The table as a file that ``cluster.device = { file = "..." }`` reads."""
        plain = {key: value for key, value in to_plain_table(self.table).items() if key != "label"}
        return write_keys(plain)

    def to_dict(self) -> dict[str, Any]:
        """Everything, JSON-able, with units in the names."""
        found = record(self, "queue_depth", "rmse", "points", "notes")
        return {**found, "device": to_plain_table(self.table)}


def calibrate_disk(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    method: Method = "recipe",
    queue: int | None = None,
) -> DiskCalibration:
    """Fit a volume's service-time table to fio's output, or to another benchmark's.

    Args:
        paths: A file of fio's JSON or several that belong together: sequential and random reads
            and writes (``rw=`` read, write, randread, randwrite), each at the same sizes, at one
            ``iodepth``. Or what another benchmark of block devices wrote; see `read_disk`.
        method: ``recipe`` or ``line``; see `resilver.spec.disk_fit.fit_disk`.
        queue: Of several queue depths the one to fit; by default four, else the least.

    Returns:
        The table, and how far the model is from the measurements.

    Raises:
        ConfigError: A file is not fio's, or a measurement is missing or of no use.

    >>> calibrate_disk("absent.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    resilver.errors.ConfigError: absent.json: there is no such file; ...
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else paths
    return calibrate_report(read_disk([Path(path) for path in listed], queue), method)


def calibrate_report(report: FioReport, method: Method = "recipe") -> DiskCalibration:
    """Fit a table to measurements that are read already; see `calibrate_disk`.

    Raises:
        ConfigError: A measurement is missing or of no use.
    """
    fit = fit_disk(report.jobs, method, report.label)
    table = fitted_table(fit, report, method)
    points = []
    for job in sorted(report.jobs, key=lambda job: (MODES.index(job.mode), job.request_bytes)):
        service = service_seconds(table, job.mode, job.request_bytes)
        points.append(
            DiskPoint(
                job.mode,
                job.request_bytes,
                job.bytes_per_second,
                job.request_bytes / service,
                job.latency_seconds,
                job.queue_depth * service,
            )
        )
    rmse = {}
    for mode in MODES:
        of_mode = [point for point in points if point.mode == mode]
        rmse[mode] = ModelError.of(
            [point.measured_bytes_per_second for point in of_mode],
            [point.modelled_bytes_per_second for point in of_mode],
        )
    notes = (*report.skipped, *fit.notes)
    return DiskCalibration(table, fit.queue_depth, tuple(points), rmse, notes)


def service_seconds(table: DeviceTable, mode: str, request_bytes: int) -> float:
    """How long the simulator's volume serves one request.

    A volume serves requests one by one, so that with any number outstanding one ends every service
    time: this alone gives the modelled bandwidth, and a latency of as many service times as
    requests are outstanding. A test holds it to the simulator.

    Args:
        mode: ``read``, ``write``, ``randread`` or ``randwrite``; random requests pay the seek.

    >>> table = DeviceTable(
    ...     request_sizes=["4 KiB"], read_rate="1 GB/s", read_overhead="1 us", read_seek=["5 ms"],
    ...     write_rate="1 GB/s", write_overhead="2 us", write_seek=["1 ms"],
    ... )
    >>> service_seconds(table, "randread", 1_000_000)
    0.006001
    """
    reads = mode.endswith("read")
    rate = table.read_rate if reads else table.write_rate
    overhead = table.read_overhead if reads else table.write_overhead
    sequential = overhead + request_bytes / rate
    if not mode.startswith("rand"):
        return sequential
    seeks = table.read_seek if reads else table.write_seek
    return sequential + seeks[max(bisect_right(table.request_sizes, request_bytes) - 1, 0)]


def to_plain_table(table: DeviceTable) -> dict[str, Any]:
    """The table as TOML holds it, written out even where the catalog has it under a name."""
    fields = {name: to_plain(getattr(table, name)) for name in type(table).model_fields}
    return {name: item for name, item in fields.items() if item not in ("", None)}
