"""From the core's report of a finished run to the metrics and tables that are its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver import _core, describe
from resilver.columns import SHARD_SCHEMAS, TABLE_NAMES, empty_table
from resilver.describe_ports import ports_of
from resilver.estimate_streams import analytic_rates
from resilver.simulate.network import node_names, node_places, topology_of
from resilver.spec import System

_TABLES = TABLE_NAMES[1:]
# What the report holds besides metrics.
_COLUMNS = (*_TABLES, "interfaces", "node_names")
_OF_TRAFFIC = (
    "requests_completed",
    "requests_lost",
    "requests_read",
    "requests_written",
    "write_backlog_requests",
)
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
)
_Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RunResult:
    """What a run found.

    Attributes:
        metrics: The metric columns of the table ``runs`` by name, in SI units.
        servers: A row a device.
        transfers: A row a source and destination.
        timeline: A row an interval of simulated time.
        links: A row a link of the network; none where the fabric has no links of its own.
        distributions: A row a quantity and bin of its histogram.
        traffic: A row an interval of what clients got; none without traffic.
        lanes: A row a part of the system and class of traffic; none without lanes.
        lending: A row a part, lender and borrower; none where nothing was lent.
        stripe_groups: A row a group that streams go over; none without such streams.
        pools: A row a pool; none where nothing is stored.
        parts: A row a part with a service, which requests pass; none without such parts.
    """

    metrics: dict[str, int | float | str | None]
    servers: pa.Table
    transfers: pa.Table
    timeline: pa.Table
    links: pa.Table
    distributions: pa.Table
    traffic: pa.Table
    lanes: pa.Table
    lending: pa.Table
    stripe_groups: pa.Table
    pools: pa.Table
    parts: pa.Table


@dataclass(frozen=True)
class _Busy:
    """How busy the network was.

    Attributes:
        of_endpoint: Seconds for each endpoint with a device: of its ports, the mean.
        of_channels: Seconds for each direction of each link or interface.
    """

    of_endpoint: _Reals
    of_channels: _Reals


def result_of(system: System, seed: int, report: Mapping[str, Any]) -> RunResult:
    """What a run found, in metrics and tables.

    Args:
        system: The system.
        seed: The seed of the run.
        report: The core's report: scalars, and columns as NumPy arrays.

    Returns:
        The result; a part that the system does not have is a table without rows, or null.
    """
    devices = describe.devices(system)
    numbers = np.array([device.number for device in devices], dtype=np.int32)
    known = {
        name: None if column is None else np.asarray(column)[numbers]
        for name, column in report["servers"].items()
    }
    topology = topology_of(system, seed)
    links = _links(system, report, topology)
    busy = _busy(report, topology)
    # Busy times are those of the window of statistics where there is one.
    window = report.get("statistics_seconds") or report["simulated_seconds"]
    metrics: dict[str, int | float | str | None] = {
        **{name: value for name, value in report.items() if name not in _COLUMNS},
        "servers": len(devices),
        "failed_servers": ",".join(
            device.name for device in devices if report["servers"]["failed"][device.number]
        ),
        **_rates(report, known, busy, window),
        "lent_bytes": _lent_bytes(report),
        **_analytic(system),
    }
    # One row a device, of the endpoints it has.
    ports = ports_of(system) or [[endpoint] for endpoint in describe.endpoints(system)]
    endpoints_of = np.array(ports, dtype=np.intp).reshape(len(ports), -1)[numbers]
    columns = {
        "server": pa.array(numbers),
        "name": pa.array([device.name for device in devices], pa.string()),
        "host": pa.array([device.host for device in devices], pa.string()),
        **{name: _nullable(column) for name, column in known.items() if column is not None},
        "link_busy_seconds": busy.of_endpoint[endpoints_of].mean(axis=1)
        if len(devices)
        else np.empty(0),
    }
    for name in ("placement_groups_gained", *_OF_TRAFFIC):
        columns.setdefault(name, pa.nulls(len(devices), pa.int64()))
    apart = {
        "links": links,
        "pools": _pools(system, report),
        "parts": _parts(report.get("parts"), window),
    }
    tables = {name: _table(name, report.get(name)) for name in _TABLES[1:] if name not in apart}
    tables |= apart
    if system.is_traffic_only:
        # What is rebuilt in place moves nothing, but it takes its time.
        in_place = metrics.get("rebuild_seconds") if _rebuilds_in_place(system) else None
        metrics |= dict.fromkeys(_OF_A_REBUILD) | {"rebuild_seconds": in_place}
        columns |= dict.fromkeys(_OF_A_REBUILD_BY_SERVER, pa.nulls(len(devices)))
        tables |= {name: empty_table(name) for name in _TABLES_OF_A_REBUILD}
    return RunResult(metrics, pa.table(columns), **tables)


def _table(name: str, columns: Mapping[str, Any] | None) -> pa.Table:
    """The columns of a part of the report; without rows where the system has no such part."""
    if not columns or not any(len(column) for column in columns.values()):
        return empty_table(name)
    return pa.table({key: _nullable(column) for key, column in columns.items()})


def _pools(system: System, report: Mapping[str, Any]) -> pa.Table:
    """What became of each pool; no rows where nothing is stored."""
    if system.is_traffic_only:
        return empty_table("pools")
    named = zip(system.pool_names, report["pools"], strict=True)
    rows = [{"pool": name, **found} for name, found in named]
    return pa.Table.from_pylist(rows, schema=empty_table("pools").schema)


def _parts(columns: Mapping[str, Any] | None, window: float) -> pa.Table:
    """What parts with a service did, and which share of the time they were busy."""
    table = _table("parts", columns)
    if not table.num_rows:
        return table
    numbers = [int(name.rpartition(".")[2]) for name in table["name"].to_pylist()]
    busy = np.asarray(table["busy_seconds"])
    share = pa.array(busy / window) if window > 0 else pa.nulls(len(table), pa.float64())
    table = table.add_column(1, "part", pa.array(numbers, pa.int32()))
    return table.append_column("busy_fraction", share)


def _rebuilds_in_place(system: System) -> bool:
    """Whether soft errors come to an end by their number, and not with the traffic."""
    return any(fault.corrupt is not None and fault.corrupt.strips for fault in system.faults)


def _lent_bytes(report: Mapping[str, Any]) -> int | None:
    """What classes of traffic had of others' shares of the network; None without lanes."""
    lanes = report.get("lanes")
    if not lanes or not len(lanes["part"]):
        return None
    pairs = zip(lanes["part"], lanes["lent_bytes"], strict=True)
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


def _nullable(column: Any) -> Any:
    """A column in which NaN means that there is no value."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return pa.array(column, mask=np.isnan(column))
    return column


def _links(system: System, report: Mapping[str, Any], topology: _core.Topology | None) -> pa.Table:
    """The links with the names and places of their ends."""
    columns = report.get("links")
    if not columns or topology is None:
        return empty_table("links")
    names = np.array(node_names(system, topology), dtype=object)
    places = node_places(system, topology)
    ends = {end: np.asarray(columns[end]) for end in ("from", "to")}
    added: dict[str, Any] = {}
    for end, nodes in ends.items():
        added[f"{end}_name"] = pa.array(names[nodes], pa.string())
        added[f"{end}_x"], added[f"{end}_y"] = places[nodes, 0], places[nodes, 1]
    table = {**columns, **added}
    return pa.table({name: table[name] for name in SHARD_SCHEMAS["links"].names[1:]})


def _busy(report: Mapping[str, Any], topology: _core.Topology | None) -> _Busy:
    columns = report.get("links")
    if not columns or topology is None:
        interfaces = report["interfaces"]
        send, receive = interfaces["send_busy_seconds"], interfaces["receive_busy_seconds"]
        return _Busy((send + receive) / 2, np.concatenate([send, receive]))
    forward, backward = columns["forward_busy_seconds"], columns["backward_busy_seconds"]
    # Both directions of a link are at both of its ends, one going out and one coming in.
    nodes = np.concatenate([columns["from"], columns["to"]])
    both = np.tile((forward + backward) / 2, 2)
    seconds = np.bincount(nodes, both, minlength=topology.nodes)
    ports = np.bincount(nodes, minlength=topology.nodes)
    hosts = np.asarray(topology.hosts, dtype=np.intp)
    return _Busy(seconds[hosts] / np.maximum(ports[hosts], 1), np.concatenate([forward, backward]))


def _rates(
    report: Mapping[str, Any],
    servers: Mapping[str, Any],
    busy: _Busy,
    window: float,
) -> dict[str, int | float | None]:
    """The metrics that are ratios to the time, null where nothing took any."""
    seconds = report["rebuild_seconds"]
    disks = servers["device_busy_seconds"][~servers["failed"]]

    def share(values: _Reals, reduce: Callable[..., Any]) -> float | None:
        return float(reduce(values)) / window if window > 0 and values.size else None

    return {
        "aggregate_bytes_per_second": report["rebuilt_bytes"] / seconds if seconds else None,
        "link_busy_fraction": share(busy.of_channels, np.mean),
        "link_busy_fraction_max": share(busy.of_channels, np.max),
        "device_busy_fraction": share(disks, np.mean),
        "device_busy_fraction_max": share(disks, np.max),
        "device_bytes_read": int(servers["device_bytes_read"].sum()),
        "device_bytes_written": int(servers["device_bytes_written"].sum()),
    }
