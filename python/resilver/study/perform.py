"""One run, from its system and seed to its shard."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.study.machine import peak_memory_bytes, reset_peak_memory
from resilver.study.phases import SIMULATED_PHASES, STORING, PhaseClock
from resilver.study.progress import RunState
from resilver.study.shards import Cost, Shards
from resilver.study.worker import Report, load

if TYPE_CHECKING:
    from resilver.simulate import RunResult
    from resilver.spec import System

PERFORM = "resilver.study.perform:perform"


@dataclass(frozen=True)
class RunTask:
    """What a worker needs to perform a run.

    Attributes:
        key: the run's key.
        system: the system to simulate.
        seed: the seed of its random streams.
        shards: the folder that takes the shard.
        simulator: the simulation, as "package.module:function".
        mark: the mark by which a worker tells that it sees that folder; None if it surely does.
    """

    key: str
    system: System
    seed: int
    shards: Path
    simulator: str
    mark: str | None = None


@dataclass(frozen=True)
class Delivery:
    """How a finished run's shard gets to its folder.

    Attributes:
        files: the shard as bytes, from a worker that does not see the folder; None if it is there.
    """

    files: Mapping[str, bytes] | None = None


def perform(task: RunTask, report: Report) -> Delivery:
    """Simulate and store.

    Args:
        report: told how far the run is; answers whether to go on.

    Returns:
        The shard, or that it is stored.

    Raises:
        Interrupted: the report said not to go on.
        ResilverError: the run failed.
        OSError: its shard could not be written.
    """
    simulate = load(task.simulator)
    return perform_by(lambda progress: simulate(task.system, task.seed, progress), task, report)


def perform_by(
    simulate: Callable[[Callable[[Any], bool]], RunResult],
    task: RunTask,
    report: Report,
    scanning_seconds: float = 0.0,
) -> Delivery:
    """Measure a simulation and store what it gives.

    Args:
        simulate: the simulation; it takes the function that is told of its progress.
        report: told how far the run is; answers whether to go on.
        scanning_seconds: time that the run's scan has taken already, in other tasks.

    Returns:
        The shard, or that it is stored.
    """
    shards = Shards(task.shards)
    is_here = task.mark is None or shards.is_marked(task.mark)
    if task.mark is not None and is_here and shards.is_intact(task.key):
        # The worker that stored it died before it could say so.
        return Delivery()

    def progress(state: Any) -> bool:
        clock.enter(state.phase)
        return report(RunState.of(state))

    report(RunState("starting"))
    reset_peak_memory()
    clock = PhaseClock()
    output = simulate(progress)
    phases = clock.stop()
    phases[SIMULATED_PHASES[1]] += scanning_seconds
    cost = Cost(sum(phases.values()), peak_memory_bytes(), phases)
    report(RunState(STORING))
    if is_here:
        shards.write(task.key, task.seed, output, cost)
        return Delivery()
    with tempfile.TemporaryDirectory(prefix="resilver-") as folder:
        elsewhere = Shards(Path(folder))
        elsewhere.write(task.key, task.seed, output, cost)
        return Delivery(elsewhere.content(task.key))
