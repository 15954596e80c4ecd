"""The names of what a rebuild was limited by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from resilver.core_input import Device

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
