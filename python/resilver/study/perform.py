"""One run, from its system and seed to its shard."""

from __future__ import annotations

import re
import resource
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.study.phases import STORING, PhaseClock
from resilver.study.progress import RunState
from resilver.study.shards import Cost, Shards
from resilver.study.worker import Report, load

if TYPE_CHECKING:
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
    """

    key: str
    system: System
    seed: int
    shards: Path
    simulator: str


def perform(task: RunTask, report: Report) -> Cost:
    """Simulate and store.

    Args:
        task: the run.
        report: told how far the run is; answers whether to go on.

    Returns:
        What the run cost.

    Raises:
        Interrupted: the report said not to go on.
        ResilverError: the run failed.
        OSError: its shard could not be written.
    """
    simulate = load(task.simulator)

    def progress(state: Any) -> bool:
        clock.enter(state.phase)
        return report(RunState.of(state))

    report(RunState("starting"))
    reset_peak_memory()
    clock = PhaseClock()
    output = simulate(task.system, task.seed, progress)
    seconds = clock.stop()
    cost = Cost(sum(seconds.values()), peak_memory_bytes(), seconds)
    report(RunState(STORING))
    Shards(task.shards).write(task.key, task.seed, output, cost)
    return cost


def reset_peak_memory() -> None:
    """Begin a new measurement of this process's peak memory, where the system can do that."""
    try:
        # Writing 5 resets the high-water mark of the resident set (proc(5), clear_refs), so that a
        # worker's second run is not charged with its first.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory_bytes() -> int | None:
    """The largest resident set of this process since `reset_peak_memory`.

    Returns:
        Bytes, with the interpreter and its libraries included; None if the system does not tell.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        # getrusage cannot be reset and covers the whole life of the process: an upper bound. It
        # counts KiB, and bytes on macOS.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    match = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None
