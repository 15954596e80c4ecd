"""Workers in the jobs of a batch system, by dask-jobqueue."""

from __future__ import annotations

import contextlib
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field

from resilver.errors import ConfigError, placed, show
from resilver.spec.section import Section
from resilver.study.executors.interface import missing_package
from resilver.study.executors.on_dask import DaskExecutor, quiet_dask
from resilver.study.executors.scheduler import KEY, connected, on_client
from resilver.text import read_toml
from resilver.units import Bytes, Seconds

CONFIG_KEY = "--cluster-config"

BatchSystem = Literal["slurm", "pbs", "lsf"]
BATCH_SYSTEMS: tuple[str, ...] = get_args(BatchSystem)

SUBMIT_COMMANDS = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub"}

_MINUTE = 60.0


def _positive(value: Bytes | Seconds) -> Bytes | Seconds:
    if value <= 0:
        raise ConfigError("must be more than zero")
    return value


def _one_line(text: str) -> str:
    # What stands in a job's header ends with its line; a second line would be another directive.
    if not text.strip() or any(character in text for character in "\n\r\0"):
        raise ConfigError("must be one line of text that is not empty", value=show(text))
    return text


Line = Annotated[str, AfterValidator(_one_line)]


class BatchJobs(Section):
    """What to ask a batch system for; a small TOML file, or keyword arguments in Python.

    Attributes:
        system: the batch system.
        jobs: how many jobs to submit.
        cores: processor cores of a job.
        memory: memory of a job.
        walltime: how long a job may take.
        processes: worker processes of a job, each of which performs one run at a time with its
            share of the cores; by default one a core.
        queue: the queue or partition.
        account: the account, or LSF's project, that is charged.
        extra: further directives of the job script, such as "--exclusive".
        prologue: shell commands before a worker starts, such as "module load python".
        interface: the network interface that driver and workers use, such as "ib0".
        scratch: a folder on the nodes for Dask's temporary files.
        logs: a folder for the jobs' output.
        python: the Python that runs the workers; by default this one.

    >>> jobs = BatchJobs(system="slurm", jobs=2, cores=16, memory="64 GiB", walltime="2 h")
    >>> jobs.workers
    32
    """

    system: BatchSystem
    jobs: int = Field(default=1, ge=1, le=100_000, strict=True)
    cores: int = Field(ge=1, le=65_536, strict=True)
    memory: Annotated[Bytes, AfterValidator(_positive)]
    walltime: Annotated[Seconds, AfterValidator(_positive)]
    processes: int | None = Field(default=None, ge=1, le=65_536, strict=True)
    queue: Line | None = None
    account: Line | None = None
    extra: tuple[Line, ...] = ()
    prologue: tuple[Line, ...] = ()
    interface: Line | None = None
    scratch: Line | None = None
    logs: Line | None = None
    python: Line | None = None

    @classmethod
    def load(cls, system: str, path: str | Path) -> Self:
        """Read the file given with ``--cluster-config``.

        Args:
            system: "slurm", "pbs" or "lsf".
            path: the TOML file.

        Raises:
            ConfigError: it cannot be read, with every problem in it.
        """
        table = read_toml(Path(path))
        if "system" in table:
            rule = "the batch system is named by --cluster"
            raise ConfigError(rule, "remove this key", key="system", place=str(path))
        with placed(str(path)):
            jobs = cls.from_table({**table, "system": system}, Path(path).parent)
            jobs.check()
            return jobs

    def check(self) -> None:
        """Check what concerns several keys.

        Raises:
            ConfigError: more processes than cores, or a walltime that rounds to nothing.
        """
        if self.processes is not None and self.processes > self.cores:
            rule = f"a job of {self.cores} cores cannot feed {self.processes} processes"
            remedy = f"write at most {self.cores}, or leave it out for one a core"
            raise ConfigError(rule, remedy, "processes", str(self.processes))
        if self.walltime < _MINUTE:
            rule, remedy = "batch systems count a job's time in minutes", 'write "1 min" or more'
            raise ConfigError(rule, remedy, "walltime", show(f"{self.walltime:g} s"))

    @property
    def processes_a_job(self) -> int:
        """Worker processes of one job."""
        return self.processes if self.processes is not None else self.cores

    @property
    def workers(self) -> int:
        """Worker processes of all jobs."""
        return self.jobs * self.processes_a_job

    @property
    def walltime_text(self) -> str:
        """The walltime as the batch system reads it: rounded up to minutes, LSF's HH:MM."""
        minutes = -int(-self.walltime // _MINUTE)
        hours = f"{minutes // 60:02d}:{minutes % 60:02d}"
        return hours if self.system == "lsf" else f"{hours}:00"


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
