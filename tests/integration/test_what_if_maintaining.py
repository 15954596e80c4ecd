"""`resilver what-if --maintain`: the parts of a level stopped and started again in turn."""

import math
from pathlib import Path
from typing import Any

import pytest

from tests.terminal import answered, command, output, refusal

QUIET = ("--balance", "off")
LOAD = ("--load", "fast: 50 writes/s of 64 KiB", *QUIET)
AS_MAINTAINED = ("whole_seconds", "inactive_groups", "at_risk_groups", "recovered_bytes")


def _by_name(found: dict[str, Any]) -> dict[str, Any]:
    return {turn["name"]: turn for turn in found["turns"]}


# Oracle: two hosts in one plan, the second once the first turn has ended, by the same engine.
def test_turns_add_up_to_one_plan_of_all_of_them(small: Path) -> None:
    found = answered(small, "--maintain", "each host, 20 min, noout", *LOAD)
    turns = _by_name(found)
    assert len(turns) == 9 and found["holds"]
    assert found["total_seconds"] == math.fsum(one["turn_seconds"] for one in found["turns"])
    names = [name for name, turn in turns.items() if turn["recovered_bytes"]][:2]
    assert len(names) == 2, "no host had writes to catch up with"
    first, second = (turns[name] for name in names)
    steps, end = [], first["turn_seconds"]
    for name, start in zip(names, (0.0, end), strict=True):
        times = (start, start + 1200, start + 1260)
        steps += ["--flag", f"noout @ {times[0]} s", "--stop", f"host={name} @ {times[0]} s"]
        steps += ["--start", f"host={name} @ {times[1]} s", "--unflag", f"noout @ {times[2]} s"]
    both = answered(small, *steps, *LOAD)["answer"]
    assert both["whole_seconds"] == pytest.approx(end + second["whole_seconds"], rel=0.02)
    caught_up = sum(one["recovered_bytes"] for one in (first, second))
    assert both["recovered_bytes"] == pytest.approx(caught_up, rel=0.05)
    alone = answered(small, *steps[:8], *LOAD)["answer"]
    assert {key: alone[key] for key in AS_MAINTAINED} == {key: first[key] for key in AS_MAINTAINED}


def test_a_turn_ends_no_sooner_than_its_flags_are_unset_and_its_commands_are_those_of_a_plan(
    small: Path,
) -> None:
    found = answered(small, "--maintain", "host, 20 min, noout, norebalance", *QUIET)
    assert {turn["turn_seconds"] for turn in found["turns"]} == {1260.0}
    assert found["total_seconds"] == 9 * 1260.0 and found["level"] == "host"
    before, first, *_, last, note = found["commands"]
    assert (before, first) == ("ceph balancer off", "ceph osd set noout")
    assert last == "ceph osd unset norebalance"
    assert note == "# once the cluster is healthy, the next host"
    words = ("what-if", small, "--maintain", "each host, 20 min, noout")
    text = " ".join(output(*words, *QUIET).split())
    assert "9 hosts in turn, 20 min each with noout set: 3 h 9 min in all" in text
    assert "Safe to stop, one host after the other: no PG becomes inactive." in text
    assert "No client writes are stated (--load), so what is down comes back with all" in text
    some = " ".join(output(*words, *LOAD).split())
    assert "No client writes are stated for vms and archive (--load)" in some


def test_without_noout_data_moves_and_the_answer_leads_to_the_same_with_it(small: Path) -> None:
    printed = command("what-if", small, "--maintain", "each host, 20 min").stdout
    assert "TiB backfilled." in " ".join(printed.split())
    assert "in all, each once the cluster is healthy again, after 6 h" in " ".join(printed.split())
    assert printed.rstrip().endswith("--maintain 'each host, 20 min, noout'")
    # Before the monitors mark it out nothing moves.
    short = answered(small, "--maintain", "each host, 5 min", *LOAD)
    assert {turn["moved_bytes"] for turn in short["turns"]} == {0}
    assert sum(turn["recovered_bytes"] for turn in short["turns"]) > 0
    assert "Next" not in command("what-if", small, "--maintain", "each host, 5 min", *LOAD).stdout


def test_what_cannot_be_stopped_is_not_safe(small: Path) -> None:
    words = ("--maintain", "each rack, 10 min, noout")
    found = answered(small, *words, code=1)
    assert not found["holds"] and found["total_seconds"] is not None
    outage = answered(small, "--stop", "rack=rack-02", "--flag", "noout", code=1)["answer"]
    rack = _by_name(found)["rack-02"]
    assert rack["inactive_groups"] == outage["inactive_groups"] > 0
    assert rack["inactive_seconds"] == pytest.approx(600.0, abs=30.0)
    said = " ".join(command("what-if", small, *words).stdout.split())
    assert "Not safe: 3 of 3 racks cannot be stopped" in said.partition(" in turn, 10 min each")[0]


def test_changes_beside_have_settled_before_the_first_stop(small: Path) -> None:
    words = ("--crush-reweight", "osd.3=1.0", "--maintain", "each host, 1 min, noout")
    found = answered(small, *words)
    settled = answered(small, *words[:2])["answer"]["whole_seconds"]
    assert found["starts_seconds"] == pytest.approx(settled, rel=0.01)
    assert {turn["turn_seconds"] for turn in found["turns"]} == {120.0}


def test_neither_faults_before_it_nor_overload_are_blamed_on_maintenance(small: Path) -> None:
    """One answered with nine times the recovery of a fault, and one with PGs stuck before."""
    words = (*QUIET, "--maintain", "each host, 20 min, noout")
    down = ("--stop", "osd.3", "--flag", "noout")
    plain = answered(small, *QUIET, *down, code=1)["answer"]["stuck_groups"]
    said = refusal("what-if", small, *down, *words)
    assert plain and f"before the first stop {plain} PGs not clean" in said
    # An operator's own flag stays as it is.
    held = answered(small, "--flag", "noout", *words)
    assert held["flags"] == [] and held["commands"].count("ceph osd set noout") == 1
    assert not any("unset" in line for line in held["commands"])
    assert {turn["turn_seconds"] for turn in held["turns"]} == {1200.0}
    # What the cluster cannot serve anyway is not blamed on it either.
    words = (*QUIET, "--maintain", "each host, 20 min, noout")
    over = ("--load", "vms: 500000 writes/s of 64 KiB", "--horizon", "1 h")
    said = " ".join(command("what-if", small, *words, *over).stdout.split())
    assert "Clients ask for more than the cluster serves even without maintenance:" in said
    found = answered(small, *words, *LOAD)
    said = " ".join(command("what-if", small, *words, *LOAD).stdout.split())
    slowest = max(found["turns"], key=lambda turn: turn["p99_seconds"])
    assert slowest["p99_seconds"] > found["before"]["p99_seconds"] > 0
    assert f"({slowest['name']}), " in said and "without maintenance" in said


def test_an_outage_of_a_minute_is_seen_in_a_run_of_hours(small: Path) -> None:
    """A table over time of hours drops rows, but none of the most PGs inactive."""
    words = (*QUIET, "--maintain", "each rack, 1 min, noout")
    plain, busy = (
        _by_name(answered(small, *words, *load, code=1))
        for load in ((), ("--load", "vms: 3000 writes/s of 64 KiB"))
    )
    assert max(turn["turn_seconds"] for turn in busy.values()) > 3600
    for name, turn in busy.items():
        assert turn["inactive_groups"] == plain[name]["inactive_groups"] > 0
        assert turn["at_risk_groups"] >= plain[name]["at_risk_groups"] > 0


def test_without_maintenance_is_after_the_changes_have_settled(small: Path) -> None:
    load = ("--load", "vms: 100 reads/s of 64 KiB")
    words = (*QUIET, "--maintain", "each host, 1 min, noout", *load)
    found = answered(small, "--crush-reweight", "osd.3=13", *words)
    still, moving = (
        answered(small, *QUIET, *load, *more)["answer"]["p99_seconds"]
        for more in ((), ("--crush-reweight", "osd.3=13"))
    )
    # The OSD has less to do than before, and much less than while data moves to it.
    assert found["starts_seconds"] > 0 and moving > 2 * still
    assert found["before"]["p99_seconds"] == pytest.approx(still, rel=0.25)
    assert found["before"]["moved_bytes"] == 0
    waits = [line for line in found["commands"] if line.startswith("# once no data moves")]
    assert found["commands"].index(waits[0]) < found["commands"].index("ceph osd set noout")
