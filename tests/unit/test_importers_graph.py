"""Networks: graphs in three formats, and netgauge's LogGP tables with their traps."""

import json
from pathlib import Path

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resilver.errors import ConfigError
from resilver.importers import LogGpTable, read_netgauge
from resilver.importers.graph import GraphFile, read_graph
from resilver.importers.netgauge import parse_netgauge
from tests.build import refused

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


def table(*rows: str, header: str = "") -> LogGpTable:
    """A table of rows ``size L g G`` in a file with only these columns."""
    text = "\n".join([header or "# size L g G", *rows])
    return parse_netgauge(text, "test", "test.dat")


def test_columns_are_found_by_name_and_times_are_microseconds() -> None:
    row = table("8 6.782182 1.077706 0.002206").rows[0]
    # 6.782182 us is 6,782,182 ps, and 0.002206 us a byte are 2,206 ps a byte.
    assert round(row.latency_seconds * 1e12) == 6_782_182
    assert round(row.gap_seconds * 1e12) == 1_077_706
    assert round(row.gap_per_byte_seconds * 1e12) == 2_206
    read = parse_netgauge("8 10 1 2 3 6.7 1.1 1.2 1.07 0.002 0.1\n", "t", "t.dat")
    assert read.rows[0].size_bytes == 8 and read.rows[0].latency_seconds == pytest.approx(6.7e-6)
    # netgauge itself begins with size; only a header line that does so and names G is taken.
    (row,) = table("8 0.002 6.7 1.07", header="# size is in bytes\n# size G L g").rows
    assert row.size_bytes == 8 and row.gap_seconds == pytest.approx(1.07e-6)
    assert row.gap_per_byte_seconds == pytest.approx(2e-9)


def test_rows_keep_their_order_without_those_of_no_fit_and_may_have_negative_gaps() -> None:
    read = table("1 6.7 -nan -nan", "2 6.7 1.0 0.001")
    assert [row.size_bytes for row in read.rows] == [2]
    assert [(row.line, "could not fit" in row.reason) for row in read.skipped] == [(2, True)]
    # The first of two rows of one size is the one that serves messages.
    read = table("4 1 1 0", "8 3 1 0", "8 2 1 0", "16 4 1 0")
    assert [round(row.latency_seconds * 1e6) for row in read.rows] == [1, 3, 2, 4]
    # Row 16 serves 8 bytes and more: -0.006 + 7 * 0.001 us is above zero; at -0.008 it is below.
    assert len(table("8 1 1 0.001", "16 1 -0.006 0.001").rows) == 2
    with pytest.raises(ConfigError, match=r"line 3: g .* negative for a message of s = 8 bytes"):
        table("8 1 1 0.001", "16 1 -0.008 0.001")
    assert "line 2: the line is too long" in refused(table, "x" * 20_000)
    assert len(table("8 1 1 0.001", "8 1 -5 0.001", "16 1 1 0.001").rows) == 3


def test_the_real_table_has_its_traps_where_science_says(shared_data: Path) -> None:
    read = read_netgauge(shared_data / "loggp-qdr-infiniband.dat")
    assert read.path == shared_data / "loggp-qdr-infiniband.dat"
    # 28 lines of data, the first of which has no fit.
    assert len(read.rows) == 27 and len(read.skipped) == 1
    sizes = [row.size_bytes for row in read.rows]
    twice = sizes.index(262144)
    assert sizes[twice : twice + 2] == [262144, 262144]
    eight = read.rows[sizes.index(8192)]
    assert read.rows[twice].gap_seconds == eight.gap_seconds
    assert [row.size_bytes for row in read.rows if row.gap_seconds < 0] == [2**24, 2**25, 2**26]
