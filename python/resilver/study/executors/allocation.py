"""Inside a Slurm allocation: every task of `srun` joins, and one of them drives the study."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from resilver.errors import ConfigError
from resilver.study.executors.batch import import_of_jobqueue
from resilver.study.executors.on_dask import DaskExecutor, quiet_dask
from resilver.study.executors.scheduler import KEY, connected, on_client

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
