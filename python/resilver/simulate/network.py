"""The core's topology of a system's fabric, and the figures of it that an estimate needs."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from resilver import _core
from resilver.core_errors import core_errors
from resilver.errors import ConfigError
from resilver.importers.graph import GraphFile
from resilver.spec import System

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# A study's runs go point by point, each with all of its seeds, whose routers stand elsewhere.
_TOPOLOGIES_KEPT = 8
_MEASURES_KEPT = 256


def topology_of(system: System, seed: int) -> _core.Topology | None:
    """The core's topology of a system; None where its fabric has none.

    Args:
        seed: The seed of the run, which decides where routers stand that are placed at random.

    Raises:
        ConfigError: The topology cannot be built.
    """
    text = _text(system)
    return None if text is None else _built(text, seed)


def node_names(system: System, topology: _core.Topology) -> list[str]:
    """The names of a network's nodes: those of the graph's file, or the core's."""
    graph = _graph(system)
    return topology.node_names() if graph is None else list(graph.names)


def node_places(system: System, topology: _core.Topology) -> npt.NDArray[np.float64]:
    """Where nodes stand in a drawing: as the graph's file says, or the core.

    Returns:
        An array of shape (nodes, 2), in the unit square.
    """
    import numpy as np

    graph = _graph(system)
    if graph is None or graph.positions is None:
        return topology.positions()
    return np.array(graph.positions, dtype=np.float64)


def network_measures(system: System) -> tuple[int, int, float, float, int, int]:
    """What an estimate needs to know of a system's network.

    Args:
        system: The system, whose fabric has a topology.

    Returns:
        The number of nodes and of links, the mean hops between a router and a disk (between any
        two nodes where there are no routers), the mean hops between any two nodes, the number of
        links at routers, and how many join two halves.

    Raises:
        ConfigError: There is no topology, or it cannot be built.
    """
    text = _text(system)
    if text is None:
        raise ConfigError("this fabric has no topology", key="cluster.fabric.topology")
    return _measures(text)


def _graph(system: System) -> GraphFile | None:
    topology = system.cluster.fabric.topology
    return None if topology is None else topology.graph


def _text(system: System) -> str | None:
    topology = system.cluster.fabric.topology
    return None if topology is None else json.dumps(topology.content(), sort_keys=True)


@lru_cache(maxsize=_TOPOLOGIES_KEPT)
def _built(text: str, seed: int) -> _core.Topology:
    with core_errors("cluster.fabric.topology"):
        return _core.Topology(text, seed)


@lru_cache(maxsize=_MEASURES_KEPT)
def _measures(text: str) -> tuple[int, int, float, float, int, int]:
    import numpy as np

    # Where routers stand changes these figures by less than an estimate is good for.
    topology = _built(text, 1)
    between = topology.mean_hops or 0.0
    to_disks = topology.mean_router_disk_hops
    routers = np.asarray(topology.routers)
    ports = sum(int(np.isin(ends, routers).sum()) for ends in topology.ends())
    hops = between if to_disks is None else to_disks
    return topology.nodes, topology.links, hops, between, ports, topology.bisection_links
