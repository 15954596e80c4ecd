"""Tables of runs: all of a study, and the pools and classes of requests of one run."""

from __future__ import annotations

from resilver.spec import System
from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, format_swept, number, serves_only, swept_keys
from resilver.tables import Cell, Column, Table

_METRICS = (
    Column("failed_servers", "failed", "text"),
    Column("failed_disks", "failed disks", "text"),
    Column("failed_links", "failed links", "text"),
    Column("failed_switches", "failed switches", "text"),
    Column("failed_parts", "failed, undetected", "text"),
    Column("slow_parts", "slow parts", "text"),
    Column("rebuild_seconds", "rebuild time", "seconds"),
    Column("detection_seconds", "detection time", "seconds"),
    Column("detection_messages_per_second", "detection messages per device per second", "number"),
    Column("false_alarms_per_hour", "false alarms per hour, all devices", "number"),
    Column("aggregate_bytes_per_second", "rebuild rate", "rate"),
    Column("rebuilt_bytes", "data rebuilt", "bytes"),
    Column("rebuilt_pieces", "replicas or pieces rebuilt", "count"),
    Column("unrecoverable_objects", "objects lost", "count"),
    Column("unrecoverable_bytes", "data lost", "bytes"),
    Column("first_redundant_seconds", "first object fully redundant", "seconds"),
    Column("last_redundant_seconds", "last object fully redundant", "seconds"),
    Column("undersized_replicas", "pieces without a target", "count"),
    Column("placement_groups_affected", "placement groups affected", "count"),
    Column("unreachable_objects", "unreachable objects", "count"),
    Column("returned_pieces", "pieces returned", "count"),
    Column("surplus_pieces", "surplus pieces", "count"),
    Column("during_throughput_bytes_per_second", "goodput during faults", "rate"),
    Column("before_throughput_bytes_per_second", "goodput before", "rate"),
    Column("during_before_throughput_ratio", "during relative to before", "share"),
    Column("throughput_bytes_per_second", "goodput, whole run", "rate"),
    Column("read_bytes_per_second", "read", "rate"),
    Column("write_bytes_per_second", "written", "rate"),
    Column("requests_completed", "requests completed", "count"),
    Column("requests_lost", "requests lost", "count"),
    Column("requests_late", "late answers", "count"),
    Column("requests_retried", "requests retried", "count"),
    Column("requests_hanging", "requests hanging at the end", "count"),
    Column("mean_delay_seconds", "mean latency", "seconds"),
    Column("p50_delay_seconds", "median latency", "seconds"),
    Column("p99_delay_seconds", "p99 latency", "seconds"),
    Column("write_backlog_requests", "writes waiting at the end", "count"),
    Column("mean_hops", "mean hops", "number"),
    Column("packets_delivered", "packets delivered", "count"),
    Column("packets_dropped", "packets dropped", "count"),
    Column("packets_queued_fraction", "packets queued", "share"),
    Column("link_busy_fraction", "links busy", "share"),
    Column("device_busy_fraction", "devices busy", "share"),
    Column("events", "events", "count"),
    Column("wall_seconds", "time to simulate", "seconds"),
    Column("placing_seconds", "placing", "seconds"),
    Column("scanning_seconds", "scanning", "seconds"),
    Column("rebuilding_seconds", "rebuilding", "seconds"),
    Column("serving_seconds", "serving", "seconds"),
    Column("digest", "digest", "text"),
)
_OF_REBUILDS = frozenset(
    {
        "rebuild_seconds",
        "rebuilt_bytes",
        "rebuilt_pieces",
        "unrecoverable_objects",
        "unrecoverable_bytes",
        "unreachable_objects",
        "returned_pieces",
        "surplus_pieces",
        "undersized_replicas",
        "placement_groups_affected",
        "placing_seconds",
        "scanning_seconds",
        "rebuilding_seconds",
    }
)
"""What says nothing of a study whose systems store nothing and only serve."""
_FAILED_LENGTH_MAX = 40


def runs_table(results: StudyTables) -> Table:
    """One row a run: its swept values, its seed, and the metrics that any run has."""
    keys = swept_keys(results)
    rows = results.runs.to_pylist()
    hidden = _OF_REBUILDS if serves_only(rows) else frozenset()
    metrics = [
        column
        for column in _METRICS
        if column.name not in hidden and any(row.get(column.name) is not None for row in rows)
    ]
    columns = (*(Column(key, key, "text") for key in [*keys, "seed"]), *metrics)
    cells: list[list[Cell]] = []
    for row in rows:
        line: list[Cell] = [format_swept(key, row[key]) for key in keys]
        line.append(str(row["seed"]))
        for column in metrics:
            value = row.get(column.name)
            if column.kind != "text":
                line.append(number(row, column.name))
            elif value is None:
                line.append(None)
            else:
                text = str(value)
                short = len(text) <= _FAILED_LENGTH_MAX
                line.append(text if short else f"{text[:_FAILED_LENGTH_MAX]}…")
        cells.append(line)
    return Table(columns, cells)


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
    Column("operation", "Operation", "text"),
    Column("request_bytes", "Request size", "bytes"),
    Column("requests_completed", "Completed", "count"),
    Column("throughput_bytes_per_second", "Goodput", "rate"),
    Column("mean_delay_seconds", "Mean latency", "seconds"),
    Column("p99_read_delay_seconds", "p99 read latency", "seconds"),
    Column("p99_write_delay_seconds", "p99 write latency", "seconds"),
)


def classes_table(results: StudyTables, point: SystemRuns) -> Table | None:
    """What each class of requests of a system's median run got, in the order of the study.

    Returns:
        A row a class, without columns of which nothing is known; None where there is no mix.
    """
    rows = [row for row in results.request_classes.to_pylist() if row["run"] == point.median["run"]]
    if not rows:
        return None
    if point.system is not None:
        names = _operations(point.system)
        for row in rows:
            row["operation"] = names.get((row["pool"], row["class"]))
            row["request_bytes"] = None if row["operation"] else row["request_bytes"]
    known = tuple(one for one in _OF_CLASSES if any(row.get(one.name) is not None for row in rows))
    return Table(known, [[row[one.name] for one in known] for row in rows], "")


def _operations(system: System) -> dict[tuple[str | None, int], str]:
    """The operations that classes of requests are, in words, by pool and number."""
    of_pools = [(pool.name, pool.traffic) for pool in system.pools if pool.traffic is not None]
    return {
        (pool, number): one.words
        for pool, traffic in [(None, system.traffic), *of_pools]
        for number, one in enumerate((traffic.mix if traffic is not None else None) or ())
        if one.operation is not None
    }


def pools_table(results: StudyTables, point: SystemRuns) -> Table | None:
    """The pools of a system's median run, in the order of the study; None of fewer than two."""
    rows = [row for row in results.pools.to_pylist() if row["run"] == point.median["run"]]
    if len(rows) < 2:
        return None
    has_clients = any(row["before_seconds"] or row["during_seconds"] for row in rows)
    columns = _COLUMNS if has_clients else _COLUMNS[:_OF_CLIENTS]
    values = [[row[column.name] for column in columns] for row in rows]
    note = "Each pool has its own clients." if has_clients else ""
    return Table(columns, values, note)
