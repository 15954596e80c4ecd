"""What follows from the tables of runs that serve requests: whose losses, and bounds of disks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resilver.reproduce.compare import Row

if TYPE_CHECKING:
    import pyarrow as pa


def serving_columns(
    rows: Sequence[Row], servers: pa.Table, service_seconds: float | None
) -> dict[str, dict[str, Any]]:
    """Columns for runs with traffic.

    Args:
        rows: Rows of the table ``runs``.
        servers: The table of that name.
        service_seconds: How long a disk takes for a request, where that is fixed.

    Returns:
        By run, for runs with requests: ``requests_lost_at_dead_disks`` (of disks that completed
        nothing), ``requests_lost_elsewhere``, ``requests_completed_fraction`` and
        ``requests_lost_fraction``, ``disk_bound_fraction_max`` (the share of the requests a disk
        can serve in the window that the busiest one served, reads and committed writes), and where
        something failed meanwhile ``delay_before_seconds`` and ``delay_during_seconds``: means
        before the first fault, and from it to the end of the recovery.
    """
    found: dict[str, dict[str, Any]] = {}
    of_servers = _by_run(servers)
    for row in rows:
        if row.get("requests_completed") is None:
            continue
        run = str(row["run"])
        made = _losses(row, of_servers.get(run, ()))
        window = row.get("statistics_seconds")
        if service_seconds and window:
            made |= _bound(of_servers.get(run, ()), window, service_seconds)
        for period in ("before", "during"):
            if (delay := row.get(f"{period}_mean_delay_seconds")) is not None:
                made[f"delay_{period}_seconds"] = delay
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
