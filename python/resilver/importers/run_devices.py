"""What the devices of a simulated system moved, read from a run folder's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resilver.importers.log_rows import PartLoad
from resilver.importers.parquet import reading
from resilver.text import refuse


def read_run_devices(
    folder: Path, sets: Mapping[str, tuple[str, Sequence[str]]] | None = None
) -> list[PartLoad]:
    """What each device, or each set of devices, moved on average over the time of its system.

    A set waits for its busiest member. So it counts as moving what it would, were all of its
    members as busy: its bytes times the share of the time that the busiest works, over the mean.

    Args:
        folder: A run folder; of several seeds of one system the mean.
        sets: By name, the server and the devices of each RAID set that data is placed on; None
            where it is placed on devices.

    Returns:
        A load a device; those that failed are inactive.

    Raises:
        ConfigError: It is no finished run folder, or has systems of other devices.
    """
    runs = _rows(folder / "runs.parquet", ("run", "seed", "simulated_seconds"))
    if len({row["seed"] for row in runs}) < len(runs):
        rule = f"it has {len(runs):,} runs of several systems, and a job writes to one"
        refuse(folder, rule, "run that one into a folder of its own")
    moved = ("device_bytes_read", "device_bytes_written", "device_busy_seconds")
    columns = ("run", "name", "host", "failed", *moved)
    lived = {row["run"]: row["simulated_seconds"] for row in runs}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(folder / "servers.parquet", columns):
        found.setdefault(row["name"], []).append(row)
    if not found or any(len(rows) != len(runs) for rows in found.values()):
        rule = "its runs are of systems whose devices differ, or there are none"
        refuse(folder, rule, "give the run folder of one system")
    loads = [
        PartLoad(
            name,
            _mean(rows, "device_bytes_read", lived),
            _mean(rows, "device_bytes_written", lived),
            server=rows[0]["host"],
            state="inactive" if any(row["failed"] for row in rows) else "up",
            busy=_mean(rows, "device_busy_seconds", lived),
        )
        for name, rows in found.items()
    ]
    return loads if sets is None else _of_sets({one.name: one for one in loads}, sets)


def _of_sets(
    loads: Mapping[str, PartLoad], sets: Mapping[str, tuple[str, Sequence[str]]]
) -> list[PartLoad]:
    """What sets moved, of what their devices did; one that lost a device is written on the rest."""
    made = []
    for name, (server, devices) in sets.items():
        own = [loads[device] for device in devices if loads[device].state == "up"]
        busy = [one.busy or 0.0 for one in own]
        waits = max(busy) * len(busy) / sum(busy) if any(busy) else 1.0
        read = waits * sum(one.read_bytes_per_second or 0.0 for one in own)
        write = waits * sum(one.write_bytes_per_second or 0.0 for one in own)
        made.append(PartLoad(name, read, write, server=server, state="up" if own else "inactive"))
    return made


def _mean(rows: list[dict[str, Any]], column: str, lived: dict[str, float | None]) -> float:
    """Bytes a second, the mean over runs; a system that did not live moved nothing."""
    rates = [row[column] / lived[row["run"]] for row in rows if row[column] and lived[row["run"]]]
    return float(sum(rates) / len(rows))


def _rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    with reading(path, "give a run folder; run the study first"):
        found: list[dict[str, Any]] = pq.read_table(path, columns=list(columns)).to_pylist()
        return found
