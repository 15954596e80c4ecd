"""A network's graph is read from an edge list, JSON and GraphML alike; bad files say where."""

import json
from pathlib import Path

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.importers.graph import GraphFile, read_graph

GRAPHML = (
    '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<graph edgedefault="undirected"><node id="a"/><node id="b"/>{}</graph></graphml>'
)
GRAPHS = {
    "edges.txt": "source,target\n# to the switch\na s 10 Gb/s\nb,s,10Gb/s # the same\n\n"
    "t s 1 Gb/s\nt s 1 Gb/s\nc t 1 Gb/s\n",
    "nodes.json": """{
 "nodes": [{"id": "disk", "kind": "host", "x": 10, "y": 5},
           {"id": 7, "x": 30, "y": 5},
           {"id": "door", "kind": "Router", "x": 30, "y": 15}],
 "links": [{"source": "door", "target": 7, "rate": "2 Gb/s", "count": 2},
           {"source": "disk", "target": 7, "rate": "1 Gb/s"}]
}""",
    "graph.xml": GRAPHML.format('<edge source="a" target="b"/>'),
}


def read(folder: Path, text: str) -> GraphFile:
    path = folder / "network"
    path.write_text(text, encoding="utf-8")
    return read_graph(path)


def test_an_edge_list(tmp_path: Path) -> None:
    # Two names and perhaps a rate a line; a line that stands again is a second link beside it.
    graph = read(tmp_path, GRAPHS["edges.txt"])
    assert graph.names == ("a", "s", "b", "t", "c")
    # Nodes of one link are hosts: t has three links and s four.
    assert graph.kinds == ("host", "switch", "host", "switch", "host")
    assert graph.hosts == (0, 2, 4)
    assert graph.links == ((0, 1), (1, 2), (1, 3), (1, 3), (3, 4))
    # 10 Gb/s are 1.25 GB/s.
    assert graph.rates == (1.25e9, 1.25e9, 1.25e8, 1.25e8, 1.25e8)
    assert graph.positions is None
    # Where every node has several links and none says what it is, each has a device.
    assert read(tmp_path, "a b\nb c\nc a\n").hosts == (0, 1, 2)
    # Rates follow their links into the order of ends, in which the core numbers links.
    graph = read(tmp_path, "a b 3 Gb/s\nc a 2 Gb/s\nc b 1 Gb/s\n")
    assert graph.links == ((0, 1), (0, 2), (1, 2))
    assert graph.rates == (3.75e8, 2.5e8, 1.25e8)


def test_json_with_kinds_places_rates_and_counts(tmp_path: Path) -> None:
    """Places fill the unit square along their larger extent; a count is parallel links."""
    graph = read(tmp_path, GRAPHS["nodes.json"])
    assert graph.names == ("disk", "7", "door")
    # A file that says what some nodes are means the others to forward.
    assert graph.kinds == ("host", "switch", "router")
    assert graph.links == ((0, 1), (1, 2), (1, 2))
    assert graph.rates == (1.25e8, 2.5e8, 2.5e8)
    # 20 wide and 10 high: x from 0 to 1, y from 0 to one half.
    assert graph.positions == ((0.0, 0.0), (1.0, 0.0), (1.0, 0.5))


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_networkx_writes_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, nodes: int, seed: int
) -> None:
    """A random tree comes back the same from GraphML, node-link JSON and an edge list."""
    folder = tmp_path_factory.mktemp("graphs")
    tree = networkx.random_labeled_tree(nodes, seed=seed)
    lines = "".join(f"{a} {b}\n" for a, b in tree.edges)
    texts = [
        "\n".join(networkx.generate_graphml(tree)),
        json.dumps(networkx.node_link_data(tree)),
        json.dumps(networkx.node_link_data(tree.to_directed())),
        lines,
    ]
    for text in texts:
        graph = read(folder, text)
        found = {frozenset((graph.names[a], graph.names[b])) for a, b in graph.links}
        assert found == {frozenset((str(a), str(b))) for a, b in tree.edges}
        assert len(graph.links) == nodes - 1
        leaves = {str(node) for node in tree if tree.degree[node] == 1}
        assert {graph.names[host] for host in graph.hosts} == leaves
