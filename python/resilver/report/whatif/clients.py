"""What clients of each pool get, at the worst and before, in sentences and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.quantities import duration
from resilver.report.whatif.source import DETECTED, Facts, times_of
from resilver.words import percent

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
