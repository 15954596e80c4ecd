"""A real Dask cluster for tests: scheduler and workers in processes of their own, on loopback."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests import front_door


def environment() -> dict[str, str]:
    """What child processes need to find resilver and the tests, and to stay quick."""
    return front_door.environment(
        # A run that ends two workers is given up; Dask's own limit is four.
        DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1",
        DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE="0.98",
    )


class Cluster:
    """A scheduler and workers, each a process that a test may kill.

    Args:
        folder: a folder for the scheduler file, logs and Dask's temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scheduler_file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._log = (folder / "log").open("wb")
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", self.scheduler_file
        )
        deadline = time.monotonic() + 60
        while not self.scheduler_file.exists():
            assert self.scheduler.poll() is None and time.monotonic() < deadline, self.log()
            time.sleep(0.05)
        time.sleep(0.1)
        self.address = json.loads(self.scheduler_file.read_text())["address"]

    def start_worker(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a worker that performs one run at a time."""
        process = self._start(
            "worker",
            self.address,
            *("--nthreads", "1", "--no-dashboard"),
            *("--local-directory", self.folder / "scratch"),
            *(options or ("--no-nanny",)),
        )
        self.workers.append(process)
        return process

    def _start(self, role: str, *arguments: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--host", "127.0.0.1"]
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            env=environment(),
            # A folder of its own: a path by way of the working folder is another one for workers.
            cwd=self.folder,
            stdout=self._log,
            stderr=self._log,
        )

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many workers have come."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def busy(self) -> int:
        """How many tasks workers are performing."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return sum(len(tasks) for tasks in client.processing().values())

    def log(self) -> str:
        """What the processes printed."""
        return (self.folder / "log").read_text(errors="replace")

    def stop(self) -> None:
        """End everything."""
        for process in [*self.workers, self.scheduler]:
            process.terminate()
        for process in [*self.workers, self.scheduler]:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()
        self._log.close()


@contextlib.contextmanager
def running(folder: Path, workers: int, *options: str) -> Iterator[Cluster]:
    """A cluster with so many workers that are ready."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder)
    try:
        for _ in range(workers):
            cluster.start_worker(*options)
        if workers:
            cluster.wait_for_workers(workers)
        yield cluster
    finally:
        cluster.stop()
