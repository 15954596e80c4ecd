"""The core's topologies against networkx: hops of any pair, means and diameters."""

import json
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from resilver import _core

ALIKE: dict[str, dict[str, Any]] = {
    "torus": {"kind": "torus", "sides": [5, 4, 3], "routers": 3, "wiring": "inside"},
    "torus with sides of two": {"kind": "torus", "sides": [2, 3, 2], "routers": 0},
    "torus of trees": {"kind": "torus_of_trees", "sides": [4, 3], "down": [2, 3], "routers": 5},
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


def assert_means_are_of_its_distances(topology: _core.Topology) -> None:
    for ones, mean in (
        (topology.hosts, topology.mean_hops),
        (topology.routers, topology.mean_router_disk_hops),
    ):
        pairs = [(one, host) for one in ones for host in topology.hosts if one != host]
        hops = [topology.distance(*pair) for pair in pairs]
        assert mean == (pytest.approx(sum(hops) / len(hops), rel=1e-12) if hops else None)
