"""Devices, fabric and traffic of a system in the core's words."""

from __future__ import annotations

from typing import Any

from resilver.spec import Arrivals, DeviceService, DeviceTable, System, Traffic
from resilver.spec.cluster import DeviceKind
from resilver.spec.serving import target_numbers
from resilver.units import BYTES_MAX


def devices_json(system: System) -> dict[str, Any]:
    """The devices as the native module reads them.

    Args:
        system: The system.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    cluster = system.cluster
    kinds = cluster.device_kinds
    return {
        "kinds": [_kind(kind) for kind in kinds],
        "kind_of": cluster.kind_of if len(kinds) > 1 else [],
    }


def _kind(kind: DeviceKind) -> dict[str, Any]:
    device = kind.device
    shared = {"discipline": kind.queue, "spread": kind.spread}
    if isinstance(device, DeviceService):
        service = {
            "read_seconds": float(device.read_service),
            "write_seconds": float(device.write_service),
            "distribution": device.distribution,
        }
        return {**_timeless_table(device), "service": service, **shared}
    return {**_table(device), "service": None, **shared}


def _table(table: DeviceTable) -> dict[str, Any]:
    return {
        "read_bytes_per_second": float(table.read_rate),
        "write_bytes_per_second": float(table.write_rate),
        "read_overhead_seconds": float(table.read_overhead),
        "write_overhead_seconds": float(table.write_overhead),
        "sequential_gap_bytes": int(table.sequential_gap),
        "request_bytes": [int(size) for size in table.request_sizes],
        "read_seek_seconds": [float(seek) for seek in table.read_seek],
        "write_seek_seconds": [float(seek) for seek in table.write_seek],
    }


def _timeless_table(device: DeviceService) -> dict[str, Any]:
    """The table that says the same of mean times: the whole time is overhead, data takes none."""
    return {
        "read_bytes_per_second": float(BYTES_MAX),
        "write_bytes_per_second": float(BYTES_MAX),
        "read_overhead_seconds": float(device.read_service),
        "write_overhead_seconds": float(device.write_service),
        "sequential_gap_bytes": 0,
        "request_bytes": [1],
        "read_seek_seconds": [0.0],
        "write_seek_seconds": [0.0],
    }


def fabric_json(system: System) -> dict[str, Any]:
    """The fabric as the native module reads it.

    Args:
        system: The system.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    fabric = system.cluster.fabric
    if fabric.topology is None:
        rows = [
            {
                "size_bytes": int(row.size_bytes),
                "latency_seconds": float(row.latency_seconds),
                "gap_seconds": float(row.gap_seconds),
                "gap_per_byte_seconds": float(row.gap_per_byte_seconds),
            }
            for row in system.loggp_rows
        ]
        return {"kind": "loggp", "routers": fabric.router_count, "rows": rows}
    rates = [float(rate) for rate in fabric.link_rates]
    # A file that gives every link its rate leaves none to be the others'.
    rate = float(fabric.link_rate) if fabric.link_rate is not None else max(rates)
    return {
        "kind": "switched",
        "topology": fabric.topology.content(),
        "link_bytes_per_second": rate,
        "link_rates": rates,
        "link_latency_seconds": float(fabric.link_latency or 0),
        "switch_latency_seconds": float(fabric.switch_latency or 0),
        "overhead_bytes": int(fabric.packet_overhead or 0),
        "packet_bytes": int(fabric.packet_size or 0),
        "forwarding": fabric.forwarding,
        "routing": fabric.routing,
        "hop_limit": fabric.hop_limit,
    }


def entries(system: System, endpoints: int) -> list[int]:
    """The endpoints where clients enter.

    Args:
        system: The system.
        endpoints: How many endpoints of the fabric are machines with devices; a topology has more
            where not every host is a server. Routers are numbered after them.
    """
    fabric = system.cluster.fabric
    first = fabric.topology.hosts if fabric.topology is not None else endpoints
    return list(range(first, first + fabric.router_count))


def traffic_json(system: System, endpoints: int, servers: list[int]) -> dict[str, Any] | None:
    """The traffic as the native module reads it.

    Args:
        system: The system.
        endpoints: As for `entries`.
        servers: The numbers of the devices that requests go to.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds; None without traffic, and of
        streams.
    """
    traffic = system.traffic
    if traffic is None or traffic.streams is not None:
        return None
    return {
        "requesters": entries(system, endpoints),
        "servers": servers,
        "arrivals": _arrivals(system, traffic, traffic.arrivals),
        "read_share": traffic.read_share,
        "size_bytes": traffic.request_bytes,
        "control_bytes": int(traffic.control_message),
        "targets": traffic.targets.content(),
        "timeout_seconds": _seconds(traffic.timeout),
        "warm_up_seconds": traffic.warm_up_seconds,
        "duration_seconds": _seconds(traffic.duration),
    }


def _arrivals(system: System, traffic: Traffic, arrivals: Arrivals | None) -> dict[str, Any]:
    if arrivals is None:
        return {
            "kind": "closed",
            "outstanding": traffic.outstanding,
            "interval_seconds": traffic.interval_seconds,
        }
    if arrivals.trace is not None:
        trace = arrivals.trace
        return {
            "kind": "trace",
            "seconds": trace.seconds,
            "is_read": trace.is_read,
            "bytes": trace.bytes,
            "target": target_numbers(system.cluster, trace),
        }
    rate = arrivals.requests_per_second
    if arrivals.pareto is None:
        return {"kind": "poisson", "requests_per_second": rate}
    return {"kind": "pareto", "requests_per_second": rate, "shape": arrivals.shape}


def _seconds(value: float | None) -> float | None:
    return None if value is None else float(value)
