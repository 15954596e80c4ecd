"""Runs of a system, whichever engine makes them, and what is checked before they begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from resilver.errors import ConfigError
from resilver.estimate.traffic import crowding_problems
from resilver.simulate.checks import validate_faults
from resilver.simulate.progress import Progress
from resilver.simulate.stepping import simulated
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
    return simulated(system, seed, progress)


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
    validate_faults(runs)
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
