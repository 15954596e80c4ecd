"""Executing a study: parallel, resumable, interruptible, and the same tables however it went."""

import hashlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from resilver.columns import TABLE_NAMES
from resilver.errors import Interrupted
from resilver.study import Incomplete, Results, StudyProgress
from resilver.study.meter import Expected
from resilver.study.phases import SIMULATED_PHASES
from tests.build import refused
from tests.scale import SCALE, numbers
from tests.unit.study_fakes import FakeStudy, perform, started, tables


def test_tables_hold_every_run_and_the_provenance_what_made_them(tmp_path: Path) -> None:
    study = FakeStudy(seeds=[5, 2], sweep={"cluster.servers": [8, 4]})
    runs = perform(study, tmp_path / "a").runs
    # The sweep's values vary slower than the seeds: (8, 5), (8, 2), (4, 5), (4, 2).
    assert runs["cluster.servers"].to_pylist() == [8, 8, 4, 4]
    assert runs["seed"].to_pylist() == [5, 2, 5, 2]
    assert runs.column_names[:3] == ["run", "cluster.servers", "seed"]
    study = FakeStudy()
    perform(study, tmp_path / "b", command=["resilver", "run", "x.toml"])
    provenance = json.loads((tmp_path / "b" / "provenance.json").read_text())
    assert provenance["command"] == ["resilver", "run", "x.toml"]
    assert provenance["state"] == "complete"
    assert provenance["run_keys"] == [run.key for run in study.runs()]
    assert set(provenance["runs"]) == set(provenance["run_keys"])


def test_costs_are_joined_to_the_runs_and_kept_out_of_the_parquet_file(tmp_path: Path) -> None:
    results = perform(FakeStudy(seconds=0.05), tmp_path / "a")
    # Each run sleeps 0.05 s, so its wall time is at least that.
    assert min(results.runs["wall_seconds"].to_pylist()) >= 0.05
    # An interpreter with Arrow takes well over 10 MiB.
    assert min(results.runs["peak_rss_bytes"].to_pylist()) > 10 * 2**20
    # The phases of a simulation add up to its time; storing comes after it.
    for row in results.to_records():
        phases = [row[f"{name}_seconds"] for name in SIMULATED_PHASES]
        assert sum(phases) == pytest.approx(row["wall_seconds"])
        # The fake reports the rebuild only after its first step of 20.
        assert row["rebuilding_seconds"] >= 0.9 * 0.05
        assert results.provenance["runs"][row["run"]]["phase_seconds"]["storing"] > 0.0
    assert b"wall_seconds" not in tables(tmp_path / "a")["runs"]


def test_runs_of_more_expected_work_begin_first_and_others_stay_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def costs(runs: Any, _simulator: str) -> dict[str, Expected]:
        return {run.key: Expected(seconds=10.0 if run.seed in (2, 4) else 1.0) for run in runs}

    monkeypatch.setattr("resilver.study.execution._expected_costs", costs)
    log = tmp_path / "log"
    perform(FakeStudy(seeds=[1, 2, 3, 4], log=str(log)), tmp_path / "a")
    assert log.read_text().split() == ["2", "4", "1", "3"]


def test_seeds_extend_a_folder_and_equal_points_are_done_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    perform(FakeStudy(seeds=[1, 2], log=str(log)), tmp_path / "a")
    results = perform(FakeStudy(seeds=[1, 2, 3], log=str(log)), tmp_path / "a")
    assert log.read_text().split() == ["1", "2", "3"]
    assert results.runs.num_rows == 3
    perform(FakeStudy(seeds=[1, 2, 3]), tmp_path / "b")
    assert tables(tmp_path / "a") == tables(tmp_path / "b")
    study = FakeStudy(seeds=[4], sweep={"a.b": ["x", "x"]}, log=str(log))
    results = perform(study, tmp_path / "c")
    assert log.read_text().split()[3:] == ["4"]
    assert results.runs.num_rows == 2
    assert results.servers.num_rows == 4


def test_a_damaged_shard_is_done_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    study = FakeStudy(seeds=[1, 2, 3], log=str(log))
    perform(study, tmp_path / "a")
    before = tables(tmp_path / "a")
    shard = tmp_path / "a" / "shards" / study.runs()[1].key / "servers.parquet"
    shard.write_bytes(shard.read_bytes()[::-1])
    # A record may name the files of its folder alone: a device of no bytes is read without end.
    record = tmp_path / "a" / "shards" / study.runs()[2].key / "cost.json"
    elsewhere = {"/dev/null": {"bytes": 0, "sha256": hashlib.sha256().hexdigest()}}
    files = json.loads(record.read_text())["files"] | elsewhere
    record.write_text(json.dumps({"wall_seconds": 1.0, "peak_rss_bytes": 1, "files": files}))
    (tmp_path / "a" / "runs.parquet").unlink()
    perform(study, tmp_path / "a")
    assert log.read_text().split() in (["1", "2", "3", "2", "3"], ["1", "2", "3", "3", "2"])
    assert tables(tmp_path / "a") == before


def test_an_error_in_one_run_leaves_the_others(tmp_path: Path) -> None:
    with pytest.raises(Incomplete, match="1 of 3 runs failed") as caught:
        perform(FakeStudy(error=[2]), tmp_path / "a")
    # The same run would fail again, so calling again does not help.
    assert not caught.value.resumable
    assert "seed=2: the books do not balance" in str(caught.value)
    results = Results.open(tmp_path / "a", partial=True)
    assert results.runs["seed"].to_pylist() == [1, 3]
    assert "incomplete: 2 of 3 runs" in refused(Results.open, tmp_path / "a")
    for workers in (0, 1):
        with pytest.raises(Incomplete, match=r"seed=1: .*please report it .*division by zero"):
            perform(FakeStudy(crash=[1]), tmp_path / f"unknown-{workers}", workers=workers)


def test_a_worker_that_is_killed_fails_its_run_only(tmp_path: Path) -> None:
    study = FakeStudy(seeds=range(1, 7), die=[3])
    with pytest.raises(Incomplete, match="killed by SIGKILL") as caught:
        perform(study, tmp_path / "a", workers=2)
    assert caught.value.resumable
    assert [failure["seed"] for failure in caught.value.failures] == [3]
    results = Results.open(tmp_path / "a", partial=True)
    assert results.runs["seed"].to_pylist() == [1, 2, 4, 5, 6]
    # The run did not depend on its worker's death: done again without it, the study is whole.
    perform(FakeStudy(seeds=range(1, 7)), tmp_path / "a")
    perform(FakeStudy(seeds=range(1, 7)), tmp_path / "b")
    assert tables(tmp_path / "a") == tables(tmp_path / "b")


@pytest.mark.parametrize("workers", [0, 2])
def test_an_interrupt_keeps_finished_runs_and_says_how_to_go_on(
    tmp_path: Path, workers: int
) -> None:
    study = FakeStudy(seeds=range(1, 13), seconds=0.2)

    def interrupt_after_two(progress: StudyProgress) -> None:
        if progress.counts.done == 2 and progress.finished_label:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="run the same command again"):
        perform(study, tmp_path / "a", workers=workers, progress=interrupt_after_two)
    results = Results.open(tmp_path / "a", partial=True)
    assert 2 <= results.runs.num_rows < 12
    perform(FakeStudy(seeds=range(1, 13)), tmp_path / "a")
    perform(FakeStudy(seeds=range(1, 13)), tmp_path / "b")
    assert tables(tmp_path / "a") == tables(tmp_path / "b")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_stuck_worker_is_killed_at_the_second_interrupt(tmp_path: Path) -> None:
    # A run of one step of 60 s never looks at the stop request within the test.
    study = FakeStudy(seeds=[1], seconds=1200)
    timers = [threading.Timer(s, os.kill, (os.getpid(), signal.SIGINT)) for s in (2.0, 2.5)]
    for timer in timers:
        timer.start()
    begin = time.monotonic()
    with pytest.raises(Interrupted, match="0 of 1 runs"):
        perform(study, tmp_path / "a", workers=1)
    assert time.monotonic() - begin < 8.0


def test_progress_never_falls_and_ends_at_one(tmp_path: Path) -> None:
    seen: list[StudyProgress] = []
    perform(FakeStudy(seeds=[1, 2], seconds=0.1), tmp_path / "a", progress=seen.append)
    fractions = [state.fraction for state in seen]
    assert fractions == sorted(fractions) and (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert {state.finished_label for state in seen} == {None, "seed=1", "seed=2"}


def test_a_failing_progress_function_leaves_no_worker_behind(tmp_path: Path) -> None:
    def fail(progress: StudyProgress) -> None:
        if progress.under_way:
            raise RuntimeError("display lost")

    before = set(_workers(os.getpid()))
    with pytest.raises(RuntimeError, match="display lost"):
        perform(FakeStudy(seconds=30), tmp_path / "a", workers=2, progress=fail)
    assert set(_workers(os.getpid())) <= before


SWEEP = """
print("begin", flush=True)
perform(FakeStudy(range(1, 7), {"cluster.servers": [4, 8]}, seconds=%s), sys.argv[1], workers=2)
"""


def sweep() -> FakeStudy:
    return FakeStudy(range(1, 7), {"cluster.servers": [4, 8]})


@cache
def whole() -> dict[str, bytes]:
    """The tables of the sweep, performed once in this process."""
    with TemporaryDirectory(prefix="resilver-") as folder:
        perform(sweep(), Path(folder, "whole"))
        return tables(Path(folder, "whole"))


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path, workers: int) -> None:
    perform(sweep(), tmp_path / "pool", workers=workers)
    assert tables(tmp_path / "pool") == whole()


# 12 runs of 0.2 s on 2 workers that take about 0.7 s to start: the delays fall before the workers
# are up, and in the middle of the runs.
DELAYS = [0.2, 1.2] if SCALE == 1 else [random.Random(n).uniform(0, 2.5) for n in numbers(1)]


@pytest.mark.parametrize("delay", DELAYS)
def test_a_sweep_killed_at_any_moment_resumes_to_the_same_bytes(
    tmp_path: Path, delay: float
) -> None:
    process = started(SWEEP % 0.2, tmp_path / "killed", stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(delay)
    process.kill()
    process.wait()
    perform(sweep(), tmp_path / "killed")
    assert tables(tmp_path / "killed") == whole()


COPY_AT_RENAMES = """
import shutil
heartbeat.pause_seconds = lambda beats: 3600.0
folder, renames = sys.argv[1] + "/whole", 0
def watch(event, arguments):
    global renames
    if event == "os.rename":
        shutil.copytree(folder, f"{sys.argv[1]}/{renames}")
        renames += 1
sys.addaudithook(watch)
perform(FakeStudy([1, 2]), folder)
print(renames)
"""


def test_a_study_killed_at_any_of_its_renames_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """A kill leaves what the folder holds at that moment, of which a copy is made before each."""
    done = started(COPY_AT_RENAMES, tmp_path, stdout=subprocess.PIPE)
    renames = int(done.communicate()[0])
    # Everything a folder says appears by a rename: study.toml, provenance, the sign of life, 2
    # shards, the tables, and the provenance again.
    assert done.returncode == 0 and renames >= 6 + len(TABLE_NAMES)
    expected = tables(tmp_path / "whole")
    # Tables are renamed one like the other: of these every third is enough at a change.
    few = {*range(6), *range(6, renames, 3), renames - 1}
    for left in sorted(few) if SCALE == 1 else range(renames):
        folder = tmp_path / str(left)
        perform(FakeStudy([1, 2]), folder)
        assert tables(folder) == expected, left
        assert not list(folder.rglob(".unfinished-*")), left


@pytest.mark.parametrize("signs", [0, 1])
def test_a_sweep_killed_after_its_end_leaves_nothing_behind(tmp_path: Path, signs: int) -> None:
    # The tables are whole and the provenance says so, and the sign of life is still to be removed:
    # killed before the sign is renamed, and just after.
    code = f"""
heartbeat.pause_seconds = lambda beats: 3600.0
def kill(heart):
    temporary = heart._folder / f".unfinished-status.json-{{os.getpid()}}"
    temporary.write_text("half") if {signs} == 0 else heart._write()
    os.kill(os.getpid(), 9)
heartbeat.Heartbeat.__exit__ = lambda self, *_: kill(self)
perform(FakeStudy(), sys.argv[1])
"""
    assert started(code, tmp_path / "a").wait() == -signal.SIGKILL
    assert (tmp_path / "a" / "status.json").exists()
    assert json.loads((tmp_path / "a" / "provenance.json").read_text())["state"] == "complete"
    before = tables(tmp_path / "a")
    perform(FakeStudy(), tmp_path / "a")
    left = [path.name for path in (tmp_path / "a").iterdir() if "status.json" in path.name]
    assert not left and tables(tmp_path / "a") == before


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    process = started(SWEEP % 60, tmp_path / "a")
    workers: list[int] = []
    deadline = time.monotonic() + 20
    while len(workers) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        workers = _workers(process.pid)
    process.kill()
    process.wait()
    assert len(workers) == 2
    while any(_runs(worker) for worker in workers) and time.monotonic() < deadline + 5:
        time.sleep(0.05)
    assert not any(_runs(worker) for worker in workers)


def _workers(pid: int) -> list[int]:
    """The forks of a process's fork server."""
    return [worker for first in _children(pid) for worker in _children(first)]


def _children(pid: int) -> list[int]:
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(number) for file in files for number in file.read_text().split()]


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
