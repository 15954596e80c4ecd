"""The jobs that perform a study's runs under a batch system: how many, how large, where."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field

from resilver.errors import ConfigError, placed, show
from resilver.spec.section import Section
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
