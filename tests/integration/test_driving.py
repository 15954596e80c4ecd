"""Rebuilds that sources or managers drive: through the command, against what bounds each."""

from pathlib import Path
from typing import Any

import pytest

from resilver.study import simulate
from tests.build import STUDIES, study_of, system_of
from tests.reference.compare import real
from tests.terminal import json_output, output

DRIVEN = STUDIES["driven"]


def found(**keys: Any) -> Any:
    return simulate(system_of(DRIVEN, **keys), 1)


@pytest.mark.parametrize("managers", [1, 2, 4])
def test_managers_take_what_their_ports_let_through(managers: int) -> None:
    run = found(recovery__driver="manager", recovery__managers=managers)
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
        found(recovery__driver=name) for name in ("destination", "source", "manager")
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
    assert "Most waiting at one device unasked" in text
