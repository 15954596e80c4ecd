"""The table of all runs of a study."""

from __future__ import annotations

from resilver.report.source import ResultsLike, format_swept, number, swept_keys
from resilver.report.tables import Cell, Column, Table

_METRICS = (
    Column("failed_servers", "failed", "text"),
    Column("rebuild_seconds", "rebuild time", "seconds"),
    Column("aggregate_bytes_per_second", "rebuild rate", "rate"),
    Column("rebuilt_bytes", "data rebuilt", "bytes"),
    Column("rebuilt_objects", "replicas rebuilt", "count"),
    Column("unrecoverable_objects", "lost for good", "count"),
    Column("unrecoverable_bytes", "data lost for good", "bytes"),
    Column("first_redundant_seconds", "first object whole", "seconds"),
    Column("last_redundant_seconds", "last object whole", "seconds"),
    Column("undersized_replicas", "without a new home", "count"),
    Column("placement_groups_affected", "groups affected", "count"),
    Column("events", "events", "count"),
    Column("wall_seconds", "time to simulate", "seconds"),
    Column("placing_seconds", "placing", "seconds"),
    Column("scanning_seconds", "scanning", "seconds"),
    Column("rebuilding_seconds", "rebuilding", "seconds"),
    Column("digest", "digest", "text"),
)
_FAILED_LENGTH_MAX = 40


def runs_table(results: ResultsLike) -> Table:
    """One row a run: its swept values, its seed, and the metrics that any run has.

    Args:
        results: The study's results.

    Returns:
        The table; columns that are null in every run are left out.
    """
    keys = swept_keys(results)
    rows = results.runs.to_pylist()
    metrics = [
        column for column in _METRICS if any(row.get(column.name) is not None for row in rows)
    ]
    columns = (
        *(Column(key, key, "text") for key in keys),
        Column("seed", "seed", "text"),
        *metrics,
    )
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
