"""What logs of servers and of programs hold: parts, periods, bytes, and who moved most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.quantities import decimal_bytes
from resilver.tables import table, table_bytes, table_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.importers.log_rows import Log


def logs_answer(found: Sequence[Log]) -> Answer:
    """The answer of logs."""
    from resilver.importers.logs import logs_table

    def content(suffix: str) -> bytes:
        return table_bytes(logs_table(found), suffix)

    read, written = (
        sum(getattr(log, name) or 0.0 for log in found) for name in ("read_bytes", "write_bytes")
    )
    logs = table_of(
        found,
        ("file", "file", "text", lambda log: log.path.name),
        ("kind", "kind", "text"),
        ("parts", "parts", "count"),
        ("from", "from (UTC)", "text", lambda log: _time(log.begin_seconds)),
        ("to", "to (UTC)", "text", lambda log: _time(log.end_seconds)),
        ("read_bytes", "read", "TB"),
        ("write_bytes", "written", "TB"),
    )
    moved = _jobs(found)
    of_jobs = table(
        ("job", "job", "text", list(moved)),
        ("read_bytes", "read", "TB", [job_read for job_read, _ in moved.values()]),
        ("write_bytes", "written", "TB", [job_written for _, job_written in moved.values()]),
    )
    jobs = Shown("jobs", "Who moved most", of_jobs, printed=10) if moved else None
    return Answer(
        "What logs hold",
        [
            f"{plural(len(found), 'log')}: {decimal_bytes(read)} read and {decimal_bytes(written)} "
            "written in all."
        ],
        sections_of(("Logs", [Shown("logs", "Logs", logs)]), ("Jobs", [jobs])),
        [_record(log) for log in found],
        notes=[f"{log.path.name}, {log.kind}: {log.note}." for log in found if log.note],
        forms={suffix: Form(partial(content, suffix)) for suffix in (".csv", ".parquet")},
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
