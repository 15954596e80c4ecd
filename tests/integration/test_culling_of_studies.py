"""`resilver profile STUDY.toml --within`: slow disks of a study's own RAID sets go in rounds."""

from pathlib import Path

import numpy as np
import pytest

import resilver
from resilver.simulate import drawn_speeds
from resilver.study import simulate
from tests.integration.study_runs import study_text
from tests.terminal import json_output, with_page, written

SLOW = "faults=[{ part = { drive = 14 }, health = 0.8 }]"
SETS, MEMBERS, UNITS = 20, 10, 2


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return written(tmp_path / "study.toml", study_text("sets"))


def members(number: int) -> list[int]:
    """The drives of a set: two of each of its unit's five enclosures."""
    unit, own = divmod(number, SETS // UNITS)
    first = own * MEMBERS
    dealt = range(first, first + MEMBERS)
    return [unit * 100 + one % 5 * 20 + one // 5 for one in dealt]


def test_groups_are_as_fast_as_their_slowest_drives_of_the_same_seed(study: Path) -> None:
    culled = json_output("profile", study, "--within", "2%", "--set", "study.seeds=[7]")["culled"]
    speeds = drawn_speeds(0.03, 7, np.arange(200), np.zeros(200))
    slowest = [min(speeds[members(number)]) for number in range(SETS)]
    assert [one["before"] for one in culled["groups"]] == pytest.approx(slowest, rel=1e-12)
    assert [one["group"] for one in culled["groups"]] == [f"ost.{number}" for number in range(SETS)]
    # In the first round each set that is 2 % below the mean one loses its slowest drive.
    low = [number for number in range(SETS) if slowest[number] < 0.98 * np.mean(slowest)]
    first = {f"drive.{members(number)[np.argmin(speeds[members(number)])]}" for number in low}
    assert culled["rounds"][1]["outside"] == len(low) > 0
    assert first <= set(culled["disks"])


def test_clients_gain_what_the_groups_gain_where_disks_bind(study: Path) -> None:
    """A client a set, all bound by disks: together they get the sum of the sets' rates."""
    found = json_output("profile", study, "--within", "5%", "--of", "fastest", "--set", SLOW)
    culled = found["culled"]
    gain = np.mean([one["after"] for one in culled["groups"]])
    gain /= np.mean([one["before"] for one in culled["groups"]])
    assert found["binding_layer"] == culled["after"]["binding_layer"] == "drive"
    then = culled["after"]["rate_bytes_per_second"] / found["rate_bytes_per_second"]
    assert gain > 1.02 and then == pytest.approx(gain, rel=1e-6)


def test_the_culled_study_runs_and_has_nothing_left_to_replace(study: Path, tmp_path: Path) -> None:
    new, words = tmp_path / "new.toml", ("--within", "5%", "--of", "fastest")
    found = json_output("profile", study, *words, "--set", SLOW, "--culled", new)["culled"]
    again = json_output("profile", new, *words)
    assert [one["before"] for one in again["culled"]["groups"]] == pytest.approx(
        [one["after"] for one in found["groups"]], rel=1e-12
    )
    assert again["culled"]["disks"] == {} and len(again["culled"]["rounds"]) == 1
    assert again["rate_bytes_per_second"] == found["after"]["rate_bytes_per_second"]
    # By events too each disk works at its new speed: the same rate within 5 %.
    written = resilver.Study.load(new)
    assert written.runs()[0].system.traffic.engine == "events"  # type: ignore[union-attr]
    run = written.runs()[0]
    rate = simulate(run.system, run.seed).metrics["throughput_bytes_per_second"]
    assert rate == pytest.approx(found["after"]["rate_bytes_per_second"], rel=0.05)


def test_a_named_disk_is_replaced_by_a_healthy_one_and_a_slow_enclosure_stays(study: Path) -> None:
    slow = 'faults=[{ part = { drive = ["drive.3", "drive.150"] }, health = 0.5 }]'
    even = ("--set", "cluster.parts.3.spread=0.0", "--set", slow)
    found = json_output("profile", study, "--within", "5%", *even)["culled"]
    assert found["disks"] == {"drive.3": 1, "drive.150": 1}
    assert [(one["outside"], one["slowest"]) for one in found["rounds"]] == [(0, 0.5), (2, 1.0)]
    # 18 of 20 sets were whole.
    assert found["rounds"][0]["mean"] == pytest.approx(0.95)
    # New disks in a slow enclosure are slow. All sets of unit 0 have drives there, so that those of
    # unit 1 are 20 % faster for good.
    slow = 'faults=[{ part = { enclosure = ["enclosure.2"] }, health = 0.8 }]'
    even = ("--set", "cluster.parts.3.spread=0.0", "--set", slow)
    found = json_output("profile", study, "--within", "5%", *even, code=1)["culled"]
    assert not found["holds"]
    assert {(one["unit"], one["after"]) for one in found["groups"]} == {(0, 0.8), (1, 1.0)}
    # Of its own unit each set is as fast as the fastest.
    assert json_output("profile", study, "--within", "5%", "--of", "fastest", *even)["culled"][
        "holds"
    ]


def test_terminal_and_page_tell_of_rounds_and_groups(study: Path, tmp_path: Path) -> None:
    out, text = with_page(tmp_path, "profile", study, "--within", "2%")
    said = " ".join(out.split())
    assert "of 20 osts" in said and "Clients then get" in said and "Rounds" in said
    assert "chart-rounds" in text and "chart-groups" in text and "--within 2%" in text
