"""Services, carriers, partners and sets in the study file: what they mean, and what is refused."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Cluster, Study
from resilver.spec.passing import PartService

UNIT: dict[str, Any] = {"level": "unit", "count": 2}
CONTROLLER: dict[str, Any] = {"level": "controller", "in": "unit", "count": 2, "carries": "raid"}
ENCLOSURE: dict[str, Any] = {"level": "enclosure", "in": "unit", "count": 5}
DRIVE: dict[str, Any] = {"level": "drive", "in": "enclosure", "count": 4}
RAID: dict[str, Any] = {"level": "raid", "in": "unit", "of": "drive", "size": 5}
PARTS = [UNIT, CONTROLLER, ENCLOSURE, DRIVE, RAID]


def parts(**changed: dict[str, Any]) -> list[dict[str, Any]]:
    """The levels, with some keys of some changed, and those left out that are None."""
    return [
        {key: value for key, value in merged.items() if value is not None}
        for part in PARTS
        if (merged := {**part, **changed.get(part["level"], {})})
    ]


def test_a_service_is_a_rate_or_a_table() -> None:
    rate = Cluster(parts=parts(controller={"service": "17 GB/s"})).parts[1].service
    table = {"rate": "17 GB/s", "per_request": "5 us"}
    both = Cluster(parts=parts(controller={"service": table})).parts[1].service
    assert rate is not None and both is not None
    assert rate.model_dump(mode="json") == {"rate": 17e9, "per_request": 0.0}
    assert both.model_dump(mode="json") == {"rate": 17e9, "per_request": 5e-6}
    assert PartService(per_request="5 us").model_dump(mode="json")["rate"] is None


def test_ports_are_of_what_contains_the_carriers() -> None:
    tree = Cluster(parts=PARTS).tree
    assert tree is not None and tree.port_level == "unit"
    # Where nothing carries the drives, of what contains these.
    alone = Cluster(parts=[UNIT, ENCLOSURE, DRIVE]).tree
    assert alone is not None and alone.port_level == "enclosure"


def test_parts_without_relations_keep_their_keys() -> None:
    content = Cluster(parts=[UNIT, ENCLOSURE, DRIVE]).content()["parts"]
    names = {"level", "in", "count", "ports", "class", "device", "spread", "queue"}
    assert all(set(part) == names for part in content)


def test_a_study_of_sets_and_controllers_comes_back_from_its_toml() -> None:
    changed = parts(
        controller={"service": {"rate": "17 GB/s", "per_request": "5 us"}, "partner": True},
        enclosure={"service": "4 GB/s"},
        drive={"count": 5},
        raid={"across": "enclosure", "spares": 1},
    )
    tables = {
        "cluster": {"parts": changed},
        "population": {"file_size": "4 MiB", "files": 1000},
        "placement": {"algorithm": "sets", "level": "raid"},
        "redundancy": {"code": "rs 4+1"},
        "faults": [{"fail": {"controllers": 1}}, {"part": {"controller": 1}, "health": 0.5}],
    }
    before = Study.from_dict(tables)
    after = Study.from_dict(tomllib.loads(before.to_toml()))
    assert [run.key for run in after.runs()] == [run.key for run in before.runs()]
    system = before.runs()[0].system
    assert system.resolved()["placement"]["level"] == "raid"
    # Two units of five enclosures with four drives in sets and a spare each.
    assert (system.server_count, system.holder_count) == (50, 40)
    tree = system.cluster.tree
    assert tree is not None
    assert (tree.count("raid"), tree.count("controller")) == (8, 4)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"controller": {"service": "17 GB"}},
         'cluster.parts.1.service.rate = "17 GB": '),
        ({"controller": {"service": "0 B/s"}},
         'cluster.parts.1.service.rate = "0 B/s": the rate must be above zero'),
        ({"controller": {"service": {}}},
         "cluster.parts.1.service: it takes no time; say how much"),
        ({"controller": {"service": {"rat": "1 GB/s"}}},
         "cluster.parts.1.service.rat"),
        ({"controller": {"service": {"per_request": "2 h"}}},
         "cluster.parts.1.service.per_request: a request passes within an hour"),
        ({"drive": {"service": "1 GB/s"}},
         'cluster.parts.3.service = "1 GB/s": these are the devices'),
        ({"controller": {"carries": "rid"}},
         'cluster.parts.1.carries = "rid": what is carried are devices, what contains them or'),
        ({"controller": {"in": None}},
         "cluster.parts.1.in: a part that carries others is in what contains these"),
        ({"controller": {"in": "enclosure"}},
         'cluster.parts.1.carries = "raid": "raid" is not in "enclosure", which contains what'),
        ({"controller": {"carries": "unit"}},
         'cluster.parts.1.carries = "unit": "unit" is not in "unit", which contains what'),
        ({"controller": {"count": 3, "partner": True}},
         "cluster.parts.1.count = 3: parts take over for each other in pairs"),
        ({"controller": {"ports": 1}},
         'cluster.parts.1.ports = 1: "controller" carries others and has none in it'),
        ({"controller": {"count": None}},
         "cluster.parts.1.count: a level says how many there are in each container"),
        ({"controller": {"size": 2}},
         'cluster.parts.1.size = 2: this is said of a level made of another, by "of"; remove it'),
        ({"enclosure": {"partner": True}},
         "cluster.parts.2.partner = true: what is in a part fails with it; only parts that carry"),
        ({"enclosure": {"ports": 1}},
         'cluster.parts.1.in = "unit": the network ports are those of "enclosure", below it'),
        ({"raid": {"of": "enclosure"}},
         'cluster.parts.4.of = "enclosure": sets are made of devices, and the devices here are'),
        ({"raid": {"size": 7}},
         "cluster.parts.4.size = 7: sets have equally many, and 20 drive do not divide by 7"),
        ({"raid": {"size": None}},
         "cluster.parts.4.size: a level made of another says of how many"),
        ({"raid": {"count": 4}},
         'cluster.parts.4.count = 4: a level made of "drive" is as many as its size makes'),
        ({"raid": {"across": "unit"}},
         'cluster.parts.4.across = "unit": members are dealt over a level that contains devices'),
        ({"raid": {"across": "enclosure", "spares": 4}},
         "cluster.parts.4.spares = 4: they are dealt over parts of 4 devices each"),
        ({"raid": {"in": "controller"}},
         'cluster.parts.4.in = "controller": "controller" contains no devices'),
        ({"raid": {"class": "hdd"}},
         'cluster.parts.4.class = "hdd": this is said of devices'),
    ],
)  # fmt: skip
def test_relations_that_cannot_be_are_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Study.from_dict({"cluster": {"parts": parts(**changed)}})
    found = [str(problem) for problem in caught.value.problems]
    assert any(problem.startswith(says) for problem in found), found


def test_two_levels_that_carry_one_are_refused() -> None:
    with pytest.raises(ConfigError, match='more than one level carries "raid"'):
        Cluster(parts=[*PARTS, {**CONTROLLER, "level": "expander"}])


def test_levels_that_only_carry_have_no_devices() -> None:
    with pytest.raises(ConfigError, match="one level holds no other, carries none"):
        Cluster(parts=[{"level": "a", "count": 1, "carries": "a"}])


SERVER: dict[str, Any] = {"level": "server", "in": "unit", "count": 4, "carries": "raid"}


def test_what_carries_is_carried_in_its_turn() -> None:
    tree = Cluster(parts=[*parts(controller={"carries": "server"}), SERVER]).tree
    assert tree is not None and tree.port_level == "unit"
    # A unit's four sets have a server each; of four servers the first controller has two.
    sets = [sorted(tree.members("raid", number)) for number in (0, 2)]
    assert [tree.members("server", number) for number in (0, 2)] == sets
    assert tree.members("controller", 0) == sorted(device for one in sets for device in one)


def test_what_carries_is_not_carried_by_what_it_carries() -> None:
    around = [*parts(controller={"carries": "server"}), {**SERVER, "carries": "controller"}]
    rule = 'a level carries what does not carry it, and here "controller" carries "server" carries'
    with pytest.raises(ConfigError, match=rule):
        Cluster(parts=around)
