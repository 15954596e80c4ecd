"""The core's topologies against networkx: hops of any pair, means and diameters."""

import json
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

from resilver import _core

ALIKE: dict[str, dict[str, Any]] = {
    "torus": {"kind": "torus", "sides": [5, 4, 3], "routers": 3, "wiring": "inside"},
    "torus with sides of two": {"kind": "torus", "sides": [2, 3, 2], "routers": 0},
    "mesh": {"kind": "mesh", "sides": [4, 7], "routers": 2},
    "hypercube": {"kind": "hypercube", "dimensions": 6, "routers": 3},
    "butterfly": {"kind": "butterfly", "radix": 3, "levels": 3, "hosts_per_switch": 2},
    "fat tree of sizes": {
        "kind": "fat_tree",
        "sizes": [64, 16, 8, 4],
        "uplinks": [1, 4, 8],
        "routers_at": 1,
    },
    "folded Clos": {"kind": "fat_tree", "levels": 3, "ports": 6, "taper": 2, "routers": 5},
    "leaf and spine": {
        "kind": "leaf_spine",
        "leaves": 6,
        "spines": 3,
        "hosts_per_leaf": 5,
        "links": 2,
        "routers": 7,
    },
    "leaf and spine with entries": {
        "kind": "leaf_spine",
        "leaves": 5,
        "spines": 3,
        "hosts_per_leaf": 4,
        "links": 2,
        "entries_per_spine": 3,
    },
    "graph": {
        "kind": "graph",
        "nodes": 6,
        "links": [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4], [4, 5], [0, 1]],
        "hosts": [5, 0, 2],
        "routers": [1],
    },
}
"""Topologies whose shortest ways are those of the graph, whatever leads through a router."""


def built(content: dict[str, Any], seed: int = 1) -> _core.Topology:
    return _core.Topology(json.dumps(content), seed)


def graph_of(topology: _core.Topology) -> nx.MultiGraph:
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(topology.nodes))
    first, second = topology.ends()
    graph.add_edges_from(zip(first.tolist(), second.tolist(), strict=True))
    return graph


@pytest.mark.parametrize("content", ALIKE.values(), ids=ALIKE)
def test_hops_are_those_of_the_graph(content: dict[str, Any]) -> None:
    topology = built(content)
    graph = graph_of(topology)
    assert graph.number_of_edges() == topology.links == topology.ports // 2
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    for start in range(topology.nodes):
        for end in range(topology.nodes):
            assert topology.distance(start, end) == hops[start][end]
            route = topology.route(start, end)
            assert len(route) == hops[start][end] + 1
            assert all(graph.has_edge(*pair) for pair in pairwise(route))
    assert topology.diameter == nx.diameter(graph)
    assert_means_are_of_its_distances(topology)


@pytest.mark.parametrize("content", ALIKE.values(), ids=ALIKE)
def test_what_may_fail_is_what_forwards(content: dict[str, Any]) -> None:
    topology = built(content)
    graph = graph_of(topology)
    forwards = [node for node in graph if graph.degree(node) > 1]
    routers = set(topology.routers)
    assert topology.failing_switches().tolist() == [n for n in forwards if n not in routers]
    first, second = topology.ends()
    between = np.isin(first, forwards) & np.isin(second, forwards)
    assert topology.failing_links().tolist() == np.flatnonzero(between).tolist()
    assert topology.max_radix == max(degree for _, degree in graph.degree())


@pytest.mark.parametrize("content", ALIKE.values(), ids=ALIKE)
def test_names_and_positions_are_of_every_node(content: dict[str, Any]) -> None:
    topology = built(content)
    names = topology.node_names()
    assert len(set(names)) == topology.nodes
    assert [names[host] for host in topology.hosts] == [
        f"host.{number}" for number in range(len(topology.hosts))
    ]
    positions = topology.positions()
    assert positions.shape == (topology.nodes, 2)
    assert ((positions >= 0) & (positions <= 1)).all()


def test_a_dragonfly_crosses_one_global_link_where_two_would_be_shorter() -> None:
    content = {
        "kind": "dragonfly",
        "groups": 9,
        "routers_per_group": 4,
        "hosts_per_router": 2,
        "global_links": 2,
        "routers": 4,
    }
    topology = built(content)
    graph = graph_of(topology)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    more = [
        topology.distance(start, end) - hops[start][end]
        for start in range(topology.nodes)
        for end in range(topology.nodes)
    ]
    # Local, global, local at most, where two global links are two hops at least: one hop more.
    assert set(more) == {0, 1}
    assert topology.diameter == nx.diameter(graph) == 5
    assert_means_are_of_its_distances(topology)


def test_no_way_leads_through_a_router_outside_of_a_mesh() -> None:
    content = {"kind": "mesh", "sides": [6, 5], "routers": 8, "wiring": "corner_sides"}
    topology = built(content)
    graph = graph_of(topology)
    for end in range(topology.nodes):
        others = [router for router in topology.routers if router != end]
        hops = nx.single_source_shortest_path_length(nx.restricted_view(graph, others, []), end)
        assert all(topology.distance(start, end) == hops[start] for start in topology.hosts)
    assert_means_are_of_its_distances(topology)


def assert_means_are_of_its_distances(topology: _core.Topology) -> None:
    for ones, mean in (
        (topology.hosts, topology.mean_hops),
        (topology.routers, topology.mean_router_disk_hops),
    ):
        pairs = [(one, host) for one in ones for host in topology.hosts if one != host]
        hops = [topology.distance(*pair) for pair in pairs]
        assert mean == (pytest.approx(sum(hops) / len(hops), rel=1e-12) if hops else None)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"kind": "torus", "sides": [4], "routers": 4}, "topology.routers=4"),
        ({"kind": "torus", "sides": [4, 4], "wiring": "perimeter"}, "topology.wiring"),
        ({"kind": "fat_tree", "sizes": [4, 2]}, "topology.kind=fat_tree"),
        ({"kind": "hypercube", "dimensions": 40, "routers": 2}, "topology.dimensions=40"),
        (
            {
                "kind": "leaf_spine",
                "leaves": 2,
                "spines": 2,
                "hosts_per_leaf": 2,
                "routers": 1,
                "entries_per_spine": 1,
            },
            r"topology\.routers=1: clients enter at spines",
        ),
        ({"kind": "star"}, "unknown variant"),
        ({"kind": "graph", "nodes": 3, "links": [[0, 1]], "hosts": [0]}, "node 2 cannot"),
    ],
)
def test_what_cannot_be_built_is_an_error(content: dict[str, Any], says: str) -> None:
    with pytest.raises(_core.CoreConfigError, match=says):
        built(content)


def test_a_node_that_is_not_there_is_an_error() -> None:
    topology = built({"kind": "torus", "sides": [4]})
    with pytest.raises(_core.CoreConfigError, match=r"topology\.node=4"):
        topology.distance(0, 4)
    with pytest.raises(_core.CoreConfigError, match=r"topology\.node=9"):
        topology.route(9, 0)
