"""A run of the core, stepped to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.errors import Interrupted
from resilver.simulate.maps import maps_of
from resilver.simulate.progress import Progress
from resilver.spec import System

if TYPE_CHECKING:
    from resilver.simulate.result import RunResult


def simulated(system: System, seed: int, progress: Callable[[Progress], bool] | None) -> RunResult:
    """A run of a system by the core.

    Raises:
        As `resilver.study.simulate`.
    """
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
