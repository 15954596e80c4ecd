"""What a system leaves to chance: where its seed makes a difference, and where it makes none."""

from __future__ import annotations

from collections.abc import Iterator

from resilver.spec.arrivals import RequestTargets
from resilver.spec.cluster import Cluster
from resilver.spec.device import DeviceService
from resilver.spec.failing import part_names
from resilver.spec.faults import NETWORK_LEVELS, Fault
from resilver.spec.system import System
from resilver.spec.topology import TopologySpec
from resilver.spec.traffic import Traffic


def chances(system: System) -> tuple[str, ...]:
    """What is drawn by the seed of a run, in words; nothing where all seeds give the same run.

    Returns:
        Such as ``which server fails`` and ``the sizes of files``, each once.

    Source: every use of a random stream in the core. Placement draws nothing: it hashes names.
    """
    drawn = [_fault(system, fault) for fault in system.faults]
    for pool in system.of_pools:
        drawn += _stored(pool)
        if pool.traffic is not None:
            drawn.append(_asked(pool, pool.traffic))
    if system.report is not None:
        return tuple(dict.fromkeys(word for word in (*drawn, *_healing(system)) if word))
    if system.detection is not None and any(fault.waits for fault in system.faults):
        drawn.append("when devices send to detect failures, and to whom")
    kinds = system.cluster.device_kinds
    if any(kind.spread for kind in kinds):
        drawn.append("the speeds of devices")
    services = [kind.device for kind in kinds if isinstance(kind.device, DeviceService)]
    follows = [pool.traffic is None or pool.traffic.engine == "events" for pool in system.of_pools]
    if any(follows) and any(service.distribution != "fixed" for service in services):
        drawn.append("the time of each request to a device")
    topology = system.cluster.fabric.topology
    if topology is not None and _draws_routers(topology):
        drawn.append("where routers are")
    return tuple(dict.fromkeys(word for word in drawn if word))


def _healing(system: System) -> list[str]:
    """What is drawn of how a real cluster heals."""
    run, report = system.ceph, system.report
    is_on = report is not None and report.balancer is not None and report.balancer.active
    balances = is_on or (run is not None and "balance" in run.changes)
    return [
        *(["in which order the balancer looks at pools"] if balances else []),
        *(["the course of single objects"] if run is not None and run.events else []),
    ]


def _asked(pool: System, traffic: Traffic) -> str:
    """What is drawn of what clients ask: of steady flows, what none of many requests evens out."""
    if traffic.engine == "events":
        return "what clients ask, and when"
    if not pool.is_traffic_only:
        return "which objects clients ask for"
    targets = traffic.targets
    if targets.per_client is not None:
        return "which servers each client asks" if targets.is_dealt_at_random else ""
    return "" if targets == RequestTargets() else "which servers clients ask most"


def _draws_routers(topology: TopologySpec) -> bool:
    """Whether routers take places of hosts at random, so that the other hosts are elsewhere."""
    content = topology.content()
    if topology.kind == "mesh":
        return bool(topology.routers) and content["wiring"] == "inside"
    # Of a leaf spine, a file or a tree with sizes, it is said where they are.
    drawing = (
        topology.kind in ("torus", "torus_of_trees", "hypercube", "dragonfly") or "taper" in content
    )
    return bool(topology.routers) and drawing


def _stored(pool: System) -> Iterator[str]:
    """What is drawn of what a pool stores."""
    bins = [item for item in pool.histogram_bins if item.file_count]
    # The sizes of a bin are whole bytes below its end.
    if len(bins) > 1 or any(item.max_bytes - item.min_bytes > 1 for item in bins):
        yield "the sizes of files"
    if pool.recovery.source == "random" and any(fault.starts_rebuild for fault in pool.faults):
        yield "which survivor is asked"
    if pool.placement is not None and pool.placement.algorithm == "copysets":
        yield "the copysets"


def _fault(system: System, fault: Fault) -> str:
    """What is drawn of a fault; empty where it names what breaks, or all of it breaks."""
    broken = fault.broken
    if broken is None:
        corrupt = fault.corrupt
        is_drawn = corrupt is not None and isinstance(corrupt.groups, int)
        return "which groups have soft errors" if is_drawn else ""
    recovery = fault.recovery
    if recovery is not None and recovery.reconnect and not recovery.missing:
        return "when clients reconnect"
    if not isinstance(broken.targets, int):
        return ""
    if broken.targets == _count(system.cluster, broken.level):
        return ""
    return f"which {broken.level} {'slows down' if broken.health else 'fails'}"


def _count(cluster: Cluster, level: str) -> int | None:
    """How many parts of a level there are; None of the network's, which the core alone knows."""
    if level in NETWORK_LEVELS:
        return None
    return len(set(part_names(cluster, level).values()))
