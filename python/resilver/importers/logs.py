"""Logs of any kind: what a file is, and what it says of whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_type_hints

import numpy as np

from resilver.importers.brw_stats import is_brw_stats, read_brw_stats, request_rows
from resilver.importers.darshan import is_darshan, read_darshan
from resilver.importers.job_stats import is_job_stats, read_job_stats
from resilver.importers.lctl import counter_rows, is_devices, is_dump, read_devices
from resilver.importers.lfs_df import fill_rows, is_df
from resilver.importers.lnetctl import is_lnetctl, read_lnetctl
from resilver.importers.log_rows import Log, LogRow
from resilver.importers.tokio import MAGIC, column_name, moved_key, opened, read_tokio
from resilver.text import decode, read_bytes, refuse

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = "lctl get_param, lctl dl -t, lfs df, lnetctl stats, HDF5 of LMT or TOKIO, or Darshan"


def read_logs(paths: Sequence[str | Path]) -> list[Log]:
    """What logs say.

    Args:
        paths: Dumps of `lctl get_param` (counters of targets, job_stats, brw_stats), `lctl dl -t`,
            `lfs df`, `lnetctl stats show`, HDF5 of LMT or TOKIO, Darshan logs. Text may be gzipped.

    Returns:
        A log a file and kind, in the order of the files.

    Raises:
        ConfigError: A file is none of these, or damaged.
    """
    return [log for path in paths for log in read_log(Path(path).expanduser())]


def read_log(path: Path) -> list[Log]:
    """What one file says: a log a kind; see `read_logs`."""
    if path.is_dir():
        refuse(path, "this is a folder, not a log", "name files in it")
    if is_darshan(path):
        return read_darshan(path)
    data = read_bytes(path)
    if data.startswith(MAGIC):
        return [Log(path, "series", tuple(_series_rows(path)), "what is missing counts as nothing")]
    if b"\0" in data:
        refuse(path, "it is binary, and no log that is known", f"give {KINDS}")
    text = decode(data, path)
    logs = _dump(text, path)
    if not logs and is_lnetctl(text):
        row, note = read_lnetctl(text, path)
        logs = [Log(path, "network", (row,), note)]
    if not logs and is_devices(text):
        loads = read_devices(path)
        rows = [
            LogRow(one.name, begin_seconds=one.seconds, end_seconds=one.seconds, server=one.server)
            for one in loads
        ]
        inactive = sum(one.state != "up" for one in loads)
        note = f"{inactive} inactive" if inactive else ""
        logs = [Log(path, "servers", tuple(rows), note)]
    if not logs and is_df(text):
        logs = [Log(path, "fill", tuple(fill_rows(path)))]
    if not logs:
        rule = "it is empty" if not text.strip() else "it is no log that is known"
        refuse(path, rule, f"give {KINDS}")
    return logs


def _series_rows(path: Path) -> list[LogRow]:
    """What each target moved in all of a series."""
    # This looks at shapes, units and signs of all of it.
    names = [one.name for one in read_tokio(path, math.inf)]
    moved: dict[str, dict[str, float]] = {}
    with opened(path) as file:
        group = file["datatargets"]
        times = np.asarray(group["timestamps"][:], dtype=np.float64)
        step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        for way in ("read", "write"):
            if key := moved_key(file, way):
                table = file[key]
                # TOKIO keeps -0.0 where it knows nothing, which adds nothing.
                sums = np.nansum(np.asarray(table[:], dtype=np.float64), axis=0)
                is_bytes = table.attrs.get("units") in ("bytes", b"bytes")
                sums = sums if is_bytes else sums * step
                moved[way] = {
                    column_name(one): float(total)
                    for one, total in zip(table.attrs["columns"], sums, strict=True)
                }
    ends = (float(times[0]), float(times[-1]) + step)
    read, written = (moved.get(way, {}) for way in ("read", "write"))
    return [LogRow(name, None, *ends, read.get(name), written.get(name)) for name in names]


def _dump(text: str, path: Path) -> list[Log]:
    """What a dump of `lctl get_param` has, which may be several things."""
    logs = []
    if is_dump(text):
        rows = tuple(counter_rows(path))
        has_counters = any(row.end_seconds is not None for row in rows)
        logs.append(Log(path, "counters" if has_counters else "space", rows))
    if is_job_stats(text):
        rows = tuple(read_job_stats(text, path))
        logs.append(Log(path, "jobs", rows, "" if rows else "no job was served"))
    if is_brw_stats(text):
        rows = tuple(request_rows(read_brw_stats(text, path)))
        logs.append(Log(path, "requests", rows, "" if rows else "no request was served"))
    return logs


def logs_table(logs: Sequence[Log]) -> pa.Table:
    """All rows of logs, each with its file and kind.

    Returns:
        Columns ``file``, ``kind``, and those of `LogRow`; null for what a log does not say.
    """
    import pyarrow as pa

    types = {int | None: pa.int64(), float | None: pa.float64()}
    hints = {"file": str, "kind": str, **get_type_hints(LogRow)}
    columns = [(name, types.get(hint, pa.string())) for name, hint in hints.items()]
    rows = [
        {"file": log.path.name, "kind": log.kind, **vars(row)} for log in logs for row in log.rows
    ]
    return pa.Table.from_pylist(rows, pa.schema(columns))
