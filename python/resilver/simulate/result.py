"""From the core's report of a finished run to the metrics and tables that are its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver import _core, core_input
from resilver.analytic.of_groups import analytic_rates
from resilver.columns import TABLE_NAMES, table_of
from resilver.core_input import ports_of
from resilver.errors import SimulationError
from resilver.result_tables import ResultTables
from resilver.simulate.network import node_names, node_places, topology_of
from resilver.simulate.steady import named_flows, named_jobs, named_layers, named_limits
from resilver.spec import System

# What a run of traffic alone has nothing to say about: nothing is stored, and nothing is rebuilt.
_OF_A_REBUILD = (
    "failed_servers",
    "population_files",
    "population_objects",
    "population_bytes",
    "affected_objects",
    "rebuilt_objects",
    "rebuilt_pieces",
    "rebuilt_bytes",
    "unrecoverable_objects",
    "unrecoverable_bytes",
    "unreachable_objects",
    "unreachable_pieces",
    "returned_objects",
    "returned_pieces",
    "surplus_pieces",
    "undersized_replicas",
    "remapped_objects",
    "remapped_pieces",
    "remapped_bytes",
    "rebuild_seconds",
    "first_redundant_seconds",
    "last_redundant_seconds",
    "aggregate_bytes_per_second",
    "placement_groups",
    "placement_groups_affected",
)
_TABLES_OF_A_REBUILD = ("transfers", "timeline")
_OF_A_REBUILD_BY_SERVER = (
    "placement_groups_gained",
    "rebuilt_objects",
    "rebuilt_bytes",
    "remapped_objects",
    "remapped_bytes",
    "sent_objects",
    "sent_bytes",
    "finish_seconds",
    "push_backlog_bytes",
)
_Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RunResult(ResultTables):
    """What a run found.

    Attributes:
        metrics: The metric columns of the table ``runs`` by name, in SI units.
        tables: All other tables by name.
    """

    metrics: dict[str, int | float | str | None]
    tables: Mapping[str, pa.Table]

    def _read(self, name: str) -> pa.Table:
        return self.tables[name]


@dataclass(frozen=True)
class _Busy:
    """How busy the network was.

    Attributes:
        of_endpoint: Seconds for each endpoint with a device: of its ports, the mean.
        of_channels: Seconds for each direction of each link or interface.
    """

    of_endpoint: _Reals
    of_channels: _Reals


def result_of(
    system: System,
    seed: int,
    metrics: Mapping[str, int | float | str | None],
    core: dict[str, pa.Table | None],
) -> RunResult:
    """What a run found, in metrics and tables.

    Args:
        metrics: What the core says by name.
        core: The core's tables by name, None where the system has no such part; it is filled up.

    Returns:
        The result; a part that the system does not have is a table without rows, or null.
    """
    devices, topology = core_input.devices(system), topology_of(system, seed)
    numbers = pa.array([device.number for device in devices], pa.int32())
    by_number = _whole(core["servers"])
    servers = by_number.take(numbers)
    links, busy = core["links"], _busy(core, topology)
    # Busy times are those of the window of statistics where there is one.
    window = float(metrics["statistics_seconds"] or metrics["simulated_seconds"] or 0)
    told: dict[str, int | float | str | None] = {
        **metrics,
        "servers": len(devices),
        "failed_servers": ",".join(
            device.name
            for device, failed in zip(devices, servers["failed"].to_pylist(), strict=True)
            if failed
        ),
        **_rates(metrics, servers, busy, window),
        "lent_bytes": _lent_bytes(core["lanes"]),
        **_analytic(system),
    }
    # One row a device, of the endpoints it has.
    ports = ports_of(system) or [[endpoint] for endpoint in core_input.endpoints(system)]
    endpoints_of = np.array(ports, dtype=np.intp).reshape(len(ports), -1)[numbers]
    of_links = busy.of_endpoint[endpoints_of].mean(axis=1) if len(devices) else np.empty(0)
    columns = {
        **{name: servers[name] for name in servers.column_names},
        "server": numbers,
        "name": [device.name for device in devices],
        "host": [device.host for device in devices],
        "link_busy_seconds": of_links,
    }
    if links is not None and topology is not None:
        core["links"] = _with_ends(links, system, topology)
    core["pools"] = None if system.is_traffic_only else _named(core["pools"], system.pool_names)
    core["request_classes"] = _of_pools(core["request_classes"], system.pool_names)
    core["parts"] = _with_shares(core["parts"], window)
    nodes = node_names(system, topology) if topology is not None else []
    core["flows"] = named_flows(system, core["flows"], devices, ports, nodes)
    core["layers"] = named_layers(system, core["layers"])
    core["jobs"] = named_jobs(system, core["jobs"])
    core["detection"] = _of_devices(core["detection"], devices)
    limits = named_limits(core["limits"], devices, ports, nodes)
    if system.is_traffic_only:
        # What is rebuilt in place moves nothing, but it takes its time.
        in_place = told["rebuild_seconds"] if _rebuilds_in_place(system) else None
        told |= dict.fromkeys(_OF_A_REBUILD) | {"rebuild_seconds": in_place}
        columns |= dict.fromkeys(_OF_A_REBUILD_BY_SERVER)
        core |= dict.fromkeys(_TABLES_OF_A_REBUILD)
        limits = None
    rows = len(limits["kind"]) if limits is not None else 0
    tables = {
        "servers": table_of("servers", columns, len(devices)),
        "limits": table_of("limits", limits, rows),
    }
    others = (name for name in TABLE_NAMES[1:] if name not in tables)
    return RunResult(told, tables | {name: table_of(name, core.get(name)) for name in others})


def _whole(table: pa.Table | None) -> pa.Table:
    """A table that every run has."""
    if table is None:
        raise SimulationError("the core's report lacks a table; rebuild the core")
    return table


def _of_devices(
    detection: pa.Table | None, devices: Sequence[core_input.Device]
) -> pa.Table | None:
    """The devices by name."""
    if detection is None:
        return None
    names = {device.number: device.name for device in devices} | {None: None}
    for column in ("device", "first_device"):
        numbers = detection[column].to_pylist()
        of_column = pa.array([names[number] for number in numbers], pa.string())
        place = detection.column_names.index(column)
        detection = detection.set_column(place, column, of_column)
    return detection


def _named(pools: pa.Table | None, names: Sequence[str]) -> pa.Table:
    """The pools by name."""
    return _whole(pools).append_column("pool", pa.array(names, pa.string()))


def _of_pools(classes: pa.Table | None, names: Sequence[str]) -> pa.Table | None:
    """Classes of requests with the names of the pools whose clients issue them."""
    if classes is None or not classes.num_columns:
        return None
    numbers = classes["pool_number"].to_pylist()
    of_pools = [None if number is None else names[number] for number in numbers]
    return classes.append_column("pool", pa.array(of_pools, pa.string()))


def _with_shares(parts: pa.Table | None, window: float) -> pa.Table:
    """What parts with a service did, and which share of the time they were busy."""
    parts = _whole(parts)
    numbers = [int(name.rpartition(".")[2]) for name in parts["name"].to_pylist()]
    parts = parts.append_column("part", pa.array(numbers, pa.int32()))
    if window > 0:
        share = np.asarray(parts["busy_seconds"]) / window
        parts = parts.append_column("busy_fraction", pa.array(share))
    return parts


def _rebuilds_in_place(system: System) -> bool:
    """Whether soft errors come to an end by their number, and not with the traffic."""
    return any(fault.corrupt is not None and fault.corrupt.strips for fault in system.faults)


def _lent_bytes(lanes: pa.Table | None) -> int | None:
    """What classes of traffic had of others' shares of the network; None without lanes."""
    if lanes is None or not lanes.num_rows:
        return None
    pairs = zip(lanes["part"].to_pylist(), lanes["lent_bytes"].to_pylist(), strict=True)
    return sum(int(lent) for part, lent in pairs if part != "devices")


def _analytic(system: System) -> dict[str, int | float | str | None]:
    """What the analytic model says of streams over groups, summed over the groups."""
    rates = analytic_rates(system)
    if rates is None:
        return {}
    return {
        "analytic_read_bytes_per_second": rates.read,
        "analytic_write_bytes_per_second": rates.write,
        "analytic_rebuild_bytes_per_second": rates.rebuild,
    }


def _with_ends(links: pa.Table, system: System, topology: _core.Topology) -> pa.Table:
    """The links with the names and places of their ends."""
    names = np.array(node_names(system, topology), dtype=object)
    places = node_places(system, topology)
    for end in ("from", "to"):
        nodes = np.asarray(links[end])
        links = links.append_column(f"{end}_name", pa.array(names[nodes], pa.string()))
        for axis, name in enumerate("xy"):
            links = links.append_column(f"{end}_{name}", pa.array(places[nodes, axis]))
    return links


def _busy(core: Mapping[str, pa.Table | None], topology: _core.Topology | None) -> _Busy:
    links = core["links"]
    if links is None or topology is None:
        interfaces = _whole(core["interfaces"])
        send = np.asarray(interfaces["send_busy_seconds"])
        receive = np.asarray(interfaces["receive_busy_seconds"])
        return _Busy((send + receive) / 2, np.concatenate([send, receive]))
    forward = np.asarray(links["forward_busy_seconds"])
    backward = np.asarray(links["backward_busy_seconds"])
    # Both directions of a link are at both of its ends, one going out and one coming in.
    nodes = np.concatenate([np.asarray(links["from"]), np.asarray(links["to"])])
    both = np.tile((forward + backward) / 2, 2)
    seconds = np.bincount(nodes, both, minlength=topology.nodes)
    ports = np.bincount(nodes, minlength=topology.nodes)
    hosts = np.asarray(topology.hosts, dtype=np.intp)
    return _Busy(seconds[hosts] / np.maximum(ports[hosts], 1), np.concatenate([forward, backward]))


def _rates(
    metrics: Mapping[str, Any], servers: pa.Table, busy: _Busy, window: float
) -> dict[str, int | float | None]:
    """The metrics that are ratios to the time, null where nothing took any."""
    seconds = metrics["rebuild_seconds"]
    disks = np.asarray(servers["device_busy_seconds"])[~np.asarray(servers["failed"])]

    def share(values: _Reals, reduce: Callable[..., Any]) -> float | None:
        return float(reduce(values)) / window if window > 0 and values.size else None

    return {
        "aggregate_bytes_per_second": metrics["rebuilt_bytes"] / seconds if seconds else None,
        "link_busy_fraction": share(busy.of_channels, np.mean),
        "link_busy_fraction_max": share(busy.of_channels, np.max),
        "device_busy_fraction": share(disks, np.mean),
        "device_busy_fraction_max": share(disks, np.max),
        "device_bytes_read": int(np.sum(servers["device_bytes_read"])),
        "device_bytes_written": int(np.sum(servers["device_bytes_written"])),
    }
