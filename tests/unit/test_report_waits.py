"""What held a run back, in words, from rows of the tables ``limits`` and ``flows`` alone."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from resilver.columns import SHARD_SCHEMAS
from resilver.report.traffic_sentence import binding_sentence
from resilver.report.waits import run_records, wait_records, wait_sentence
from resilver.study.system_runs import systems
from tests.browser.report_fixture import MemoryResults, results


def row(run: str, kind: str = "reading", **values: Any) -> dict[str, Any]:
    """The limit of a run: osd.87's disk, which osd.45 waited for, unless something else is said."""
    known = {
        "destination": "osd.45", "window_seconds": 132.0, "kind": kind, "name": "osd.87",
        "level": None, "parts": 1, "busy_fraction": 0.9999, "waited_fraction": 0.83,
        "waited_seconds": 110.0, "buffer_seconds": 0.5, "buffers": 4.0, "destinations": 8,
        "rebuild_fraction": 1.0, "lane_share": None, "is_limit": True,
    }  # fmt: skip
    return {"run": run, **known, **values}


def made(*rows: dict[str, Any], seeds: int = 1) -> MemoryResults:
    """A study of so many seeds, whose runs are numbered in the order of their rows."""
    held = results(seeds=seeds)
    keys = held.runs["run"].to_pylist()
    numbered = [{**one, "run": keys[int(one["run"])]} for one in rows]
    held.limits = pa.Table.from_pylist(numbered, schema=SHARD_SCHEMAS["limits"])
    return held


def sentence(*rows: dict[str, Any], seeds: int = 1) -> str:
    held = made(*rows, seeds=seeds)
    return wait_sentence(held, systems(held)[0])


BEGIN = "osd.45, the last to finish after 2 min 12 s, waited 83 % of that time for "


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "osd.87's disk, 100 % busy reading for 8 OSDs"),
        ({"kind": "writing", "name": "osd.45", "destinations": 1},
         "osd.45's own disk, 100 % busy"),
        ({"kind": "sending", "name": "host.2", "busy_fraction": 0.934},
         "host.2's port, 93 % busy sending for 8 OSDs"),
        ({"kind": "link", "name": "switch.4 to switch.0"},
         "the link switch.4 to switch.0, 100 % busy for 8 OSDs"),
        ({"kind": "link", "name": None, "parts": 12, "busy_fraction": 0.8},
         "the network, at 12 ports and links, 80 % busy on average for 8 OSDs"),
        ({"name": None, "parts": 40, "busy_fraction": 0.95},
         "the disks of 40 sources, 95 % busy on average for 8 OSDs"),
        ({"level": "controller", "name": "controller.3"},
         "controller.3, 100 % busy reading for 8 OSDs"),
        ({"kind": "coding", "name": "osd.45", "destinations": 1},
         "osd.45's computation, 100 % busy"),
        ({"rebuild_fraction": 0.36},
         "osd.87's disk, 100 % busy reading for 8 OSDs, of which the rebuild has 36 %"),
        ({"rebuild_fraction": 0.12, "lane_share": 0.1},
         "the rebuild's lane at osd.87's disk, 100 % busy reading for 8 OSDs, of which "
         "the rebuild has 12 % and is guaranteed 10 %"),
        ({"kind": "send_memory", "busy_fraction": None},
         "osd.87's send memory for 8 OSDs, while no disk and no port of theirs is busy "
         "all the time"),
        ({"kind": "loss", "name": None, "busy_fraction": None},
         "lost messages for 8 OSDs, until they are asked for again"),
        ({"kind": "bandwidth", "name": None, "busy_fraction": None},
         "recovery.bandwidth"),
    ],
)  # fmt: skip
def test_each_kind_of_wait_has_its_sentence(changes: dict[str, Any], words: str) -> None:
    said = sentence({**row("0"), **changes})
    assert said == f"{BEGIN}{words}."
    # Who waits names no bottleneck.
    assert "limit" not in said and "bottleneck" not in said


def test_where_nothing_is_busy_it_says_what_a_round_trip_takes() -> None:
    other = row("0", is_limit=False, busy_fraction=0.41, waited_fraction=0.5)
    idle = row("0", "receive_memory", name=None, busy_fraction=None, buffer_seconds=0.024)
    text = sentence({**idle, "buffers": 1.0}, other)
    assert text == (
        "Nothing is busy all the time: each buffer of osd.45, the last to finish, waits for its "
        "round trip of 24.0 ms, and recovery.receive_memory allows 1.0 under way at a time; the "
        "busiest part it waits for, osd.87's disk, is 41 % busy."
    )


def test_over_seeds_it_is_that_of_the_median_run_and_without_rows_none() -> None:
    # The fixture's runs take longer by their seed: of four the second is the lower median.
    held = made(*(row(str(at), name=f"osd.{at}") for at in range(4)), seeds=4)
    (point,) = systems(held)
    at = held.runs["run"].to_pylist().index(point.median["run"])
    text = wait_sentence(held, point)
    assert f"for osd.{at}'s disk" in text
    assert text.endswith(f" (seed {point.median['seed']}, the median run).")
    held = made(row("0"), seeds=2)
    first, second = run_records(held, held.runs.to_pylist())
    assert first["waited_for"] == "osd.87's disk" and "osd.45, the" in first["waited_sentence"]
    assert (second["waited_for"], second["waited_sentence"]) == (None, None)
    (of_system,) = wait_records(held)
    assert of_system["waited_for"] == "osd.87's disk"
    assert sentence() == ""


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
    table = pa.Table.from_pylist([{"run": "a", **row} for row in rows], SHARD_SCHEMAS["flows"])
    results: Any = SimpleNamespace(flows=table)
    point: Any = SimpleNamespace(median={"run": "a"})
    assert binding_sentence(results, point) == text
    assert binding_sentence(SimpleNamespace(), point) == ""  # type: ignore[arg-type]
