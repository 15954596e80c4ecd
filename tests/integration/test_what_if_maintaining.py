"""`resilver what-if --maintain`: the parts of a level stopped and started again in turn."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.front_door import answered, command
from tests.terminal import refusal

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
    first, *_, last, note = found["commands"]
    assert (first, last) == ("ceph balancer off", "ceph osd unset norebalance")
    assert note == "# once the cluster is healthy, the next host"
    said = command(
        "what-if", small, "--maintain", "each host, 20 min, noout", *QUIET
    ).stdout.split()
    text = " ".join(said)
    assert "9 hosts in turn, 20 min each with noout set: 3 h 9 min in all" in text
    assert "No client load is stated (--load), so nothing is written" in text
    assert "No PG is inactive: each host can be stopped without an outage." in text


def test_without_noout_data_moves_and_the_answer_leads_to_the_same_with_it(small: Path) -> None:
    printed = command("what-if", small, "--maintain", "each host, 20 min").stdout
    assert "re-replicated and moved in all." in " ".join(printed.split())
    assert printed.rstrip().endswith("--maintain 'each host, 20 min, noout'")
    # Before the monitors mark it out nothing moves.
    short = answered(small, "--maintain", "each host, 5 min")
    assert {turn["recovered_bytes"] + turn["moved_bytes"] for turn in short["turns"]} == {0}


def test_what_cannot_be_stopped_is_not_safe(small: Path) -> None:
    words = ("--maintain", "each rack, 10 min, noout")
    found = answered(small, *words, code=1)
    assert not found["holds"] and found["total_seconds"] is not None
    outage = answered(small, "--stop", "rack=rack-02", "--flag", "noout", code=1)["answer"]
    rack = _by_name(found)["rack-02"]
    assert rack["inactive_groups"] == outage["inactive_groups"] > 0
    assert rack["inactive_seconds"] == pytest.approx(600.0, abs=30.0)
    said = " ".join(command("what-if", small, *words).stdout.split())
    assert "Not safe: 3 of 3 racks cannot be stopped without an outage;" in said


def test_changes_beside_have_settled_before_the_first_stop(small: Path) -> None:
    words = ("--crush-reweight", "osd.3=1.0", "--maintain", "each osd, 1 min, noout")
    found = answered(small, *words)
    settled = answered(small, *words[:2])["answer"]["whole_seconds"]
    assert found["starts_seconds"] == pytest.approx(settled, rel=0.01)
    assert {turn["turn_seconds"] for turn in found["turns"]} == {120.0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["host"], 'such as "each host, 20 min, noout"'),
        (["each , 20 min"], 'such as "each host, 20 min, noout"'),
        (["each host, 20"], "--maintain"),
        (["each host, 0 s"], "a part is down for some time"),
        (["each host, -5 min"], "--maintain"),
        (["each host, 300 d"], "213 days"),
        (["each hots, 20 min"], 'the map has no such level; did you mean "host"?'),
        (["each host, 20 min, nout"], 'did you mean "noout"?'),
        (["each host, 20 min, "], "--maintain"),
        (["each host, 20 min", "--each", "host"], "parts fail in turn or are maintained"),
        (["each host, 20 min", "--tables", "there"], "a ranking has no tables of runs"),
        (["each host, 20 min", "--counterfactuals"], "ask for one plan alone"),
        (["each host, 20 min", "--search", "fill", "--aim", "any host heals"], "ask for one"),
    ],
)
def test_what_is_no_maintenance_is_refused(small: Path, words: list[str], said: str) -> None:
    assert said in refusal("what-if", small, "--maintain", *words)
