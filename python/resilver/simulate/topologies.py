"""A network's topology, built and measured by the core."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.checked import checked_seed, whole
from resilver.core_errors import core_errors
from resilver.errors import ConfigError, show
from resilver.importers.graph import GraphFile
from resilver.simulate.codes import of_core
from resilver.spec.topology import TopologySpec, graph_topology, parse_topology

LAYOUT_NODES_MAX = 499
"""The most nodes of a graph without places that are laid out by forces, in under a second."""


@dataclass(frozen=True, eq=False)
class Topology:
    """A network: what there is, how far it is across, and where it may be drawn.

    Args:
        spec: What it was built from.
        seed: The seed that routers at random places were drawn by.
        nodes: How many things with ports there are.
        links: How many full-duplex links join them.
        spare_links: How many of these carry nothing but packets that have met a failure.
        ports: Twice the links.
        hosts: How many nodes have a device.
        routers: At how many nodes clients enter.
        switches: How many nodes of more than one link are no routers; they may be hosts too.
        diameter: The hops of a shortest way between the two nodes that are farthest apart.
        mean_hops: The mean hops of shortest paths between all pairs of different hosts, exact; None
            with fewer than two hosts.
        mean_router_disk_hops: The same from routers to hosts; None without routers.
        bisection_links: The fewest links between two equal halves.
        bisection_is_exact: Whether it is that number, or the least of the cuts that were tried.
        max_radix: The most links of one node.
        ends: The two nodes of each link, shape (links, 2).
        positions: The place of each node in the unit square, shape (nodes, 2).
        kinds: ``host``, ``router`` or ``switch`` for each node; a host that forwards is a host.
        node_names: The name of each node.
    """

    spec: TopologySpec
    seed: int
    nodes: int
    links: int
    spare_links: int
    ports: int
    hosts: int
    routers: int
    switches: int
    diameter: int
    mean_hops: float | None
    mean_router_disk_hops: float | None
    bisection_links: int
    bisection_is_exact: bool
    max_radix: int
    ends: npt.NDArray[np.int32]
    positions: npt.NDArray[np.float64]
    kinds: npt.NDArray[np.str_]
    node_names: tuple[str, ...]
    _core: Any = field(repr=False)

    @property
    def degrees(self) -> npt.NDArray[np.int64]:
        """How many links each node has."""
        return np.bincount(self.ends.ravel(), minlength=self.nodes)

    def distance(self, start: int, end: int) -> int:
        """The hops of a shortest way.

        Args:
            start: A node's number.
            end: Another's.

        Returns:
            The hops; 0 from a node to itself.

        Raises:
            ConfigError: There is no such node.
        """
        self._check_nodes(start, end)
        with core_errors():
            return int(self._core.distance(start, end))

    def route(self, start: int, end: int) -> list[int]:
        """The nodes of the one way that deterministic routing takes, both ends among them.

        Args:
            start: A node's number.
            end: Another's.

        Returns:
            The nodes' numbers in order.

        Raises:
            ConfigError: There is no such node.
        """
        self._check_nodes(start, end)
        with core_errors():
            return [int(node) for node in self._core.route(start, end)]

    def _check_nodes(self, *numbers: int) -> None:
        most = self.nodes - 1
        for number in numbers:
            whole("", number, most=most, rule=f"a node is a number from 0 to {most}", remedy="")


def topology(
    text: str | TopologySpec | GraphFile, *, routers: int | None = None, seed: int = 1
) -> Topology:
    """Build a network's topology and measure it.

    Args:
        text: A line such as ``torus 16x16x16 routers 128``, ``graph network.graphml``, or what
            `resilver.spec.topology.parse_topology` or `resilver.importers.graph.read_graph` made.
        routers: How many routers take the places of hosts, instead of what the text says.
        seed: The seed that draws their places.

    Returns:
        The topology with its measures.

    Raises:
        ConfigError: The text is none, or what it asks for cannot be built.

    >>> import resilver
    >>> ring = resilver.topology("torus 6")
    >>> ring.links, ring.diameter, ring.mean_hops, ring.bisection_links
    (6, 3, 1.8, 2)
    """
    seed = checked_seed(seed, "use 1")
    spec = _spec_of(text, routers)
    with core_errors(spec.label):
        core = _core.Topology(spec.definition, seed)
        first, second = core.ends()
        kinds = np.full(spec.nodes, "switch", dtype="<U6")
        kinds[np.asarray(core.hosts, dtype=np.int64)] = "host"
        kinds[np.asarray(core.routers, dtype=np.int64)] = "router"
        return of_core(
            Topology,
            core,
            spec=spec,
            seed=seed,
            hosts=len(core.hosts),
            routers=len(core.routers),
            switches=len(core.switches),
            ends=np.stack([first, second], axis=1).astype(np.int32),
            positions=_positions(spec, core),
            kinds=kinds,
            node_names=tuple(spec.graph.names if spec.graph else core.node_names()),
        )


def _spec_of(text: str | TopologySpec | GraphFile, routers: int | None) -> TopologySpec:
    if routers is not None and (isinstance(routers, bool) or not isinstance(routers, int)):
        rule = "the number of routers is a whole number"
        raise ConfigError(rule, "use 128", key="routers", value=show(routers))
    if isinstance(text, GraphFile):
        text = graph_topology(text)
    if isinstance(text, TopologySpec):
        if routers is not None and routers != text.routers:
            rule = "the routers of a topology that is built already are its own"
            remedy = "give its text and the number of routers"
            raise ConfigError(rule, remedy, key="routers", value=show(routers))
        return text
    return parse_topology(text, routers=routers)


def _positions(spec: TopologySpec, core: Any) -> npt.NDArray[np.float64]:
    """The file's places where it has some; else those that show the structure."""
    if spec.graph is None:
        return np.asarray(core.positions(), dtype=np.float64)
    if spec.graph.positions is not None:
        return np.array(spec.graph.positions, dtype=np.float64)
    if spec.nodes > LAYOUT_NODES_MAX:
        return np.asarray(core.positions(), dtype=np.float64)
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(spec.nodes))
    graph.add_edges_from(spec.graph.links)
    with warnings.catch_warnings():
        # Nodes that fall on one point divide by zero, which the layout itself repairs.
        warnings.simplefilter("ignore")
        places = networkx.spring_layout(graph, seed=1, iterations=200)
    laid = np.array([places[node] for node in range(spec.nodes)], dtype=np.float64)
    extent = float(np.ptp(laid, axis=0).max()) or 1.0
    return np.asarray((laid - laid.min(axis=0)) / extent, dtype=np.float64)
