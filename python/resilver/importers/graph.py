"""Reading a network's graph: nodes, links, rates and places, from an edge list, JSON or GraphML.

The format is told by the content: GraphML begins with ``<``, JSON with ``{``, and all else is an
edge list. A link is full duplex: in a directed graph the edges a to b and b to a are one link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resilver.errors import name_remedy
from resilver.importers.graph_formats import Edge, Vertex, read_raw
from resilver.text import name_of, read_text, refuse

KINDS = ("host", "router", "switch")
"""What a node may be: a host has a device, clients enter at a router, a switch only forwards."""

NODES_MAX = 2**20
"""The most nodes of a graph from a file; a way is looked up in tables, which grow with them."""


@dataclass(frozen=True)
class GraphFile:
    """A network as a file has it.

    Args:
        label: The file's name.
        names: The name of each node.
        kinds: What each node is, one of `KINDS`.
        hosts: The numbers of the nodes with a device, ascending.
        routers: The numbers of the nodes where clients enter, ascending.
        links: The two nodes of each link, the lower first, in ascending order.
        rates: The rate of each link in B/s, or empty where the file has none.
        positions: The place of each node in the unit square, or None where the file has none.
        path: The file.
    """

    label: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    hosts: tuple[int, ...]
    routers: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    rates: tuple[float, ...]
    positions: tuple[tuple[float, float], ...] | None
    path: Path


def read_graph(
    path: Path, hosts: Sequence[str] | None = None, routers: Sequence[str] | None = None
) -> GraphFile:
    """The network in a file.

    A node is what its attribute ``kind`` says. In a file without kinds, nodes of one link are
    hosts, or all nodes where every node has several.

    Args:
        path: The file: GraphML, JSON (node-link, or nodes and links) or an edge list (two names
            and perhaps a rate a line).
        hosts: The names of the hosts, instead of what the file says.
        routers: The names of the routers, instead of what the file says.

    Raises:
        ConfigError: The file is none of these, or is no network: a link from a node to itself, a
            part that nothing joins to the rest, no host.
    """
    raw = read_raw(read_text(path), path)
    if not raw.vertices:
        refuse(path, "there are no nodes in this file", 'write a link a line, such as "a b"')
    if len(raw.vertices) > NODES_MAX:
        refuse(path, f"a graph has at most {NODES_MAX:,} nodes, and this has {len(raw.vertices):,}")
    number = {vertex.name: index for index, vertex in enumerate(raw.vertices)}
    edges = _one_a_link(raw.edges, number) if raw.is_directed else list(raw.edges)
    # Links are ordered by their ends, as the core numbers them; parallel ones as in the file.
    ordered = sorted(
        (
            (min(ends), max(ends), edge.rate)
            for edge in edges
            for ends in [(number[edge.source], number[edge.target])]
            for _ in range(edge.count)
        ),
        key=lambda link: link[:2],
    )
    links = tuple((low, high) for low, high, _ in ordered)
    _check_joined(path, raw.vertices, links)
    kinds = _kinds(path, raw.vertices, links, number, hosts, routers)
    return GraphFile(
        label=name_of(path),
        names=tuple(vertex.name for vertex in raw.vertices),
        kinds=kinds,
        hosts=tuple(index for index, kind in enumerate(kinds) if kind == "host"),
        routers=tuple(index for index, kind in enumerate(kinds) if kind == "router"),
        links=links,
        rates=_rates(path, edges, [rate for _, _, rate in ordered]),
        positions=_positions(path, raw.vertices),
        path=path,
    )


def _one_a_link(edges: Iterable[Edge], number: dict[str, int]) -> list[Edge]:
    """Of a directed graph's edges, the links: as many as the fuller direction has."""
    ahead: dict[tuple[int, int], list[Edge]] = {}
    for edge in edges:
        ahead.setdefault((number[edge.source], number[edge.target]), []).append(edge)
    links = []
    for (source, target), those in ahead.items():
        back = ahead.get((target, source), [])
        ours, theirs = (sum(edge.count for edge in some) for some in (those, back))
        if ours > theirs or (ours == theirs and source < target):
            links += those
    return links


def _kinds(
    path: Path,
    vertices: Sequence[Vertex],
    links: Sequence[tuple[int, int]],
    number: dict[str, int],
    hosts: Sequence[str] | None,
    routers: Sequence[str] | None,
) -> tuple[str, ...]:
    for vertex in vertices:
        if vertex.kind is not None and vertex.kind not in KINDS:
            remedy = name_remedy(vertex.kind, KINDS, "kinds")
            refuse(vertex.place, f'there is no kind of node "{vertex.kind[:40]}"', remedy)
    if any(vertex.kind is not None for vertex in vertices):
        # A file that says what some nodes are means the others to forward.
        kinds = [vertex.kind or "switch" for vertex in vertices]
    else:
        degrees = Counter(node for ends in links for node in ends)
        leaves = [degrees[index] == 1 for index in range(len(vertices))]
        inner = "switch" if any(leaves) else "host"
        kinds = ["host" if leaf else inner for leaf in leaves]
    for names, kind in ((hosts, "host"), (routers, "router")):
        if names is None:
            continue
        kinds = ["switch" if item == kind else item for item in kinds]
        for name in names:
            if name not in number:
                rule = f'{kind}s: the graph has no node "{name[:40]}"'
                refuse(path, rule, name_remedy(name, list(number), "nodes"))
            kinds[number[name]] = kind
    if hosts and routers and (both := set(hosts) & set(routers)):
        refuse(path, f'"{min(both)}" is among the hosts and among the routers', "name it once")
    if "host" not in kinds:
        refuse(path, "no node of the graph is a host", 'mark one with kind = "host", or name hosts')
    return tuple(kinds)


def _check_joined(path: Path, vertices: Sequence[Vertex], links: Sequence[tuple[int, int]]) -> None:
    """Refuse a graph in pieces: between them no packet finds a way."""
    piece = list(range(len(vertices)))

    def root(node: int) -> int:
        while piece[node] != node:
            piece[node] = piece[piece[node]]
            node = piece[node]
        return node

    for low, high in links:
        piece[root(low)] = root(high)
    first = root(0)
    apart = [vertex for index, vertex in enumerate(vertices) if root(index) != first]
    if apart:
        rule = (
            f'no way leads from "{vertices[0].name}" to "{apart[0].name}"; the graph has '
            f"{len(apart)} nodes that are not joined to its first"
        )
        refuse(path, rule, "add the missing links, or remove these nodes")


def _rates(path: Path, edges: Sequence[Edge], rates: Sequence[float | None]) -> tuple[float, ...]:
    """The rates of all links, or none: half a table would leave open what the others have."""
    without = next((edge for edge in edges if edge.rate is None), None)
    if without is not None and any(edge.rate is not None for edge in edges):
        rule = "this link has no rate, and others have"
        refuse(without.place, rule, "give every link a rate, or none and state link_rate")
    return tuple(rate for rate in rates if rate is not None)


def _positions(path: Path, vertices: Sequence[Vertex]) -> tuple[tuple[float, float], ...] | None:
    """The places in the unit square, the larger extent filling it."""
    places = [vertex.position for vertex in vertices if vertex.position is not None]
    if not places:
        return None
    without = next((vertex for vertex in vertices if vertex.position is None), None)
    if without is not None:
        rule = f'"{without.name}" has no place (x and y), and other nodes have'
        refuse(without.place, rule, "give every node a place, or none")
    left, bottom = (min(place[axis] for place in places) for axis in (0, 1))
    extents = [max(place[axis] for place in places) - low for axis, low in ((0, left), (1, bottom))]
    scale = max(*extents) or 1.0
    return tuple(((x - left) / scale, (y - bottom) / scale) for x, y in places)
