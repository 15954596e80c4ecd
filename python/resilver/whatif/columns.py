"""The tables that a what-if is answered with: their columns, in SI units."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from resilver.errors import SimulationError

_TEXTS = frozenset(
    (
        "after",
        "before",
        "host",
        "kind",
        "mode",
        "name",
        "osds",
        "pairs",
        "pgid",
        "reason",
        "relaxed",
        "what",
    )
) | {"setting", "start_part", "end_part", "state"}
_REALS = ("_seconds", "_per_second", "share", "_chance")


def _schema(names: str) -> pa.Schema:
    """The schema of columns whose names say their types: text, a real number, else a count."""

    def type_of(name: str) -> pa.DataType:
        if name in _TEXTS:
            return pa.string()
        return pa.float64() if name.endswith(_REALS) else pa.int64()

    return pa.schema([(name, type_of(name)) for name in names.split()])


TABLES: Mapping[str, pa.Schema] = {
    "timeline": _schema(
        "time_seconds degraded_objects misplaced_objects degraded_groups undersized_groups "
        "at_risk_groups inactive_groups backfilling_groups recovering_groups "
        "backfill_wait_groups toofull_groups deleting_groups recovered_bytes_per_second "
        "moved_bytes_per_second recovered_objects_per_second"
    ),
    "pools": _schema(
        "pool name groups degraded_seconds at_risk_seconds inactive_seconds whole_seconds "
        "recovered_bytes moved_bytes least_bytes lost_groups"
    ),
    "room": _schema("pool name state start_bytes start_osd end_bytes end_osd"),
    "safe_fill": _schema(
        "start_safe_share start_part start_share end_safe_share end_part end_share"
    ),
    "osds": _schema(
        "osd name host used_start_bytes used_end_bytes peak_used_bytes peak_seconds "
        "capacity_bytes nearfull_seconds backfillfull_seconds full_seconds failsafe_seconds "
        "received_bytes sent_bytes groups_start groups_end busy_seconds"
    ),
    "fill": _schema("osd time_seconds used_bytes pending_bytes capacity_bytes"),
    "film": _schema(
        "time_seconds since_seconds osd read_bytes_per_second written_bytes_per_second "
        "waiting_groups waits_for"
    ),
    "stuck": _schema(
        "pgid pool state reason since_seconds osds degraded_objects misplaced_objects"
    ),
    "autoscaler": _schema(
        "pool name mode start_groups start_wanted_groups end_groups end_wanted_groups"
    ),
    "lacking": _schema("pgid pool from_seconds until_seconds survives osds"),
    "risks": _schema(
        "pool name lacking_groups fewest_failures critical_osds lacking_seconds loss_chance"
    ),
    "counterfactuals": _schema(
        "relaxed setting before after end_seconds sooner_share stuck_groups freed_groups"
    ),
    "limits": _schema("kind name share"),
    "clients": _schema("time_seconds pool served_share mean_seconds p99_seconds"),
    "history": _schema("time_seconds what epoch"),
    "upmaps": _schema("pool group pairs"),
}
"""The tables by name.

Times are seconds from the start. In ``pools``, ``degraded_seconds``, ``at_risk_seconds`` and
``inactive_seconds`` say when the last group of the pool ceased to be so: 0 where none ever was, and
null where one still is at the end. ``whole_seconds`` is when its last group became clean, likewise.
In ``room`` a row is a pool and a ratio, nearfull, backfillfull or full: how much user data fits
into the pool, with the others as they are, before the first OSD is there, and which OSD that is;
both are null where no PG of the pool is on an OSD of known capacity. The fourth row of a pool is
MAX AVAIL of `ceph df`, and the OSD that it goes by. ``safe_fill`` has a row where
it is asked how full the cluster may be so that any part of a level can fail and heal, and how full
it is; the first is null where PGs of the part would find too few other OSDs.
In ``film``, which is empty unless frames are asked for, ``waits_for`` is null where nothing waits.
In ``autoscaler`` a row is a pool, without those whose roots share OSDs; its wanted groups are what
Ceph's autoscaler would make of it.
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
            f"the core's table '{name}' is another: {error}; rebuild the core"
        ) from None


_LASTS = frozenset(("busy_seconds", "mean_seconds", "p99_seconds"))
"""Columns of seconds that are no times."""


def since(start_seconds: float, table: pa.Table) -> pa.Table:
    """A table whose times count from another start; what was before is 0."""
    for at, name in enumerate(table.column_names if start_seconds else ()):
        if name.endswith("_seconds") and name not in _LASTS:
            later = pc.subtract(table[name], start_seconds)
            found = pc.max_element_wise(later, 0.0, skip_nulls=False)
            table = table.set_column(at, table.schema.field(name), found)
    return table
