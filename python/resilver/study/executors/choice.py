"""From what a user says to the executor that performs the runs."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError, nearest, show
from resilver.study.executors.batch import BATCH_SYSTEMS, CONFIG_KEY, BatchJobs, import_of_jobqueue
from resilver.study.executors.build import own_build
from resilver.study.executors.interface import (
    ClusterLost,
    StudyExecutor,
    missing_package,
    tell_of_cancelling,
)
from resilver.study.executors.on_dask import DaskExecutor, quiet_dask
from resilver.study.executors.remote import perform_remotely
from resilver.study.executors.scheduler import KEY, check_address, connect, connected, on_client
from resilver.study.pool import LocalPool, rebuilt
from resilver.study.progress import RunState

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


_TASKS_NEEDED = 3

# A scheduler whose driver was killed has no tasks left and ends after this time, and so does the
# allocation.
_IDLE = "60 s"


class Allocation:
    """The driver's view of an allocation that it has joined.

    Args:
        runner: the runner of dask-jobqueue, in the driver's task.
        scheduler_file: where the scheduler said how to reach it.
    """

    def __init__(self, runner: Any, scheduler_file: Path) -> None:
        self._runner = runner
        self._scheduler_file = scheduler_file

    def connect(self) -> DaskExecutor:
        """An executor on the allocation's workers.

        Returns:
            The executor; shutting it down leaves the allocation.

        Raises:
            ConfigError: the scheduler does not answer, or a worker runs another resilver.
        """
        client = connected(self._runner.scheduler_address, "allocation")
        return on_client(client, "the allocation", client.close)

    def close(self) -> None:
        """End the scheduler and the workers, and with them their tasks of `srun`."""
        with contextlib.suppress(Exception):
            self._runner.close()
        self._scheduler_file.unlink(missing_ok=True)


def join() -> Allocation:
    """Take this task's part in the allocation.

    The first task of `srun` becomes the scheduler and the second the driver; all others become
    workers. Only the driver returns: the others serve until it is done and then end the process.

    Returns:
        The allocation, in the driver.

    Raises:
        ConfigError: Dask is not installed, or this is not a task of `srun` with two others.
    """
    try:
        rank, tasks = (int(os.environ[name]) for name in ("SLURM_PROCID", "SLURM_NTASKS"))
        step = f"{int(os.environ['SLURM_JOB_ID'])}-{os.environ.get('SLURM_STEP_ID', '0')}"
    except (KeyError, ValueError):
        rule = "this process is not a task of `srun`"
        remedy = "start it as `srun -n 8 resilver run STUDY.toml --cluster allocation`"
        raise ConfigError(rule, remedy, key=KEY, value='"allocation"') from None
    if tasks < _TASKS_NEEDED:
        rule = f"`srun` started {tasks} tasks, and 3 are needed: scheduler, driver and a worker"
        raise ConfigError(rule, "start it with `srun -n 3` or more", key=KEY, value='"allocation"')
    with import_of_jobqueue():
        from dask_jobqueue.slurm import SLURMRunner
    quiet_dask()
    # One run at a time in each worker, with all the processors that Slurm gives to its task.
    os.environ.setdefault("RAYON_NUM_THREADS", os.environ.get("SLURM_CPUS_PER_TASK", "1"))
    scheduler_file = Path.cwd() / f".resilver-scheduler-{step}.json"
    handler = signal.getsignal(signal.SIGINT)
    # The runner ends the tasks that serve by an interrupt of their own.
    signal.signal(signal.SIGINT, _leave)
    runner = SLURMRunner(
        scheduler_file=str(scheduler_file),
        scheduler_options={
            "dashboard": False,
            "dashboard_address": ":0",
            "idle_timeout": _IDLE,
            **_interface(),
        },
        worker_options={"nthreads": 1, **_interface()},
    )
    if rank == 1:
        signal.signal(signal.SIGINT, handler)
    return Allocation(runner, scheduler_file)


def _interface() -> dict[str, str]:
    name = os.environ.get("RESILVER_INTERFACE")
    return {"interface": name} if name else {}


def _leave(*_: object) -> None:
    raise SystemExit(0)


class AnyExecutor:
    """An executor of the caller's, which keeps it: processes, threads, or what MPI offers.

    It reports no progress inside a run, and a run that has begun cannot be stopped.
    """

    shares_folder = False

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._lock = threading.Lock()
        self._running: dict[Future[Any], Future[Any]] = {}

    @property
    def workers(self) -> int:
        """How many tasks it performs at once, as far as it says."""
        return int(getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1)

    def submit(self, function: str, /, *arguments: Any) -> Future[Any]:
        """Have the executor call a function.

        Args:
            function: "package.module:function".
            arguments: picklable arguments.
        """
        future: Future[Any] = Future()
        tell_of_cancelling(future, lambda: None)
        try:
            theirs = self._executor.submit(
                perform_remotely, own_build(), pickle.dumps((function, arguments)), None
            )
        except RuntimeError as error:
            # It is shut down, or one of its processes died.
            future.set_exception(ClusterLost(f"the executor takes no more runs: {error}"))
            return future
        with self._lock:
            self._running[future] = theirs
        theirs.add_done_callback(lambda done: self._finish(future, done))
        return future

    def under_way(self) -> Mapping[Future[Any], RunState]:
        """The tasks that have begun, all at their start: there are no reports."""
        with self._lock:
            return {
                future: RunState("starting")
                for future, theirs in self._running.items()
                if theirs.running()
            }

    def stop(self) -> None:
        """Drop the tasks that have not begun."""
        with self._lock:
            running = list(self._running.values())
        for theirs in running:
            theirs.cancel()

    def kill(self) -> None:
        """Wait no longer for tasks that have begun; the executor cannot end them."""
        with self._lock:
            running = list(self._running)
        for future in running:
            future.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the executor to its owner.

        Args:
            wait: not used: the sweep has waited for its tasks.
            cancel_futures: drop tasks that have not begun.
        """
        if cancel_futures:
            self.stop()

    def _finish(self, future: Future[Any], theirs: Future[Any]) -> None:
        with self._lock:
            self._running.pop(future, None)
        with contextlib.suppress(InvalidStateError):
            try:
                kind, content = theirs.result()
            except CancelledError:
                future.cancel()
            except BrokenExecutor as error:
                future.set_exception(ClusterLost(f"the executor broke: {error}"))
            except Exception as error:
                future.set_exception(ClusterLost(f"the executor failed: {error}"))
            else:
                if kind == "done":
                    future.set_result(content)
                elif kind == "other build":
                    future.set_exception(ClusterLost(f"a worker {content}"))
                else:
                    future.set_exception(rebuilt(*content))
