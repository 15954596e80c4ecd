"""`resilver topology` and `resilver.topology`: the core's networks in numbers and pictures."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import resilver
from resilver.spec.topology_kinds import KINDS
from tests.build import refused
from tests.integration.study_runs import study_rows
from tests.terminal import json_output, output

PLAIN = "butterfly 4^4 hosts 16"
SMALL = [
    "torus 5x4x3 routers 7",
    "torus 6",
    "torus 2x3",
    "torus of trees 4x3 down 2,3 routers 5",
    "torus of trees 4 down 1",
    "mesh 5x4 routers 4",
    "mesh 4x6 routers 4 wiring opposite_sides",
    "mesh 5x5 routers 3 wiring perimeter",
    "mesh 3x2x4 routers 2",
    "hypercube 5 routers 3",
    "butterfly 2^3 hosts 2",
    "butterfly 3^2 hosts 1",
    "butterfly 4^2 hosts 3 spares 3",
    "butterfly 4^2 hosts 2 spares 3",
    "fat tree 16,8,4,2 up 1,4,4 routers at 1",
    "fat tree 12,4,2 up 1,4",
    "fat tree levels 2 ports 6 taper 2",
    "fat tree levels 3 ports 4 routers 3",
    "leaf spine 4x3 hosts 5 links 2 routers 4",
    "dragonfly 5x4 hosts 2 global links 1 routers 3",
]


@pytest.mark.parametrize("text", SMALL)
def test_counts_are_those_of_the_text_and_of_the_links(text: str) -> None:
    """Diameter and mean hops are held in tests/oracle/test_topology.py."""
    one = resilver.topology(text, seed=3)
    assert one.nodes == one.spec.nodes == len(one.node_names) == len(set(one.node_names))
    assert one.hosts == one.spec.hosts == np.count_nonzero(one.kinds == "host")
    assert one.routers == one.spec.routers == np.count_nonzero(one.kinds == "router")
    assert one.ports == 2 * one.links == 2 * len(one.ends)
    assert one.max_radix == one.degrees.max()
    # A switch has more than one link and is no router.
    assert one.switches == np.count_nonzero((one.degrees > 1) & (one.kinds != "router"))
    assert one.positions.min() >= 0.0
    assert one.positions.max() <= 1.0 + 1e-9
    assert len(np.unique(np.round(one.positions, 9), axis=0)) == one.nodes


def test_a_graphs_file_keeps_names_places_and_links(tmp_path: Path) -> None:
    """The nodes and links of the core are those of the file, number by number."""
    (tmp_path / "net.txt").write_text("x s\ny s\nz s\ns t\nu t\n", encoding="utf-8")
    one = resilver.topology(f"graph {tmp_path / 'net.txt'}")
    assert one.spec.graph is not None
    assert one.node_names == one.spec.graph.names == ("x", "s", "y", "z", "t", "u")
    assert [tuple(ends) for ends in one.ends.tolist()] == list(one.spec.graph.links)
    # x to s to t to u.
    assert one.distance(0, 5) == 3
    assert one.route(0, 5) == [0, 1, 4, 5]
    # Cutting s-t alone leaves 4 and 2 nodes; the best 3 and 3 cut s-t and one leaf.
    assert one.bisection_links == 2
    assert "from 0 to 5" in refused(one.distance, 0, 6)


def test_spare_links_are_counted_and_change_no_distance() -> None:
    """Two a switch of 4 x 256 switches; a butterfly without keeps the content of its runs' keys."""
    spare, plain = json_output("topology", "butterfly 4^4 hosts 16 spares 2", PLAIN)
    assert (plain["spare_links"], spare["spare_links"]) == (0, 4 * 256 * 2 // 2)
    assert (plain["links"], spare["links"], spare["ports"]) == (8192, 9216, 18432)
    for measure in ("nodes", "diameter", "mean_hops", "bisection_links"):
        assert spare[measure] == plain[measure]
    assert "spares_per_switch" not in resilver.topology(PLAIN).spec.content()
    assert "spare links 1,024" in " ".join(output("topology", spare["topology"]).split())


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    """Other seeds are refused with the rule."""
    assert "a seed is a whole number" in refused(resilver.topology, "torus 4x4", seed=seed)


def test_json_of_one_and_of_several() -> None:
    """One topology is an object, several are a list; words without quotes are one text."""
    one = json_output("topology", "torus", "16x16x16", "--routers", "128")
    assert (one["nodes"], one["links"], one["ports"], one["diameter"]) == (4096, 12288, 24576, 24)
    # 4 hops a ring to any node; the 128 routers, where they were drawn, are no ends.
    assert one["mean_hops"] == pytest.approx(12 * 4096 / 4095, rel=1e-3)
    # Two planes of 16 x 16 links part a ring of 16 planes.
    assert one["bisection_links"] == 512
    assert one["radices"] == [
        {"kind": "router", "ports": 6, "nodes": 128},
        {"kind": "host", "ports": 6, "nodes": 3968},
    ]
    several = json_output("topology", "torus 4x4", "leaf spine 4x2 hosts 4")
    assert [row["mean_router_disk_hops"] for row in several] == [None, None]
    assert several[1]["oversubscription"] == [2.0]
    assert len(json_output("topology", "--list")) == len(KINDS) + 1


def test_tables_say_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person reads sizes, distances and costs of one, and several beside each other."""
    monkeypatch.setenv("COLUMNS", "160")
    said = output("topology", "leaf spine 16x4 hosts 20 routers 8")
    for words in ("hosts 312", "routers 8", "switches 20", "links 384", "oversubscription 5 : 1"):
        assert words in " ".join(said.split())
    said = output("topology", "torus 4x4", "hypercube 4")
    # They are one graph under two names.
    assert "Shortest paths: torus 4x4, 2.133 hops on average." in said
    starts = ("torus", "hypercube")
    rows = [line.split() for line in said.splitlines() if line.startswith(starts)]
    assert rows[0][2:] == rows[1][2:]
    assert "dragonfly" in output("topology", "--list")


def test_topologies_are_compared_by_their_oversubscription(monkeypatch: pytest.MonkeyPatch) -> None:
    # By hand: a leaf of 20 hosts with a link to each of 5 spines has 4 links down for one up; two
    # levels of switches with as many ports up as down have 1 : 1 each; a torus has no levels.
    monkeypatch.setenv("COLUMNS", "80")
    texts = ["leaf spine 10x5 hosts 20 entries 2", "fat tree levels 3 ports 4", "torus 4x4"]
    lines = output("topology", *texts).splitlines()
    at = next(rank for rank, line in enumerate(lines) if "oversubscription" in line)
    assert [line.split()[-1] for line in lines[at + 2 :] if line[:1].strip()][:3] == [
        "4:1",
        "1:1",
        "n/a",
    ]
    assert max(map(len, lines)) <= 80


def test_switches_are_no_ends_of_mean_hops() -> None:
    """24 hosts below 6 leaves: 3 others at 2 hops, 20 at 4. More spines bring them no nearer."""
    for one in json_output("topology", "leaf spine 6x3 hosts 4", "leaf spine 6x30 hosts 4"):
        assert one["mean_hops"] == pytest.approx((3 * 2 + 20 * 4) / 23)


@pytest.mark.parametrize("faults", ["[]", "[{ fail = { links = 6 } }]"])
def test_spare_links_save_requests_that_failed_links_cut(faults: str, tmp_path: Path) -> None:
    """By the whole command: idle without a failure, and no request lost with six of 192 links."""
    study = """
    [cluster]
    device = { service = "1 ms" }
    [cluster.fabric]
    model = "switched"
    link_rate = "10 Gb/s"
    hop_limit = 1000
    [traffic]
    outstanding = 64
    timeout = "100 ms"
    duration = "1 s"
    [study.sweep]
    "cluster.fabric.topology" = ["butterfly 4^2 hosts 4", "butterfly 4^2 hosts 4 spares 2"]
    """
    plain, spared = study_rows(tmp_path, study, f"faults={faults}")
    if faults == "[]":
        same = ("requests_completed", "mean_delay_seconds", "mean_hops", "packets_delivered")
        assert {key: plain[key] for key in same} == {key: spared[key] for key in same}
        return
    assert plain["requests_lost"] > 100 and spared["requests_lost"] == 0
    assert spared["packets_deviated"] > 0 and spared["mean_hops"] < plain["mean_hops"]
