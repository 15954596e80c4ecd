"""Rebuilds that sources or managers drive: through the command, against what bounds each."""

from pathlib import Path
from typing import Any

import pytest

from resilver.explore.study_offers import study_offers
from resilver.study import simulate
from tests.build import STUDIES, study_of, system_of
from tests.reference.compare import real
from tests.terminal import json_output, output

DRIVEN = STUDIES["driven"]


def result_of(**keys: Any) -> Any:
    return simulate(system_of(DRIVEN, **keys), 1)


@pytest.mark.parametrize("managers", [1, 2, 4])
def test_managers_take_what_their_ports_let_through(managers: int) -> None:
    run = result_of(recovery__driver="manager", recovery__managers=managers)
    rows = {row["name"]: row for row in run.servers.to_pylist()}
    seats = [f"server.{seat * 24 // managers}" for seat in range(managers)]
    # All that is made passes a manager's port, but for what it has itself or is to have.
    sent = sum(rows[seat]["sent_bytes"] for seat in seats)
    assert 0.8 * run.metrics["rebuilt_bytes"] < sent <= 1.1 * run.metrics["rebuilt_bytes"]
    # A port lets 1.8 GiB/s through each way: so long it takes, and little longer.
    system = system_of(DRIVEN)
    table = system.cluster.fabric.table
    assert table is not None
    rate = 1 / table.rows[-1].gap_per_byte_seconds
    bound = sent / managers / rate
    assert bound <= real(run, "rebuild_seconds") <= 1.3 * bound
    # They ask for no more than they have memory for, and so nobody has more to write.
    assert real(run, "push_backlog_bytes") <= managers * 512 * 2**20


def test_whoever_drives_makes_the_same_and_only_a_pull_asks_first() -> None:
    pull, push, managed = (
        result_of(recovery__driver=name) for name in ("destination", "source", "manager")
    )
    for name in ("rebuilt_bytes", "rebuilt_pieces", "device_bytes_read", "device_bytes_written"):
        assert pull.metrics[name] == push.metrics[name] == managed.metrics[name], name
    assert pull.metrics["push_backlog_bytes"] is None
    assert not any(row["push_backlog_bytes"] for row in pull.servers.to_pylist())
    # Each of 22 others may send a server what it has not asked for.
    most = max(row["push_backlog_bytes"] for row in push.servers.to_pylist())
    assert real(push, "push_backlog_bytes") == most
    assert 512 * 2**20 < most <= 22 * 512 * 2**20
    # A push sends what a pull does, with a word back in place of a request.
    assert push.metrics["network_bytes"] == pull.metrics["network_bytes"]
    assert 1.7 < real(managed, "network_bytes") / real(pull, "network_bytes") < 2


def test_the_command_names_what_managers_are_held_up_by(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(study_of(DRIVEN, 'recovery.driver = "manager"').to_toml())
    said = json_output("run", study, "--sensitivity", "-o", "runs", cwd=tmp_path)
    effects = {one["assumption"]: one for one in said["sensitivity"]}
    # Two managers have two ports, which take half the time; disks take none of it.
    assert effects["managers"]["high_change"] == pytest.approx(-0.5, abs=0.05)
    assert effects["network rate"]["high_change"] == pytest.approx(-0.5, abs=0.05)
    assert abs(effects["devices"]["high_change"]) < 0.05
    assert said["runs"][0]["waited_for"] == "server.0's port"
    text = " ".join(output("run", study, "-o", "runs", cwd=tmp_path).split())
    assert "driver 1 manager (from the study)" in text
    assert "Largest backlog of pushed writes" in text


LOSSY = {
    "cluster": {
        "servers": 12,
        "device": {"service": "1 ms"},
        "ports": 2,
        "fabric": {
            "model": "switched",
            "topology": "leaf spine 6x2 hosts 8",
            "link_rate": "1 Gb/s",
            "packet_size": "64 KiB",
        },
    },
    "placement": {"algorithm": "declustered"},
    "redundancy": {"code": "rs 4+2", "coding": "100 MB/s"},
    "population": {"files": 12, "file_size": "2 MiB"},
    "recovery": {
        "pipeline_buffer": "1 MiB",
        "receive_memory": "4 MiB",
        "source": "random",
        "retry_after": "200 us",
        "attempts": 2,
    },
    "faults": [
        {"fail": {"servers": ["server.8"]}, "detection": "1 ms"},
        {"at": "120 ms", "fail": {"servers": ["server.5", "server.11"]}},
        {"at": "600 ms", "fail": {"servers": ["server.6"]}},
        {"at": "1 ms", "fail": {"servers": ["server.9"]}, "until": "1 s", "detection": "30 ms"},
        {"part": {"link": 2}},
    ],
}


@pytest.mark.parametrize("driver", ["destination", "source", "manager"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_lost_while_it_leaves_is_not_sent_again_before_it_has(
    driver: str, seed: int
) -> None:
    # A message of 512 KiB takes 4 ms to leave, and is requested again 0.2 ms after it is lost: each
    # run holds the law that all memory is given back.
    managers = {"recovery__managers": 3} if driver == "manager" else {}
    run = simulate(system_of(LOSSY, recovery__driver=driver, **managers), seed)
    assert real(run, "rebuilt_pieces") > 0


def test_a_manager_that_dies_undetected_leaves_the_queue_to_the_others() -> None:
    dies = {"at": "500 ms", "part": {"server": ["server.0"]}, "told": False}
    faults = [{"fail": {"servers": ["server.7"]}}, dies]

    def run(**recovery: Any) -> Any:
        return result_of(
            faults=faults, recovery__attempts=2, recovery__driver="manager", **recovery
        )

    alone, among_four = run(), run(recovery__managers=4)
    # The queue of a manager alone is out of reach, and that of four is not: they lose what it had
    # begun, some more than its 512 MiB in files of 64 MiB, and what was to come to it.
    assert real(alone, "unreachable_objects") > 0.8 * real(alone, "affected_objects")
    to_it = result_of(recovery__driver="manager").servers.to_pylist()[0]["rebuilt_objects"]
    assert 0 < real(among_four, "unreachable_objects") <= 2 * 8 + to_it


def test_pages_and_answers_tell_numbers_of_managers_apart(tmp_path: Path) -> None:
    swept = 'recovery.driver = "manager"\nstudy.sweep = { "recovery.managers" = [1, 2, 4] }'
    study = tmp_path / "study.toml"
    study.write_text(study_of(DRIVEN, swept).to_toml())
    text = " ".join(output("run", study, "-o", "runs", cwd=tmp_path).split())
    assert "driver 1 manager, 2 managers, 4 managers (from the study)" in text
    stated = study_of(DRIVEN, 'recovery = { driver = "manager", managers = 3 }')
    controls = study_offers(stated, stated.runs()[0].system)
    (control,) = (one for one in controls if one.key == "recovery.driver")
    labels = [stop.label for stop in control.stops]
    assert labels == [
        "destination",
        "source",
        "1 manager",
        "3 managers",
        "4 managers",
        "16 managers",
    ]
    assert control.now == "3 managers"


def test_an_answer_says_what_could_not_be_rebuilt(tmp_path: Path) -> None:
    faults = [
        {"fail": {"servers": ["server.7"]}},
        {"at": "500 ms", "part": {"server": ["server.0"]}, "told": False},
    ]
    study = tmp_path / "study.toml"
    study.write_text(study_of(DRIVEN, faults=faults, recovery__attempts=2).to_toml())
    text = " ".join(output("run", study, "-o", "runs", cwd=tmp_path).split())
    assert "What can be rebuilt is fully redundant" in text and "could not be reached" in text
    assert "All data is fully redundant" not in text


def test_a_piece_whose_way_is_lost_may_stay_where_another_came() -> None:
    # Six servers are left for seven pieces: one was to move to a server that was gone undetected.
    cluster = {"servers": 8, "device": {"service": "0.2 ms"}, "fabric": {"table": "qdr-infiniband"}}
    late = {"fail": {"servers": ["server.6"]}, "detection": "200 ms"}
    system = system_of(
        {
            "cluster": cluster,
            "population": {"files": 1, "file_size": "2 MiB"},
            "placement": {"placement_groups": 64},
            "redundancy": {"code": "lrc 4+3 local 2"},
            "recovery": {"pipeline_buffer": "256 KiB"},
            "faults": [late, {"at": "1 ms", "fail": {"servers": ["server.5"]}}],
        }
    )
    assert simulate(system, 1).metrics["unrecoverable_objects"] == 0
