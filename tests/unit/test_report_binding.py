"""What binds steady flows, in words, from rows of the table ``flows`` alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from resilver.columns import SHARD_SCHEMAS
from resilver.report.binding import binding_sentence


def sentence(*rows: dict[str, Any]) -> str:
    table = pa.Table.from_pylist(
        [{"run": "a", **row} for row in rows], schema=SHARD_SCHEMAS["flows"]
    )
    results: Any = SimpleNamespace(flows=table)
    point: Any = SimpleNamespace(median={"run": "a"})
    return binding_sentence(results, point)


def bound(start: float, flows: int, name: str, level: str, full: int) -> dict[str, Any]:
    names = {"binding": name, "binding_level": level, "full_parts": full}
    return {"start_seconds": start, "flows": flows, **names}


SLOW = bound(0.0, 8, "server.3", "server", 1)
ALL = bound(0.0, 8, "server.0", "server", 4)
OWN = bound(0.0, 8, "outstanding", "clients", 0)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], ""),
        ([SLOW], "All clients are bound by server.3, which is full."),
        # Of several that are as full none is to blame.
        ([ALL], "All clients are bound by 4 servers, which are full."),
        ([OWN], "All clients get what they ask for, one answer after another."),
        ([SLOW, {**OWN, "flows": 2}], "8 of 10 clients are bound by server.3, which is full."),
        # What is asked for a volume or at a rate may be several flows of a client.
        (
            [
                {**bound(0.0, 96, "arrivals", "clients", 0), "backlog_bytes": 0},
                {**bound(0.0, 32, "server.3", "server", 1), "backlog_bytes": 5},
            ],
            "96 of 128 flows have the rate that they ask for.",
        ),
        # A stretch that changes nothing is not told.
        (
            [ALL, {**ALL, "start_seconds": 5.0}, {**SLOW, "start_seconds": 50.0}],
            "From 0 s on all clients are bound by 4 servers, which are full; "
            "from 50.0 s on all clients are bound by server.3, which is full.",
        ),
    ],
)
def test_what_binds_most_clients_is_told_for_each_change(
    rows: list[dict[str, Any]], text: str
) -> None:
    assert sentence(*rows) == text


def test_results_without_flows_tell_nothing() -> None:
    point: Any = SimpleNamespace(median={"run": "a"})
    results: Any = SimpleNamespace()
    assert binding_sentence(results, point) == ""
