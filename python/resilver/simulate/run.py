"""Runs of a system."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.core_input import faults_json, levels
from resilver.errors import ConfigError, Interrupted
from resilver.estimate.traffic import crowding_problems
from resilver.simulate.network import topology_of
from resilver.simulate.progress import Progress
from resilver.spec import Run, System

if TYPE_CHECKING:
    from resilver.simulate.result import RunResult


def simulate(
    system: System, seed: int, progress: Callable[[Progress], bool] | None = None
) -> RunResult:
    """Run one system with one seed.

    Args:
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
    if system.report is not None:
        from resilver.whatif.studied import healed

        return healed(system, seed, progress)
    with core_errors(f"seed {seed}"):
        simulation = _core.Simulation(core_input.core_json(system, seed), maps_of(system))
        return finished(system, seed, simulation, progress)


def finished(
    system: System,
    seed: int,
    simulation: _core.Simulation,
    progress: Callable[[Progress], bool] | None,
) -> RunResult:
    """What a run found, once it has been stepped to its end; errors are the core's own."""
    from resilver.simulate.result import result_of

    # Each report names the phase of the step to come; the first step has one too.
    phase = "scanning" if system.placement_group_count is None else "placing"
    state = Progress("serving" if system.is_traffic_only else phase, 0.0)
    _tell(progress, state)
    while state.phase != "done":
        state = Progress(*simulation.advance())
        if system.is_traffic_only and state.phase != "done":
            state = replace(state, phase="serving")
        _tell(progress, state)
    return result_of(system, seed, *simulation.report())


def _tell(progress: Callable[[Progress], bool] | None, state: Progress) -> None:
    if progress is not None and not progress(state):
        raise Interrupted("the run was stopped before its end")


def validate_runs(runs: Iterable[Run]) -> None:
    """Check what only the core can tell of a study's runs before they begin.

    Args:
        runs: Runs, each valid in itself.

    Raises:
        ConfigError: A real cluster's CRUSH map cannot be used, a code or a topology cannot be
            built, the network has not what a fault takes away, or clients ask for so much more
            than can be done that memory would not hold it.
    """
    runs = list(runs)
    systems = {id(run.system): run.system for run in runs}.values()
    _validate_clusters(runs)
    _validate_codes(systems)
    _validate_faults(runs)
    if crowding := [
        problem
        for system in systems
        for pool in system.of_pools
        for problem in crowding_problems(pool)
    ]:
        raise ConfigError(crowding[:1])


def _validate_clusters(runs: Iterable[Run]) -> None:
    """Have each real cluster's run made ready once, which reads all that is asked of it."""
    seen: set[int] = set()
    for run in runs:
        if run.system.report is not None and id(run.system) not in seen:
            from resilver.whatif.studied import made_ready

            seen.add(id(run.system))
            made_ready(run.system, run.seed)


def _validate_codes(systems: Iterable[System]) -> None:
    """Have the core build each code, which judges by its matrix what no number tells."""
    codes: dict[str, str] = {}
    for system in systems:
        for pool in system.of_pools:
            if pool.code is not None:
                codes.setdefault(pool.code.label, "redundancy.code")
        for index, fault in enumerate(system.faults):
            if fault.corrupt is not None and fault.corrupt.code is not None:
                codes.setdefault(fault.corrupt.code.label, f"faults.{index}.corrupt.code")
    for label, key in codes.items():
        with core_errors(key):
            _core.Code(label)


def _validate_faults(runs: Iterable[Run]) -> None:
    """Have the core build each topology, and name and draw what breaks in each run."""
    seen: set[tuple[str, int | None]] = set()
    for run in runs:
        system, topology = run.system, run.system.cluster.fabric.topology
        if topology is None and not system.faults:
            continue
        text = json.dumps(faults_json(system))
        # Where one fault draws, how many there are is the same for all seeds.
        broken = [fault.broken for fault in system.faults if fault.broken is not None]
        is_alike = (len(broken) == 1 and isinstance(broken[0].targets, int)) or not broken
        content = json.dumps([topology and topology.content(), text], sort_keys=True)
        case = (content, None if is_alike else run.seed)
        if case not in seen:
            seen.add(case)
            built = topology_of(system, run.seed)
            with core_errors():
                _core.name_faults(text, run.seed, built)


def maps_of(system: System) -> list[_core.CrushMap]:
    """The core's CRUSH maps of a system's pools, in the order of those that are placed by CRUSH."""
    return [made for pool in system.of_pools if (made := _map_of(pool)) is not None]


def _map_of(system: System) -> _core.CrushMap | None:
    """The CRUSH map of a pool, or None where its placement is not by CRUSH."""
    placement, cluster = system.placement, system.cluster
    if placement is None or placement.algorithm != "crush":
        return None
    bucket, tunables = placement.bucket or "straw2", placement.tunables or "jewel"
    if not cluster.parts and cluster.racks is None:
        map = _core.CrushMap.flat(system.server_count, bucket, tunables)
    else:
        domains = list(zip(system.failure_domains, _parts_chosen(system), strict=True))
        map = _core.CrushMap.of_parts(
            json.dumps(levels(cluster)), bucket, tunables, domains, placement.only_class
        )
    # Pieces of a code differ, so their rule keeps positions.
    return map if system.code is None else map.for_codes()


def _parts_chosen(system: System) -> tuple[int, ...]:
    """How many parts of each failure domain CRUSH chooses; 0 is as many as there are pieces."""
    if len(system.failure_domains) < 2 or system.code is None:
        return (0,)
    return system.code.levels
