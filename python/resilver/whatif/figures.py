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
        unit: ``seconds``, ``bytes``, ``share``, ``chance`` or ``count``.
        table: The table that it is made of.
        column: The column.
        how: How.
        over: A column that the other is divided by, row by row; empty for none.
        better: Whether ``less`` or ``more`` of it is better; empty where neither is.
    """

    key: str
    label: str
    unit: Literal["seconds", "bytes", "share", "chance", "count"]
    table: str
    column: str
    how: How
    over: str = ""
    better: Literal["less", "more", ""] = "less"

    @property
    def heading(self) -> str:
        """Its label within a sentence or above a column."""
        return self.label if self.label[1].isupper() else self.label[0].lower() + self.label[1:]

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


def _until(key: str, label: str) -> Figure:
    return Figure(key, label, "seconds", "pools", key, "last")


def _first(level: str) -> Figure:
    key, label = f"{level}_seconds", f"First OSD {level}"
    return Figure(key, label, "seconds", "osds", key, "least", better="more")


def _most(key: str, label: str, how: How = "most", column: str = "") -> Figure:
    return Figure(key, label, "count", "timeline", column or key, how)


def _written(key: str, label: str) -> Figure:
    return Figure(key, label, "bytes", "pools", key, "sum", better="")


FIGURES: tuple[Figure, ...] = (
    _until("whole_seconds", "Healthy after"),
    _until("degraded_seconds", "Degraded until"),
    _until("at_risk_seconds", "Zero redundancy until"),
    _most("at_risk_groups", "PGs at zero redundancy"),
    _most("at_risk_end_groups", "PGs at zero redundancy at the end", "end", "at_risk_groups"),
    _until("inactive_seconds", "Inactive until"),
    _most("inactive_groups", "PGs inactive"),
    Figure(
        "peak_share", "Fullest OSD", "share", "osds", "peak_used_bytes", "most", "capacity_bytes"
    ),
    _first("nearfull"),
    _first("backfillfull"),
    _first("full"),
    _most("toofull_groups", "PGs backfill_toofull"),
    Figure("stuck_groups", "PGs stuck", "count", "stuck", "pgid", "rows"),
    Figure("lost_groups", "PGs lost", "count", "pools", "lost_groups", "sum"),
    _written("recovered_bytes", "Re-replicated"),
    _written("moved_bytes", "Backfilled"),
    _written("least_bytes", "Minimum to write"),
    Figure(
        "served_share",
        "Client requests served",
        "share",
        "clients",
        "served_share",
        "least",
        better="more",
    ),
    Figure("p99_seconds", "Client p99 latency", "seconds", "clients", "p99_seconds", "highest"),
    Figure("loss_chance", "Probability of data loss", "chance", "risks", "loss_chance", "first"),
)
"""The figures that the tables of an answer make by themselves."""

BY_KEY = {figure.key: figure for figure in FIGURES}

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
