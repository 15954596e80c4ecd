"""Runs of a system."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver import _core, describe
from resilver.errors import Interrupted, PlacementError
from resilver.importers.ceph import ClusterReport
from resilver.simulate.core_errors import core_errors
from resilver.simulate.crush import CrushMap
from resilver.spec import System


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        phase: ``placing``, ``scanning``, ``rebuilding`` or ``done``.
        fraction: How much of the phase is done, from 0 to 1.
        events: Events executed.
        simulated_seconds: Simulated time.
        rebuilt_objects: Lost copies that are whole again.
        objects_to_rebuild: Lost copies that are to be rebuilt; zero before the scan's end.
    """

    phase: str
    fraction: float
    events: int = 0
    simulated_seconds: float = 0.0
    rebuilt_objects: int = 0
    objects_to_rebuild: int = 0


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
    with core_errors(f"seed {seed}"):
        return finished(system, failed, _core.Simulation(text, map_of(system)), progress)


def finished(
    system: System,
    failed: dict[int, float],
    simulation: _core.Simulation,
    progress: Callable[[Progress], bool] | None,
) -> RunResult:
    """What a run found, once it has been stepped to its end; errors are the core's own."""
    # Each report names the phase of the step to come; the first step has one too.
    state = Progress("scanning" if system.placement_group_count is None else "placing", 0.0)
    _tell(progress, state)
    while state.phase != "done":
        state = Progress(*simulation.advance())
        _tell(progress, state)
    return _result(system, failed, simulation.report())


def _tell(progress: Callable[[Progress], bool] | None, state: Progress) -> None:
    if progress is not None and not progress(state):
        raise Interrupted("the run was stopped before its end")


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
    with core_errors(report.label):
        crush = CrushMap(_core.CrushMap.from_json(report.crushmap))
    rules = {rule_id for rule_id, _ in crush.rules()}
    for pool in report.pools:
        if pool.rule_id not in rules:
            known = ", ".join(str(rule_id) for rule_id in sorted(rules)) or "none"
            raise PlacementError(
                f"{report.label}: pool '{pool.name}' uses CRUSH rule {pool.rule_id}, which the map "
                f"does not have; its rules are {known}; fetch the report again"
            )


def map_of(system: System) -> _core.CrushMap | None:
    """The core's CRUSH map of a system, or None where the placement is not by CRUSH."""
    placement, cluster = system.placement, system.cluster
    if system.report is not None:
        return CrushMap.from_json(system.report.crushmap).core
    if placement is None or placement.algorithm != "crush":
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


def _result(system: System, failed: Collection[int], report: dict[str, Any]) -> RunResult:
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
