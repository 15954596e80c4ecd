"""What a network of packets comes to, as estimates need it."""

from __future__ import annotations

from dataclasses import dataclass

from resilver.spec import System, Traffic
from resilver.spec.grouping import sets_of

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


# Requests that are tried in all, and to each server of each client at the most.
_REQUESTS = 2**18
_ROUNDS_MAX = 64
# How much less it takes to look at what a device did than to build it.
_TOLD_OF_BUILT = 12
# What one costs a device and two ports is kept, 40 bytes each, in vectors that grow by doubling.
_BYTES_PER_PAIR = 200


def tried(system: System, traffic: Traffic) -> tuple[float, float, float]:
    """The requests that are tried, one at a time, and the memory that their costs take.

    Args:
        traffic: Its clients, or those of one of its pools.

    Returns:
        How many requests, bytes, and how many devices and clients are built anew for all trials.
    """
    servers, clients = _servers(system), max(system.cluster.fabric.router_count, 1)
    kinds = sum(2 if 0 < one.read_share < 1 else 1 for one in traffic.classes if one.share)
    times = {fault.at for fault in system.faults}
    ends = (fault.broken.until for fault in system.faults if fault.broken is not None)
    stretches = 1 + len(times | {end for end in ends if end is not None})
    asked, pairs, trials = servers * clients, servers * clients, float(clients)
    own = traffic.targets.per_client
    if traffic.arrivals is not None and own is None:
        # A flow to each server.
        own = servers
    if traffic.is_striped and system.cluster.fabric.topology is None:
        # All objects are tried, and it is the same from wherever clients enter.
        pairs, trials = servers, 1.0
    elif own is not None:
        asked = pairs = clients * min(own, servers)
        if system.cluster.fabric.topology is None:
            # Around a switch that never fills, it is the same from wherever clients enter.
            pairs = min(pairs, servers)
        # Many servers are tried in one run; after each, what all parts did is looked at.
        trials = pairs / _TOLD_OF_BUILT
    rounds = min(max(_REQUESTS // pairs, 1), _ROUNDS_MAX)
    ways = float(kinds * stretches)
    built = trials * ways * (servers + clients)
    return pairs * ways * rounds, asked * ways * _BYTES_PER_PAIR, built


def _servers(system: System) -> int:
    """How many servers requests may go to: of RAID sets, the first member of each."""
    tree, placement = system.cluster.tree, system.placement
    if tree is not None and placement is not None and placement.level is not None:
        return max(len(sets_of(tree, placement)), 1)
    return max(system.server_count, 1)
