"""`resilver import logs`: what logs of servers and of programs hold."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from resilver.cli.console import output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import TABLES, check_output, keep_inputs, save_whole, table_bytes
from resilver.cli.tables import print_figures
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.importers.log_rows import Log
    from resilver.tables import Table

_JOBS_SHOWN = 10


@dataclass(frozen=True)
class Asked:
    """Which logs are read, and what is made of them."""

    logs: tuple[Path, ...] = argument(
        "FILE",
        text="Dumps of lctl get_param (counters, job_stats, brw_stats), lctl dl -t, lfs df, "
        "lnetctl stats show, HDF5 of LMT or TOKIO, or Darshan logs.",
    )
    table: Path | None = option(
        "--output", "-o", metavar="FILE", text="Write all rows there: a .parquet or a .csv."
    )
    mix: bool = option(
        "--mix",
        text="Print the sizes of requests (brw_stats) as traffic.mix of a study, and no table.",
        default=False,
    )


def logs(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show what logs contain: which parts, which period, bytes read and written.

    Examples:

    resilver import logs oss1.txt oss2.txt lmt.h5 -o moved.parquet

    resilver import logs brw_stats.txt --mix
    """
    from resilver.importers.logs import logs_table, read_logs

    keep_inputs(asked.table, asked.logs)
    check_output(asked.table, TABLES)
    found = read_logs(asked.logs)
    if asked.table is not None:
        save_whole(asked.table, table_bytes(logs_table(found), asked.table.suffix.lower()))
    if asked.mix:
        sys.stdout.write(_mix(found, asked.logs[0]))
    elif as_json:
        print_json([_record(log) for log in found])
    elif not quiet:
        print_figures("Logs", _table(found), 7)
        for log in found:
            if log.note:
                output().print(Text(f"{log.path.name}, {log.kind}: {log.note}.", "dim"))
        if jobs := _jobs(found):
            print_figures("Who moved most", _jobs_table(jobs), 3, _JOBS_SHOWN)
    if asked.table is not None and not quiet:
        say(f"wrote {asked.table}")


def _table(found: Sequence[Log]) -> Table:
    from resilver.tables import table

    return table(
        ("file", "file", "text", [log.path.name for log in found]),
        ("kind", "kind", "text", [log.kind for log in found]),
        ("parts", "parts", "count", [log.parts for log in found]),
        ("from", "from (UTC)", "text", [_time(log.begin_seconds) for log in found]),
        ("to", "to (UTC)", "text", [_time(log.end_seconds) for log in found]),
        ("read_bytes", "read", "TB", [log.read_bytes for log in found]),
        ("write_bytes", "written", "TB", [log.write_bytes for log in found]),
    )


def _time(seconds: float | None) -> str | None:
    """A time since 1970 as UTC, to the second."""
    if seconds is None or not 0 <= seconds < 2**36:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _jobs(found: Sequence[Log]) -> dict[str, tuple[float, float]]:
    """What each job read and wrote at all targets, the one that moved most first."""
    jobs: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for log in found:
        for row in log.rows if log.kind == "jobs" else ():
            jobs[row.job or ""][0] += row.read_bytes or 0.0
            jobs[row.job or ""][1] += row.write_bytes or 0.0
    order = sorted(jobs, key=lambda job: (-sum(jobs[job]), job))
    return {job: (jobs[job][0], jobs[job][1]) for job in order}


def _jobs_table(jobs: dict[str, tuple[float, float]]) -> Table:
    from resilver.tables import table

    return table(
        ("job", "job", "text", list(jobs)),
        ("read_bytes", "read", "TB", [read for read, _ in jobs.values()]),
        ("write_bytes", "written", "TB", [written for _, written in jobs.values()]),
    )


def _record(log: Log) -> dict[str, Any]:
    record: dict[str, Any] = {
        "file": str(log.path),
        "kind": log.kind,
        "parts": log.parts,
        "rows": len(log.rows),
        "begin_seconds": log.begin_seconds,
        "end_seconds": log.end_seconds,
        "read_bytes": log.read_bytes,
        "write_bytes": log.write_bytes,
        "note": log.note,
    }
    if log.kind == "jobs":
        record["jobs"] = {
            job: {"read_bytes": read, "write_bytes": written}
            for job, (read, written) in _jobs([log]).items()
        }
    return record


def _mix(found: Sequence[Log], path: Path) -> str:
    """The requests of all logs as TOML."""
    from resilver.importers.brw_stats import mix_text

    rows = [row for log in found if log.kind == "requests" for row in log.rows]
    head = (
        "# What clients asked the object targets for, by brw_stats: requests by the largest size\n"
        "# of their class, each a power of two of pages of 4 KiB. Below [traffic] of a study.\n"
    )
    return head + mix_text(rows, path)
