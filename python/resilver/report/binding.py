"""What keeps clients that are steady flows from more, in words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from resilver.report.arrays import rows_of_run
from resilver.report.source import ResultsLike, SystemRuns
from resilver.units import format_duration
from resilver.words import plural

_STRETCHES_SHOWN_MAX = 3
# What clients have under way, and the rate that they ask for, by what says it.
_OWN = ("outstanding", "window")
_OWN_RATE = ("client_rate", "rate", "arrivals", "signature")


def binding_sentence(results: ResultsLike, point: SystemRuns) -> str:
    """What binds most clients of the median run, in each stretch of time between its faults.

    Args:
        results: The study's results.
        point: A system with clients.

    Returns:
        A sentence; empty where clients are no flows.
    """
    table: pa.Table | None = getattr(results, "flows", None)
    rows = [] if table is None else rows_of_run(table, point.median["run"]).to_pylist()
    starts = sorted({row["start_seconds"] for row in rows})
    told: list[tuple[float, str]] = []
    # What is asked for a volume or at a rate may be several flows of one client.
    noun = "client" if all(row["backlog_bytes"] is None for row in rows) else "flow"
    for start in starts:
        words = _bound([row for row in rows if row["start_seconds"] == start], noun)
        if not told or words != told[-1][1]:
            told.append((start, words))
    if len(told) < 2:
        text = "".join(words for _, words in told)
    else:
        shown = told[:_STRETCHES_SHOWN_MAX]
        text = "; ".join(f"from {format_duration(start)} on {words}" for start, words in shown)
        more = len(told) - len(shown)
        text += f"; {plural(more, 'change')} more" if more else ""
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _bound(rows: list[dict[str, Any]], noun: str) -> str:
    """What binds most of the flows of a stretch of time."""
    counts: Counter[tuple[str, str, int]] = Counter()
    for row in rows:
        full = row["full_parts"]
        # Several that are full are told of together.
        counts[row["binding"] if full < 2 else "", row["binding_level"], full] += row["flows"]
    (name, level, full), bound = counts.most_common(1)[0]
    total = sum(counts.values())
    who = f"all {noun}s" if bound == total else f"{bound:,} of {plural(total, noun)}"
    if name in _OWN_RATE:
        return f"{who} have the rate that they ask for"
    if name in _OWN:
        return f"{who} get what they ask for, one answer after another"
    if full > 1:
        return f"{who} are bound by {plural(full, level)}, which are full"
    return f"{who} are bound by {name}, which is full"
