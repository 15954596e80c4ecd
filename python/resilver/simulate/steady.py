"""The names of what binds steady flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from resilver.core_input import Device
from resilver.simulate.limits import name_of_part
from resilver.spec import System

OWN_CAP = ("outstanding", "clients")
"""What binds flows that no part does, and its level: what they keep outstanding."""
# Gaps between requests are whole picoseconds.
_AT_RATE = 1 - 1e-6
OWN_RATE = ("client_rate", "clients")
"""The same, where it is the most that clients ask for."""


def _device_level(system: System) -> str:
    if system.report is not None:
        return "osd"
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
        system: The system.
        flows: The core's rows, by number; None where there are no flows.
        devices: The devices.
        endpoints_of: The endpoints of each device, by its number.
        nodes: The names of the network's nodes; none where it has no links.
    """
    if flows is None:
        return None
    name = name_of_part(devices, endpoints_of, nodes)
    device_level, pools = _device_level(system), system.pool_names
    bindings, levels = [], []
    for row in flows.to_pylist():
        binding, level = OWN_RATE if _is_at_own_rate(system, row) else OWN_CAP
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
    named = named.append_column("binding", pa.array(bindings, pa.string()))
    return named.append_column("binding_level", pa.array(levels, pa.string()))


def _is_at_own_rate(system: System, row: Mapping[str, Any]) -> bool:
    """Whether flows have the rate that their clients ask for at the most."""
    number = row["pool_number"]
    traffic = system.traffic if number is None else system.of_pools[number].traffic
    if traffic is None or traffic.client_rate is None:
        return False
    return bool(row["least_bytes_per_second"] >= float(traffic.client_rate) * _AT_RATE)


def _router(endpoint: int, endpoints_of: Sequence[Sequence[int]]) -> int:
    """The number of a place where clients enter, which are numbered behind the devices' ports."""
    return endpoint - 1 - max((port for ports in endpoints_of for port in ports), default=-1)


def named_layers(system: System, layers: pa.Table | None) -> pa.Table | None:
    """What each layer of parts allows, by the levels of what binds flows."""
    if layers is None:
        return None
    words: Mapping[str, str] = {
        "devices": _device_level(system),
        "interfaces": "interface",
        "links": "link",
    }
    names: list[Any] = [words.get(layer, layer) for layer in layers["layer"].to_pylist()]
    place = layers.column_names.index("layer")
    return layers.set_column(place, "layer", pa.array(names, pa.string()))
