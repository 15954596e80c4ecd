"""The ways through Slurm: jobs by sbatch, and a step of srun in which every task joins.

There is no Slurm here: a fake `sbatch` starts the job's script in the background, as a node would,
and `scancel` ends it; the tasks of a step are started with the variables that srun gives them.
"""

import importlib.util
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Looked for rather than imported: as it is imported it takes Ctrl-C from the process of the tests.
if importlib.util.find_spec("dask_jobqueue") is None:
    pytest.skip("the extra 'cluster' is not installed", allow_module_level=True)
from resilver.errors import ConfigError
from resilver.study.executors import BatchJobs
from tests.front_door import STARTED, command
from tests.integration.dask_cluster import environment
from tests.integration.study_runs import LOST
from tests.terminal import refusal
from tests.unit.study_fakes import tables

STUDY = f"{LOST}[study]\nseeds = 3\n"

CONFIG = """
jobs = 2
cores = 1
memory = "1 GiB"
walltime = "10 min"
queue = "fast"
account = "storage"
interface = "lo"
extra = ["--exclusive"]
"""

SBATCH = """#!/bin/sh
for script; do :; done
cp "$script" "{folder}/job.$$"
setsid sh "{folder}/job.$$" > "{folder}/log.$$" 2>&1 < /dev/null &
echo "$!" >> "{folder}/started"
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
echo "$1" >> "{folder}/cancelled"
kill -TERM -- "-$1"
"""
REFUSES = """#!/bin/sh
echo "sbatch: error: invalid partition specified: fast" >&2
exit 1
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "cluster.toml").write_text(CONFIG)
    (tmp_path / "bin").mkdir()
    yield tmp_path
    started = tmp_path / "started"
    for number in started.read_text().split() if started.exists() else []:
        try:
            os.killpg(int(number), signal.SIGKILL)
        except ProcessLookupError:
            continue


def install(place: Path, sbatch: str = SBATCH) -> None:
    for name, text in (("sbatch", sbatch), ("scancel", SCANCEL)):
        (place / "bin" / name).write_text(text.format(folder=place))
        (place / "bin" / name).chmod(0o755)


def resilver(place: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(place / "bin"), os.environ["PATH"]])
    return subprocess.Popen(
        [*STARTED, *words],
        env={**environment(), "PATH": path, **variables},
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(place: Path, *words: str) -> tuple[int, str]:
    process = resilver(place, "run", "study.toml", "-q", *words)
    _, errors = process.communicate(timeout=100)
    return process.returncode, errors


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The tables of the local run."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "study.toml").write_text(STUDY)
    assert command("run", "study.toml", "-q", "-o", "run", cwd=folder).returncode == 0
    return tables(folder / "run")


def test_jobs_of_slurm_give_the_bytes_of_the_local_run(place: Path, here: Any) -> None:
    install(place)
    code, errors = run(
        place, "-o", "slurm", "--cluster", "slurm", "--cluster-config", "cluster.toml"
    )
    assert code == 0, errors + "".join(path.read_text() for path in place.glob("log.*"))
    assert tables(place / "slurm") == here
    started = (place / "started").read_text().split()
    # Two jobs were asked for, and each that was submitted is cancelled at the end.
    assert len(started) == 2
    assert sorted((place / "cancelled").read_text().split()) == sorted(started)
    script = next(place.glob("job.*")).read_text()
    for line in ("-J resilver", "-p fast", "-A storage", "-t 00:10:00", "--exclusive"):
        assert f"#SBATCH {line}\n" in script
    assert "--cpus-per-task=1" in script and "--mem=1G" in script


def test_a_refused_job_is_bad_input_in_the_words_of_the_batch_system(place: Path) -> None:
    install(place, REFUSES)
    code, errors = run(place, "-o", "a", "--cluster", "slurm", "--cluster-config", "cluster.toml")
    assert code == 2
    assert "`sbatch` refused a job: sbatch: error: invalid partition specified: fast" in errors
    assert "Traceback" not in errors


def test_tasks_of_a_step_join_and_one_drives(place: Path, here: Any) -> None:
    words = ("run", "study.toml", "-q", "-o", "step", "--cluster", "allocation")
    step = {"SLURM_NTASKS": "4", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
    step["RESILVER_INTERFACE"] = "lo"
    tasks = [resilver(place, *words, SLURM_PROCID=str(rank), **step) for rank in range(4)]
    try:
        outputs = [task.communicate(timeout=100) for task in tasks]
    finally:
        for task in tasks:
            task.kill()
    assert [task.returncode for task in tasks] == [0] * 4, outputs
    assert tables(place / "step") == here
    assert not list(place.glob(".resilver-scheduler*"))


def test_an_allocation_needs_three_tasks(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PROCID", "0"), ("NTASKS", "2"), ("JOB_ID", "7")):
        monkeypatch.setenv(f"SLURM_{name}", value)
    said = refusal("run", place / "study.toml", "--cluster", "allocation")
    assert "`srun` started 2 tasks, and 3 are needed" in said


def test_a_driver_that_is_killed_leaves_no_job_behind_for_long(place: Path, here: Any) -> None:
    # Workers look for their scheduler for so many seconds and then end, and their job with them.
    from resilver.study.executors import batch

    assert batch._ORPHAN_SECONDS <= 60
    install(place)
    words = ("run", "study.toml", "-q", "-o", "a", "--cluster", "slurm")
    driver = resilver(place, *words, "--cluster-config", "cluster.toml")
    deadline = time.monotonic() + 60
    while not (place / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    driver.kill()
    driver.communicate()
    done = command("run", "study.toml", "-q", "-o", "a", cwd=place)
    assert done.returncode == 0, done.stderr
    assert tables(place / "a") == here


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cores": 0}, "cores"),
        ({"memory": "8"}, 'a size needs a unit; write "8 B" or "8 TiB"'),
        ({"memory": 0}, "must be more than zero"),
        ({"walltime": "2 m"}, 'write "min" for minutes'),
        ({"walltime": "30 s"}, "in minutes"),
        ({"processes": 9}, "a job of 4 cores cannot feed 9 processes"),
        ({"queue": "a\n#SBATCH -A other"}, "one line"),
        ({"quue": "a"}, 'did you mean "queue"?'),
    ],
)
def test_a_config_says_what_is_wrong(change: dict[str, object], words: str) -> None:
    plain: dict[str, object] = {"cores": 4, "memory": "8 GiB", "walltime": "1 h"}
    with pytest.raises(ConfigError) as caught:
        BatchJobs(**{"system": "slurm", **plain, **change}).check()  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_a_walltime_is_written_as_each_system_reads_it() -> None:
    # 90.5 minutes round up to 91: an hour and 31 minutes.
    def text(system: str) -> str:
        jobs = BatchJobs(system=system, cores=4, memory="8 GiB", walltime="90.5 min")  # type: ignore[arg-type]
        return jobs.walltime_text

    assert [text(system) for system in ("slurm", "pbs", "lsf")] == ["01:31:00", "01:31:00", "01:31"]
