"""What follows from runs with streams: rates over analytic ones, whole and of rebuilding groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resilver.reproduce.compare import Row

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("read", "write", "rebuild")
"""The kinds of streams that have an analytic rate."""

_GROUP_COLUMNS = (
    "run",
    "is_rebuilding",
    "servers",
    "ports_working",
    *(f"{kind}_bytes_per_second" for kind in KINDS),
)


def over_analytic(row: Row) -> dict[str, float]:
    """A run's rates over those of the analytic model.

    Args:
        row: The run.

    Returns:
        ``read_of_analytic``, ``write_of_analytic`` and ``rebuild_of_analytic``, of those that the
        model expects any of.

    >>> over_analytic({"read_bytes_per_second": 9.0, "analytic_read_bytes_per_second": 10.0})
    {'read_of_analytic': 0.9}
    """
    found = {}
    for kind in KINDS:
        ours = _positive(row.get(f"{kind}_bytes_per_second"), least=0.0)
        expected = _positive(row.get(f"analytic_{kind}_bytes_per_second"))
        if ours is not None and expected:
            found[f"{kind}_of_analytic"] = ours / expected
    return found


def group_columns(
    rows: Sequence[Row], groups: pa.Table, shares: Mapping[str, float], ports: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """What the groups of each run got.

    Args:
        rows: Rows of the table ``runs``.
        groups: The table ``stripe_groups``.
        shares: By run, the guaranteed share of clients, 1 without lanes.
        ports: By run, the ports of a server.

    Returns:
        By run with groups: ``read_least_group_bytes_per_second`` and ``write_...``, of the group
        with the least; ``group_ports_working_least_share``, the least working share of any group's
        ports; where no group rebuilds ``read_least_group_of_analytic`` and ``write_...``, the least
        over what the model gives a group with all its ports; and where some but not all of a run's
        groups rebuild, for reads and writes ``read_of_analytic_rebuilding``, those of the
        rebuilding groups over what their share leaves of a group at rest, and
        ``read_share_rebuilding``, over a group at rest.
    """
    by_run: dict[str, list[Mapping[str, Any]]] = {}
    kept = [name for name in groups.column_names if name in _GROUP_COLUMNS]
    for group in groups.select(kept).to_pylist():
        by_run.setdefault(group["run"], []).append(group)
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        run = str(row["run"])
        of_run = by_run.get(run)
        if of_run:
            found[run] = {
                **_least(row, of_run, ports.get(run, 1)),
                **_rebuilding(row, of_run, shares.get(run, 1.0)),
            }
    return found


def _least(row: Row, groups: Sequence[Mapping[str, Any]], ports: int) -> dict[str, float]:
    """What the worst group has, where none rebuilds also over a group's part of the model."""
    found = {
        f"{kind}_least_group_bytes_per_second": min(
            float(group[f"{kind}_bytes_per_second"]) for group in groups
        )
        for kind in ("read", "write")
    }
    working = [group["ports_working"] / (ports * group["servers"]) for group in groups]
    if not any(group["is_rebuilding"] for group in groups):
        for kind in ("read", "write"):
            expected = _positive(row.get(f"analytic_{kind}_bytes_per_second"))
            if expected:
                least = found[f"{kind}_least_group_bytes_per_second"]
                found[f"{kind}_least_group_of_analytic"] = least * len(groups) / expected
    return {**found, "group_ports_working_least_share": min(working)}


def _rebuilding(row: Row, groups: Sequence[Mapping[str, Any]], clients: float) -> dict[str, float]:
    """Of the groups that rebuild: rates over those of a group at rest, and over their share of it.

    The model's sum is (G - r + r s) q for G groups of which r rebuild, a group at rest at rate q
    and a share s for clients, which gives q.
    """
    busy = [group for group in groups if group["is_rebuilding"]]
    if not busy:
        return {}
    found = {}
    for kind in ("read", "write"):
        expected = _positive(row.get(f"analytic_{kind}_bytes_per_second"))
        if not expected:
            continue
        at_rest = expected / (len(groups) - len(busy) + len(busy) * clients)
        ours = math.fsum(float(group[f"{kind}_bytes_per_second"]) for group in busy) / len(busy)
        found[f"{kind}_share_rebuilding"] = ours / at_rest
        if clients > 0.0:
            found[f"{kind}_of_analytic_rebuilding"] = ours / (at_rest * clients)
    return found


def _positive(value: object, least: float = 1e-300) -> float | None:
    """A finite number of at least so much, else nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if value >= least else None
