"""What the devices of a simulated system moved, read from a run folder's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resilver.importers.part_load import PartLoad
from resilver.importers.text import refuse


def read_run_devices(folder: Path) -> list[PartLoad]:
    """What each device moved on average over the time that its system lived.

    Args:
        folder: A run folder; of several seeds of one system the mean.

    Returns:
        A load a device; those that failed are inactive.

    Raises:
        ConfigError: It is no finished run folder, or has systems of other devices.
    """
    runs = _rows(folder / "runs.parquet", ("run", "simulated_seconds"))
    columns = ("run", "name", "host", "failed", "device_bytes_read", "device_bytes_written")
    lived = {row["run"]: row["simulated_seconds"] for row in runs}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(folder / "servers.parquet", columns):
        found.setdefault(row["name"], []).append(row)
    if not found or any(len(rows) != len(runs) for rows in found.values()):
        rule = "its runs are of systems whose devices differ, or there are none"
        refuse(folder, rule, "give the run folder of one system")
    return [
        PartLoad(
            name,
            _mean(rows, "device_bytes_read", lived),
            _mean(rows, "device_bytes_written", lived),
            server=rows[0]["host"],
            state="inactive" if any(row["failed"] for row in rows) else "up",
        )
        for name, rows in found.items()
    ]


def _mean(rows: list[dict[str, Any]], column: str, lived: dict[str, float | None]) -> float:
    """Bytes a second, the mean over runs; a system that did not live moved nothing."""
    rates = [row[column] / lived[row["run"]] for row in rows if row[column] and lived[row["run"]]]
    return float(sum(rates) / len(rows))


def _rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found: list[dict[str, Any]] = pq.read_table(path, columns=list(columns)).to_pylist()
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0][:80]
        refuse(path, f"it is no table of a run folder: {reason}", "run the study first")
    return found
