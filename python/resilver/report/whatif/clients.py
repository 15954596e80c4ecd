"""What clients of each pool get, at the worst and before, in sentences and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.quantities import duration
from resilver.report.whatif.source import DETECTED, Facts, times_of
from resilver.words import percent

_SERVED = 0.995
"""Clients that get this share of what they ask get all of it, but for rounding."""


def client_sentences(facts: Facts) -> list[str]:
    """What clients of each pool get at the worst and before, a sentence a pool."""
    said = []
    names = facts.answer.cluster.pools
    detected = max(times_of(facts, DETECTED), default=0.0)
    inactive = {row["pool"] for row in facts.pools if row["inactive_seconds"] != 0.0}
    for pool, rows in clients_by_pool(facts).items():
        name = names.get(pool, str(pool))
        p99, was = worst_delay(rows), rows[0]["p99_seconds"]
        before = 0.0 if rows[0]["served_share"] is None else rows[0]["served_share"]
        least = min(row["served_share"] or 0.0 for row in rows)
        if before < _SERVED:
            text = f"Clients of pool {name} ask more than the cluster serves even before the plan"
        elif p99 is None and pool in inactive:
            text = f"Clients of pool {name} wait for PGs that serve nobody"
        elif p99 is None and facts.passing("full"):
            text = f"Clients of pool {name} cannot write while an OSD of it is full"
        elif p99 is None:
            text = f"Clients of pool {name} ask more than the cluster serves meanwhile"
        elif was is None or p99 <= 1.005 * was:
            text = f"Clients of pool {name} wait as before, 99 % of requests up to {duration(p99)}"
        else:
            later = worst_delay([row for row in rows if row["time_seconds"] >= detected])
            when = "at the worst"
            if later is not None and later < p99:
                when = f"until the failure is detected, {duration(later)} from then on"
            text = f"Clients of pool {name} wait up to {duration(p99)} for 99 % of requests {when}"
            text += f", {duration(was)} before"
        if least < _SERVED:
            text += f": at the worst {percent(least)} of requests are served, "
            text += f"{percent(before)} before"
        said.append(f"{text}.")
    return said


def delay_words(seconds: float | None) -> str:
    """A p99 of clients; more than 1 % of their requests are not served where there is none."""
    return "not served" if seconds is None else duration(seconds)


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
