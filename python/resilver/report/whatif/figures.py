"""Figures of outcomes in words: cells of tables, tiles above an answer, and what clients get."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from resilver.answer import KeyFigure
from resilver.quantities import duration
from resilver.report.whatif.source import DETECTED, Facts, times_of
from resilver.tables import cell_text
from resilver.whatif.figures import BY_KEY
from resilver.words import percent

if TYPE_CHECKING:
    from resilver.whatif.answer import Outcome

_KINDS = {"peak_share": "fill"}


def figure_words(key: str, value: Any, facts: Facts | None = None, pool: int | None = None) -> str:
    """A figure for people; a time is `none` where nothing was, and `never` where it has no end.

    Args:
        key: Its key in `resilver.whatif.figures`.
        facts: The answer's facts, which tell a run that was cut short from one without an end.
        pool: Of which pool it is; None for all.
    """
    figure = BY_KEY[key]
    if figure.unit != "seconds":
        return cell_text(value, _KINDS.get(key, figure.unit))
    if value is not None and (value or key == "p99_seconds"):
        return duration(value)
    if figure.table == "osds":
        return "never" if value is None else "at the start"
    if value is not None:
        return "always" if key == "whole_seconds" else "none"
    if key == "p99_seconds":
        return "not served"
    if facts is not None and not facts.has_no_end(pool):
        return f"over {duration(facts.answer.end_seconds)}"
    return "never" if key == "whole_seconds" else "never ends"


def outcome_columns(
    keys: Iterable[str], outcomes: Sequence[Outcome | None], after: str = ""
) -> list[tuple[str, str, str, Sequence[Any]]]:
    """Columns of figures, an outcome a row.

    Args:
        keys: The keys of the figures.
        outcomes: What came of each; None where there is nothing.
        after: What stands behind each heading.
    """
    made: list[tuple[str, str, str, Sequence[Any]]] = []
    for key in keys:
        name, kind = f"{key}{after}", _KINDS.get(key, BY_KEY[key].unit)
        values = [one and getattr(one, key) for one in outcomes]
        if kind == "seconds":
            words = [one and figure_words(key, getattr(one, key)) for one in outcomes]
            name, kind, values = name.replace("_seconds", "_words"), "text", words
        made.append((name, f"{BY_KEY[key].heading} {after}".strip(), kind, values))
    return made


def key_figure(facts: Facts, key: str, detail: str = "") -> KeyFigure:
    """A figure of an answer as a tile."""
    value, figure = getattr(facts.answer.outcome, key), BY_KEY[key]
    number = math.inf if value is None else float(value)
    unit = {"seconds": "s", "bytes": "B", "count": "PGs"}.get(figure.unit, "share")
    return KeyFigure(figure.label, number, unit, figure_words(key, value, facts), detail)


SERVED = 0.995
"""Clients that get this share of what they ask get all of it, but for rounding."""


def client_sentences(facts: Facts) -> list[str]:
    """What clients of each pool get at worst and before, a sentence a pool."""
    said = []
    names = facts.answer.cluster.pools
    detected = max(times_of(facts, DETECTED), default=0.0)
    inactive = {row["pool"] for row in facts.pools if row["inactive_seconds"] != 0.0}
    for pool, rows in clients_by_pool(facts).items():
        p99, was = worst_delay(rows), rows[0]["p99_seconds"]
        before = rows[0]["served_share"] or 0.0
        least = min(row["served_share"] or 0.0 for row in rows)
        text = f"Client p99 latency of pool {names.get(pool, str(pool))}"
        if before < SERVED:
            text += ": none, as clients ask for more than the cluster serves even before the plan"
        elif p99 is None and pool in inactive:
            text += ": none while its PGs are inactive"
        elif p99 is None and facts.passing("full"):
            text += ": none while an OSD of it is full, which blocks writes"
        elif p99 is None:
            text += ": none while clients ask for more than the cluster serves"
        elif was is None or p99 <= 1.005 * was:
            text += f" stays at {duration(p99)}"
        else:
            later = worst_delay([row for row in rows if row["time_seconds"] >= detected])
            text += f" rises to {duration(p99)}"
            if later is not None and later < p99:
                text += f" until the failure is detected, then {duration(later)}"
            text += f" ({duration(was)} before)"
        if least < SERVED:
            text += f"; at worst {percent(least)} of requests are served"
            text += f" ({percent(before)} before)" if before != least else ""
        said.append(f"{text}.")
    return said


def worst_delay(rows: Sequence[dict[str, Any]]) -> float | None:
    """The longest p99 of rows of a pool's clients; None where some requests get nothing."""
    delays = [row["p99_seconds"] for row in rows]
    return None if None in delays else max(delays, default=None)


def clients_by_pool(facts: Facts) -> dict[int, list[dict[str, Any]]]:
    """The rows of the clients' table by the number of their pool, each by rising time."""
    of: dict[int, list[dict[str, Any]]] = {}
    for row in facts.rows("clients"):
        of.setdefault(row["pool"], []).append(row)
    return {pool: sorted(rows, key=lambda row: row["time_seconds"]) for pool, rows in of.items()}
