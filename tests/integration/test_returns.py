"""Parts of which the system is told that they are gone, and that come back with what they held."""

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

COUNTS = ("rebuilt_pieces", "returned_pieces", "surplus_pieces", "unreachable_pieces")


def perform(study: dict[str, Any], folder: Path | None = None) -> RunResult:
    """What the first run of a study comes to."""
    made = Study.from_dict(study, folder)
    validate_runs(made.runs())
    return simulate(made.runs()[0].system, 1)


def run(faults: list[dict[str, Any]], folder: Path | None = None, **sections: Any) -> RunResult:
    """Files of 1 MiB in two copies on six servers; `sections` takes the place of any of this."""
    study = {
        "cluster": {"servers": 6, "device": {"service": "1 ms"}},
        "population": {"file_size": "1 MiB", "files": 300},
        "redundancy": {"replicas": 2},
        "placement": {"algorithm": "rendezvous"},
        "recovery": {"pipeline_buffer": "256 KiB", "receive_memory": "1 MiB"},
        "faults": faults,
    }
    return perform({**study, **sections}, folder)


def counts(found: RunResult) -> tuple[Any, ...]:
    return tuple(found.metrics[name] for name in COUNTS)


def test_what_comes_back_is_whole_again_or_not_needed() -> None:
    away = run([{"part": {"server": ["server.2"]}}]).metrics
    lost, seconds = away["rebuilt_pieces"], float(away["rebuild_seconds"] or 0)
    assert isinstance(lost, int) and lost > 50 and away["returned_pieces"] is None
    seen = []
    for share in (0.0, 0.3, 0.6, 0.9, 1.5):
        until = max(share * seconds, 1e-9)
        found = run([{"part": {"server": ["server.2"]}, "until": f"{until} s"}])
        rebuilt, returned, surplus, unreachable = counts(found)
        # Each lost piece is made anew or comes back, and the server brings one of each.
        assert (rebuilt + returned, rebuilt, unreachable) == (lost, surplus, 0), share
        assert found.metrics["returned_objects"] == returned
        assert found.metrics["remapped_pieces"] == 0
        whole = float(found.metrics["last_redundant_seconds"] or 0)
        assert whole == pytest.approx(until if returned else seconds)
        assert whole == found.metrics["rebuild_seconds"]
        seen.append(rebuilt)
    assert seen[0] == 0 < seen[1] < seen[2] < seen[3] < seen[4] == lost


def test_objects_of_which_all_copies_were_gone_are_there_again() -> None:
    # Half of the servers go, and with them both copies of about a fifth of the objects.
    gone = ["server.0", "server.1", "server.2"]
    away = run([{"part": {"server": gone}}]).metrics
    assert int(away["unrecoverable_objects"] or 0) > 30
    back = run([{"part": {"server": gone[:2]}, "until": "1 h"}, {"part": {"server": gone[2:]}}])
    # Those with a copy on the third were made anew as soon as the other copy was back.
    assert back.metrics["unrecoverable_objects"] == back.metrics["undersized_replicas"] == 0
    assert int(back.metrics["returned_pieces"] or 0) > 60
    assert float(back.metrics["rebuild_seconds"] or 0) > 3600


def test_clients_ask_a_device_again_from_its_return_on(tmp_path: Path) -> None:
    rows = "".join(f"{at},read,4096,server.2\n" for at in (1, 5, 9, 15, 20))
    (tmp_path / "trace.csv").write_text(f"seconds,kind,size,target\n{rows}")
    fault = {"at": "4 s", "part": {"server": ["server.2"]}, "until": "14 s"}
    # A rebuild of a byte a second makes nothing anew meanwhile.
    found = run(
        [fault],
        tmp_path,
        recovery={"pipeline_buffer": "256 KiB", "bandwidth": "1 B/s"},
        cluster={"servers": 6, "device": {"service": "1 ms"}, "fabric": {"routers": 1}},
        traffic={"arrivals": {"trace": "trace.csv"}, "timeout": "1 s", "duration": "30 s"},
    )
    reads = {row["name"]: row["requests_read"] for row in found.servers.to_pylist()}
    # Those of 5 s and 9 s are read from the other copy, and none is lost.
    assert reads.pop("server.2") == 3 and sum(reads.values()) == 2
    metrics = found.metrics
    assert (metrics["requests_completed"], metrics["requests_lost"]) == (5, 0)
    assert metrics["degraded_reads"] == 2
    counted = [metrics[f"{period}_requests_completed"] for period in ("before", "during", "after")]
    assert (counted, metrics["during_seconds"]) == ([1, 2, 2], 10.0)


def ring(folder: Path) -> dict[str, Any]:
    """A network of six hosts in a ring, which pass packets on for each other."""
    names = [f"h{number}" for number in range(6)]
    kinds = dict.fromkeys(names, "host")
    (folder / "ring.json").write_text(graph_text(kinds, pairwise([*names, names[0]])))
    return network({"graph": "ring.json"})


def network(topology: Any) -> dict[str, Any]:
    """A cluster of as many servers as a topology has hosts."""
    fabric = {"model": "switched", "topology": topology, "link_rate": "1 Gb/s"}
    return {"cluster": {"device": {"service": "1 ms"}, "fabric": fabric}}


def passed(found: RunResult, host: str) -> int:
    """Data on the links of a host."""
    rows = [row for row in found.links.to_pylist() if host in (row["from_name"], row["to_name"])]
    return sum(row["forward_bytes"] + row["backward_bytes"] for row in rows)


def test_a_told_host_passes_no_packets_and_cuts_off_what_lies_behind(tmp_path: Path) -> None:
    torus = network("torus 3x4")
    host = run([{"part": {"server": ["server.5"]}}], **torus)
    disk = run([{"part": {"disk": ["server.5"]}, "told": True}], **torus)
    # The same pieces are made anew: there are other ways round one host of a torus.
    assert counts(host) == counts(disk) and counts(host)[0] > 0 == counts(host)[3]
    assert passed(host, "host.5") == 0 < passed(disk, "host.5")
    # Once it is back it passes them on again, for the rebuild of another.
    gone = {"part": {"server": ["server.5"]}, "until": "1 ms"}
    back = run([gone, {"at": "2 ms", "part": {"server": ["server.6"]}}], **torus)
    assert passed(back, "host.5") > 0
    assert counts(back)[1] > 0 == counts(back)[3]
    # What lies between two told hosts is out of reach.
    faults = [{"part": {"server": ["server.1", "server.4"]}}]
    cut = run(faults, tmp_path, **ring(tmp_path))
    # server.2 and server.3 are cut off from server.5 and server.0.
    assert counts(cut)[3] > 0
    sent = cut.transfers.to_pylist()
    sides = {(row["source"] in (2, 3), row["destination"] in (2, 3)) for row in sent}
    assert sides <= {(True, True), (False, False)}
    disks = [{"part": {"disk": ["server.1", "server.4"]}, "told": True}]
    assert counts(run(disks, tmp_path, **ring(tmp_path)))[3] == 0


UNIT = [
    {"level": "unit", "count": 1},
    {
        "level": "controller",
        "in": "unit",
        "count": 2,
        "carries": "drive",
        "service": "100 MB/s",
        "partner": True,
    },
    {"level": "drive", "in": "unit", "count": 40, "device": {"service": "1 ms"}},
]


def test_a_controller_that_is_back_has_its_load_again() -> None:
    study = {
        "cluster": {"parts": UNIT, "fabric": {"routers": 8}},
        "traffic": {
            "outstanding": 64,
            "reads": 1.0,
            "request_size": "1 MB",
            "warm_up": "5 s",
            "duration": "20 s",
        },
    }
    fault = {"at": "10 s", "part": {"controller": ["controller.0"]}, "until": "20 s"}
    found = perform({**study, "faults": [fault]})
    busy = {row["name"]: row["busy_fraction"] for row in found.parts.to_pylist()}
    # Clients keep both full: one serves for 10 of the 20 s from 5 s on, the other all the time.
    assert busy["controller.0"] == pytest.approx(0.5, abs=0.02)
    assert busy["controller.1"] == pytest.approx(1.0, abs=0.02)
    rates = [
        float(found.metrics[f"{one}_throughput_bytes_per_second"] or 0)
        for one in ("before", "during", "after")
    ]
    assert rates == pytest.approx([200e6, 100e6, 200e6], rel=0.04)


def test_what_a_controller_without_a_partner_carries_comes_back_with_it() -> None:
    alone = [UNIT[0], {**UNIT[1], "partner": False}, UNIT[2]]
    sections: dict[str, Any] = {
        "cluster": {"parts": alone},
        "placement": {"algorithm": "rendezvous", "failure_domain": "drive"},
    }
    fault = {"part": {"controller": ["controller.0"]}, "until": "1 ms"}
    back = run([fault], **sections)
    rebuilt, returned, surplus, _ = counts(back)
    # Half of the 600 copies were behind it, of some objects both.
    assert 240 < rebuilt + returned < 360 and rebuilt == surplus < 20
    assert back.metrics["unrecoverable_objects"] == 0
    both = [fault, {**fault, "part": {"controller": ["controller.1"]}, "at": "500 us"}]
    with pytest.raises(Exception, match="no device is left"):
        run(both, **sections)


def test_a_study_says_what_came_back(tmp_path: Path) -> None:
    (tmp_path / "back.toml").write_text(study_text("back"))
    output("check", "back.toml", cwd=tmp_path)
    assert "Returned with their parts" in output("run", "back.toml", "-o", "run", cwd=tmp_path)


# Parts that are gone or slow for a while with nobody told: what requests meet, and afterwards.


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


def outage(
    folder: Path,
    faults: list[dict[str, Any]],
    fabric: dict[str, Any],
    osds: int = 3,
    **traffic: Any,
) -> RunResult:
    """Reads of 4 KiB from osd.0, osd.1 and so on at each of the times, and what became of them."""
    rows = [f"{at},read,4096,osd.{osd}" for at in ASKED_AT for osd in range(osds)]
    (folder / "trace.csv").write_text("seconds,kind,size,target\n" + "\n".join(rows) + "\n")
    asked = {"arrivals": {"trace": "trace.csv"}, "timeout": "1 s", "duration": "30 s"} | traffic
    cluster = {"parts": PARTS, "fabric": fabric}
    return perform({"cluster": cluster, "traffic": asked, "faults": faults}, folder)


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
    found = outage(tmp_path, [{**OUTAGE, "part": {"host": ["host.0"]}}], fabric)
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
        found = outage(tmp_path, [{**OUTAGE, "part": part}], fabric)
        assert lost(found) == {"osd.0": 2}
    assert found.metrics["packets_dropped"] in (0, None)


def test_a_host_that_is_gone_passes_no_packets(tmp_path: Path) -> None:
    # In a row of hosts with the router at its end, the last two are reached through the first.
    row = {"model": "switched", "topology": {"graph": "row.json"}, "link_rate": "1 Gb/s"}
    kinds = {"gate": "router", "a": "host", "b": "host", "c": "host"}
    (tmp_path / "row.json").write_text(graph_text(kinds, pairwise(kinds)))
    gone = outage(tmp_path, [{**OUTAGE, "part": {"host": ["host.0"]}}], row)
    # Not even osd.2 in host.1 can be reached, and nobody else to ask in its place.
    assert lost(gone).keys() >= {"osd.0", "osd.1", "osd.2"}
    disks = outage(tmp_path, [{**OUTAGE, "part": {"osd": ["osd.0", "osd.1"]}}], row)
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
    found = outage(tmp_path, faults, fabric)
    assert lost(found) == {"osd.0": 3, "osd.1": 1}
    assert found.metrics["during_seconds"] == 13.0


def test_without_a_timeout_requests_to_a_silent_host_over_loggp_hang(tmp_path: Path) -> None:
    fault = {**OUTAGE, "part": {"host": ["host.0"]}}
    found = outage(tmp_path, [fault], {"routers": 1}, timeout=None)
    assert (found.metrics["requests_completed"], found.metrics["requests_hanging"]) == (11, 4)


@pytest.mark.parametrize("part", [{"link": ["host.0-switch.0"]}, {"switch": ["host.0"]}])
def test_a_slow_link_takes_as_many_times_as_long(tmp_path: Path, part: dict[str, Any]) -> None:
    def delays(fault: list[dict[str, Any]]) -> list[float]:
        found = outage(tmp_path, fault, SWITCHED, osds=1)
        periods = ("before", "during", "after")
        return [float(found.metrics[f"{one}_mean_read_delay_seconds"] or 0) for one in periods]

    slow = {**OUTAGE, "part": part, "health": 0.1}
    before, during, after = delays([slow])
    # A read is 64 + 38 B there and 4,096 + 38 B back, 8 ns a byte, and now nine times that more.
    assert before == pytest.approx(after, abs=1e-12)
    assert during - before == pytest.approx(9 * (102 + 4134) * 8e-9, abs=1e-11)
    # With nothing of it taken away, no packet is lost, and the run names what was slow.
    assert outage(tmp_path, [slow], SWITCHED).metrics["slow_parts"] == next(iter(part.values()))[0]


def test_the_system_rebuilds_what_it_is_told_of_and_nothing_else() -> None:
    def rebuilt(fault: dict[str, Any]) -> Any:
        study = {
            "cluster": {"parts": PARTS, "fabric": SWITCHED},
            "population": {"file_size": "1 MiB", "files": 60},
            "redundancy": {"replicas": 2},
            "placement": {"failure_domain": "host"},
            "faults": [fault],
        }
        return perform(study).metrics

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
