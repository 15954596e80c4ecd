"""The columns of the result tables, which simulations fill and the store keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from resilver.part_columns import DETECTION, FLOWS, JOBS, LAYERS, LIMITS, OF_RUNS, PARTS

TABLE_NAMES = (
    "runs",
    "servers",
    "transfers",
    "timeline",
    "links",
    "distributions",
    "traffic",
    "request_classes",
    "lanes",
    "lending",
    "stripe_groups",
    "pools",
    "parts",
    "limits",
    "flows",
    "layers",
    "jobs",
    "detection",
    "answers",
)

TABLES_ADDED_IN: Mapping[str, int] = {
    "lanes": 4,
    "lending": 4,
    "stripe_groups": 4,
    "pools": 6,
    "parts": 6,
    "limits": 7,
    "flows": 8,
    "layers": 8,
    "request_classes": 10,
    "jobs": 10,
    "answers": 11,
    "detection": 12,
}
"""The version of the results that first had a table; in folders of before, it has no rows."""

_COUNT = pa.int64()
_REAL = pa.float64()
_TEXT = pa.string()

PERIODS = ("before", "during", "after")
"""Before a run's first fault, during its faults and their recovery, and after it."""

OF_A_PERIOD = (
    ("seconds", _REAL),
    ("requests_completed", _COUNT),
    ("requests_lost", _COUNT),
    ("requests_late", _COUNT),
    ("read_bytes_per_second", _REAL),
    ("write_bytes_per_second", _REAL),
    ("throughput_bytes_per_second", _REAL),
    ("mean_delay_seconds", _REAL),
    ("mean_read_delay_seconds", _REAL),
    ("p50_read_delay_seconds", _REAL),
    ("p99_read_delay_seconds", _REAL),
    ("mean_write_delay_seconds", _REAL),
    ("p50_write_delay_seconds", _REAL),
    ("p99_write_delay_seconds", _REAL),
)
"""What clients got in a period: the metrics ``before_seconds``, ``during_requests_lost``, ..."""

OF_PERIODS = (
    *((f"{period}_{name}", kind) for period in PERIODS for name, kind in OF_A_PERIOD),
    ("during_before_throughput_ratio", _REAL),
)
"""What clients got in each period, and the ratio of during to before."""

METRICS = pa.schema(
    [
        ("digest", _TEXT),
        ("events", _COUNT),
        ("simulated_seconds", _REAL),
        ("servers", _COUNT),
        ("failed_servers", _TEXT),
        ("population_files", _COUNT),
        ("population_objects", _COUNT),
        ("population_bytes", _COUNT),
        ("affected_objects", _COUNT),
        ("rebuilt_objects", _COUNT),
        ("rebuilt_pieces", _COUNT),
        ("rebuilt_bytes", _COUNT),
        ("unrecoverable_objects", _COUNT),
        ("unrecoverable_bytes", _COUNT),
        ("undersized_replicas", _COUNT),
        ("remapped_objects", _COUNT),
        ("remapped_pieces", _COUNT),
        ("remapped_bytes", _COUNT),
        ("rebuild_seconds", _REAL),
        ("first_redundant_seconds", _REAL),
        ("last_redundant_seconds", _REAL),
        ("aggregate_bytes_per_second", _REAL),
        ("placement_groups", _COUNT),
        ("placement_groups_affected", _COUNT),
        ("requests_completed", _COUNT),
        ("requests_lost", _COUNT),
        ("read_bytes_per_second", _REAL),
        ("write_bytes_per_second", _REAL),
        ("throughput_bytes_per_second", _REAL),
        ("mean_delay_seconds", _REAL),
        ("p50_delay_seconds", _REAL),
        ("p99_delay_seconds", _REAL),
        ("mean_hops", _REAL),
        ("packets_delivered", _COUNT),
        ("packets_dropped", _COUNT),
        ("packets_queued_fraction", _REAL),
        ("link_busy_fraction", _REAL),
        ("link_busy_fraction_max", _REAL),
        ("device_busy_fraction", _REAL),
        ("device_busy_fraction_max", _REAL),
        ("device_bytes_read", _COUNT),
        ("device_bytes_written", _COUNT),
        ("unreachable_objects", _COUNT),
        ("unreachable_pieces", _COUNT),
        ("returned_objects", _COUNT),
        ("returned_pieces", _COUNT),
        ("surplus_pieces", _COUNT),
        ("failed_disks", _TEXT),
        ("failed_links", _TEXT),
        ("failed_switches", _TEXT),
        ("failed_parts", _TEXT),
        ("slow_parts", _TEXT),
        ("statistics_seconds", _REAL),
        ("requests_issued", _COUNT),
        ("requests_late", _COUNT),
        ("requests_outstanding", _COUNT),
        ("read_requests", _COUNT),
        ("write_requests", _COUNT),
        ("mean_read_delay_seconds", _REAL),
        ("mean_write_delay_seconds", _REAL),
        ("write_backlog_requests", _COUNT),
        ("write_backlog_bytes", _COUNT),
        ("write_backlog_requests_max", _COUNT),
        ("packets_dropped_no_link", _COUNT),
        ("packets_dropped_hop_limit", _COUNT),
        ("packets_dropped_cut", _COUNT),
        ("packets_deviated", _COUNT),
        ("burst_bytes_per_second", _REAL),
        ("mean_burst_delay_seconds", _REAL),
        ("degraded_reads", _COUNT),
        ("rebuild_bytes_per_second", _REAL),
        ("strips_rebuilt", _COUNT),
        ("gathered_bytes", _COUNT),
        ("decoded_bytes", _COUNT),
        ("network_bytes", _COUNT),
        ("rebuild_p50_seconds", _REAL),
        ("rebuild_p99_seconds", _REAL),
        ("lent_bytes", _COUNT),
        ("analytic_read_bytes_per_second", _REAL),
        ("analytic_write_bytes_per_second", _REAL),
        ("analytic_rebuild_bytes_per_second", _REAL),
        ("requests_retried", _COUNT),
        ("requests_hanging", _COUNT),
        ("client_device_bytes_read", _COUNT),
        ("client_device_bytes_written", _COUNT),
        ("degraded_read_bytes", _COUNT),
        ("backlog_bytes", _COUNT),
        ("push_backlog_bytes", _COUNT),
        *OF_RUNS,
        *OF_PERIODS,
    ]
)

_SERVERS = pa.schema(
    [
        ("run", _TEXT),
        ("server", pa.int32()),
        ("name", _TEXT),
        ("host", _TEXT),
        ("failed", pa.bool_()),
        ("placement_groups_gained", _COUNT),
        ("rebuilt_objects", _COUNT),
        ("rebuilt_bytes", _COUNT),
        ("remapped_objects", _COUNT),
        ("remapped_bytes", _COUNT),
        ("sent_objects", _COUNT),
        ("sent_bytes", _COUNT),
        ("finish_seconds", _REAL),
        ("push_backlog_bytes", _COUNT),
        ("device_busy_seconds", _REAL),
        ("device_bytes_read", _COUNT),
        ("device_bytes_written", _COUNT),
        ("link_busy_seconds", _REAL),
        ("requests_completed", _COUNT),
        ("requests_lost", _COUNT),
        ("requests_read", _COUNT),
        ("requests_written", _COUNT),
        ("write_backlog_requests", _COUNT),
    ]
)
_TRANSFERS = pa.schema(
    [
        ("run", _TEXT),
        ("source", pa.int32()),
        ("destination", pa.int32()),
        ("objects", _COUNT),
        ("bytes", _COUNT),
    ]
)
_TIMELINE = pa.schema(
    [
        ("run", _TEXT),
        ("start_seconds", _REAL),
        ("duration_seconds", _REAL),
        ("in_flight_bytes", _REAL),
        ("rebuilt_bytes", _COUNT),
        ("degraded_objects", _REAL),
        ("at_risk_objects", _REAL),
    ]
)
# A row a physical link, which has a channel in each direction: forward is away from node `from`.
# Positions are those of the topology's drawing, in the unit square.
_LINKS = pa.schema(
    [
        ("run", _TEXT),
        ("link", pa.int32()),
        ("from", pa.int32()),
        ("to", pa.int32()),
        ("from_name", _TEXT),
        ("to_name", _TEXT),
        ("from_x", _REAL),
        ("from_y", _REAL),
        ("to_x", _REAL),
        ("to_y", _REAL),
        ("failed", pa.bool_()),
        ("forward_busy_seconds", _REAL),
        ("backward_busy_seconds", _REAL),
        ("forward_packets", _COUNT),
        ("backward_packets", _COUNT),
        ("forward_queued", _COUNT),
        ("backward_queued", _COUNT),
        ("forward_bytes", _COUNT),
        ("backward_bytes", _COUNT),
    ]
)
# A row a bin of a histogram: how many of a quantity lie from `low` to below `high`.
_DISTRIBUTIONS = pa.schema(
    [
        ("run", _TEXT),
        ("quantity", _TEXT),
        ("low", _REAL),
        ("high", _REAL),
        ("count", _COUNT),
    ]
)
_TRAFFIC = pa.schema(
    [
        ("run", _TEXT),
        ("start_seconds", _REAL),
        ("duration_seconds", _REAL),
        ("requests_completed", _COUNT),
        ("requests_lost", _COUNT),
        ("read_bytes", _COUNT),
        ("write_bytes", _COUNT),
        ("mean_delay_seconds", _REAL),
        ("packets_dropped", _COUNT),
        ("write_backlog_requests", _REAL),
    ]
)
# A row a class of requests, of traffic that has several; `class` counts from 0.
_REQUEST_CLASSES = pa.schema(
    [
        ("run", _TEXT),
        ("pool", _TEXT),
        ("class", pa.int32()),
        ("request_bytes", _COUNT),
        *OF_A_PERIOD,
        *OF_PERIODS,
    ]
)
# A row a part of the system (all links, all interfaces or all devices) and class of traffic.
_LANES = pa.schema(
    [
        ("run", _TEXT),
        ("part", _TEXT),
        ("class", _TEXT),
        ("share", _REAL),
        ("units", _COUNT),
        ("bytes", _COUNT),
        ("busy_seconds", _REAL),
        ("mean_wait_seconds", _REAL),
        ("lent_bytes", _COUNT),
        ("borrowed_bytes", _COUNT),
    ]
)
_LENDING = pa.schema(
    [
        ("run", _TEXT),
        ("part", _TEXT),
        ("lender", _TEXT),
        ("borrower", _TEXT),
        ("bytes", _COUNT),
    ]
)
# A row a group of servers that streams go over.
_STRIPE_GROUPS = pa.schema(
    [
        ("run", _TEXT),
        ("group", pa.int32()),
        ("is_rebuilding", pa.bool_()),
        ("servers", _COUNT),
        ("ports_working", _COUNT),
        ("read_bytes_per_second", _REAL),
        ("write_bytes_per_second", _REAL),
        ("burst_bytes_per_second", _REAL),
        ("rebuild_bytes_per_second", _REAL),
        ("mean_delay_seconds", _REAL),
    ]
)
# A row a pool; of clients, what those got that ask for this pool alone.
_POOLS = pa.schema(
    [
        ("run", _TEXT),
        ("pool", _TEXT),
        ("objects", _COUNT),
        ("bytes", _COUNT),
        ("affected_objects", _COUNT),
        ("unrecoverable_objects", _COUNT),
        ("unrecoverable_bytes", _COUNT),
        ("undersized_pieces", _COUNT),
        ("rebuilt_objects", _COUNT),
        ("rebuilt_pieces", _COUNT),
        ("rebuilt_bytes", _COUNT),
        ("rebuild_seconds", _REAL),
        *OF_PERIODS,
    ]
)
# What became of a real Ceph cluster: a row a table of `resilver.whatif`, and one of all else.
_ANSWERS = pa.schema([("run", _TEXT), ("part", _TEXT), ("content", pa.binary())])
_RUNS = pa.schema([("run", _TEXT), ("seed", _COUNT), *METRICS])

# A shard's tables depend on the run's key alone, so a shard holds no swept column: the same run may
# belong to two sweeps over different keys. Swept columns are added when tables are put together.
SHARD_SCHEMAS: Mapping[str, pa.Schema] = {
    "runs": _RUNS,
    "servers": _SERVERS,
    "transfers": _TRANSFERS,
    "timeline": _TIMELINE,
    "links": _LINKS,
    "distributions": _DISTRIBUTIONS,
    "traffic": _TRAFFIC,
    "request_classes": _REQUEST_CLASSES,
    "lanes": _LANES,
    "lending": _LENDING,
    "stripe_groups": _STRIPE_GROUPS,
    "pools": _POOLS,
    "parts": PARTS,
    "limits": LIMITS,
    "flows": FLOWS,
    "layers": LAYERS,
    "jobs": JOBS,
    "detection": DETECTION,
    "answers": _ANSWERS,
}


def table_of(name: str, columns: pa.Table | Mapping[str, Any] | None, rows: int = 0) -> pa.Table:
    """A simulation's table under its schema.

    Args:
        name: one of `TABLE_NAMES` but "runs".
        columns: The columns that there are, by name; others are left out, and None is no rows.
        rows: How many rows there are, where they are no table.

    Returns:
        The columns of the schema except `run`; those that are not given, or are None, are null.

    Example:
        >>> table_of("transfers", {"source": [1], "destination": [2]}, 1)["bytes"].to_pylist()
        [None]
    """
    schema = SHARD_SCHEMAS[name].remove(0)
    if columns is None:
        return schema.empty_table()
    given: Mapping[str, Any] = columns
    if isinstance(columns, pa.Table):
        given, rows = {one: columns[one] for one in columns.column_names}, columns.num_rows
    arrays = [_column(given.get(field.name), field.type, rows) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _column(values: Any, kind: pa.DataType, rows: int) -> pa.Array | pa.ChunkedArray:
    if values is None:
        return pa.nulls(rows, kind)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.cast(kind)
    return pa.array(values, kind)
