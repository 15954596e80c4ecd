"""The tables that a what-if is answered with: their columns, in SI units."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from resilver.errors import SimulationError

_COUNT = pa.int64()
_REAL = pa.float64()
_TEXT = pa.string()

TABLES: Mapping[str, pa.Schema] = {
    "timeline": pa.schema(
        [
            ("time_seconds", _REAL),
            ("degraded_objects", _COUNT),
            ("misplaced_objects", _COUNT),
            ("degraded_groups", _COUNT),
            ("undersized_groups", _COUNT),
            ("at_risk_groups", _COUNT),
            ("inactive_groups", _COUNT),
            ("backfilling_groups", _COUNT),
            ("recovering_groups", _COUNT),
            ("backfill_wait_groups", _COUNT),
            ("toofull_groups", _COUNT),
            ("deleting_groups", _COUNT),
            ("recovered_bytes_per_second", _REAL),
            ("moved_bytes_per_second", _REAL),
            ("recovered_objects_per_second", _REAL),
        ]
    ),
    "pools": pa.schema(
        [
            ("pool", _COUNT),
            ("name", _TEXT),
            ("groups", _COUNT),
            ("degraded_seconds", _REAL),
            ("at_risk_seconds", _REAL),
            ("inactive_seconds", _REAL),
            ("whole_seconds", _REAL),
            ("recovered_bytes", _COUNT),
            ("moved_bytes", _COUNT),
            ("least_bytes", _COUNT),
            ("lost_groups", _COUNT),
        ]
    ),
    "osds": pa.schema(
        [
            ("osd", _COUNT),
            ("name", _TEXT),
            ("host", _TEXT),
            ("used_start_bytes", _COUNT),
            ("used_end_bytes", _COUNT),
            ("peak_used_bytes", _COUNT),
            ("peak_seconds", _REAL),
            ("capacity_bytes", _COUNT),
            ("nearfull_seconds", _REAL),
            ("backfillfull_seconds", _REAL),
            ("full_seconds", _REAL),
            ("failsafe_seconds", _REAL),
            ("received_bytes", _COUNT),
            ("sent_bytes", _COUNT),
            ("groups_start", _COUNT),
            ("groups_end", _COUNT),
            ("busy_seconds", _REAL),
        ]
    ),
    "fill": pa.schema(
        [
            ("osd", _COUNT),
            ("time_seconds", _REAL),
            ("used_bytes", _COUNT),
            ("pending_bytes", _COUNT),
        ]
    ),
    "film": pa.schema(
        [
            ("time_seconds", _REAL),
            ("since_seconds", _REAL),
            ("osd", _COUNT),
            ("read_bytes_per_second", _REAL),
            ("written_bytes_per_second", _REAL),
            ("waiting_groups", _COUNT),
            ("waits_for", _COUNT),
        ]
    ),
    "stuck": pa.schema(
        [
            ("pgid", _TEXT),
            ("pool", _COUNT),
            ("state", _TEXT),
            ("reason", _TEXT),
            ("since_seconds", _REAL),
            ("osds", _TEXT),
        ]
    ),
    "lacking": pa.schema(
        [
            ("pgid", _TEXT),
            ("pool", _COUNT),
            ("from_seconds", _REAL),
            ("until_seconds", _REAL),
            ("survives", _COUNT),
            ("osds", _TEXT),
        ]
    ),
    "risks": pa.schema(
        [
            ("pool", _COUNT),
            ("name", _TEXT),
            ("lacking_groups", _COUNT),
            ("fewest_failures", _COUNT),
            ("critical_osds", _COUNT),
            ("lacking_seconds", _REAL),
            ("loss_chance", _REAL),
        ]
    ),
    "counterfactuals": pa.schema(
        [
            ("relaxed", _TEXT),
            ("setting", _TEXT),
            ("before", _TEXT),
            ("after", _TEXT),
            ("end_seconds", _REAL),
            ("sooner_share", _REAL),
            ("stuck_groups", _COUNT),
            ("freed_groups", _COUNT),
        ]
    ),
    "limits": pa.schema([("kind", _TEXT), ("name", _TEXT), ("share", _REAL)]),
    "clients": pa.schema(
        [
            ("time_seconds", _REAL),
            ("pool", _COUNT),
            ("served_share", _REAL),
            ("mean_seconds", _REAL),
            ("p99_seconds", _REAL),
        ]
    ),
    "history": pa.schema([("time_seconds", _REAL), ("what", _TEXT), ("epoch", _COUNT)]),
    "upmaps": pa.schema([("pool", _COUNT), ("group", _COUNT), ("pairs", _TEXT)]),
}
"""The tables by name.

Times are seconds from the start. In ``pools``, ``degraded_seconds``, ``at_risk_seconds`` and
``inactive_seconds`` say when the last group of the pool ceased to be so: 0 where none ever was, and
null where one still is at the end. ``whole_seconds`` is when its last group became clean, likewise.
In ``film``, which is empty unless frames are asked for, ``waits_for`` is null where nothing waits.
In ``lacking`` a row is a spell of a group, ``until_seconds`` null where it lasts to the end. In
``risks`` the first row, whose ``pool`` is null, is of all pools together.
In ``osds`` the four crossings are null where the OSD never got there, and 0 where it begins there.
"""

LONG = frozenset(("fill", "film", "lacking"))
"""Those of many rows, which are shown as a whole nowhere."""


def conform(name: str, table: pa.Table | None) -> pa.Table:
    """A table under its schema.

    Args:
        name: Its name in `TABLES`.
        table: What the core gave; None for no rows. Columns that the schema lacks are left out.

    Raises:
        SimulationError: A column is missing, or is of another kind.
    """
    schema = TABLES[name]
    if table is None:
        return schema.empty_table()
    try:
        return table.select(schema.names).cast(schema)
    except (KeyError, pa.ArrowInvalid) as error:
        raise SimulationError(
            f"the core's table '{name}' is another: {error}; build it anew"
        ) from None


_LASTS = frozenset(("busy_seconds", "mean_seconds", "p99_seconds"))
"""Columns of seconds that are no times."""


def since(start_seconds: float, table: pa.Table) -> pa.Table:
    """A table whose times count from another start; what was before is 0.

    Args:
        start_seconds: The start.
        table: The table.
    """
    for at, name in enumerate(table.column_names if start_seconds else ()):
        if name.endswith("_seconds") and name not in _LASTS:
            later = pc.subtract(table[name], start_seconds)
            found = pc.max_element_wise(later, 0.0, skip_nulls=False)
            table = table.set_column(at, table.schema.field(name), found)
    return table
