"""What is tried to find the costs of steady flows, before it is run."""

from __future__ import annotations

from resilver.spec import System, Traffic

# Requests that are tried in all, and to each server of each client at the most.
_REQUESTS = 2**18
_ROUNDS_MAX = 64
# What one costs a device and two ports is kept, 40 bytes each, in vectors that grow by doubling.
_BYTES_PER_PAIR = 200


def tried(system: System, traffic: Traffic) -> tuple[float, float]:
    """The requests that are tried, one at a time, and the memory that their costs take.

    Args:
        system: The system.
        traffic: Its clients, or those of one of its pools.

    Returns:
        How many requests, and bytes.
    """
    servers, clients = max(system.server_count, 1), max(system.cluster.fabric.router_count, 1)
    kinds = 2 if 0 < traffic.read_share < 1 else 1
    times = {fault.at for fault in system.faults}
    ends = (fault.broken.until for fault in system.faults if fault.broken is not None)
    stretches = 1 + len(times | {end for end in ends if end is not None})
    pairs = float(servers * clients * kinds * stretches)
    rounds = min(max(_REQUESTS // (servers * clients), 1), _ROUNDS_MAX)
    return pairs * rounds, pairs * _BYTES_PER_PAIR
