"""A study on a real Dask cluster gives the bytes of the local run, whatever dies meanwhile."""

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

from resilver import ConfigError, SimulationError, cli, durability
from resilver.study import Incomplete, StudyProgress, execute
from resilver.study.executors import build, on_dask, scheduler
from tests.build import refused
from tests.integration import test_durability_simulated, test_split
from tests.integration.dask_cluster import Cluster, environment, running
from tests.scale import numbers
from tests.unit.study_fakes import SIMULATOR, FakeStudy, tables


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("dask"), 2) as cluster:
        yield cluster


def perform(study: FakeStudy, folder: Path, **options: Any) -> Any:
    return execute(study, folder, simulator=SIMULATOR, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The tables that a small study has in this process."""
    folder = tmp_path_factory.mktemp("here") / "run"
    perform(FakeStudy(), folder, workers=0)
    return tables(folder)


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(".unfinished-*"))


def test_a_cluster_gives_the_bytes_of_this_process(cluster: Cluster, tmp_path: Path) -> None:
    study = FakeStudy(seeds=range(8), sweep={"cluster.servers": [4, 8]})
    perform(study, tmp_path / "here", workers=0)
    perform(study, tmp_path / "address", executor=cluster.address)
    perform(study, tmp_path / "file", executor=cluster.scheduler_file)
    assert tables(tmp_path / "address") == tables(tmp_path / "here")
    assert tables(tmp_path / "file") == tables(tmp_path / "here")
    assert leftovers(tmp_path) == []


def test_a_reproduction_on_a_cluster_has_the_tables_of_one_here(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--seeds", "2", "--set", 'population.bytes_per_server="64 GiB"', "--set"]
    sweep = 'study.sweep={"cluster.servers"=[4, 8]}'
    for name, where in (("here", []), ("there", ["--cluster", cluster.address])):
        command = ["reproduce", "rebuild-ring", *small, sweep, "-q", "-o", str(tmp_path / name)]
        assert cli.run([*command, *where]) == 0
    # What measures this machine does so here, and says it.
    measure = ["reproduce", "disk-curves", "-o", str(tmp_path / "here")]
    assert cli.run([*measure, "--cluster", cluster.address]) == 0
    assert "measured on this machine, not on --cluster" in capsys.readouterr().err
    here, there = (tables(tmp_path / name / "rebuild-ring") for name in ("here", "there"))
    assert here == there


def test_parts_of_runs_and_batches_of_durability_on_a_cluster_give_the_same(
    cluster: Cluster, tmp_path: Path
) -> None:
    whole = test_split.study(test_split.RING, test_split.VOLUME)
    execute(whole, tmp_path / "whole", workers=1)
    execute(whole, tmp_path / "split", executor=cluster.address, split=4)
    assert tables(tmp_path / "split") == tables(tmp_path / "whole")
    # Batches of durability on a cluster give the same bytes.
    asked: dict[str, Any] = test_durability_simulated.RESUMED
    here = durability("rs 4+1", folder=tmp_path / "here", **asked)
    far = durability("rs 4+1", folder=tmp_path / "far", executor=cluster.address, **asked)
    assert here.to_dict() == far.to_dict()
    content = test_durability_simulated.content
    assert content(tmp_path / "far") == content(tmp_path / "here")


def test_a_client_of_the_caller_is_used_and_left_open(
    cluster: Cluster, here: Any, tmp_path: Path
) -> None:
    from distributed import Client

    phases = set()

    def note(progress: StudyProgress) -> None:
        phases.update(run.state.phase for run in progress.under_way.values())

    with Client(cluster.address, set_as_default=False) as client:
        perform(FakeStudy(seconds=1.0), tmp_path / "client", executor=client, progress=note)
        assert client.status == "running"
    assert tables(tmp_path / "client") == here
    # Progress comes from the workers.
    assert "rebuilding" in phases


def test_a_shard_travels_where_the_folder_is_not_shared(
    cluster: Cluster, here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By way of its own working folder, each process finds another folder: the workers find none.
    monkeypatch.chdir(tmp_path)
    perform(FakeStudy(), Path("/proc/self/cwd/travelled"), executor=cluster.address)
    assert tables(tmp_path / "travelled") == here
    assert leftovers(tmp_path) == []


def test_an_error_of_one_run_leaves_the_others(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(Incomplete, match="the books do not balance") as caught:
        perform(FakeStudy(error=[2]), tmp_path / "a", executor=cluster.address)
    assert (caught.value.finished, caught.value.resumable) == (2, False)


def test_workers_come_and_are_killed_and_at_last_the_scheduler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No worker is waited for a while and no longer; one that is killed in the middle changes
    nothing; a lost scheduler ends the sweep, which keeps what is done."""
    monkeypatch.setattr(scheduler, "_WAIT_SECONDS", 2.0)
    study = FakeStudy(seeds=range(1, 13), seconds=0.3)
    perform(study, tmp_path / "here", workers=4)
    with running(tmp_path / "dask", 0) as cluster:
        with pytest.raises(Incomplete, match=r"had no worker|no worker has come") as caught:
            execute_with_wait(cluster, tmp_path / "none", 2.0)
        assert caught.value.resumable
        # One that comes in time is as good as one that was there.
        timer = threading.Timer(1.0, cluster.start_worker)
        timer.start()
        execute_with_wait(cluster, tmp_path / "one", 30.0)
        timer.join()
        cluster.start_worker()
        cluster.wait_for_workers(2)

        def kill_one(progress: StudyProgress) -> None:
            if progress.counts.done == 3:
                cluster.workers[0].kill()

        perform(study, tmp_path / "killed", executor=cluster.address, progress=kill_one)
        assert cluster.workers[0].wait(5) == -9
        assert tables(tmp_path / "killed") == tables(tmp_path / "here")

        def kill_it(progress: StudyProgress) -> None:
            if progress.counts.done == 2:
                cluster.scheduler.kill()

        long, begin = FakeStudy(seeds=range(1, 41), seconds=0.2), time.monotonic()
        with pytest.raises(Incomplete, match="was lost") as caught:
            perform(long, tmp_path / "lost", executor=cluster.address, progress=kill_it)
    assert caught.value.resumable and 2 <= caught.value.finished < 40
    assert time.monotonic() - begin < 60


def execute_with_wait(cluster: Cluster, folder: Path, seconds: float) -> None:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        executor = scheduler.on_client(
            client, "the test's cluster", client.close, first_wait_seconds=seconds
        )
        perform(FakeStudy(), folder, executor=executor)


def test_a_run_that_ends_its_workers_is_given_up(tmp_path: Path) -> None:
    # A nanny starts its worker again, so the others go on; two deaths end the run (see
    # dask_cluster.environment).
    study = FakeStudy(seeds=range(1, 7), die=[3])
    with (
        running(tmp_path / "dask", 1, "--nanny") as cluster,
        pytest.raises(Incomplete, match="every worker process that performed it") as caught,
    ):
        perform(study, tmp_path / "a", executor=cluster.address)
    assert [failure["seed"] for failure in caught.value.failures] == [3]
    assert (caught.value.finished, caught.value.resumable) == (5, True)


def test_workers_of_another_build_are_refused_before_anything_runs(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    own = build.own_build()
    for other, words in (
        (build.Build("9.9", own.schema, own.machine, own.core), "and this is 9.9"),
        (build.Build(own.version, 99, own.machine, own.core), "writes tables of version"),
        (build.Build(own.version, own.schema, own.machine, "0"), "runs another build"),
    ):
        monkeypatch.setattr(scheduler, "own_build", lambda other=other: other)
        with pytest.raises(ConfigError, match=words):
            perform(FakeStudy(log=str(log)), tmp_path / "a", executor=cluster.address)
    monkeypatch.undo()
    # A worker that comes later is compared when it gets its first run.
    monkeypatch.setattr(on_dask, "own_build", lambda: other)
    with pytest.raises(Incomplete, match="runs another build") as caught:
        perform(FakeStudy(log=str(log)), tmp_path / "b", executor=cluster.address)
    assert caught.value.resumable
    assert not log.exists()


def test_an_address_where_nobody_listens_is_refused_at_once(tmp_path: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(ConfigError, match="no Dask scheduler answers there"):
        perform(FakeStudy(), tmp_path / "a", executor="tcp://127.0.0.1:1")
    assert time.monotonic() - begin < 8


DRIVER = """
import sys
from tests.unit.study_fakes import SIMULATOR, FakeStudy
from resilver.study import execute
study = FakeStudy(seeds=range(1, 13), sweep={"cluster.servers": [4, 8]}, seconds=0.1)
print("begin", flush=True)
execute(study, sys.argv[1], executor=sys.argv[2], simulator=SIMULATOR)
"""


def driven(source: str, folder: Path, cluster: Cluster) -> subprocess.Popen[bytes]:
    """A process that performs the study of a source on the cluster."""
    words = [sys.executable, "-c", source, str(folder), cluster.address]
    return subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE)


@pytest.mark.parametrize("number", numbers(1))
def test_a_driver_killed_at_any_moment_resumes_to_the_same_bytes(
    cluster: Cluster, tmp_path: Path, number: int
) -> None:
    # 24 runs of 0.1 s on 2 workers take 1.2 s and the driver about 1 s to start.
    study = FakeStudy(seeds=range(1, 13), sweep={"cluster.servers": [4, 8]}, seconds=0.1)
    driver = driven(DRIVER, tmp_path / "killed", cluster)
    assert driver.stdout is not None
    driver.stdout.readline()
    time.sleep(random.Random(number).uniform(0.0, 2.5))
    driver.kill()
    driver.wait()
    # At once, so that the killed driver's runs may be under way beside the next one's.
    perform(study, tmp_path / "killed", executor=cluster.address)
    perform(study, tmp_path / "whole", workers=4)
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")


def test_runs_of_a_killed_driver_end_at_their_next_report(cluster: Cluster, tmp_path: Path) -> None:
    # A run of a minute with a report every 3 s; after the kill the workers are free within a few.
    driver = driven(DRIVER.replace("seconds=0.1", "seconds=60"), tmp_path / "killed", cluster)
    deadline = time.monotonic() + 30
    while cluster.busy() < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    driver.kill()
    driver.wait()
    begin = time.monotonic()
    perform(FakeStudy(), tmp_path / "next", executor=cluster.address)
    assert time.monotonic() - begin < 20


def test_an_executor_of_the_caller_performs_runs(here: Any, tmp_path: Path) -> None:
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing import get_context

    with ThreadPoolExecutor(2) as threads:
        perform(FakeStudy(), tmp_path / "threads", executor=threads)
    assert tables(tmp_path / "threads") == here
    # Forked from a process of many threads, a worker may wait for ever on a lock that one of the
    # threads held, which it does not have.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        with pytest.raises(Incomplete, match="broke") as caught:
            perform(FakeStudy(die=[2]), tmp_path / "processes", executor=processes)
        assert caught.value.resumable
    perform(FakeStudy(), tmp_path / "processes", workers=2)
    assert tables(tmp_path / "processes") == here


def test_what_is_no_executor_is_refused(tmp_path: Path) -> None:
    assert "this is no executor" in refused(perform, FakeStudy(), tmp_path / "a", executor=3)
    assert not (tmp_path / "a").exists()
    assert issubclass(Incomplete, SimulationError)
