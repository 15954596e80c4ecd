"""A bottleneck is what a rerun shows, and each rerun is a command that a user may type."""

from pathlib import Path
from typing import Any

import pytest

from resilver.counterfactuals import BOTTLENECK_SHARE, HELPS_SHARE
from tests.terminal import json_output, output

HOST = ("--fill", "60%", "--fail", "host=cloud3-1359")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.html"


def answered(report: Path, *words: str, code: int = 0) -> tuple[float, dict[str, dict[str, Any]]]:
    """When the cluster is healthy, and what would help, by what is relaxed."""
    found = json_output("what-if", report, *words, code=code)
    rows = found["tables"]["counterfactuals"]
    assert rows == sorted(rows, key=lambda row: (-row["freed_groups"], -row["sooner_share"]))
    return found["answer"]["whole_seconds"], {row["relaxed"]: row for row in rows}


def test_devices_are_the_bottleneck_though_pgs_wait_for_slots(report: Path, page: Path) -> None:
    """92 % of PGs' time is waiting for slots; 32 times the slots save 6 %, faster disks 75 %."""
    whole, rows = answered(report, *HOST, "-o", str(page))
    best, slots = next(iter(rows.values())), rows["backfill and recovery slots"]
    assert best["relaxed"] == "devices" and best["sooner_share"] >= BOTTLENECK_SHARE
    assert slots["sooner_share"] < best["sooner_share"]
    said = page.read_text(encoding="utf-8")
    assert "The bottleneck: devices. Twice as fast, the cluster is healthy after" in said
    assert "What limits" not in said
    # The disks that the catalog has for flash are more than twice as fast.
    faster, _ = answered(report, *HOST, "--device", "ssd-sata")
    assert faster < best["end_seconds"] < whole


def test_a_row_is_the_answer_of_the_command_with_that_setting(report: Path) -> None:
    words = ["--fail", "osd.12"]
    whole, rows = answered(report, *words)
    # Jewel's own are 1 and 3, the grace 20 s, the interval 300 s.
    slots = ("osd_max_backfills=2", "--set-option", "osd_recovery_max_active=6")
    for relaxed, options in (
        ("backfill and recovery slots", slots),
        ("time until marked out", ("mon_osd_down_out_interval=150",)),
        ("detection", ("osd_heartbeat_grace=10",)),
    ):
        set_so, _ = answered(report, *words, "--set-option", *options)
        assert rows[relaxed]["end_seconds"] == set_so, relaxed
        assert rows[relaxed]["sooner_share"] == pytest.approx(1 - set_so / whole, abs=1e-12)


def test_the_profile_of_mclock_is_named_where_it_throttles(report: Path) -> None:
    words = ("--fill", "60%", "--fail", "osd.12,osd.13,osd.14", "--release", "17.2.0")
    _, rows = answered(report, *words, "--counterfactuals")
    best, *others = rows.values()
    assert best["relaxed"] == "mClock profile" and best["sooner_share"] >= BOTTLENECK_SHARE
    assert all(row["sooner_share"] <= best["sooner_share"] for row in others)
    profile = "osd_mclock_profile=high_recovery_ops"
    healed = json_output("what-if", report, *words, "--set-option", profile)["answer"]
    assert healed["whole_seconds"] == best["end_seconds"]
    # Before 17.2.6 nobody can set the slots under mClock.
    assert "backfill and recovery slots" not in rows and "sleep of recovery" not in rows
    # Before 17.2.7 mClock counts requests a second and knows no bandwidth.
    assert rows["mClock's capacity"]["setting"] == "osd_mclock_max_capacity_iops"


def test_nothing_helps_where_the_plan_itself_takes_the_time(report: Path, page: Path) -> None:
    """A host that is back after 6 h lacks nothing but the writes of that time, of which none."""
    stop = ("--stop", "host=cloud3-1359", "--start", "host=cloud3-1359 @ 6 h", "--flag", "noout")
    words = (*stop, "--crush-reweight", "osd.4=0.79")
    whole, rows = answered(report, *words, "-o", str(page))
    assert whole == pytest.approx(6 * 3600, rel=0.02)
    assert rows and all(row["sooner_share"] < HELPS_SHARE for row in rows.values())
    said = page.read_text(encoding="utf-8")
    assert "Nothing on the list helps by 5 %: " in said and "The bottleneck" not in said


def test_pgs_without_space_come_before_a_time(report: Path, page: Path) -> None:
    """At 72 % of its bytes a host's PGs find no OSD below 0.85; at 0.94 each finds one."""
    _, rows = answered(report, "--fail", "host=cloud3-1359", "-o", str(page), code=1)
    best = next(iter(rows.values()))
    space = ("space for backfill", "0.85", "0.94")
    assert (best["relaxed"], best["before"], best["after"]) == space
    assert best["stuck_groups"] == 0 < best["freed_groups"]
    assert f"{best['freed_groups']} PGs fewer stay stuck" in page.read_text(encoding="utf-8")


def test_a_failure_says_when_it_is_detected_and_marked_out(report: Path) -> None:
    # The grace is 20 s, mon_osd_down_out_interval 300 s, and nothing is copied before.
    said = " ".join(output("what-if", report, "--fail", "osd.12").split())
    marked = "Detected after 20 s, marked out after 5 min 20 s, healthy after 16 min 19 s"
    assert f"{marked} (copying takes 10 min 59 s)." in said
    # One that is stopped says so itself; one that may not be marked out copies nothing.
    stopped = output("what-if", report, "--stop", "osd.12")
    assert stopped.startswith("Marked out after 5 min, healthy after ")
    words = ("--stop", "osd.12", "--flag", "noout", "--horizon", "1 d")
    assert "Never marked out." in " ".join(output("what-if", report, *words, code=None).split())
