"""A tree of parts in the study file: what it means, and what is refused."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from resilver.errors import ConfigError
from resilver.spec import Cluster, Fault, Study
from resilver.spec.faults import fault_words
from resilver.spec.tree import Level, Tree, plural, singular

LEVELS: list[dict[str, Any]] = [
    {"level": "rack", "count": 4},
    {"level": "host", "in": "rack", "count": 5},
    {"level": "osd", "in": "host", "count": 4, "class": "hdd", "spread": 0.02},
    {"level": "osd", "in": "host", "count": 1, "class": "ssd", "device": {"service": "0.1 ms"}},
]
REST: dict[str, Any] = {
    "population": {"file_size": "4 MiB", "files": 1000},
    "redundancy": {"replicas": 3},
    "faults": [{"fail": {"osds": ["osd.17"]}}],
}


def study(levels: list[dict[str, Any]] = LEVELS, **changed: Any) -> Study:
    tables = {"cluster": {"parts": levels}, **REST, **changed}
    return Study.from_dict(tables)


def problems(levels: list[dict[str, Any]] = LEVELS, **changed: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        study(levels, **changed)
    return [str(problem) for problem in caught.value.problems]


def test_a_tree_counts_through_its_levels_and_repeats_its_classes() -> None:
    cluster = study().runs()[0].system.cluster
    tree = cluster.tree
    assert tree is not None
    assert tree.levels == (Level("rack", 4), Level("host", 20), Level("osd", 100))
    # Four disks and one flash device a host: osd.4, osd.9, ... are flash.
    assert (tree.port_level, tree.kinds, tree.kind(17), tree.kind(19)) == (
        "host",
        (0, 0, 0, 0, 1),
        0,
        1,
    )
    assert [kind.device_class for kind in cluster.device_kinds] == ["hdd", "ssd"]
    assert sum(cluster.is_of_class("ssd")) == 20
    assert cluster.machine_count == 20


def test_servers_racks_and_rows_are_the_short_form_of_a_tree() -> None:
    short = Cluster(servers=12, racks=6, rows=3)
    assert short.tree == Tree(
        (Level("row", 3), Level("rack", 6), Level("server", 12)), "server", 1, (0,)
    )
    assert "parts" not in short.content()


def test_a_study_of_parts_comes_back_from_its_toml() -> None:
    levels = [*LEVELS[:1], {**LEVELS[1], "ports": 2}, *LEVELS[2:]]
    slow = {"at": "1 h", "part": {"osd": 1}, "health": 0.1, "until": "3 h"}
    before = study(levels, placement={"class": "hdd"}, faults=[*REST["faults"], slow])
    after = Study.from_dict(tomllib.loads(before.to_toml()))
    assert [run.key for run in after.runs()] == [run.key for run in before.runs()]
    assert before.runs()[0].system.resolved()["placement"]["class"] == "hdd"


def test_a_count_can_be_swept() -> None:
    swept = study(study={"sweep": {"cluster.parts.1.count": [2, 5]}})
    assert [run.system.server_count for run in swept.runs()] == [40, 100]


def test_only_the_class_that_holds_data_counts() -> None:
    system = (
        study(
            placement={"class": "ssd"},
            population={"file_size": "4 MiB", "bytes_per_server": "1 GiB"},
        )
        .runs()[0]
        .system
    )
    # Twenty flash devices of 1 GiB each; the rule of thumb gives 4096 groups from 10 to 49 devices.
    assert (system.holder_count, system.population_target_bytes) == (20, 20 << 30)
    assert (system.placement_group_count, system.failure_domain) == (4096, "rack")


def test_levels_go_by_their_plural_and_their_singular() -> None:
    one, many = Fault(fail={"host": 1}), Fault(fail={"hosts": 1})
    assert one.content() == many.content()
    for word in ("osd", "chassis", "switch", "box", "enclosure"):
        assert singular(plural(word)) == word
    faults = (Fault(at="1 h", part={"enclosure": 2}, health=0.5, until="3 h"),)
    assert fault_words(faults) == "2 enclosures slowed to 0.5 at 3600 s for 7200 s"


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ([*LEVELS[:1], {**LEVELS[1], "in": "rak"}, *LEVELS[2:]],
         'cluster.parts.1.in = "rak": there is no such level; did you mean "rack"?'),
        ([{**LEVELS[0], "in": "host"}, *LEVELS[1:]],
         'cluster.parts.0.in = "host": the level is in itself; let it be in another, or leave it'),
        ([{**LEVELS[0], "level": "disk"}],
         'cluster.parts.0.level = "disk": no level has this name: disks that fail are those of'),
        ([{**LEVELS[0], "level": "Rack"}],
         'cluster.parts.0.level = "Rack": a level\'s name is of small letters, digits, _ and -'),
        ([*LEVELS[:3], {**LEVELS[3], "level": "nvme"}],
         'cluster.parts.3.level = "nvme": one level holds no other and is the devices\', and here '
         "osd, nvme hold none"),
        ([{**LEVELS[0], "class": "hdd"}, *LEVELS[1:]],
         'cluster.parts.0.class = "hdd": this is said of devices, and the devices here are "osd"'),
        ([*LEVELS[:3], {**LEVELS[3], "class": "hdd"}],
         'cluster.parts.3.class = "hdd": devices that are declared apart have classes of their'),
        ([*LEVELS[:2], {**LEVELS[2], "spread": 0.5}],
         "cluster.parts.2.spread = 0.5: this must be from 0 to 0.2; such as 0.02"),
        ([{**LEVELS[0], "ports": 1}, {**LEVELS[1], "ports": 2}, *LEVELS[2:]],
         "cluster.parts.1.ports = 2: one level has the network ports, and \"rack\" has them"),
        ([{**LEVELS[0], "count": 0}],
         "cluster.parts.0.count = 0: this must be at least 1"),
        ([{**LEVELS[0], "cuont": 3}],
         'cluster.parts.0.cuont = 3: there is no such key; did you mean "count"?'),
        ([{**LEVELS[0], "within": "row"}],
         "cluster.parts.0.within"),
        ([{**LEVELS[0], "count": 1000}, {**LEVELS[1], "count": 1000}, *LEVELS[2:]],
         "cluster.parts: these are 5000000 osd devices, and a cluster has at most 1000000"),
        ([LEVELS[0], {"level": "racks", "in": "rack", "count": 1}],
         'cluster.parts.1.level = "racks": faults would call this level and "rack" the same'),
        ([*LEVELS[:2], LEVELS[1], LEVELS[2]],
         'cluster.parts.2.level = "host": only the level of the devices is declared more than'),
    ],
)  # fmt: skip
def test_levels_that_make_no_tree_are_refused(levels: list[dict[str, Any]], says: str) -> None:
    assert any(problem.startswith(says) for problem in problems(levels)), problems(levels)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"cluster": {"parts": LEVELS, "racks": 4}},
         "cluster.racks = 4: the parts say this; remove it, or declare a level of them"),
        ({"cluster": {"parts": LEVELS, "attachment": "distributed"}},
         'cluster.attachment = "distributed": the parts say this; remove it, or use servers'),
        ({"placement": {"failure_domain": "hots"}},
         'placement.failure_domain = "hots": the cluster has no hots; did you mean "host"?'),
        ({"placement": {"class": "sdd"}},
         'placement.class = "sdd": no device has this class; did you mean "ssd"?'),
        ({"placement": {"algorithm": "ring", "class": "ssd"}},
         'placement.class = "ssd": this key has no meaning with algorithm = "ring"; remove it, or'),
        ({"redundancy": {"replicas": 5}},
         "redundancy.replicas = 5: this needs 5 failure domains of type 'rack', and the cluster"),
        ({"placement": {"class": "ssd", "failure_domain": "osd"},
          "redundancy": {"code": "rs 18+3"}},
         "redundancy.code = \"rs 18+3\": this needs 21 failure domains of type 'osd', and the"),
        ({"faults": [{"fail": {"hsots": 1}}]},
         'faults.0.fail.hsots = 1: there is no such key; did you mean "hosts"?'),
        ({"faults": [{"fail": {"servers": 1}}]},
         "faults.0.fail.servers = 1: the cluster has no servers; valid kinds"),
        ({"faults": [{"fail": {"osds": ["osd.100"]}}]},
         'faults.0.fail.osds = "osd.100": there is no such osd; the names are osd.0 to osd.99'),
        ({"faults": [{"fail": {"disks": ["server.3"]}}]},
         'faults.0.fail.disks = "server.3": there is no such osd; the names are osd.0 to osd.99'),
        ({"faults": [{"fail": {"racks": 5}}]}, "faults.0.fail.racks = 5: the cluster has 4"),
        ({"faults": [{"part": {"osd": 1}, "health": -0.1}]},
         "faults.0.health = -0.1: a health is a share of the speed, below 1; 0 is gone"),
        ({"faults": [{"part": {"osd": 1}, "health": 1}]},
         "faults.0.health = 1.0: a health is a share of the speed, below 1; 0 is gone"),
        ({"faults": [{"part": {"osd": 1}, "health": 0.5, "told": True}]},
         "faults.0.told = true: nobody is told of what is slow"),
        ({"faults": [{"part": {"link": 1}, "told": True}]},
         "faults.0.told = true: a link is no part whose data could be rebuilt"),
        ({"faults": [{"part": {"osd": 1}, "at": "1 h", "until": "1 h"}]},
         'faults.0.until = "3600 s": it ends later than it begins; write a later time'),
        ({"faults": [{"part": {"osd": 1}, "told": False, "until": "1 h", "repair_after": "1 h"}]},
         'faults.0.repair_after = "3600 s": until says this already; keep one of the two'),
        ({"faults": [{"fail": {"osd": 1}, "health": 0.5}]},
         "faults.0.health = 0.5: fail is of what is gone; write part, for what is slow"),
        ({"faults": [{"at": "2 h", "part": {"osd": 1}, "health": 0.5, "until": "1 h"}]},
         'faults.0.until = "3600 s": it ends later than it begins'),
        ({"faults": [{"part": {"links": 1}, "health": 0.5}]},
         "faults.0.part.links = 1: LogGP has no links that could fail; use cluster.fabric.model"),
        ({"faults": [{"part": {"osd": ["osd.100"]}, "health": 0.5}]},
         'faults.0.part.osd = "osd.100": there is no such osd; the names are osd.0 to osd.99'),
        ({"faults": [{"part": {"rack": 5}, "health": 0.5}]},
         "faults.0.part.rack = 5: the cluster has 4; let fewer fail"),
        ({"faults": [{"part": {"osd": 1}, "fail": {"osd": 1}, "health": 0.5}]},
         "faults.0.part: exactly one of fail, corrupt and part is needed, and fail and part are"),
    ],
)  # fmt: skip
def test_what_a_tree_does_not_have_is_refused(changed: dict[str, Any], says: str) -> None:
    found = problems(**changed)
    assert any(problem.startswith(says) for problem in found), found


def test_what_is_expected_to_move_is_what_the_class_held() -> None:
    from resilver.estimate import estimate

    def moved(fail: dict[str, Any]) -> float:
        made = study(placement={"class": "hdd"}, faults=[{"fail": fail}])
        return float(estimate(made.runs()[0].system)["replicas_to_move"])

    # 1000 objects in three copies on eighty disks are 37.5 on each; flash holds none of them, and
    # of all hundred devices a random one holds thirty.
    assert moved({"osds": ["osd.17"]}) == pytest.approx(37.5, rel=0.02)
    assert moved({"osds": ["osd.19"]}) == 0
    assert moved({"osds": 1}) == pytest.approx(30, rel=0.02)
    assert moved({"hosts": ["host.3"]}) == pytest.approx(150, rel=0.02)
