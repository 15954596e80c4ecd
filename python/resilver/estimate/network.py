"""What a network of packets comes to, as estimates need it."""

from __future__ import annotations

from dataclasses import dataclass

from resilver.spec import System

# Each link's two channels, and the nodes' tables of ways.
_BYTES_PER_LINK = 400


@dataclass(frozen=True)
class Network:
    """What the packets of a run meet.

    Attributes:
        nodes: Everything with ports; 0 where the fabric has no links of its own.
        links: Physical links.
        hops: Mean hops between a router and a disk, or between any two nodes without routers.
        hops_between_servers: Mean hops between any two nodes.
        ports_of_routers: Links at all routers together.
        bisection_links: Links that join two halves.
    """

    nodes: int
    links: int
    hops: float
    hops_between_servers: float
    ports_of_routers: int
    bisection_links: int


def network_of(system: System) -> Network | None:
    """The network's figures, as the core counts them.

    Returns:
        The figures; None where the fabric has no links of its own.
    """
    if system.cluster.fabric.topology is None:
        return None
    from resilver.simulate import network_measures

    return Network(*network_measures(system))


def network_bytes(network: Network) -> float:
    """Memory that a network's tables take."""
    return network.links * _BYTES_PER_LINK
