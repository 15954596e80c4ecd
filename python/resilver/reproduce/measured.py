"""Evidence that needs no run: populations drawn and counted, and curves of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import as_file, files
from typing import Any

from resilver import calibrate_network, census, topology
from resilver.calibration.disk import service_seconds
from resilver.errors import ConfigError, show
from resilver.reproduce.advising import advice_rows
from resilver.reproduce.center import (
    culling_rows,
    namespace_rows,
    part_rows,
    route_rows,
    set_rows,
    sizing_rows,
)
from resilver.reproduce.coding import code_rows, switch_rows
from resilver.reproduce.durability import durability_rows
from resilver.reproduce.layouts import layout_rows
from resilver.reproduce.on_busy_targets import busy_rows
from resilver.reproduce.placing import placement_rates
from resilver.reproduce.policies import policy_rows
from resilver.reproduce.recovering import recovery_rows
from resilver.reproduce.tables import Row
from resilver.reproduce.watching import signature_rows, tool_rows
from resilver.spec import Cluster, DeviceTable, Population
from resilver.units import Bytes


def measured(kind: str, options: Mapping[str, Any]) -> list[Row]:
    """The rows of an entry without runs.

    Args:
        kind: One of `KINDS`.
        options: What the entry says beside its numbers.

    Returns:
        A row a measurement.
    """
    rows: list[Row] = list(_MEASURES[kind](**options))
    return rows


def census_rows(
    populations: Sequence[str], servers: int, copies: int, bytes: str, seed: int = 1
) -> list[Row]:
    """Files and objects of each size.

    Args:
        populations: Names of the catalog.
        servers: How many servers there are, for stripes as wide as they allow.
        copies: Copies of each object.
        bytes: The volume of each population before replication, with its unit.

    Returns:
        A row a population and bin, with the columns of `resilver.census`.
    """
    volume = Bytes.parse(bytes)
    rows: list[Row] = []
    for name in populations:
        population = Population.model_validate({"histogram": name, "bytes": volume})
        table = census(population, servers=servers, copies=copies, bytes=int(volume), seed=seed)
        rows += [{"population": name, **row} for row in table.to_pylist()]
    return rows


def network_rows(network: str) -> list[Row]:
    """The bandwidth between two idle endpoints by message size.

    Args:
        network: A LogGP table of the catalog.

    Returns:
        A row a size from 64 B to 64 MiB, with ``message_bytes`` and ``bytes_per_second``.
    """
    sizes = [2**power for power in range(6, 27)]
    folder = files("resilver.catalog") / "networks"
    with as_file(folder / f"{network}.dat") as path:
        rates = calibrate_network(path).bandwidth(sizes)
    return [
        {"message_bytes": size, "bytes_per_second": float(rate)}
        for size, rate in zip(sizes, rates, strict=True)
    ]


def disk_rows(device: str) -> list[Row]:
    """The bandwidth of a volume by access size, in order and at random.

    Args:
        device: A device of the catalog.

    Returns:
        A row a pattern and size from 4 KiB to 8 MiB, with ``mode``, ``request_bytes`` and
        ``bytes_per_second``.

    Raises:
        ConfigError: The device takes one time for any request.
    """
    table = Cluster.model_validate({"servers": 1, "device": device}).device
    if not isinstance(table, DeviceTable):
        rule = "this device takes one time for any request, so that it has no curve by size"
        raise ConfigError(rule, "use a device with a table", value=show(device))
    return [
        {"mode": mode, "request_bytes": size, "bytes_per_second": size / seconds}
        for mode in ("read", "write", "randread", "randwrite")
        for size in (2**power for power in range(12, 24))
        for seconds in (service_seconds(table, mode, size),)
    ]


def topology_rows(topologies: Mapping[str, str], own_switches: Sequence[str]) -> list[Row]:
    """What networks are made of, and how far routers are from disks.

    Args:
        topologies: Their texts by short name.
        own_switches: Names of those whose disk nodes count as switches though they have one link.

    Returns:
        A row a topology: ``topology``, ``nodes``, ``disks``, ``routers``, ``switches``, ``ports``,
        ``links``, ``diameter``, ``mean_hops``, ``mean_router_disk_hops``, ``bisection_links``.
    """
    rows: list[Row] = []
    for name, text in topologies.items():
        made = topology(text)
        rows.append(
            {
                "topology": name,
                "nodes": made.nodes,
                "disks": made.hosts,
                "routers": made.routers,
                "switches": made.switches + (made.hosts if name in own_switches else 0),
                "ports": made.ports,
                "links": made.links,
                "diameter": made.diameter,
                "mean_hops": made.mean_hops,
                "mean_router_disk_hops": made.mean_router_disk_hops,
                "bisection_links": made.bisection_links,
            }
        )
    return rows


_MEASURES: dict[str, Callable[..., Sequence[Row]]] = {
    "placements": placement_rates,
    "census": census_rows,
    "network": network_rows,
    "disk": disk_rows,
    "topologies": topology_rows,
    "codes": code_rows,
    "switches": switch_rows,
    "sizing": sizing_rows,
    "culling": culling_rows,
    "sets": set_rows,
    "namespaces": namespace_rows,
    "parts": part_rows,
    "routes": route_rows,
    "advice": advice_rows,
    "busy": busy_rows,
    "signatures": signature_rows,
    "tools": tool_rows,
    "recoveries": recovery_rows,
    "policies": policy_rows,
    "durability": durability_rows,
    "layouts": layout_rows,
}
KINDS = tuple(_MEASURES)
"""The kinds of entries that have no runs, except collections."""
