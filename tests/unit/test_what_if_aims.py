"""Aims of a search, and the settings that it tries."""

from dataclasses import replace
from typing import Any

import pytest

from resilver.importers.buckets import BucketTree
from resilver.whatif.aims import read_aim, read_axes
from resilver.whatif.fitting import Need, Room, misfit, room_of
from tests.build import refused
from tests.unit.what_if_answers import answer

TIMES = {"whole_seconds": 7200.0, "degraded_seconds": 3600.0, "at_risk_seconds": 0.0}
WORST = {"peak_share": 0.83, "p99_seconds": 0.04, "loss_chance": 2e-9}
OUTCOME = replace(answer().outcome, **TIMES, inactive_seconds=None, **WORST)


@pytest.mark.parametrize(
    ("aim", "met"),
    [
        ("whole in 2 h", True),
        ("whole within 119 min", False),
        ("degraded under 1 h", True),
        ("not degraded by 59 min", False),
        ("at risk under 1 s", True),
        # It is still inactive at the end, so that no time is long enough.
        ("inactive under 100 d", False),
        ("clients p99 under 50 ms", True),
        ("clients' p99 under 39 ms", False),
        ("fullest OSD under 85%", True),
        ("fullest OSD below 82.9 %", False),
        ("chance of loss under 2e-9", True),
        ("chance of loss under 1e-9", False),
        ("whole in 1 d and clients p99 under 50 ms", True),
        ("whole in 1 h and clients p99 under 50 ms", False),
    ],
)
def test_an_aim_is_met_by_the_figure_that_it_names(aim: str, met: bool) -> None:
    assert all(goal.is_met(OUTCOME) for goal in read_aim(aim)) is met


def test_settings_are_tried_from_the_gentlest_on_as_the_release_has_them() -> None:
    axes, left_out = read_axes(
        "osd_max_backfills, mclock profile, recovery sleep hdd=0.1/0", (18, 2, 4)
    )
    assert not left_out
    assert [(axis.setting.name, axis.values) for axis in axes] == [
        ("osd_max_backfills", ("1", "2", "4", "8")),
        ("osd_mclock_profile", ("high_client_ops", "balanced", "high_recovery_ops")),
        ("osd_recovery_sleep_hdd", ("0.1", "0")),
    ]
    names = "mclock profile, osd_max_backfills=1/2, osd_op_queue=wpq/mclock_scheduler"
    axes, left_out = read_axes(names, (10, 2, 7))
    tried = {axis.setting.name: axis.values for axis in axes}
    assert tried == {"osd_max_backfills": ("1", "2"), "osd_op_queue": ("wpq",)}
    has = "and this cluster runs 10.2.7."
    assert left_out == (
        f"Left out: Ceph has osd_mclock_profile since 16.2.0, {has}",
        f"Left out: Ceph has osd_op_queue = mclock_scheduler since 15.2.0, {has}",
    )
    said = refused(read_axes, "mclock profile", (10, 2, 7))
    assert "osd_mclock_profile since 16.2.0" in said


# How many OSDs a rule's steps find at the most, and when pools no longer fit.


TYPES = ["osd", "host", "rack", "root"]


def tree(hosts_of_racks: list[int], *steps: dict[str, Any], osds_of_host: int = 2) -> BucketTree:
    """Racks of so many hosts of two OSDs, the even ones flash, and a rule of these steps."""
    buckets: list[dict[str, Any]] = []
    devices, racks, number = [], [], -10
    for hosts in hosts_of_racks:
        names = []
        for _ in range(hosts):
            number -= 1
            own = [{"id": len(devices) + n, "weight": 0x10000} for n in range(osds_of_host)]
            devices += [
                {"id": n, "name": f"osd.{n}", "class": ("ssd", "hdd")[n % 2]}
                for n in (one["id"] for one in own)
            ]
            buckets.append(bucket(number, f"host{-number}", "host", own))
            names.append({"id": number, "weight": 0x20000})
        number -= 1
        racks.append({"id": number, "weight": 0x20000 * hosts})
        buckets.append(bucket(number, f"rack{-number}", "rack", names))
    buckets.append(bucket(-1, "default", "root", racks))
    take = (
        [] if steps and steps[0].get("op") == "take" else [{"op": "take", "item_name": "default"}]
    )
    rule = {"rule_id": 0, "rule_name": "r", "steps": [*take, *steps, {"op": "emit"}]}
    types = [{"type_id": rank, "name": name} for rank, name in enumerate(TYPES)]
    return BucketTree({"types": types, "buckets": buckets, "devices": devices, "rules": [rule]})


def bucket(number: int, name: str, kind: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": number, "name": name, "type_name": kind, "items": items}


def step(op: str, num: int, kind: str) -> dict[str, Any]:
    return {"op": op, "num": num, "type": kind}


def places(made: BucketTree, size: int, gone: tuple[int, ...] = ()) -> int | None:
    found = room_of(made, 0, size, lambda osd: osd not in gone)
    return None if found is None else found.places


def test_steps_find_leaves_less_than_the_size_or_multiply() -> None:
    hosts = tree([2, 2, 1], step("chooseleaf_firstn", 0, "host"))
    # Five hosts, of which a set of three takes three and one of six gets five.
    assert (places(hosts, 3), places(hosts, 6)) == (3, 5)
    # Ceph gives a step that sets local tries by its number alone.
    assert places(tree([2, 2, 1], {"opcode": 10}, step("chooseleaf_firstn", 0, "host")), 3) == 3
    # A host counts while one of its OSDs takes data.
    assert places(hosts, 6, gone=(0,)) == 5 and places(hosts, 6, gone=(0, 1)) == 4
    hosts = tree([3, 3], step("chooseleaf_firstn", -1, "host"))
    assert places(hosts, 4) == 3
    # Two hosts in each of three racks, one OSD of each host: racks of 2, 2 and 1 hosts hold five.
    rule = (step("choose_indep", 3, "rack"), step("chooseleaf_indep", 2, "host"))
    assert places(tree([2, 2, 1], *rule), 6) == 5
    assert places(tree([2, 3, 2], *rule), 6) == 6
    # Two OSDs in each of four hosts.
    rule = (step("choose_indep", 4, "host"), step("choose_indep", 2, "osd"))
    assert places(tree([2, 2], *rule), 8) == 8
    assert places(tree([2, 2], *rule), 8, gone=(0,)) == 7
    assert places(tree([1], step("choosemsr", 0, "host")), 3) is None


def test_classes_and_bytes_of_pools_decide_what_fits() -> None:
    rule = ({"op": "take", "item_name": "default~ssd"}, step("chooseleaf_firstn", 0, "host"))
    found = room_of(tree([1, 1, 1], *rule), 0, 3, lambda _: True)
    assert found == Room(3, "host", frozenset({0, 2, 4}))
    rule = (
        {"op": "take", "item_name": "default~ssd"},
        step("chooseleaf_firstn", 1, "host"),
        {"op": "emit"},
        {"op": "take", "item_name": "default~hdd"},
        step("chooseleaf_firstn", -1, "host"),
    )
    assert places(tree([1, 1], *rule), 3) == 3
    assert places(tree([1], *rule), 3) == 2
    room = Room(3, "host", frozenset({0, 1, 2}))
    before = {name: (Room(3, "host", frozenset(range(4))), need(name)) for name in "ab"}
    after = {name: (room, need(name)) for name in "ab"}
    # Three OSDs of 100 bytes hold 270 below 90 %; two pools of 150 take 30 more.
    short = misfit(before, after, dict.fromkeys(range(4), 100), 0.9, "osd.3 is drained")
    assert short.startswith("osd.3 is drained: this does not fit") and "30 B too much" in short
    assert misfit(before, after, dict.fromkeys(range(4), 112), 0.9, "osd.3 is drained") == ""
    short = {"a": (Room(2, "host", frozenset({0, 1})), need("a"))}
    assert misfit(short, short, {0: 1, 1: 1}, 0.9, "osd.7 gets a reweight of 0.5") == ""


def need(name: str) -> Need:
    return Need(name, 0, 3, 150)
