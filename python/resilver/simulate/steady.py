"""The names of what binds steady flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from resilver.core_input import Device
from resilver.spec import System

# Gaps between requests are whole picoseconds.
_AT_RATE = 1 - 1e-6


def _device_level(system: System) -> str:
    return system.cluster.tree.device_level if system.cluster.tree is not None else "server"


def named_flows(
    system: System,
    flows: pa.Table | None,
    devices: Sequence[Device],
    endpoints_of: Sequence[Sequence[int]],
    nodes: Sequence[str],
) -> pa.Table | None:
    """Steady flows with the names of what binds them.

    Args:
        flows: The core's rows, by number; None where there are no flows.
        endpoints_of: The endpoints of each device, by its number.
        nodes: The names of the network's nodes; none where it has no links.
    """
    if flows is None:
        return None
    name = name_of_part(devices, endpoints_of, nodes)
    device_level, pools = _device_level(system), system.pool_names
    bindings, levels = [], []
    for row in flows.to_pylist():
        binding, level = _own_cap(system, row), "clients"
        if row["kind"]:
            level = row["level"] or {"link": "link"}.get(row["kind"], "interface")
            if not row["level"] and row["kind"] == "reading":
                level = device_level
            binding = name(row) or f"router.{_router(row['number'], endpoints_of)}"
            if level == "interface":
                binding += f" {row['kind']}"
        bindings.append(binding)
        levels.append(level)
    numbers = flows["pool_number"].to_pylist()
    of_pools = [None if number is None else pools[number] for number in numbers]
    named = flows.append_column("pool", pa.array(of_pools, pa.string()))
    named = named.append_column("traffic", pa.array(_traffic_names(system, flows), pa.string()))
    named = named.append_column("binding", pa.array(bindings, pa.string()))
    return named.append_column("binding_level", pa.array(levels, pa.string()))


def _traffic_names(system: System, flows: pa.Table) -> list[str]:
    """Whose flows they are: a job's by its name, bursts', or clients'."""
    jobs, bursts = flows["job_number"].to_pylist(), flows["is_burst"].to_pylist()
    others = ["bursts" if is_burst else "clients" for is_burst in bursts]
    names = system.job_names
    return [other if job is None else names[job] for job, other in zip(jobs, others, strict=True)]


def _own_cap(system: System, row: Mapping[str, Any]) -> str:
    """What binds flows that no part does: the key that says how much they ask for."""
    number = row["pool_number"]
    traffic = system.traffic if number is None else system.of_pools[number].traffic
    if traffic is None or row["is_burst"]:
        return "window"
    if (job := row["job_number"]) is not None:
        signature = traffic.jobs[job].signature
        clients = len(traffic.jobs[job].places(system.cluster.fabric.router_count))
        asked = float(signature.volume) / float(signature.length) / max(clients, 1)
        return "signature" if row["least_bytes_per_second"] >= asked * _AT_RATE else "window"
    if traffic.arrivals is not None:
        return "arrivals"
    rate, own = traffic.client_rate, "outstanding"
    if traffic.streams is not None:
        rate, own = traffic.streams.rate, "window"
    is_at_rate = rate and row["least_bytes_per_second"] >= float(rate) * _AT_RATE
    return ("rate" if traffic.streams is not None else "client_rate") if is_at_rate else own


def _router(endpoint: int, endpoints_of: Sequence[Sequence[int]]) -> int:
    """The number of a place where clients enter, which are numbered behind the devices' ports."""
    return endpoint - 1 - max((port for ports in endpoints_of for port in ports), default=-1)


def named_layers(system: System, layers: pa.Table | None) -> pa.Table | None:
    """What each layer of parts allows, by the levels of what binds flows."""
    if layers is None:
        return None
    names = _level_names(system, layers["layer"])
    place = layers.column_names.index("layer")
    return layers.set_column(place, "layer", pa.array(names, pa.string()))


def named_jobs(system: System, jobs: pa.Table | None) -> pa.Table | None:
    """The bursts of jobs, by the jobs' names and the levels of what binds them."""
    if jobs is None:
        return None
    names = system.job_names
    named = [names[number] for number in jobs["job_number"].to_pylist()]
    levels = [level or None for level in _level_names(system, jobs["layer"])]
    jobs = jobs.append_column("job", pa.array(named, pa.string()))
    return jobs.append_column("binding_level", pa.array(levels, pa.string()))


def _level_names(system: System, layers: pa.ChunkedArray) -> list[Any]:
    """The levels of the core's layers."""
    words: Mapping[str, str] = {
        "devices": _device_level(system),
        "interfaces": "interface",
        "links": "link",
    }
    return [words.get(layer, layer) for layer in layers.to_pylist()]


_OF_DEVICES = ("reading", "writing", "coding", "send_memory")
_OF_INTERFACES = ("sending", "receiving")


def name_of_part(
    devices: Sequence[Device], endpoints_of: Sequence[Sequence[int]], nodes: Sequence[str]
) -> Callable[[Mapping[str, Any]], str | None]:
    """What gives the name of the part that a row of the core is about, None where it has none."""
    names = {device.number: device.name for device in devices}
    hosts = {
        endpoint: device.host for device in devices for endpoint in endpoints_of[device.number]
    }

    def name(row: Mapping[str, Any]) -> str | None:
        if row["kind"] == "link" and row["from"] is not None:
            return f"{nodes[row['from']]} to {nodes[row['to']]}"
        if row["number"] is None:
            return row["name"] or None
        if row["kind"] in _OF_DEVICES:
            return names[row["number"]]
        return hosts.get(row["number"]) if row["kind"] in _OF_INTERFACES else None

    return name


def named_limits(
    limits: pa.Table | None,
    devices: Sequence[Device],
    endpoints_of: Sequence[Sequence[int]],
    nodes: Sequence[str],
) -> dict[str, Any] | None:
    """What the device waited for which made the last lost piece, by name.

    Args:
        limits: The core's rows, by number; None where it has none.
        endpoints_of: The endpoints of each device, by its number.
        nodes: The names of the network's nodes; none where it has no links.

    Returns:
        The columns of the table ``limits``; None without rows.
    """
    if limits is None:
        return None
    name = name_of_part(devices, endpoints_of, nodes)
    names = {device.number: device.name for device in devices}
    rows = limits.to_pylist()
    columns: dict[str, Any] = {column: limits[column] for column in limits.column_names}
    return columns | {
        "destination": [names[row["destination"]] for row in rows],
        "name": [name(row) for row in rows],
        "level": [row["level"] or None for row in rows],
    }
