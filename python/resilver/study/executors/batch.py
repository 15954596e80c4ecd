"""Workers in the jobs of a batch system, by dask-jobqueue."""

from __future__ import annotations

import contextlib
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

from resilver.errors import ConfigError, show
from resilver.study.executors.batch_jobs import SUBMIT_COMMANDS, BatchJobs
from resilver.study.executors.interface import missing_package
from resilver.study.executors.on_dask import DaskExecutor, quiet_dask
from resilver.study.executors.scheduler import KEY, connected, on_client

_SUBMIT_SECONDS = 60.0

# Workers look this long for a driver that is gone before their job ends.
_ORPHAN_SECONDS = 60

# The Dask processes of a job are named so in the queue.
_JOB_NAME = "resilver"


def check_batch_system(system: str) -> None:
    """See that the packages and the commands of a batch system are there.

    Args:
        system: "slurm", "pbs" or "lsf".

    Raises:
        ConfigError: one is missing.
    """
    with import_of_jobqueue():
        import dask_jobqueue  # noqa: F401
    command = SUBMIT_COMMANDS[system]
    if shutil.which(command) is None:
        rule = f"the command `{command}` is not on this machine's path"
        remedy = "run this on a login node of the cluster, or give another --cluster"
        raise ConfigError(rule, remedy, key=KEY, value=show(system))


@contextlib.contextmanager
def import_of_jobqueue() -> Iterator[None]:
    """Import dask-jobqueue without what it does to Ctrl-C.

    Raises:
        ConfigError: it is not installed, or this is not the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        # Its module sets a handler of SIGINT as it is imported, which Python allows nowhere else.
        rule = "batch systems can be used from the main thread only"
        raise ConfigError(rule, "call execute from the main thread", key=KEY)
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_package(error, KEY) from error
    finally:
        signal.signal(signal.SIGINT, handler)


def submit_jobs(jobs: BatchJobs, tasks: int) -> DaskExecutor:
    """Submit jobs and return the executor that their workers will serve.

    Args:
        jobs: what to ask for.
        tasks: how many tasks there are; no more jobs than that are submitted.

    Returns:
        The executor. It has no worker until the batch system starts a job.

    Raises:
        ConfigError: the packages or the command are missing, or a job was refused.
    """
    check_batch_system(jobs.system)
    quiet_dask()
    failures: list[Exception] = []
    begun: list[object] = []
    cluster = _cluster(jobs, failures, begun)
    count = min(jobs.jobs, -(-tasks // jobs.processes_a_job))
    try:
        cluster.scale(jobs=count)
        deadline = time.monotonic() + _SUBMIT_SECONDS
        while len(begun) + len(failures) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        if failures or len(begun) < count:
            raise _refused(jobs.system, failures)
        client = connected(cluster, f"the {jobs.system} jobs")
    except BaseException:
        with contextlib.suppress(Exception):
            cluster.close()
        raise

    def close() -> None:
        client.close()
        cluster.close()

    # A job may wait in its queue for days; whoever waits for it can press Ctrl-C.
    where = f"the {jobs.system} jobs"
    return on_client(client, where, close, first_wait_seconds=None)


def _cluster(jobs: BatchJobs, failures: list[Exception], begun: list[object]) -> Any:
    import dask_jobqueue

    names = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}
    cluster_class: Any = getattr(dask_jobqueue, names[jobs.system])
    job_class: Any = cluster_class.job_cls

    class RecordedJob(job_class):  # type: ignore[misc]
        """A job that says how its submission went: Dask only logs it."""

        async def start(self) -> None:
            try:
                await super().start()
            except Exception as error:
                failures.append(error)
                raise
            begun.append(self)

    account = {("project" if jobs.system == "lsf" else "account"): jobs.account}
    threads = max(1, jobs.cores // jobs.processes_a_job)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cluster_class(
            job_cls=RecordedJob,
            job_name=_JOB_NAME,
            cores=jobs.processes_a_job,
            processes=jobs.processes_a_job,
            memory=f"{int(jobs.memory)} B",
            walltime=jobs.walltime_text,
            queue=jobs.queue,
            interface=jobs.interface,
            local_directory=jobs.scratch,
            log_directory=jobs.logs,
            python=jobs.python,
            death_timeout=_ORPHAN_SECONDS,
            job_extra_directives=list(jobs.extra),
            # Each process performs one run at a time; the core's threads are its share of the job.
            job_script_prologue=[f"export RAYON_NUM_THREADS={threads}", *jobs.prologue],
            scheduler_options={"dashboard": False, "dashboard_address": ":0"},
            **_cores(jobs),
            **{name: value for name, value in account.items() if value is not None},
        )


def _cores(jobs: BatchJobs) -> dict[str, Any]:
    """Each system's own word for the cores of a job.

    Dask takes its number of cores for threads of its own, which are one a process here.
    """
    if jobs.system == "slurm":
        return {"job_cpu": jobs.cores}
    if jobs.system == "lsf":
        return {"ncpus": jobs.cores}
    megabytes = -(-int(jobs.memory) // 2**20)
    return {"resource_spec": f"select=1:ncpus={jobs.cores}:mem={megabytes}mb"}


def _refused(system: str, failures: list[Exception]) -> ConfigError:
    command = SUBMIT_COMMANDS[system]
    if not failures:
        rule = f"`{command}` did not answer within {_SUBMIT_SECONDS:g} s"
        return ConfigError(rule, "see that the batch system is up", KEY, show(system))
    lines = [line.strip() for line in str(failures[0]).splitlines()]
    # dask-jobqueue quotes the command's output under these headings.
    said = (
        [line for line in lines[lines.index("stderr:") + 1 :] if line]
        if "stderr:" in lines
        else lines
    )
    rule = f"`{command}` refused a job: {' '.join(said) or 'it said nothing'}"
    return ConfigError(rule, "change the cluster config", KEY, show(system))
