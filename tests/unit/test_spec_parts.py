"""Trees of parts, what passes through them, sets and pools in a study file: what they mean."""

from typing import Any

import pytest

from resilver.estimate import estimate
from resilver.simulate.maps import maps_of
from resilver.spec import Cluster, Fault
from resilver.spec.passing import PartService
from resilver.spec.tree import Level, Tree, plural, singular
from tests.build import STUDIES, changed, read_again, refused, study_of, system_of

SETS = STUDIES["sets"]["cluster"]["parts"]
UNIT, CONTROLLER, ENCLOSURE, DRIVE, RAID = SETS


def test_trees_count_through_levels_by_plural_and_singular() -> None:
    cluster = system_of("tree").cluster
    tree = cluster.tree
    assert tree.levels == (Level("rack", 4), Level("host", 20), Level("osd", 100))
    # Four disks and one flash device a host: osd.4, osd.9, ... are flash.
    assert (tree.port_level, tree.kinds) == ("host", (0, 0, 0, 0, 1))
    assert (tree.kind(17), tree.kind(19)) == (0, 1)
    assert [kind.device_class for kind in cluster.device_kinds] == ["hdd", "ssd"]
    assert sum(cluster.is_of_class("ssd")) == 20
    assert cluster.machine_count == 20
    short = Cluster(servers=12, racks=6, rows=3)
    assert short.tree == Tree(
        (Level("row", 3), Level("rack", 6), Level("server", 12)), "server", 1, (0,)
    )
    assert "parts" not in short.content()
    one, many = Fault(fail={"host": 1}), Fault(fail={"hosts": 1})
    assert one.content() == many.content()
    for word in ("osd", "chassis", "switch", "box", "enclosure"):
        assert singular(plural(word)) == word


def test_what_is_expected_to_move_is_what_the_class_held() -> None:
    def moved(fail: dict[str, Any]) -> float:
        system = system_of("tree", 'placement.class = "hdd"', faults=[{"fail": fail}])
        return float(estimate(system)["replicas_to_move"])

    # 1000 objects in three copies on eighty disks are 37.5 on each; flash holds none of them, and
    # of all hundred devices a random one holds thirty.
    assert moved({"osds": ["osd.17"]}) == pytest.approx(37.5, rel=0.02)
    assert moved({"osds": ["osd.19"]}) == 0
    assert moved({"osds": 1}) == pytest.approx(30, rel=0.02)
    assert moved({"hosts": ["host.3"]}) == pytest.approx(150, rel=0.02)


def test_ports_are_of_what_contains_the_carriers_which_are_carried_in_turn() -> None:
    tree = Cluster(parts=SETS).tree
    assert tree is not None and tree.port_level == "unit"
    # Where nothing carries the drives, of what contains these.
    alone = Cluster(parts=[UNIT, ENCLOSURE, DRIVE])
    assert alone.tree is not None and alone.tree.port_level == "enclosure"
    # Parts without relations keep their keys.
    names = {"level", "in", "count", "ports", "class", "device", "spread", "queue"}
    assert all(set(part) == names for part in alone.content()["parts"])
    server = '{ level = "server", in = "unit", count = 4, carries = "raid" }'
    change = f'cluster.parts = {{ 1.carries = "server", 5 = {server} }}'
    tree = Cluster(**changed("sets", change)["cluster"]).tree
    assert tree is not None and tree.port_level == "unit"
    # A unit's four sets have a server each; of four servers the first controller has two.
    sets = [sorted(tree.members("raid", number)) for number in (0, 2)]
    assert [tree.members("server", number) for number in (0, 2)] == sets
    assert tree.members("controller", 0) == sorted(device for one in sets for device in one)
    for service, request in (("17 GB/s", 0.0), ({"rate": "17 GB/s", "per_request": "5 us"}, 5e-6)):
        found = Cluster(parts=[UNIT, {**CONTROLLER, "service": service}, *SETS[2:]])
        assert found.parts[1].content()["service"] == {"rate": 17e9, "per_request": request}
    assert PartService(per_request="5 us").model_dump(mode="json")["rate"] is None


def test_a_study_of_sets_and_controllers_comes_back_from_its_toml() -> None:
    study = study_of(
        "sets",
        """
        cluster.parts.1.service = { rate = "17 GB/s", per_request = "5 us" }
        cluster.parts.1.partner = true
        cluster.parts.2.service = "4 GB/s"
        cluster.parts.3.count = 5
        cluster.parts.4 = { across = "enclosure", spares = 1 }
        population = { file_size = "4 MiB", files = 1000 }
        placement = { algorithm = "sets", level = "raid" }
        redundancy.code = "rs 4+1"
        faults = [{ fail.controllers = 1 }, { part.controller = 1, health = 0.5 }]
        """,
    )
    read_again(study)
    system = study.runs()[0].system
    assert system.resolved()["placement"]["level"] == "raid"
    # Two units of five enclosures with four drives in sets and a spare each.
    assert (system.server_count, system.holder_count) == (50, 40)
    tree = system.cluster.tree
    assert (tree.count("raid"), tree.count("controller")) == (8, 4)


def test_each_pool_has_a_view_of_the_system_by_its_name() -> None:
    system = system_of("pools")
    counts = [pool.placement_group_count or 0 for pool in system.of_pools]
    assert system.placement_group_count == sum(counts) and all(counts)
    assert system.of_pool("volumes").resolved() == system.of_pools[1].resolved()
    # A map for each pool, of its own class.
    assert len(maps_of(system)) == 2
    single = 'pools = "(absent)"\npopulation = { file_size = "8 MiB", files = 10 }'
    assert "pools" not in system_of("pools", single).resolved()
    assert "several pools; name one of archive, volumes" in refused(system.of_pool)
    assert 'no such pool; did you mean "volumes"' in refused(system.of_pool, "volume")
