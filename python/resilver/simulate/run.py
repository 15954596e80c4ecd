"""Runs of a system."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from resilver import _core, describe
from resilver.describe_parts import gone_parts, levels
from resilver.describe_slow import SlowParts, slow_devices
from resilver.describe_streams import corrupted_groups
from resilver.errors import ConfigError, Interrupted, PlacementError
from resilver.estimate_traffic import crowding_problems
from resilver.importers.ceph import ClusterReport
from resilver.simulate.core_errors import core_errors
from resilver.simulate.crush import CrushMap
from resilver.simulate.result import RunResult, result_of
from resilver.simulate.silent import SilentFaults, check_silent_faults, silent_faults
from resilver.spec import Run, System


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        phase: ``placing``, ``scanning``, ``rebuilding``, ``serving`` or ``done``. A run is serving
            where it has clients and nothing to rebuild.
        fraction: How much of the phase is done, from 0 to 1.
        events: Events executed.
        simulated_seconds: Simulated time.
        rebuilt_pieces: Lost copies or pieces that are whole again.
        pieces_to_rebuild: Lost copies or pieces that are to be rebuilt; zero before the scan's end.
        requests_completed: Requests that clients have had answered.
    """

    phase: str
    fraction: float
    events: int = 0
    simulated_seconds: float = 0.0
    rebuilt_pieces: int = 0
    pieces_to_rebuild: int = 0
    requests_completed: int = 0


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
    case = case_of(system, seed)
    with core_errors(f"seed {seed}"):
        return finished(case, _core.Simulation(case.text, map_of(system)), progress)


@dataclass(frozen=True)
class Case:
    """A system with a seed, and what fails in it.

    Attributes:
        system: The system.
        seed: The seed.
        failed: When each device that is rebuilt fails, by its number.
        silent: What else fails.
        slow: What is slow for a while.
        gone: When parts go that carry others, by their names.
        text: All of it as the core reads it.
    """

    system: System
    seed: int
    failed: dict[int, float]
    silent: SilentFaults
    slow: tuple[SlowParts, ...]
    gone: dict[str, float]
    text: str


def case_of(system: System, seed: int) -> Case:
    """What the core is to run.

    Args:
        system: The system.
        seed: The seed, which decides what fails where a fault says how many.

    Raises:
        ConfigError: A fault names what is not there, or more than there is.
    """
    failed = describe.failed_devices(system, seed, _core.choose_failed)
    silent = silent_faults(system, seed, failed)
    slow = tuple(slow_devices(system, seed, failed, _core.choose_failed))
    corrupted = corrupted_groups(system, seed, _core.choose_failed)
    gone = gone_parts(system, seed, _core.choose_failed)
    text = describe.core_json(system, seed, failed, silent.described, corrupted, slow, gone)
    return Case(system, seed, failed, silent, slow, gone, text)


def finished(
    case: Case, simulation: _core.Simulation, progress: Callable[[Progress], bool] | None
) -> RunResult:
    """What a run found, once it has been stepped to its end; errors are the core's own."""
    # Each report names the phase of the step to come; the first step has one too.
    system = case.system
    phase = "scanning" if system.placement_group_count is None else "placing"
    state = Progress("serving" if system.is_traffic_only else phase, 0.0)
    _tell(progress, state)
    while state.phase != "done":
        state = Progress(*simulation.advance())
        if system.is_traffic_only and state.phase != "done":
            state = replace(state, phase="serving")
        _tell(progress, state)
    report = simulation.report()
    return result_of(system, case.seed, case.failed, case.silent, report, case.slow, case.gone)


def _tell(progress: Callable[[Progress], bool] | None, state: Progress) -> None:
    if progress is not None and not progress(state):
        raise Interrupted("the run was stopped before its end")


def validate_runs(runs: Iterable[Run]) -> None:
    """Check what only the core can tell of a study's runs before they begin.

    Args:
        runs: Runs, each valid in itself.

    Raises:
        PlacementError: A real cluster's CRUSH map cannot be used.
        ConfigError: A code or a topology cannot be built, the network has not what a fault takes
            away, or clients ask for so much more than can be done that memory would not hold it.
    """
    runs = list(runs)
    systems = {id(run.system): run.system for run in runs}.values()
    validate(systems)
    _validate_codes(systems)
    check_silent_faults(runs)
    if crowding := [problem for system in systems for problem in crowding_problems(system)]:
        raise ConfigError(crowding[:1])


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


def _validate_codes(systems: Iterable[System]) -> None:
    """Have the core build each code, which judges by its matrix what no number tells."""
    codes: dict[str, str] = {}
    for system in systems:
        if system.code is not None:
            codes.setdefault(system.code.label, "redundancy.code")
        for index, fault in enumerate(system.faults):
            if fault.corrupt is not None and fault.corrupt.code is not None:
                codes.setdefault(fault.corrupt.code.label, f"faults.{index}.corrupt.code")
    for label, key in codes.items():
        with core_errors(key):
            _core.Code(label)


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
    if cluster.parts:
        map = _core.CrushMap.of_parts(
            json.dumps(levels(cluster)),
            bucket,
            tunables,
            system.failure_domain or "",
            placement.only_class,
        )
    elif cluster.racks is None:
        map = _core.CrushMap.flat(system.server_count, bucket, tunables)
    else:
        map = _core.CrushMap.hierarchical(
            system.server_count,
            cluster.racks,
            cluster.rows,
            bucket,
            tunables,
            system.failure_domain or "server",
        )
    # Pieces of a code differ, so their rule keeps positions.
    return map if system.code is None else map.for_codes()
