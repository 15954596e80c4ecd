"""Workers are forks of one server, in the surroundings that their pool has when they begin."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from resilver.study import fork_server
from resilver.study.pool import LocalPool, WorkerDied

HERE = "tests.unit.test_fork_server"


def surroundings(_report: object) -> dict[str, Any]:
    """What a worker finds around it."""
    return {
        "parent": os.getppid(),
        "folder": os.getcwd(),
        "variable": os.environ.get("RESILVER_TRIED"),
        "blas": os.environ.get("OPENBLAS_NUM_THREADS"),
        "searched": sys.path[-1],
        "threads": len(os.listdir("/proc/self/task")),
    }


def ends(code: int, _report: object) -> None:
    print("last words", flush=True)
    os._exit(code)


def lasts(seconds: float, _report: object) -> int:
    time.sleep(seconds)
    return os.getppid()


def test_workers_have_one_parent_and_the_surroundings_of_their_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / name)])
        with LocalPool(2, {"RESILVER_TRIED": f"é\udcff{name}"}) as pool:
            found += [pool.submit(f"{HERE}:surroundings").result() for _ in range(2)]
    assert len({each["parent"] for each in found}) == 1
    assert found[0]["parent"] != os.getpid()
    for each, name in zip(found, "aabb", strict=True):
        folder = str(tmp_path / name)
        assert each["folder"] == each["searched"] == folder
        assert each["variable"] == f"é\udcff{name}"
        assert each["blas"] is None
        # Its own and the one that listens to the pool.
        assert each["threads"] == 2


def test_a_worker_s_end_is_told_with_its_code_and_its_last_words() -> None:
    with LocalPool(1) as pool:
        for code in (3, 0):
            with pytest.raises(WorkerDied, match=f"ended with exit code {code}: last words"):
                pool.submit(f"{HERE}:ends", code).result()
        assert pool.submit(f"{HERE}:lasts", 0.0).result()


def test_a_fork_server_that_was_killed_is_replaced_and_its_workers_go_on() -> None:
    with LocalPool(1) as old, LocalPool(1) as new:
        first = old.submit(f"{HERE}:lasts", 0.0).result()
        going_on = old.submit(f"{HERE}:lasts", 0.5)
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert new.submit(f"{HERE}:lasts", 0.0).result() != first
        assert going_on.result() != first
        with pytest.raises(WorkerDied, match=r"^its worker process ended: last words$"):
            old.submit(f"{HERE}:ends", 3).result()


def test_a_fork_server_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_servers", [])
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with LocalPool(1) as pool, pytest.raises(WorkerDied, match="can be started: it ends at once"):
        pool.submit(f"{HERE}:lasts", 0.0).result()


@pytest.mark.parametrize("begun", [False, True])
def test_a_worker_may_be_killed_at_any_time(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_servers", [])
    with LocalPool(1) as pool:
        running = pool.submit(f"{HERE}:lasts", 60.0)
        (slot,) = pool._slots
        while (slot._process if begun else slot._pipe) is None:
            time.sleep(0.01)
        process = slot._process
        pool.kill()
        with pytest.raises(WorkerDied, match="SIGKILL" if begun else "exit code 1"):
            running.result(30)
        # Its number may be another process's by now.
        assert process is None or process.kill() is None
