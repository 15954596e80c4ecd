"""What held a run back, in words, from rows of the tables ``limits`` and ``flows`` alone."""

import tomllib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from resilver.columns import SHARD_SCHEMAS
from resilver.report import sentence as words_of
from resilver.report.faults import fault_seconds, fault_sentences
from resilver.report.traffic_sentence import binding_sentence
from resilver.report.waits import run_records, wait_records, wait_sentence
from resilver.spec import System
from resilver.study.system_runs import SystemRuns, systems
from tests.browser.report_fixture import MemoryResults, results
from tests.build import CASES, STUDIES, merged, study_of, system_of

SENTENCES = tomllib.loads((CASES / "sentences.toml").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize(("changes", "words"), SENTENCES["waits"])
def test_each_kind_of_wait_has_its_sentence(changes: dict[str, Any], words: str) -> None:
    known = {key: None if value == "(absent)" else value for key, value in changes.items()}
    said = sentence({**row("0"), **known})
    assert said == f"{BEGIN}{words}."
    # Who waits names no bottleneck.
    assert "limit" not in said and "bottleneck" not in said


def test_where_nothing_is_busy_or_of_rows_it_says_so() -> None:
    other = row("0", is_limit=False, busy_fraction=0.41, waited_fraction=0.5)
    idle = row("0", "receive_memory", name=None, busy_fraction=None, buffer_seconds=0.024)
    text = sentence({**idle, "buffers": 1.0}, other)
    assert text == (
        "Nothing is busy all the time: each buffer of osd.45, the last to finish, waits for its "
        "round trip of 24.0 ms, and recovery.receive_memory allows 1.0 under way at a time; the "
        "busiest part it waits for, osd.87's disk, is 41 % busy."
    )
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


def bound(name: str, level: str, full: int) -> dict[str, Any]:
    """What binds eight flows from the beginning on."""
    names = {"binding": name, "binding_level": level, "full_parts": full}
    return {"start_seconds": 0.0, "flows": 8, **names}


SLOW, ALL = bound("server.3", "server", 1), bound("server.0", "server", 4)
OWN = bound("outstanding", "clients", 0)


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
        ([{**OWN, "flows": 96, "binding": "arrivals", "backlog_bytes": 0},
          {**SLOW, "flows": 32, "backlog_bytes": 5}],
         "96 of 128 flows have the rate that they ask for."),
        # A stretch that changes nothing is not told.
        ([ALL, {**ALL, "start_seconds": 5.0}, {**SLOW, "start_seconds": 50.0}],
         "From 0 s on all clients are bound by 4 servers, which are full; "
         "from 50.0 s on all clients are bound by server.3, which is full."),
    ],
)  # fmt: skip
def test_what_binds_most_clients_is_told_for_each_change(
    rows: list[dict[str, Any]], text: str
) -> None:
    table = pa.Table.from_pylist([{"run": "a", **row} for row in rows], SHARD_SCHEMAS["flows"])
    results: Any = SimpleNamespace(flows=table)
    point: Any = SimpleNamespace(median={"run": "a"})
    assert binding_sentence(results, point) == text
    assert binding_sentence(SimpleNamespace(), point) == ""  # type: ignore[arg-type]


# What a report's first sentences say of a system is what its study says.


def point_of(system: System) -> SystemRuns:
    """Runs of a system, as far as words need them."""
    row = {"placement_groups": 8, "population_objects": 1}
    return SystemRuns({}, (row,), row, system)


def described(system: System) -> str:
    """The paragraph about one run of a system."""
    runs = pa.table({"run": ["a"], "seed": [1]})
    results: Any = SimpleNamespace(runs=runs, provenance={})
    return words_of.describe(results, point_of(system))


SYSTEMS = [(*row, name) for name, rows in SENTENCES["systems"].items() for row in rows]
ASKED: dict[str, Callable[[System], str]] = {
    "described": described,
    "lanes": words_of.lanes_words,
    "clients": lambda system: words_of.traffic_words(system.traffic),
    "faults": lambda system: " ".join(fault_sentences(point_of(system))),
    "network": lambda system: words_of.fabric_words(system.cluster),
    "devices": lambda system: words_of.device_words(system.cluster),
    "cluster": lambda system: words_of.cluster_words(system.cluster),
}


@pytest.mark.parametrize(("study", "change", "text", "name"), SYSTEMS)
def test_a_system_in_words(study: str, change: dict[str, Any], text: str, name: str) -> None:
    said = ASKED[name](study_of(merged(STUDIES[study], change)).runs()[0].system)
    is_part = name == "described" or text.endswith("under")
    assert text in said if is_part else said == text


def test_slow_parts_are_lost_at_no_time() -> None:
    faults = "faults = [{ part.racks = 1, health = 0.5 }, { fail.osds = 1 }]"
    point = point_of(system_of("tree", faults))
    assert fault_seconds(point) == (0.0,)
    assert point.holder == "OSD"
    assert (point.classes.count("hdd"), point.classes.count("ssd")) == (80, 20)
