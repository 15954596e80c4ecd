"""Devices, fabric and traffic of a system in the core's words."""

from __future__ import annotations

from typing import Any

from resilver.spec import Arrivals, DeviceService, DeviceTable, System, Traffic
from resilver.spec.cluster import DeviceKind
from resilver.spec.device import OPERATIONS
from resilver.spec.serving import target_numbers


def devices_json(system: System) -> dict[str, Any]:
    """The devices as the native module reads them.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    cluster = system.cluster
    kinds, level = cluster.device_kinds, cluster.tree.device_level if cluster.tree else ""
    return {
        "kinds": [_kind(kind) for kind in kinds],
        "kind_of": cluster.kind_of if len(kinds) > 1 else [],
        "replaced": {
            name.removeprefix(f"{level}."): times for name, times in cluster.replaced.items()
        },
    }


def _kind(kind: DeviceKind) -> dict[str, Any]:
    service: dict[str, Any]
    device = kind.device
    if isinstance(device, DeviceService) and device.operations is not None:
        rates = device.rates
        seconds = {name: 1 / rates[name] if name in rates else 0.0 for name in OPERATIONS}
        is_drawn = device.distribution == "exponential"
        service = {"operations": {"times": seconds, "is_exponential": is_drawn}}
    elif isinstance(device, DeviceService):
        times = {"read": device.read_service, "write": device.write_service}
        service = {device.distribution: times}
    else:
        service = {"table": _table(device)}
    return {"service": service, "discipline": kind.queue, "spread": kind.spread}


def _table(table: DeviceTable) -> dict[str, Any]:
    seeks = zip(table.request_sizes, table.read_seek, table.write_seek, strict=True)
    return {
        "read": {"rate": table.read_rate, "overhead": table.read_overhead},
        "write": {"rate": table.write_rate, "overhead": table.write_overhead},
        "sequential_gap": table.sequential_gap,
        "rows": [(int(size), float(read), float(write)) for size, read, write in seeks],
    }


def fabric_json(system: System) -> dict[str, Any]:
    """The fabric as the native module reads it.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    fabric = system.cluster.fabric
    if fabric.topology is None:
        rows = [
            {
                "size": row.size_bytes,
                "latency": row.latency_seconds,
                "gap": row.gap_seconds,
                "gap_per_byte": row.gap_per_byte_seconds,
            }
            for row in system.loggp_rows
        ]
        return {"loggp": rows}
    rates = [float(rate) for rate in fabric.link_rates]
    # A file that gives every link its rate leaves none to be the others'.
    rate = float(fabric.link_rate) if fabric.link_rate is not None else max(rates)
    parameters = {
        "link_rate": rate,
        "link_rates": rates,
        "link_latency": float(fabric.link_latency or 0),
        "switch_latency": float(fabric.switch_latency or 0),
        "overhead": int(fabric.packet_overhead or 0),
        "packet": int(fabric.packet_size or 0),
        "forwarding": fabric.forwarding,
        "routing": fabric.routing,
        "hop_limit": fabric.hop_limit,
    }
    return {"switched": {"topology": fabric.topology.content(), "parameters": parameters}}


def entries(system: System, endpoints: int) -> list[int]:
    """The endpoints where clients enter.

    Args:
        endpoints: How many endpoints of the fabric are machines with devices; a topology has more
            where not every host is a server. Routers are numbered after them.
    """
    fabric = system.cluster.fabric
    first = fabric.topology.hosts if fabric.topology is not None else endpoints
    return list(range(first, first + fabric.router_count))


def traffic_json(system: System, endpoints: int, servers: list[int]) -> dict[str, Any] | None:
    """The traffic as the native module reads it.

    Args:
        endpoints: As for `entries`.
        servers: The numbers of the devices that requests go to.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds; None without traffic, and of
        streams.
    """
    traffic = system.traffic
    if traffic is None or traffic.is_striped:
        return None
    return {
        "requesters": entries(system, endpoints),
        "servers": servers,
        "arrivals": _arrivals(system, traffic, traffic.arrivals),
        "classes": [
            {
                "share": one.share,
                "read_share": one.read_share,
                "size": one.size_bytes,
                **({"operation": one.operation} if one.operation else {}),
            }
            for one in traffic.classes
        ],
        **({"directories": _directories(system, traffic)} if traffic.has_operations else {}),
        "control": traffic.control_message,
        "targets": traffic.targets.content(),
        "gap": traffic.gap_seconds,
        "timeout": traffic.timeout,
        "warm_up": traffic.warm_up_seconds,
        "duration": traffic.duration,
    }


def _directories(system: System, traffic: Traffic) -> list[int]:
    """The metadata server of each directory; of many or striped ones, one a server is as good."""
    servers = system.cluster.metadata_servers(traffic.metadata)
    return [servers[number % len(servers)] for number in range(traffic.directories or len(servers))]


def _arrivals(system: System, traffic: Traffic, arrivals: Arrivals | None) -> dict[str, Any]:
    if arrivals is None:
        closed = {"outstanding": traffic.outstanding, "interval": traffic.interval_seconds}
        law: dict[str, Any] = {"closed": closed}
    elif (trace := arrivals.trace) is not None:
        targets = (None if one == -1 else one for one in target_numbers(system.cluster, trace))
        rows = zip(trace.seconds, trace.is_read, trace.bytes, targets, strict=True)
        law = {"trace": list(rows)}
    elif traffic.engine == "flows":
        law = {"open": {"rate": arrivals.requests_per_second}}
    elif arrivals.pareto is None:
        law = {"poisson": {"rate": arrivals.poisson}}
    else:
        law = {"pareto": {"rate": arrivals.pareto, "shape": arrivals.shape}}
    return law if traffic.engine == "events" else {"flows": law}
