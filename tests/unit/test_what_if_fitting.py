"""How many OSDs a rule's steps find at the most, and when pools no longer fit."""

import json
from typing import Any

from resilver.whatif.fitting import Need, Room, misfit, room_of
from resilver.whatif.tree import Tree

TYPES = ["osd", "host", "rack", "root"]


def tree(hosts_of_racks: list[int], *steps: dict[str, Any], osds_of_host: int = 2) -> Tree:
    """Racks of so many hosts of two OSDs, the even ones flash, and a rule of these steps."""
    buckets: list[dict[str, Any]] = []
    devices, racks, number = [], [], -10
    for hosts in hosts_of_racks:
        names = []
        for _ in range(hosts):
            number -= 1
            own = [{"id": len(devices) + n, "weight": 0x10000} for n in range(osds_of_host)]
            devices += [
                {
                    "id": one["id"],
                    "name": f"osd.{one['id']}",
                    "class": ("ssd", "hdd")[one["id"] % 2],
                }
                for one in own
            ]
            buckets.append(bucket(number, f"host{-number}", "host", own))
            names.append({"id": number, "weight": 0x20000})
        number -= 1
        racks.append({"id": number, "weight": 0x20000 * hosts})
        buckets.append(bucket(number, f"rack{-number}", "rack", names))
    buckets.append(bucket(-1, "default", "root", racks))
    take = [] if steps and steps[0]["op"] == "take" else [{"op": "take", "item_name": "default"}]
    rule = {"rule_id": 0, "rule_name": "r", "steps": [*take, *steps, {"op": "emit"}]}
    types = [{"type_id": rank, "name": name} for rank, name in enumerate(TYPES)]
    made = {"types": types, "buckets": buckets, "devices": devices, "rules": [rule]}
    return Tree(json.dumps(made))


def bucket(number: int, name: str, kind: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": number, "name": name, "type_name": kind, "items": items}


def step(op: str, num: int, kind: str) -> dict[str, Any]:
    return {"op": op, "num": num, "type": kind}


def places(made: Tree, size: int, gone: tuple[int, ...] = ()) -> int | None:
    found = room_of(made, 0, size, lambda osd: osd not in gone)
    return None if found is None else found.places


def test_steps_find_leaves_less_than_the_size_or_multiply() -> None:
    hosts = tree([2, 2, 1], step("chooseleaf_firstn", 0, "host"))
    # Five hosts, of which a set of three takes three and one of six gets five.
    assert (places(hosts, 3), places(hosts, 6)) == (3, 5)
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


def test_classes_leave_out_osds_and_takes_add_up() -> None:
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


def test_bytes_of_pools_add_up_and_are_the_fault_of_what_changes_them() -> None:
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
