"""Failures that devices find out themselves: when, at what cost, and what follows of it."""

import math
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from resilver.simulate import RunResult
from resilver.study import Results, simulate
from tests.build import STUDIES, study_of, system_of
from tests.integration.study_runs import RUNS
from tests.reference.compare import real
from tests.terminal import output

WATCHED = STUDIES["watched"]


def result_of(change: str = "", seed: int = 1, **keys: Any) -> RunResult:
    return simulate(system_of(WATCHED, change, **keys), seed)


def rows(found: RunResult) -> list[dict[str, Any]]:
    return found.tables["detection"].to_pylist()


def test_the_command_tells_when_a_failure_is_known_as_swim_s_law_has_it(tmp_path: Path) -> None:
    study = tmp_path / "watched.toml"
    study.write_text(study_of(WATCHED, 'study = { seeds = 30, title = "watched" }').to_toml())
    text = output("run", study, "-o", "runs", cwd=tmp_path)
    assert "; detection takes" in text
    runs = Results.open(tmp_path / "runs")
    found = runs.detection.to_pylist()
    assert [row["device"] for row in found] == ["server.7"] * 30
    assert all(row["informed"] == row["others"] == 23 for row in found)
    # Of 23 others each probes one of 23 a period, and takes a silent one for failed a period later;
    # Das, Gupta and Motivala (2002) give the mean number of periods until the first does.
    periods = [math.ceil(row["first_seconds"] - 1) for row in found]
    expected = 1 / (1 - (1 - 1 / 23) ** 23)
    assert abs(fmean(periods) - expected) < 5 * stdev(periods) / math.sqrt(30)
    for row, run in zip(found, runs.runs.to_pylist(), strict=True):
        assert row["first_seconds"] <= row["half_seconds"] <= row["all_seconds"]
        assert run["detection_seconds"] == row["detection_seconds"] == row["all_seconds"]
        assert run["rebuild_seconds"] > run["detection_seconds"]


def test_a_rebuild_begins_as_if_the_study_said_when_the_failure_is_known() -> None:
    found = result_of()
    (row,) = rows(found)
    stated = result_of(detection=None, faults__0__detection=f"{row['detection_seconds']!r} s")
    assert real(found, "rebuild_seconds") == pytest.approx(
        real(stated, "rebuild_seconds"), abs=1e-9
    )
    for name in ("rebuilt_bytes", "rebuilt_pieces", "network_bytes"):
        assert found.metrics[name] == stated.metrics[name]
    # What only the first has to know is rebuilt sooner, by what the news takes to spread.
    early = result_of(detection__known_by="first")
    sooner = real(found, "rebuild_seconds") - real(early, "rebuild_seconds")
    assert sooner == pytest.approx(row["all_seconds"] - row["first_seconds"], abs=0.05)


def test_a_fault_that_says_when_it_is_known_needs_no_protocol() -> None:
    for seconds in (0, 7):
        found = result_of(faults__0__detection=f"{seconds} s")
        assert (rows(found), found.metrics["detection_seconds"]) == ([], None)
        assert seconds < real(found, "rebuild_seconds") < seconds + 2


def test_what_is_back_before_anybody_knows_is_an_outage() -> None:
    found = result_of(faults__0__until="2 s")
    assert (found.metrics["rebuilt_objects"], found.metrics["failed_servers"]) == (0, "")
    assert (rows(found), found.metrics["detection_seconds"]) == ([], None)


def test_each_failure_is_found_out_by_those_that_are_left() -> None:
    faults = """faults = [
      { at = "1 s", fail.servers = ["server.7", "server.8"] },
      { at = "60 s", fail.servers = ["server.9"] },
      { at = "60 s", part.server = ["server.10"], told = false },
    ]"""
    found = rows(result_of(faults, detection__protocol="monitor"))
    assert [(row["faults"], row["device"], row["others"]) for row in found] == [
        ("faults.0", "server.7", 22),
        ("faults.0", "server.8", 22),
        ("faults.1", "server.9", 20),
    ]
    # Monitors are the servers 0, 8 and 16; the second has failed.
    assert {row["first_device"] for row in found} <= {"server.0", "server.16"}


@pytest.mark.parametrize("protocol", ["monitor", "all_to_all", "gossip", "swim"])
def test_messages_cross_the_network_and_go_round_what_is_dead(protocol: str) -> None:
    # Each of eight hosts of a ring passes messages on; through a dead one nothing goes.
    ring = {"model": "switched", "topology": "torus 8", "link_rate": "1 Gb/s"}
    timeout = "0.5 s" if protocol == "swim" else "9 s"
    near, far = (
        result_of(
            cluster={"device": "jbod10-sata", "fabric": ring | {"link_latency": latency}},
            detection={"protocol": protocol, "timeout": timeout},
        )
        for latency in ("0 s", "10 ms")
    )
    for found in (near, far):
        (row,) = rows(found)
        assert row["informed"] == row["others"] == 7
    if protocol != "swim":
        # It draws whom it asks, and in another order.
        assert rows(far)[0]["all_seconds"] > rows(near)[0]["all_seconds"]


def test_other_traffic_delays_heartbeats_until_they_are_false_alarms() -> None:
    keys = {"detection__protocol": "all_to_all", "detection__timeout": "1.2 s"}
    quiet, busy = (
        result_of(detection__background=rate, detection__background_message="256 MiB", **keys)
        for rate in ("100 MB/s", "1.5 GB/s")
    )
    alarms = [real(found, "false_alarms_per_hour") for found in (quiet, busy)]
    assert alarms[1] > 20 * alarms[0]


def test_what_has_no_device_or_is_gone_already_is_known_at_once() -> None:
    later = '{ at = "9 s", part.rack = ["rack.3"] }'
    twice = f'faults = [{{ at = "1 s", fail.servers = ["server.7"] }}, {later}]'
    found = rows(result_of(twice, cluster__racks=12))
    assert [row["device"] for row in found] == ["server.7", "server.6"]
    controllers = simulate(system_of(RUNS["controllers"], "detection = {}"), 1)
    assert (rows(controllers), controllers.metrics["detection_seconds"]) == ([], None)


LEAVES = """
cluster.servers = "(absent)"
cluster.racks = 4
cluster.fabric.model = "switched"
cluster.fabric.topology = "leaf spine 4x2 hosts 4 entries 1"
cluster.fabric.link_rate = "10 Gb/s"
"""


@pytest.mark.parametrize("protocol", ["monitor", "all_to_all", "gossip", "swim"])
def test_a_rack_that_goes_with_its_switch_is_known_no_sooner(protocol: str) -> None:
    rack = '{ at = "1 s", part.rack = ["rack.1"] }'
    times = [
        rows(result_of(f"{LEAVES}faults = [{faults}]\ndetection.protocol = '{protocol}'"))
        for faults in (rack, f'{rack}, {{ at = "1 s", part.switch = ["switch.1"] }}')
    ]
    for found in times:
        assert [row["device"] for row in found] == [f"server.{one}" for one in (4, 5, 6, 7)]
        assert all(row["informed"] == row["others"] == 12 for row in found)
        assert all(row["false_alarms"] == 0 and row["first_seconds"] > 1 for row in found)


def test_who_is_cut_off_is_not_waited_for_and_what_nobody_learns_is_not_rebuilt(
    tmp_path: Path,
) -> None:
    cut = '{ at = "1 s", part.switch = ["switch.3"] }, { at = "9 s", fail.servers = ["server.1"] }'
    (row,) = rows(result_of(f"{LEAVES}faults = [{cut}]\ndetection.protocol = 'all_to_all'"))
    assert (row["informed"], row["others"], row["all_seconds"]) == (11, 15, None)
    assert 4 < row["detection_seconds"] < 6
    alone = {"protocol": "monitor", "monitors": 1}
    found = result_of(detection=alone, faults__0__fail={"servers": ["server.0"]})
    assert (found.metrics["detection_seconds"], found.metrics["rebuilt_objects"]) == (None, 0)
    assert [(row["informed"], row["detection_seconds"]) for row in rows(found)] == [(0, None)]
    study = study_of(WATCHED, detection=alone, faults__0__fail={"servers": ["server.0"]})
    (tmp_path / "alone.toml").write_text(study.to_toml())
    assert output("run", "alone.toml", cwd=tmp_path).startswith("No failure is detected.")


@pytest.mark.parametrize("switch", ["switch.0", "switch.1"])
def test_members_of_two_ports_send_by_the_side_that_works(switch: str) -> None:
    change = f"""
    cluster.servers = 4
    cluster.ports = 2
    cluster.fabric.model = "switched"
    cluster.fabric.topology = "leaf spine 4x2 hosts 2"
    cluster.fabric.link_rate = "10 Gb/s"
    redundancy.replicas = 2
    faults = [{{ part.switch = ["{switch}"] }}, {{ at = "5 s", fail.servers = ["server.2"] }}]
    """
    (row,) = rows(result_of(change))
    assert (row["informed"], row["false_alarms"]) == (3, 0)
