"""Pools and classes of requests beside each other: what each lost, and what clients got."""

from __future__ import annotations

from resilver.report.source import ResultsLike, SystemRuns
from resilver.tables import Column, Table

_COLUMNS = (
    Column("pool", "Pool", "text"),
    Column("bytes", "Stored", "bytes"),
    Column("rebuilt_bytes", "Rebuilt", "bytes"),
    Column("rebuild_seconds", "Healthy after", "seconds"),
    Column("unrecoverable_objects", "Objects lost", "count"),
    Column("before_throughput_bytes_per_second", "Goodput before faults", "rate"),
    Column("during_throughput_bytes_per_second", "Goodput during faults", "rate"),
    Column("during_before_throughput_ratio", "During relative to before", "share"),
    Column("during_p99_read_delay_seconds", "p99 read latency", "seconds"),
    Column("during_requests_lost", "Requests lost", "count"),
)
_OF_CLIENTS = 5
"""From which of them on they are of clients."""

_OF_CLASSES = (
    Column("pool", "Pool", "text"),
    Column("request_bytes", "Request size", "bytes"),
    Column("requests_completed", "Completed", "count"),
    Column("throughput_bytes_per_second", "Goodput", "rate"),
    Column("mean_delay_seconds", "Mean latency", "seconds"),
    Column("p99_read_delay_seconds", "p99 read latency", "seconds"),
    Column("p99_write_delay_seconds", "p99 write latency", "seconds"),
)


def classes_table(results: ResultsLike, point: SystemRuns) -> Table | None:
    """What each class of requests of a system's median run got, in the order of the study.

    Returns:
        A row a class, without columns of which nothing is known; None where there is no mix.
    """
    rows = [row for row in results.request_classes.to_pylist() if row["run"] == point.median["run"]]
    if not rows:
        return None
    known = tuple(one for one in _OF_CLASSES if any(row[one.name] is not None for row in rows))
    return Table(known, [[row[one.name] for one in known] for row in rows], "")


def pools_table(results: ResultsLike, point: SystemRuns) -> Table | None:
    """The pools of a system's median run, in the order of the study.

    Returns:
        A row a pool; None where there is one pool, or none.
    """
    rows = [row for row in results.pools.to_pylist() if row["run"] == point.median["run"]]
    if len(rows) < 2:
        return None
    has_clients = any(row["before_seconds"] or row["during_seconds"] for row in rows)
    columns = _COLUMNS if has_clients else _COLUMNS[:_OF_CLIENTS]
    values = [[row[column.name] for column in columns] for row in rows]
    note = "Each pool has its own clients." if has_clients else ""
    return Table(columns, values, note)
