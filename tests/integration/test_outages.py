"""Parts that are gone or slow for a while with nobody told: what requests meet, and afterwards."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from resilver.simulate import RunResult
from resilver.spec import Study
from resilver.study import simulate, validate_runs
from tests.integration.study_runs import study_text, table_rows
from tests.terminal import output

# Three hosts of two devices each, and one router; each request is alone in the system.
PARTS = [
    {"level": "host", "count": 3},
    {"level": "osd", "in": "host", "count": 2, "device": {"service": "1 ms"}},
]
SWITCHED = {
    "model": "switched",
    "topology": "leaf spine 2x1 hosts 2 routers 1",
    "link_rate": "1 Gb/s",
}
FABRICS = [SWITCHED, {"routers": 1}]
ASKED_AT = (1, 5, 9, 15, 20)
OUTAGE = {"at": "4 s", "until": "14 s", "told": False}


def run(
    folder: Path,
    faults: list[dict[str, Any]],
    fabric: dict[str, Any],
    osds: int = 3,
    **traffic: Any,
) -> RunResult:
    """Reads of 4 KiB from osd.0, osd.1 and so on at each of the times, and what became of them."""
    rows = [f"{at},read,4096,osd.{osd}" for at in ASKED_AT for osd in range(osds)]
    (folder / "trace.csv").write_text("seconds,kind,size,target\n" + "\n".join(rows) + "\n")
    study = Study.from_dict(
        {
            "cluster": {"parts": PARTS, "fabric": fabric},
            "traffic": {"arrivals": {"trace": "trace.csv"}, "timeout": "1 s", "duration": "30 s"}
            | traffic,
            "faults": faults,
        },
        folder,
    )
    validate_runs(study.runs())
    return simulate(study.runs()[0].system, 1)


def graph_text(kinds: dict[str, str], links: Iterable[tuple[str, str]]) -> str:
    """The file of a network of nodes by kind."""
    nodes = [{"id": name, "kind": kind} for name, kind in kinds.items()]
    ends = [{"source": one, "target": other} for one, other in links]
    return json.dumps({"nodes": nodes, "links": ends})


def lost(found: RunResult) -> dict[str, int]:
    """How many requests each device did not answer in time, of those that lost any."""
    rows = found.servers.to_pylist()
    return {row["name"]: row["requests_lost"] for row in rows if row["requests_lost"]}


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_host_that_is_gone_for_ten_seconds_answers_before_and_after(
    tmp_path: Path, fabric: dict[str, Any]
) -> None:
    found = run(tmp_path, [{**OUTAGE, "part": {"host": ["host.0"]}}], fabric)
    # Those of 5 s and 9 s meet nobody at both devices of the host; those of 1, 15 and 20 s are
    # answered. Each that is lost is asked of another device, so that all 15 come to their end.
    assert lost(found) == {"osd.0": 2, "osd.1": 2}
    metrics = found.metrics
    assert (metrics["requests_completed"], metrics["requests_lost"]) == (15, 4)
    assert metrics["failed_parts"] == "host.0"
    counted = [metrics[f"{period}_requests_completed"] for period in ("before", "during", "after")]
    assert (counted, metrics["during_seconds"]) == ([3, 6, 6], 10.0)


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_disk_that_is_gone_leaves_its_host_working(
    tmp_path: Path, fabric: dict[str, Any]
) -> None:
    for part in ({"osd": ["osd.0"]}, {"disk": ["osd.0"]}):
        found = run(tmp_path, [{**OUTAGE, "part": part}], fabric)
        assert lost(found) == {"osd.0": 2}
    assert found.metrics["packets_dropped"] in (0, None)


def test_a_host_that_is_gone_passes_no_packets(tmp_path: Path) -> None:
    # In a row of hosts with the router at its end, the last two are reached through the first.
    row = {"model": "switched", "topology": {"graph": "row.json"}, "link_rate": "1 Gb/s"}
    kinds = {"gate": "router", "a": "host", "b": "host", "c": "host"}
    (tmp_path / "row.json").write_text(graph_text(kinds, pairwise(kinds)))
    gone = run(tmp_path, [{**OUTAGE, "part": {"host": ["host.0"]}}], row)
    # Not even osd.2 in host.1 can be reached, and nobody else to ask in its place.
    assert lost(gone).keys() >= {"osd.0", "osd.1", "osd.2"}
    disks = run(tmp_path, [{**OUTAGE, "part": {"osd": ["osd.0", "osd.1"]}}], row)
    assert lost(disks) == {"osd.0": 2, "osd.1": 2}


@pytest.mark.parametrize("fabric", FABRICS)
def test_of_outages_that_overlap_the_last_to_end_counts(
    tmp_path: Path, fabric: dict[str, Any]
) -> None:
    # The disk is gone from 4 s to 17 s, its host from 8 s to 14 s: at 15 s only the host is back.
    faults = [
        {**OUTAGE, "until": "17 s", "part": {"osd": ["osd.0"]}},
        {**OUTAGE, "at": "8 s", "part": {"host": ["host.0"]}},
    ]
    found = run(tmp_path, faults, fabric)
    assert lost(found) == {"osd.0": 3, "osd.1": 1}
    assert found.metrics["during_seconds"] == 13.0


def test_without_a_timeout_requests_to_a_silent_host_over_loggp_hang(tmp_path: Path) -> None:
    fault = {**OUTAGE, "part": {"host": ["host.0"]}}
    found = run(tmp_path, [fault], {"routers": 1}, timeout=None)
    assert (found.metrics["requests_completed"], found.metrics["requests_hanging"]) == (11, 4)


@pytest.mark.parametrize("part", [{"link": ["host.0-switch.0"]}, {"switch": ["host.0"]}])
def test_a_slow_link_takes_as_many_times_as_long(tmp_path: Path, part: dict[str, Any]) -> None:
    def delays(fault: list[dict[str, Any]]) -> list[float]:
        found = run(tmp_path, fault, SWITCHED, osds=1)
        periods = ("before", "during", "after")
        return [float(found.metrics[f"{one}_mean_read_delay_seconds"] or 0) for one in periods]

    slow = {**OUTAGE, "part": part, "health": 0.1}
    before, during, after = delays([slow])
    # A read is 64 + 38 B there and 4,096 + 38 B back, 8 ns a byte, and now nine times that more.
    assert before == pytest.approx(after, abs=1e-12)
    assert during - before == pytest.approx(9 * (102 + 4134) * 8e-9, abs=1e-11)
    # With nothing of it taken away, no packet is lost, and the run names what was slow.
    assert run(tmp_path, [slow], SWITCHED).metrics["slow_parts"] == next(iter(part.values()))[0]


def test_the_system_rebuilds_what_it_is_told_of_and_nothing_else() -> None:
    def rebuilt(fault: dict[str, Any]) -> Any:
        study = Study.from_dict(
            {
                "cluster": {"parts": PARTS, "fabric": SWITCHED},
                "population": {"file_size": "1 MiB", "files": 60},
                "redundancy": {"replicas": 2},
                "placement": {"failure_domain": "host"},
                "faults": [fault],
            }
        )
        validate_runs(study.runs())
        return simulate(study.runs()[0].system, 1).metrics

    told = rebuilt({"part": {"host": ["host.0"]}})
    # 120 copies on three hosts: about 40 are lost, each by another object.
    assert 20 < told["rebuilt_objects"] == told["rebuilt_pieces"] < 60
    assert (told["failed_servers"], told.get("failed_parts")) == ("osd.0,osd.1", None)
    untold = rebuilt({"part": {"host": ["host.0"]}, "told": False})
    assert (untold["rebuilt_objects"], untold["affected_objects"]) == (0, 0)
    assert (untold["failed_servers"] or "", untold["failed_parts"]) == ("", "host.0")


# Two leaves joined by one link, the router at the first.
HOSTS = {"near-1": "left", "near-2": "left", "far-1": "right", "far-2": "right"}
GRAPH = graph_text(
    {"gate": "router", "left": "switch", "right": "switch", **dict.fromkeys(HOSTS, "host")},
    [("gate", "left"), ("left", "right"), *HOSTS.items()],
)


def test_what_is_cut_off_is_lost_and_named(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_text(GRAPH)
    (tmp_path / "study.toml").write_text(study_text("cut"))
    said = output("run", "study.toml", "-o", "out", cwd=tmp_path)
    (row,), servers = (table_rows(tmp_path, table) for table in ("runs", "servers"))
    # Nobody is told of the fault: a half of the first attempts go to the far side, and are lost at
    # the left switch, where no link leads on but those to the near side.
    far, near = ("server.2", "server.3"), ("server.0", "server.1")
    assert [one["name"] for one in servers if one["requests_lost"]] == [*far]
    assert row["requests_lost"] == sum(one["requests_lost"] for one in servers)
    assert row["failed_links"] == "left-right" and "server.2" in said
    # The near side is served all the time, by two disks.
    assert [one["name"] for one in servers if one["requests_completed"]] == [*near]
    assert row["simulated_seconds"] == 2.0
