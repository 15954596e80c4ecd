"""The answer of a what-if in figures: each once, for the command, the pages and their scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

How = Literal["last", "most", "least", "sum", "rows", "first", "highest", "end"]
"""How a column becomes a figure: ``last`` is the most, 0 without rows, and nothing where a row has
none; ``highest`` is the same, and nothing without rows; ``most`` and ``sum`` pass over such rows,
and are 0 without others; ``least`` is nothing without others; ``first`` is that of the first row,
``end`` of the last one, 0 without rows; ``rows`` counts rows."""


@dataclass(frozen=True)
class Figure:
    """A figure of an answer.

    Attributes:
        key: Its name, as `resilver.whatif.answer.Outcome` has it.
        label: What it is, for people.
        unit: ``seconds``, ``bytes``, ``share`` or ``count``.
        table: The table that it is made of.
        column: The column.
        how: How.
        over: A column that the other is divided by, row by row; empty for none.
    """

    key: str
    label: str
    unit: Literal["seconds", "bytes", "share", "count"]
    table: str
    column: str
    how: How
    over: str = ""

    def of(self, tables: Mapping[str, pa.Table]) -> Any:
        """The figure of an answer: a number, or None."""
        table = tables[self.table]
        if self.how == "rows":
            return table.num_rows
        column = table[self.column]
        if self.over:
            is_empty = pc.equal(table[self.over], 0)
            column = pc.divide(
                column.cast(pa.float64()),
                pc.if_else(is_empty, None, table[self.over].cast(pa.float64())),
            )
        if self.how == "first":
            return column[0].as_py() if table.num_rows else None
        if self.how == "end":
            return column[-1].as_py() if table.num_rows else 0
        if self.how in ("last", "highest") and column.null_count:
            return None
        made = {"sum": pc.sum, "least": pc.min}.get(self.how, pc.max)(column).as_py()
        return made if made is not None or self.how in ("least", "highest") else 0


FIGURES: tuple[Figure, ...] = (
    Figure("whole_seconds", "Whole", "seconds", "pools", "whole_seconds", "last"),
    Figure("degraded_seconds", "Degraded", "seconds", "pools", "degraded_seconds", "last"),
    Figure("at_risk_seconds", "At risk", "seconds", "pools", "at_risk_seconds", "last"),
    Figure("at_risk_groups", "PGs at risk", "count", "timeline", "at_risk_groups", "most"),
    Figure(
        "at_risk_end_groups",
        "PGs at risk at the end",
        "count",
        "timeline",
        "at_risk_groups",
        "end",
    ),
    Figure("inactive_seconds", "Inactive", "seconds", "pools", "inactive_seconds", "last"),
    Figure("inactive_groups", "PGs inactive", "count", "timeline", "inactive_groups", "most"),
    Figure(
        "peak_share", "Fullest OSD", "share", "osds", "peak_used_bytes", "most", "capacity_bytes"
    ),
    Figure("nearfull_seconds", "Nearfull from", "seconds", "osds", "nearfull_seconds", "least"),
    Figure(
        "backfillfull_seconds",
        "Backfillfull from",
        "seconds",
        "osds",
        "backfillfull_seconds",
        "least",
    ),
    Figure("full_seconds", "Full from", "seconds", "osds", "full_seconds", "least"),
    Figure("toofull_groups", "PGs without space", "count", "timeline", "toofull_groups", "most"),
    Figure("stuck_groups", "PGs stuck", "count", "stuck", "pgid", "rows"),
    Figure("lost_groups", "PGs lost", "count", "pools", "lost_groups", "sum"),
    Figure("recovered_bytes", "Rebuilt", "bytes", "pools", "recovered_bytes", "sum"),
    Figure("moved_bytes", "Moved", "bytes", "pools", "moved_bytes", "sum"),
    Figure("least_bytes", "Least possible writes", "bytes", "pools", "least_bytes", "sum"),
    Figure("served_share", "Clients get", "share", "clients", "served_share", "least"),
    Figure("p99_seconds", "Clients' p99 at worst", "seconds", "clients", "p99_seconds", "highest"),
)
"""The figures that the tables of an answer make by themselves."""

HARM = (
    "lost_groups",
    "at_risk_end_groups",
    "stuck_groups",
    "inactive_groups",
    "at_risk_seconds",
    "degraded_seconds",
    "toofull_groups",
    "peak_share",
)
"""By which figures failures are ranked, the first first: more is worse, and nothing the worst."""
