"""From what a user says to the executor that performs the runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, nearest, show
from resilver.study.executors.batch_jobs import BATCH_SYSTEMS, CONFIG_KEY, BatchJobs
from resilver.study.executors.interface import StudyExecutor, missing_package
from resilver.study.executors.scheduler import KEY, check_address, connect, on_client
from resilver.study.pool import LocalPool

_ALLOCATION = "allocation"


@dataclass(frozen=True)
class ExecutorChoice:
    """A way to perform runs that was found possible and is not begun.

    Attributes:
        open: makes the executor for so many tasks.
        close: gives back what the choice itself holds.
        several_machines: whether a run can gain from being split over workers.
    """

    open: Callable[[int], StudyExecutor]
    close: Callable[[], None] = lambda: None
    several_machines: bool = True


def choose(
    executor: Any = None, *, workers: int | None = None, cluster_config: str | Path | None = None
) -> ExecutorChoice:
    """Interpret what was said about where to run, and check it before anything is run.

    Args:
        executor: None for processes of this machine; the address or scheduler file of a Dask
            scheduler; "slurm", "pbs" or "lsf"; "allocation" in a task of `srun`; or an object:
            `BatchJobs`, a `distributed.Client`, any `concurrent.futures.Executor`, a
            `StudyExecutor`, or a choice.
        workers: processes of this machine, by default one a processor.
        cluster_config: the file that says what to ask the batch system for.

    Raises:
        ConfigError: it means nothing, or something it needs is missing.
    """
    if isinstance(executor, ExecutorChoice):
        return executor
    _refuse_contradictions(executor, workers, cluster_config)
    if executor is None:
        return ExecutorChoice(partial(_local, workers), several_machines=False)
    if isinstance(executor, (str, os.PathLike)):
        return _named(os.fspath(executor), cluster_config)
    if isinstance(executor, BatchJobs):
        return _batch(executor)
    if type(executor).__module__.startswith("distributed."):
        return ExecutorChoice(lambda _: on_client(executor, "the Dask cluster", lambda: None))
    if isinstance(executor, Executor) and not isinstance(executor, LocalPool):
        from resilver.study.executors.any_executor import AnyExecutor

        return ExecutorChoice(lambda _: AnyExecutor(executor))
    if isinstance(executor, StudyExecutor):
        return ExecutorChoice(lambda _: executor)
    rule = "this is no executor"
    remedy = "give an address, a batch system, a Dask client or a concurrent.futures executor"
    raise ConfigError(rule, remedy, key="executor", value=show(executor))


def _refuse_contradictions(
    executor: Any, workers: int | None, cluster_config: str | Path | None
) -> None:
    if workers is not None and workers < 0:
        rule = f"workers = {workers}: must be 0 or more; leave it out for one a processor"
        raise ConfigError(rule)
    if executor is not None and workers is not None:
        rule = "a cluster says itself how many workers it has"
        raise ConfigError(rule, "leave out one of the two", "--workers", str(workers))
    if cluster_config is not None and executor not in BATCH_SYSTEMS:
        rule = "only a batch system is configured by a file"
        remedy = "give it with --cluster slurm, pbs or lsf"
        raise ConfigError(rule, remedy, CONFIG_KEY, show(str(cluster_config)))


def _named(name: str, cluster_config: str | Path | None) -> ExecutorChoice:
    if name in BATCH_SYSTEMS:
        if cluster_config is None:
            rule = "a batch system needs to know what to ask for"
            remedy = "give a file with cores, memory and walltime by --cluster-config FILE"
            raise ConfigError(rule, remedy, KEY, show(name))
        return _batch(BatchJobs.load(name, cluster_config))
    if name == _ALLOCATION:
        from resilver.study.executors.allocation import join

        allocation = join()
        return ExecutorChoice(lambda _: allocation.connect(), allocation.close)
    known = (*BATCH_SYSTEMS, _ALLOCATION)
    if "://" not in name and not Path(name).exists() and (close := nearest(name, known)):
        rule, remedy = "there is no such way to run", f'did you mean "{close}"?'
        raise ConfigError(rule, remedy, KEY, show(name))
    address = check_address(name)
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing_package(error, KEY) from error
    return ExecutorChoice(lambda _: connect(address))


def _batch(jobs: BatchJobs) -> ExecutorChoice:
    from resilver.study.executors.batch import check_batch_system, submit_jobs

    jobs.check()
    check_batch_system(jobs.system)
    return ExecutorChoice(partial(submit_jobs, jobs))


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _local(workers: int | None, tasks: int) -> LocalPool:
    count = max(1, min(processors() if workers is None else workers, tasks))
    return LocalPool(count, _environment(count))


def _environment(workers: int) -> dict[str, str]:
    # The core has threads of its own: together the workers get one thread a processor.
    if "RAYON_NUM_THREADS" in os.environ:
        return {}
    return {"RAYON_NUM_THREADS": str(max(1, processors() // workers))}
