"""What limits a system, in words, from rows of the table ``limits`` alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
from report_fixture import MemoryResults, results

from resilver.columns import SHARD_SCHEMAS
from resilver.report.limit import limit_records, limit_sentence, run_records
from resilver.report.source import systems


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
    return limit_sentence(held, systems(held)[0])


END = ": 83 % of what osd.45, the last to finish after 2 min 12 s, waited for."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, f"Limited by osd.87's disk, 100 % busy reading for 8 OSDs{END}"),
        ({"kind": "writing", "name": "osd.45", "destinations": 1},
         f"Limited by osd.45's own disk, 100 % busy{END}"),
        ({"kind": "sending", "name": "host.2", "busy_fraction": 0.934},
         f"Limited by host.2's port, 93 % busy sending for 8 OSDs{END}"),
        ({"kind": "link", "name": "switch.4 to switch.0"},
         f"Limited by the link switch.4 to switch.0, 100 % busy for 8 OSDs{END}"),
        ({"kind": "link", "name": None, "parts": 12, "busy_fraction": 0.8},
         "Limited by the network, at 12 ports and links, 80 % busy on average for 8 OSDs" + END),
        ({"name": None, "parts": 40, "busy_fraction": 0.95},
         f"Limited by the disks of 40 sources, 95 % busy on average for 8 OSDs{END}"),
        ({"level": "controller", "name": "controller.3"},
         f"Limited by controller.3, 100 % busy reading for 8 OSDs{END}"),
        ({"kind": "coding", "name": "osd.45", "destinations": 1},
         f"Limited by osd.45's computation, 100 % busy{END}"),
        ({"rebuild_fraction": 0.36},
         "Limited by osd.87's disk, 100 % busy reading for 8 OSDs, of which the rebuild has 36 %"
         + END),
        ({"rebuild_fraction": 0.12, "lane_share": 0.1},
         "Limited by the rebuild's lane at osd.87's disk, 100 % busy reading for 8 OSDs, of which "
         "the rebuild has 12 % and is guaranteed 10 %" + END),
        ({"kind": "send_memory", "busy_fraction": None},
         "Limited by osd.87's send memory for 8 OSDs, while no disk and no port of theirs is busy "
         "all the time" + END),
        ({"kind": "loss", "name": None, "busy_fraction": None},
         "Limited by lost messages for 8 OSDs, until they are asked for again" + END),
        ({"kind": "bandwidth", "name": None, "busy_fraction": None},
         "Limited by recovery.bandwidth: it held osd.45, the last to finish, back for 83 % of "
         "2 min 12 s."),
    ],
)  # fmt: skip
def test_each_kind_of_limit_has_its_sentence(changes: dict[str, Any], words: str) -> None:
    assert sentence({**row("0"), **changes}) == words


def test_where_nothing_is_busy_it_says_what_a_round_trip_takes() -> None:
    other = row("0", is_limit=False, busy_fraction=0.41, waited_fraction=0.5)
    idle = row("0", "receive_memory", name=None, busy_fraction=None, buffer_seconds=0.024)
    text = sentence({**idle, "buffers": 1.0}, other)
    assert text == (
        "Nothing is busy all the time: each buffer of osd.45, the last to finish, waits for its "
        "round trip of 24.0 ms, and recovery.receive_memory allows 1.0 under way at a time; the "
        "busiest part it waits for, osd.87's disk, is 41 % busy."
    )


def test_over_seeds_the_most_frequent_kind_and_in_how_many_runs() -> None:
    port = row("3", "receiving", name="host.1")
    rows = (row("0"), row("1", name="osd.3"), row("2"), port)
    assert sentence(*rows, seeds=4).endswith(
        "waited for (in 2 of 4 runs, and in 1 by another of its kind)."
    )
    assert sentence(row("0"), row("1"), seeds=2).endswith("waited for.")


def test_without_rows_there_is_no_sentence_and_json_says_null() -> None:
    held = made(row("0"), seeds=2)
    first, second = run_records(held, held.runs.to_pylist())
    assert first["limit"] == "osd.87's disk" and first["limit_sentence"].startswith("limited by")
    assert (second["limit"], second["limit_sentence"]) == (None, None)
    (of_system,) = limit_records(held)
    assert of_system["limit"] == "osd.87's disk"
    assert sentence() == ""
