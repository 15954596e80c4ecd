"""The one caller of the native core: runs a system, and places groups and objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver import _core, describe
from resilver.errors import ConfigError, Interrupted, PlacementError, SimulationError
from resilver.importers.ceph import ClusterReport, PoolInfo
from resilver.spec import System

version: str = _core.__version__
"""The version of the native core, which is the package's."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        phase: ``placing``, ``scanning``, ``rebuilding`` or ``done``.
        fraction: How much of the phase is done, from 0 to 1.
    """

    phase: str
    fraction: float


@dataclass(frozen=True)
class RunResult:
    """What a run found.

    Attributes:
        metrics: The metric columns of the table ``runs`` by name, in SI units.
        servers: A row a device.
        transfers: A row a source and destination.
        timeline: A row an interval of simulated time.
    """

    metrics: dict[str, int | float | str | None]
    servers: pa.Table
    transfers: pa.Table
    timeline: pa.Table


@contextmanager
def _errors(where: str = "") -> Iterator[None]:
    """Turn the core's errors into resilver's."""
    prefix = f"{where}: " if where else ""
    try:
        yield
    except _core.CoreConfigError as error:
        raise ConfigError(f"{prefix}{error}") from None
    except _core.CorePlacementError as error:
        raise PlacementError(f"{prefix}{error}") from None
    except _core.CoreSimulationError as error:
        raise SimulationError(f"{prefix}{error}") from None


def simulate(
    system: System, seed: int, progress: Callable[[Progress], bool] | None = None
) -> RunResult:
    """Run one system with one seed.

    Args:
        system: The system.
        seed: The key of every random draw, 0 to 2^64 - 1. The same system and seed give the same
            result anywhere.
        progress: Told several times a second how far the run is; answers whether to go on.

    Returns:
        What the run found.

    Raises:
        ConfigError: The system cannot be built.
        PlacementError: Its CRUSH map cannot be used.
        SimulationError: The run passed the time horizon or broke a conservation law.
        Interrupted: `progress` answered False.

    >>> from resilver import Study
    >>> study = Study.from_dict({
    ...     "cluster": {"servers": 4},
    ...     "population": {"file_size": "64 MiB", "files": 100},
    ...     "faults": [{"fail": {"servers": ["server.0"]}}],
    ... })
    >>> run = study.runs()[0]
    >>> result = simulate(run.system, run.seed)
    >>> result.metrics["population_bytes"] // 2**20
    6400
    >>> result.metrics["rebuilt_bytes"] == sum(result.transfers["bytes"].to_pylist())
    True
    """
    failed = describe.failed_devices(system, seed, _core.choose_failed)
    text = describe.core_json(system, seed, failed)
    with _errors(f"seed {seed}"):
        simulation = _core.Simulation(text, _map_of(system))
        phase, fraction = "starting", 0.0
        while phase != "done":
            phase, fraction = simulation.advance()
            if progress is not None and not progress(Progress(phase, fraction)):
                raise Interrupted("the run was stopped before its end")
        report = simulation.report()
    return _result(system, failed, report)


def validate(systems: Iterable[System]) -> None:
    """Check what only the core can tell before a run: that real clusters' CRUSH maps can be used.

    Args:
        systems: Systems, each valid in itself.

    Raises:
        PlacementError: The map is not one, or a pool's rule is not in it.
    """
    reports = {report.sha256: report for system in systems if (report := system.report)}
    for report in reports.values():
        _validate_map(report)


def _validate_map(report: ClusterReport) -> None:
    with _errors(report.label):
        crush = CrushMap(_core.CrushMap.from_json(report.crushmap))
    rules = {rule_id for rule_id, _ in crush.rules()}
    for pool in report.pools:
        if pool.rule_id not in rules:
            known = ", ".join(str(rule_id) for rule_id in sorted(rules)) or "none"
            raise PlacementError(
                f"{report.label}: pool '{pool.name}' uses CRUSH rule {pool.rule_id}, which the map "
                f"does not have; its rules are {known}; fetch the report again"
            )


def _map_of(system: System) -> _core.CrushMap | None:
    """The core's CRUSH map of a system, or None for a ring."""
    placement, cluster = system.placement, system.cluster
    if system.report is not None:
        return CrushMap.from_json(system.report.crushmap).core
    if placement is None or placement.algorithm == "ring":
        return None
    bucket, tunables = placement.bucket or "straw2", placement.tunables or "jewel"
    if cluster.racks is None:
        return _core.CrushMap.flat(system.server_count, bucket, tunables)
    return _core.CrushMap.hierarchical(
        system.server_count,
        cluster.racks,
        cluster.rows,
        bucket,
        tunables,
        system.failure_domain or "server",
    )


def _result(system: System, failed: list[int], report: dict[str, Any]) -> RunResult:
    devices = describe.devices(system)
    lost = set(failed)
    numbers = np.array([device.number for device in devices], dtype=np.int32)
    servers: dict[str, Any] = {
        name: None if column is None else column[numbers]
        for name, column in report.pop("servers").items()
    }
    interfaces = report.pop("interfaces")
    busy = (interfaces["send_busy_seconds"] + interfaces["receive_busy_seconds"]) / 2
    endpoint_of = np.array(describe.endpoints(system), dtype=np.intp)[numbers]
    metrics: dict[str, int | float | str | None] = {
        **{k: v for k, v in report.items() if k not in ("transfers", "timeline")},
        "servers": len(devices),
        "failed_servers": ",".join(device.name for device in devices if device.number in lost),
        **_rates(report, servers, interfaces),
    }
    gained = servers["placement_groups_gained"]
    finish = servers["finish_seconds"]
    count = len(devices)
    columns = {
        "server": pa.array(numbers),
        "name": pa.array([device.name for device in devices], pa.string()),
        "host": pa.array([device.host for device in devices], pa.string()),
        **servers,
        "placement_groups_gained": pa.nulls(count, pa.int64()) if gained is None else gained,
        "finish_seconds": pa.array(finish, mask=np.isnan(finish)),
        "link_busy_seconds": busy[endpoint_of] if count else np.empty(0),
    }
    return RunResult(
        metrics, pa.table(columns), pa.table(report["transfers"]), pa.table(report["timeline"])
    )


def _rates(
    report: dict[str, Any], servers: dict[str, Any], interfaces: dict[str, Any]
) -> dict[str, int | float | None]:
    """The metrics that are ratios to the time, null where nothing took any."""
    seconds, simulated = report["rebuild_seconds"], report["simulated_seconds"]
    working = ~servers["failed"]
    disks = servers["device_busy_seconds"][working]
    links = np.concatenate([interfaces["send_busy_seconds"], interfaces["receive_busy_seconds"]])

    def share(busy: npt.NDArray[np.float64], reduce: Callable[..., Any]) -> float | None:
        return float(reduce(busy)) / simulated if simulated > 0 and busy.size else None

    return {
        "aggregate_bytes_per_second": report["rebuilt_bytes"] / seconds if seconds > 0 else None,
        "link_busy_fraction": share(links, np.mean),
        "link_busy_fraction_max": share(links, np.max),
        "device_busy_fraction": share(disks, np.mean),
        "device_busy_fraction_max": share(disks, np.max),
        "device_bytes_read": int(servers["device_bytes_read"].sum()),
        "device_bytes_written": int(servers["device_bytes_written"].sum()),
    }


class CrushMap:
    """A CRUSH map.

    >>> rules = CrushMap.flat(8).rules()
    >>> rules
    [(0, 'replicated')]
    """

    def __init__(self, core: _core.CrushMap) -> None:
        self.core = core

    @classmethod
    def from_json(cls, text: str) -> CrushMap:
        """Read Ceph's JSON: `ceph osd crush dump`, or the ``crushmap`` of `ceph report`.

        Raises:
            PlacementError: It is not a map, or one that cannot be used.
        """
        with _errors():
            return cls(_core.CrushMap.from_json(text))

    @classmethod
    def from_text(cls, text: str) -> CrushMap:
        """Read the text that `crushtool -d` writes.

        Raises:
            PlacementError: It is not a map, with line and column, or one that cannot be used.
        """
        with _errors():
            return cls(_core.CrushMap.from_text(text))

    @classmethod
    def flat(cls, servers: int, bucket: str = "straw2", tunables: str = "jewel") -> CrushMap:
        """A map of equal servers in one bucket, and a rule ``replicated`` over them."""
        with _errors():
            return cls(_core.CrushMap.flat(servers, bucket, tunables))

    def rules(self) -> list[tuple[int, str]]:
        """The rules, as (id, name)."""
        return self.core.rules()

    def device_name(self, device: int) -> str:
        """The name of a device."""
        return self.core.device_name(device)

    def map_rule(
        self,
        rule_id: int,
        inputs: npt.NDArray[np.uint32],
        copies: int,
        reweight: npt.NDArray[np.uint32] | None = None,
    ) -> npt.NDArray[np.int32]:
        """Map inputs by a rule.

        Args:
            rule_id: The rule.
            inputs: CRUSH inputs, shape (n,).
            copies: How many devices to choose for each.
            reweight: The reweight of each device, 16.16 fixed point; all in when None.

        Returns:
            Devices, shape (n, copies): 2147483647 where an indep rule leaves a hole, and -1 after
            the end of a mapping that is short.

        Raises:
            PlacementError: The map has no such rule.
        """
        with _errors():
            return self.core.map_rule(rule_id, inputs, copies, reweight)


def group_up_sets(report: ClusterReport, pool_id: int) -> npt.NDArray[np.int32]:
    """Where each group of a pool is, as the cluster's map says.

    Args:
        report: The cluster.
        pool_id: The pool's number.

    Returns:
        OSDs, shape (pg_num, size), in placement order: 2147483647 for a hole in a set of an erasure
        pool, and -1 after the end of a set that is short.

    Raises:
        PlacementError: The cluster has no such pool, or its map cannot be used.
    """
    pool = _pool(report, pool_id)
    crush = CrushMap.from_json(report.crushmap)
    with _errors(report.label):
        return crush.core.group_up_sets(
            json.dumps(describe.pool_json(pool)), report.reweights, describe.up_flags(report)
        )


def object_group(pool: PoolInfo, name: str) -> int:
    """The number, within its pool, of the group that an object belongs to.

    Args:
        pool: The pool.
        name: The object's name.
    """
    return _core.group_of_name(json.dumps(describe.pool_json(pool)), name.encode())


def _pool(report: ClusterReport, pool_id: int) -> PoolInfo:
    for pool in report.pools:
        if pool.id == pool_id:
            return pool
    known = ", ".join(f"{pool.id} ({pool.name})" for pool in report.pools)
    raise PlacementError(f"{report.label}: there is no pool {pool_id}; the pools are {known}")
