"""The result tables: their columns, their order and the bytes they are written as."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from resilver.columns import METRICS, SHARD_SCHEMAS
from resilver.errors import SimulationError
from resilver.study.phases import SIMULATED_PHASES

# Measured and so different every time: kept in the provenance and out of the Parquet files.
COSTS = pa.schema([("wall_seconds", pa.float64()), ("peak_rss_bytes", pa.int64())])
PHASE_COSTS = pa.schema([(f"{phase}_seconds", pa.float64()) for phase in SIMULATED_PHASES])

_SORT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "servers": ("server",),
    "transfers": ("source", "destination"),
    "timeline": ("start_seconds",),
    "links": ("link",),
    "distributions": ("quantity", "low"),
    "traffic": ("start_seconds",),
    # In the order of the study.
    "request_classes": (),
    "lanes": ("part", "class"),
    "lending": ("part", "lender", "borrower"),
    "stripe_groups": ("group",),
    # In the order of the study.
    "pools": (),
    "parts": ("level", "part"),
    # The limit first, and what took most before what took less.
    "limits": (),
    # By time, then by what binds; by time, then from devices to clients.
    "flows": (),
    "layers": (),
    # Job by job, then by burst.
    "jobs": (),
    # By faults, then by device.
    "detection": (),
    "answers": (),
}

# Rows gathered before a row group is written: large enough to compress well, small enough that a
# sweep of any size is put together in bounded memory.
_ROWS_PER_GROUP = 1 << 20


def run_row(key: str, seed: int, metrics: Mapping[str, Any]) -> pa.Table:
    """The one-row table of a run.

    Args:
        key: the run's key.
        seed: the run's seed.
        metrics: values by metric name; a metric that is left out is null.

    Returns:
        A table of one row in the `runs` schema of a shard.

    Raises:
        SimulationError: a metric that the schema does not know, or of another type.
    """
    unknown = sorted(set(metrics) - set(METRICS.names) - {"seed"})
    if unknown:
        raise SimulationError(
            f"metric {unknown[0]!r} is not a column of the runs table; add it to the schema"
        )
    values: dict[str, Any] = {"run": key, "seed": seed}
    values.update({name: _plain(metrics.get(name)) for name in METRICS.names})
    try:
        return pa.Table.from_pylist([values], schema=SHARD_SCHEMAS["runs"])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SimulationError(f"a metric of run {key} has the wrong type: {error}") from error


def _plain(value: Any) -> Any:
    """A metric as Parquet and JSON can both carry it: NaN means there is no value."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def shard_table(name: str, key: str, table: pa.Table) -> pa.Table:
    """A simulation's table in the shard's schema and order.

    Args:
        name: one of `TABLE_NAMES` but "runs".
        key: the run's key, which becomes the first column.
        table: the columns of the schema except `run`.

    Returns:
        The table with its columns in schema order, cast, and its rows sorted.

    Raises:
        SimulationError: a column is missing, unknown or of a type that cannot be cast.
    """
    schema = SHARD_SCHEMAS[name]
    wanted = schema.names[1:]
    if set(table.column_names) != set(wanted):
        difference = sorted(set(table.column_names) ^ set(wanted))
        raise SimulationError(f"table {name!r}: column {difference[0]!r} is missing or unknown")
    if table.num_rows > 1 and _SORT_COLUMNS[name]:
        table = table.sort_by([(column, "ascending") for column in _SORT_COLUMNS[name]])
    run = pa.chunked_array([pa.repeat(pa.scalar(key), table.num_rows)])
    columns = [run, *(table.column(column) for column in wanted)]
    try:
        return pa.table(columns, names=schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, ValueError) as error:
        raise SimulationError(f"table {name!r} of run {key}: {error}") from error


def swept_columns(swept: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """One column a swept key, typed by all of its values.

    Args:
        swept: for each run its swept keys and values, in run order.

    Returns:
        Columns by key: int64 if every value is an integer, float64 if every value is a number,
        bool if every value is one, and text otherwise.
    """
    keys = list(swept[0]) if swept else []
    return {key: _typed([row[key] for row in swept]) for key in keys}


def _typed(values: list[Any]) -> pa.Array:
    if all(isinstance(value, bool) for value in values):
        return pa.array(values, type=pa.bool_())
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    if numbers and all(isinstance(value, int) for value in values):
        return pa.array(values, type=pa.int64())
    if numbers:
        return pa.array([float(value) for value in values], type=pa.float64())
    return pa.array(
        [value if isinstance(value, str) else str(value) for value in values], pa.string()
    )


def with_swept(rows: pa.Table, swept: Mapping[str, pa.Array]) -> pa.Table:
    """The runs table with its swept columns after the run's key.

    Args:
        rows: one row a run in a shard's `runs` schema.
        swept: columns of the same length by swept key.

    Returns:
        The table with columns `run`, the swept keys, `seed`, metrics.
    """
    for position, (key, column) in enumerate(swept.items()):
        # A swept key always has a dot in it (section.field), so it never hides a metric.
        rows = rows.add_column(1 + position, pa.field(key, column.type), column)
    return rows


def write_parquet(path: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Write tables after one another as one Parquet file whose bytes depend on their rows alone.

    The compression and its level are fixed, the file carries no time, path or host, and row groups
    are cut at row counts that follow from the tables alone.

    Args:
        tables: tables of `schema`, in order.
        schema: the file's columns.
    """
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=3,
        version="2.6",
        use_dictionary=[
            "run",
            "from_name",
            "to_name",
            "quantity",
            "part",
            "class",
            "lender",
            "borrower",
        ],
        write_page_checksum=True,
    ) as writer:
        waiting: list[pa.Table] = []
        rows = 0
        for table in tables:
            waiting.append(table)
            rows += table.num_rows
            if rows >= _ROWS_PER_GROUP:
                writer.write_table(pa.concat_tables(waiting), row_group_size=_ROWS_PER_GROUP)
                waiting, rows = [], 0
        if rows:
            writer.write_table(pa.concat_tables(waiting), row_group_size=_ROWS_PER_GROUP)


def read_parquet(path: Path) -> pa.Table:
    """Read one table, with the checksums of its pages verified.

    Args:
        path: a Parquet file.

    Raises:
        OSError, pa.ArrowInvalid: the file cannot be read or is damaged.
    """
    # A single file is read as such: `pq.read_table` would take `key=value` folders in the path for
    # partition columns.
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read()
