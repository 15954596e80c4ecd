"""RAID sets over enclosures: where they lie, what a lost enclosure kills, and what a spare does."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resilver import Study, _core
from resilver.core_input import levels
from resilver.errors import ConfigError
from resilver.simulate import RunResult, place_objects, set_loss_probability
from resilver.simulate.affecting import failed_numbers
from resilver.spec import Cluster
from resilver.study import simulate
from tests.build import refused
from tests.reference.layouts import draw
from tests.scale import times


def shelves(enclosures: int, sets: int, *, spares: int = 1) -> list[dict[str, Any]]:
    """So many sets of ten drives over so many enclosures, with spares in each of these."""
    raid = {"level": "raid", "in": "unit", "of": "drive", "size": 10, "across": "enclosure"}
    return [
        {"level": "unit", "count": 1},
        {"level": "enclosure", "in": "unit", "count": enclosures},
        {"level": "drive", "in": "enclosure", "count": 10 // enclosures * sets + spares},
        {**raid, **({"spares": spares} if spares else {})},
    ]


def study(parts: list[dict[str, Any]], faults: list[dict[str, Any]], **changed: Any) -> Study:
    described = {
        "cluster": {"device": {"service": "1 ms"}, "parts": parts},
        "population": {"file_size": "64 KiB", "files": 40},
        "placement": {"algorithm": "sets", "level": "raid"},
        "redundancy": {"code": "rs 8+2"},
        "recovery": {"pipeline_buffer": "64 KiB"},
        "faults": faults,
    }
    return Study.from_dict({**described, **changed})


def run(parts: list[dict[str, Any]], faults: list[dict[str, Any]], seed: int = 1) -> RunResult:
    return simulate(study(parts, faults).runs()[0].system, seed)


def failing(drives: list[int], enclosure: int) -> list[dict[str, Any]]:
    """These drives fail at once, and an enclosure long before anything is rebuilt."""
    names = [f"drive.{drive}" for drive in drives]
    return [
        {"fail": {"drives": names}},
        {"at": "1 us", "fail": {"enclosures": [f"enclosure.{enclosure}"]}},
    ]


def members(parts: list[dict[str, Any]], number: int) -> list[int]:
    tree = Cluster(parts=parts).tree
    assert tree is not None
    return list(tree.members("raid", number))


@settings(max_examples=times(20))
@given(
    units=st.integers(1, 3),
    enclosures=st.integers(1, 4),
    drives=st.integers(1, 5),
    spares=st.integers(0, 2),
    size=st.integers(1, 6),
    is_across=st.booleans(),
    carried=st.sampled_from(["drive", "raid", "enclosure"]),
    servers=st.integers(0, 4),
)
def test_the_study_file_s_parts_are_those_of_the_core(
    units: int,
    enclosures: int,
    drives: int,
    spares: int,
    size: int,
    is_across: bool,
    carried: str,
    servers: int,
) -> None:
    raid: dict[str, Any] = {"level": "raid", "in": "unit", "of": "drive", "size": size}
    raid |= {"across": "enclosure"} if is_across else {}
    raid |= {"spares": spares} if spares else {}
    # Controllers may carry what carries the drives or sets, declared before or behind it.
    below = {"level": "server", "in": "unit", "count": servers, "carries": carried}
    above = carried if servers == 0 else "server"
    controller = {"level": "controller", "in": "unit", "count": 2, "carries": above}
    parts = [
        {"level": "unit", "count": units},
        {"level": "enclosure", "in": "unit", "count": enclosures},
        {"level": "drive", "in": "enclosure", "count": drives},
        raid,
        controller,
        *([] if servers == 0 else [below]),
    ]
    try:
        cluster = Cluster(parts=parts)
    except ConfigError:
        return
    tree = cluster.tree
    assert tree is not None
    core = _core.ClusterParts(json.dumps(levels(cluster)))
    for name in tree.names:
        assert core.count(name) == tree.count(name)
    for number in range(tree.count("raid") or 0):
        at = tree.name("raid", number)
        # The twin says the closed form, the core deals hand by hand.
        assert core.members(at) == [f"drive.{one}" for one in tree.members("raid", number)]
        assert core.devices_below(at) == sorted(tree.members("raid", number))
    for level in ("controller", "server"):
        for number in range(tree.count(level) or 0):
            at = tree.name(level, number)
            carries = [one for one in range(tree.devices) if at in core.ways(one)[0]]
            assert carries == tree.members(level, number)


def test_an_object_lies_on_one_set_piece_by_piece() -> None:
    parts = shelves(5, 4)
    system = study(parts, []).runs()[0].system
    sets = [members(parts, number) for number in range(4)]
    rows = place_objects(system, 1, 0, 400).tolist()
    # The twin: the object's hash, scaled to the number of sets, says which.
    assert rows == [sets[draw(number, 0) * len(sets) // 2**64] for number in range(400)]
    assert failed_numbers(system, ["raid.1"]) == sorted(sets[1])
    # Two members of each set in each of five enclosures of nine drives.
    for one in sets:
        assert sorted(drive // 9 for drive in one) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    # The chance of 400 / 4 +- 5 standard deviations of 8.66 is 6e-7 for each of four sets.
    counts = [sum(row == one for row in rows) for one in sets]
    assert all(abs(count - 100) <= 44 for count in counts)


def test_pools_on_parts_of_their_own_share_no_drive() -> None:
    # Three units of two sets over five enclosures of five drives; one pool has the first two.
    parts = shelves(5, 2)
    parts[0]["count"] = 3
    pools = [
        {
            "name": name,
            "population": {"file_size": "64 KiB", "files": 400},
            "placement": {"algorithm": "sets", "level": "raid", "within": within},
            "redundancy": {"code": "rs 8+2"},
        }
        for name, within in (("a", ["unit.0", "unit.1"]), ("b", ["unit.2"]))
    ]
    faults = [{"fail": {"drives": ["drive.0"]}}]
    described = {"cluster": {"device": {"service": "1 ms"}, "parts": parts}, "pools": pools}
    recovery = {"pipeline_buffer": "64 KiB"}
    two = Study.from_dict({**described, "recovery": recovery, "faults": faults})
    system = two.runs()[0].system
    for number, units in enumerate(({0, 1}, {2})):
        rows = place_objects(system.of_pools[number], 1, 0, 400).tolist()
        assert {drive // 25 for row in rows for drive in row} == units
        assert system.of_pools[number].holder_count == 20 * len(units)
    # The drive lies in the first pool's set, and a spare of its own enclosure takes its place.
    result = simulate(system, 1)
    first, second = result.pools.to_pylist()
    assert first["rebuilt_pieces"] > 0 and second["affected_objects"] == 0
    gained = [row["name"] for row in result.servers.to_pylist() if row["rebuilt_objects"]]
    assert gained == ["drive.4"]


def test_a_lost_drive_is_made_anew_on_the_spare_of_its_enclosure() -> None:
    parts = shelves(5, 2)
    # Enclosure 2 has drives 10 to 14, of which 14 is the spare.
    found = run(parts, [{"fail": {"drives": ["drive.11"]}}])
    gained = {
        row["name"]: row["rebuilt_objects"]
        for row in found.servers.to_pylist()
        if row["rebuilt_objects"]
    }
    assert list(gained) == ["drive.14"]
    assert gained["drive.14"] == found.metrics["rebuilt_pieces"]
    # A second one of the enclosure finds no spare: its set goes on without it.
    found = run(parts, [{"fail": {"drives": ["drive.11", "drive.12"]}}])
    undersized, rebuilt = found.metrics["undersized_replicas"], found.metrics["rebuilt_pieces"]
    assert undersized and rebuilt and found.metrics["unrecoverable_objects"] == 0


def test_a_lost_enclosure_kills_a_rebuilding_set_that_lost_its_drive_elsewhere() -> None:
    # Ten pieces of two in each of five enclosures: a set with a drive lost survives the enclosure
    # if it is that of the drive (2 lost), and else not (3 lost). Over ten, it always does.
    for enclosures, dead in ((5, 40), (10, 0)):
        parts = shelves(enclosures, 1)
        drives = members(parts, 0)
        per_enclosure = 10 // enclosures + 1
        killed = 0
        for drive, lost in itertools.product(drives, range(enclosures)):
            found = run(parts, failing([drive], lost))
            is_dead = bool(found.metrics["unrecoverable_objects"])
            assert is_dead == (enclosures == 5 and drive // per_enclosure != lost)
            killed += is_dead
        assert killed == dead
        chance = set_loss_probability(
            Cluster(parts=parts), "raid", "enclosure", rebuilding=1, survives=2
        )
        assert chance == killed / (10 * enclosures)


def test_sets_that_controllers_carry_pass_them() -> None:
    parts = shelves(5, 4)
    controller = {"level": "controller", "in": "unit", "count": 2, "carries": "raid"}
    parts.append({**controller, "service": "1 GB/s", "partner": True})
    found = run(parts, [{"fail": {"drives": ["drive.0"]}}])
    passed = {row["name"]: row["bytes"] for row in found.parts.to_pylist()}
    # Drive 0 is of set 0, which the first controller carries with set 2. Its spare is the first of
    # five, and carried in turn behind the four sets: by the first controller as well.
    of_set = found.metrics["device_bytes_read"], found.metrics["device_bytes_written"]
    assert passed == {"controller.0": sum(map(int, filter(None, of_set))), "controller.1": 0}


@pytest.mark.parametrize(
    ("sets", "lost", "rebuilding", "survives", "says"),
    [
        ("enclosure", "enclosure", 1, 2, 'sets = "enclosure": no level of this name is made of'),
        ("raid", "rack", 1, 2, 'lost = "rack": the cluster has no such level'),
        ("raid", "enclosure", 7, 2, "rebuilding = 7: this is from 0 to 2"),
        ("raid", "enclosure", 1, -1, "survives = -1: this is from 0 to 10"),
    ],
)
def test_a_chance_of_nothing_is_refused(
    sets: str, lost: str, rebuilding: int, survives: int, says: str
) -> None:
    cluster, counts = Cluster(parts=shelves(5, 2)), {"rebuilding": rebuilding, "survives": survives}
    assert says in refused(set_loss_probability, cluster, sets, lost, **counts)
