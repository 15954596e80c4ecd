"""Holds a run of the core against its twin, in everything that both state."""

from typing import Any

import pytest

from resilver.simulate import RunResult
from resilver.spec import System
from resilver.study import simulate
from tests.reference import driven_twin
from tests.reference.rebuild_twin import Outcome, rebuild


def picoseconds(seconds: float | None) -> int | None:
    """A time of the core's, exact while runs last less than a quarter of an hour.

    A double of 1,000 s is off by at most 2^-53 of it, which is 0.11 ps.
    """
    return None if seconds is None else round(seconds * 1e12)


def real(found: RunResult, name: str) -> float:
    value = found.metrics[name]
    assert isinstance(value, (int, float)), name
    return value


def assert_equal_runs(system: System, seed: int) -> Outcome:
    """Run both sides, compare them exactly, and return the twin's outcome."""
    core, backlog = simulate(system, seed), [None] * system.server_count
    if system.recovery.driver == "destination":
        twin = rebuild(system, seed)
    else:
        twin, backlog = driven_twin.rebuild(system, seed)
    assert_equal_metrics(core, twin, system)
    assert_equal_health(core, twin)
    pairs = {(t["source"], t["destination"]): t for t in core.transfers.to_pylist()}
    assert {pair: (t["objects"], t["bytes"]) for pair, t in pairs.items()} == twin.transfers
    rows = core.servers.to_pylist()
    assert [row["push_backlog_bytes"] for row in rows] == backlog
    for row in rows:
        expected = expected_row(twin, row["server"])
        if system.placement_group_count is None:
            expected["placement_groups_gained"] = None
        for name in ("finish_seconds", "device_busy_seconds"):
            row[name] = picoseconds(row[name])
        # The link's time is the mean of sending and receiving: two of it make a whole number.
        row["link_busy_seconds"] = picoseconds(2 * row["link_busy_seconds"])
        assert {name: row[name] for name in expected} == expected, f"device {row['server']}"
    return twin


def assert_equal_metrics(core: RunResult, twin: Outcome, system: System) -> None:
    """Compare the totals of a run."""
    losses, groups = twin.losses, system.placement_group_count
    expected = {
        "population_files": losses.files,
        "population_objects": losses.objects,
        "population_bytes": losses.bytes,
        "placement_groups": groups,
        "placement_groups_affected": None if groups is None else losses.affected_groups,
        "affected_objects": twin.affected_objects,
        "unrecoverable_objects": twin.unrecoverable[0],
        "unrecoverable_bytes": twin.unrecoverable[1],
        "undersized_replicas": twin.undersized_copies,
        "rebuilt_objects": len(twin.objects[True]),
        "rebuilt_pieces": twin.copies[True],
        "rebuilt_bytes": twin.bytes[True],
        "remapped_objects": len(twin.objects[False]),
        "remapped_pieces": twin.copies[False],
        "remapped_bytes": twin.bytes[False],
        "returned_pieces": None if twin.returned is None else twin.returned[0],
        "returned_objects": None if twin.returned is None else twin.returned[1],
        "surplus_pieces": twin.surplus,
        "events": twin.events,
    }
    assert {name: core.metrics[name] for name in expected} == expected
    for name, time in (
        ("rebuild_seconds", twin.rebuilt_at),
        ("first_redundant_seconds", twin.first_redundant_at),
        ("last_redundant_seconds", twin.last_redundant_at),
    ):
        since = None if time is None else time - twin.begins_at
        assert picoseconds(core.metrics[name]) == since, name
    assert picoseconds(core.metrics["simulated_seconds"]) == twin.ended_at


def expected_row(twin: Outcome, number: int) -> dict[str, Any]:
    """What the core's table of servers should say of a device; times in picoseconds."""
    device = twin.devices[number]
    rebuilt = twin.received.get((number, True), (0, 0))
    remapped = twin.received.get((number, False), (0, 0))
    sent = [what for pair, what in twin.transfers.items() if pair[0] == number]
    return {
        "failed": number in twin.failed,
        "placement_groups_gained": twin.losses.groups_gained[number],
        "rebuilt_objects": rebuilt[0],
        "rebuilt_bytes": rebuilt[1],
        "remapped_objects": remapped[0],
        "remapped_bytes": remapped[1],
        "sent_objects": sum(copies for copies, _ in sent),
        "sent_bytes": device.sent,
        "finish_seconds": device.finished,
        "device_busy_seconds": device.disk.busy,
        "device_bytes_read": device.disk.bytes["read"],
        "device_bytes_written": device.disk.bytes["write"],
        "link_busy_seconds": twin.link_busy[device.endpoint],
    }


def assert_equal_health(core: RunResult, twin: Outcome) -> None:
    """Compare the objects that lack a copy, each times how long.

    Both sides add up whole numbers, but the core's means over intervals are doubles: 512 of them
    are off by at most 512 x 2^-53 of the sum.
    """
    for name, area in (
        ("degraded_objects", twin.degraded_area),
        ("at_risk_objects", twin.at_risk_area),
    ):
        total = sum(row[name] * row["duration_seconds"] * 1e12 for row in core.timeline.to_pylist())
        assert total == pytest.approx(area, rel=1e-12, abs=1e-3), name
