"""What follows from the tables of runs that serve requests: whose losses, and bounds of disks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resilver.reproduce.compare import Row

if TYPE_CHECKING:
    import pyarrow as pa


def serving_columns(
    rows: Sequence[Row], servers: pa.Table, traffic: pa.Table, service_seconds: float | None
) -> dict[str, dict[str, Any]]:
    """Columns for runs with traffic.

    Args:
        rows: Rows of the table ``runs``.
        servers: The table of that name.
        traffic: The table of that name.
        service_seconds: How long a disk takes for a request, where that is fixed.

    Returns:
        By run, for runs with requests: ``requests_lost_at_dead_disks`` (of disks that completed
        nothing), ``requests_lost_elsewhere``, ``requests_completed_fraction`` and
        ``requests_lost_fraction``, ``disk_bound_fraction_max`` (the share of the requests a disk
        can serve in the window that the busiest one served, reads and committed writes), and where
        a rebuild ran beside them ``delay_before_seconds`` and ``delay_during_seconds``: means over
        the intervals before the first fault and while the rebuild ran.
    """
    found: dict[str, dict[str, Any]] = {}
    of_servers, of_traffic = _by_run(servers), _by_run(traffic)
    for row in rows:
        if row.get("requests_completed") is None:
            continue
        run = str(row["run"])
        made = _losses(row, of_servers.get(run, ()))
        window = row.get("statistics_seconds")
        if service_seconds and window:
            made |= _bound(of_servers.get(run, ()), window, service_seconds)
        made |= _delays(row, of_traffic.get(run, ()))
        found[run] = made
    return found


def _by_run(table: pa.Table) -> dict[str, list[dict[str, Any]]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    columns = [name for name in table.column_names if name in _NEEDED]
    for row in table.select(columns).to_pylist():
        parts.setdefault(row["run"], []).append(row)
    return parts


_NEEDED = (
    "run",
    "requests_completed",
    "requests_lost",
    "requests_read",
    "requests_written",
    "start_seconds",
    "duration_seconds",
    "mean_delay_seconds",
)


def _losses(row: Row, servers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    dead = sum(
        server["requests_lost"] or 0 for server in servers if server["requests_completed"] == 0
    )
    completed, lost = row["requests_completed"], row["requests_lost"]
    ended = completed + lost
    return {
        "requests_lost_at_dead_disks": dead,
        "requests_lost_elsewhere": lost - dead,
        "requests_completed_fraction": completed / ended if ended else None,
        "requests_lost_fraction": lost / ended if ended else None,
    }


def _bound(
    servers: Sequence[Mapping[str, Any]], window: float, service_seconds: float
) -> dict[str, Any]:
    """A disk ends at most one request more than its window has room for: the one it was at."""
    most = max(
        (server["requests_read"] + server["requests_written"] for server in servers), default=None
    )
    if most is None:
        return {}
    return {"disk_bound_fraction_max": most / (window / service_seconds + 1.0)}


def _delays(row: Row, intervals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Mean delays weighted by the requests completed, where a rebuild ran."""
    begun, took = row.get("first_fault_seconds"), row.get("rebuild_seconds")
    if begun is None or took is None or not intervals:
        return {}
    spans = {
        "delay_before_seconds": (0.0, begun),
        "delay_during_seconds": (begun, begun + took),
    }
    return {
        name: mean
        for name, (start, end) in spans.items()
        if (mean := _mean_delay(intervals, start, end)) is not None
    }


def _mean_delay(intervals: Sequence[Mapping[str, Any]], start: float, end: float) -> float | None:
    inside = [
        (one["requests_completed"], one["mean_delay_seconds"])
        for one in intervals
        if one["requests_completed"]
        and one["start_seconds"] >= start
        and one["start_seconds"] + one["duration_seconds"] <= end
    ]
    count = sum(completed for completed, _ in inside)
    return sum(completed * delay for completed, delay in inside) / count if count else None


def labelled(row: Row, labels: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The columns that short names make of others.

    Args:
        row: A row.
        labels: By column: the column it is made `of`, and short `names` by a value or a part of it.

    Returns:
        The columns; a value without a name stands for itself.

    >>> labelled({"k": 'model = "loggp"'}, {"n": {"of": "k", "names": {"loggp": "LogGP"}}})
    {'n': 'LogGP'}
    """
    made = {}
    for column, label in labels.items():
        value = row.get(label["of"])
        if value is not None:
            names = label["names"]
            parts = [part for part in names if part in str(value)]
            made[column] = names.get(str(value), names[parts[0]] if parts else value)
    return made
