"""Trees of parts, what passes through them, sets and pools in a study file: what they mean."""

import math
from pathlib import Path
from typing import Any

import pytest

from resilver.estimate import estimate
from resilver.failure_rates import (
    YEAR_SECONDS,
    FailedShare,
    LongSeconds,
)
from resilver.simulate.maps import maps_of
from resilver.spec import Cluster, DurabilityQuestion, Failure, Fault
from resilver.spec.passing import PartService
from resilver.spec.tree import Level, Tree, plural, singular
from resilver.study.system_runs import format_swept
from tests.build import STUDIES, changed, read_again, refusal, refused, study_of, system_of

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


# The section on durability: what it says of failures and repairs, and what no run depends on.


YEAR = 365.25 * 86_400

PLAIN = 'durability.failures = [{ afr = "1.36 %" }]\n'


def test_durability_alone_makes_points_and_no_runs() -> None:
    with_it, without = study_of("failing", PLAIN), study_of("failing")
    assert [run.key for run in with_it.runs()] == [run.key for run in without.runs()]
    assert with_it.resolved() == without.resolved()
    sweep = '[study.sweep]\n"durability.mission" = ["1 y", "10 y"]\n"cluster.queue" = '
    found = study_of("failing", PLAIN + sweep + '["fifo", "reads_first"]\n')
    missions = [point.swept["durability.mission"] for point in found.points]
    assert missions == [YEAR, YEAR, 10 * YEAR, 10 * YEAR]
    queues = ["fifo", "reads_first"]
    assert [dict(run.swept) for run in found.runs()] == [{"cluster.queue": one} for one in queues]
    assert found.resolved()["study"]["sweep"] == {"cluster.queue": queues}
    sweep = 'study.sweep."durability.failures.0.afr" = ["1 %", "2 %"]\n'
    found = study_of("failing", PLAIN + sweep)
    asked = [point.system.durability for point in found.points]
    assert [one.failures[0].afr for one in asked if one is not None] == [0.01, 0.02]
    texts = [format_swept(*item) for point in found.points for item in point.swept.items()]
    assert texts == ["1 %", "2 %"]
    assert len(found.runs()) == 1


def test_the_section_written_out_reads_back_equal(tmp_path: Path) -> None:
    """Every form of every key, once; floats print their shortest text, so equality is exact."""
    (tmp_path / "lives.csv").write_text(
        "component,start,end,failed\nosd.1,2024-01-01,2024-01-11,yes\nosd.2,2024-01-01,2024-02-01,no\n"
    )
    text = """
[durability]
mission = "7.3 y"
detection = { exponential = "20 min" }
replacement = { weibull = { shape = 2.5, scale = "30 h", least = "2 h" } }
repair = ["10 h", { drawn = ["7 h", "8 h"] }]
latent_errors = "0.3 /TB/y"
unreadable = "1e-15 /bit"
scrub_every = "14 d"
[[durability.failures]]
class = "hdd"
weibull = { shape = 1.12, scale = "10 y", age = "2 y" }
[[durability.failures]]
like = "simedc/disk"
parts = ["osd.3"]
[[durability.failures]]
trace = "lives.csv"
name = "what failed last year"
[[durability.failures]]
level = "host"
rate = "3 /y"
lasts = "15 min"
lost_share = 0.01
burst = { within = "rack", sizes = { 2 = 0.7, 3 = 0.3 }, spread = "2 min" }
[[durability.failures]]
level = "host"
planned = { every = "30 d", first = "1 d" }
lasts = "10 min"
"""
    first = study_of("failing", text, folder=tmp_path)
    again = read_again(first)
    asked = first.durability
    assert again.durability.content() == asked.content()
    law = {"kind": "trace", "seconds": [10 * 86_400.0], "parts": [1]}
    assert asked.failures[2].law_content({"osd.1": 1}) == law


def test_laws_mean_what_they_say_or_the_catalog_does() -> None:
    rate = Failure(afr="1.36 %").rate_per_second
    assert -math.expm1(-rate * YEAR) == pytest.approx(0.0136, rel=1e-14)
    assert FailedShare.parse("50 %").per_second * YEAR_SECONDS == pytest.approx(math.log(2))
    # Weibull of shape 2: the mean is scale x Gamma(1.5) = scale x sqrt(pi) / 2.
    asked = DurabilityQuestion(
        failures=[{"afr": "1 %"}], repair={"weibull": {"shape": 2, "scale": "10 h", "least": "1 h"}}
    )
    expected = 3600 * (1 + 10 * math.sqrt(math.pi) / 2)
    assert asked.repair.times[0].mean_seconds == pytest.approx(expected, rel=1e-14)
    texts = ("10 y", "87600 h", "14 d", "1.5 y")
    written = [LongSeconds.parse(text).as_text() for text in texts]
    assert written == ["10 y", "3650 d", "14 d", "1.5 y"]
    shipped = Failure(like="simedc/disk")
    assert shipped.law == "weibull" and shipped.is_by_catalog and "Erasure-Coded" in shipped.source
    assert shipped.weibull is not None and shipped.weibull.scale == 87_600 * 3600
    own = Failure(like="simedc/disk", mttf="1e6 h")
    assert own.law == "mttf" and not own.is_by_catalog and own.source == ""


def test_a_real_cluster_has_the_levels_of_its_map(shared_data: Path) -> None:
    """Its hosts fail and hold bursts of OSDs; racks that its map does not have do not."""
    report = str(shared_data / "ceph" / "ceph-report-jewel-88osd.json")
    cluster = {"cluster": {"ceph": report}, "faults": [{"part": {"osd": 1}}]}
    burst = 'durability.failures = [{ rate = "1 /y", burst = { within = "host", sizes = 2 } }]'
    found = study_of(cluster, burst).durability
    assert found is not None and found.failures[0].burst is not None
    text = refusal(cluster, burst.replace("host", "row"))
    assert 'burst.within = "row"' in text and "no such level above osd" in text
