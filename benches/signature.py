"""How long a signature takes: of a job's eight runs, of a year, and of a log that servers keep."""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

RUNS_GOAL_SECONDS, YEAR_GOAL_SECONDS, FILE_GOAL_RATE = 0.020, 10.0, 100e6
YEAR_GOAL_BYTES, SHIFT_GOAL_SECONDS = 2**30, 1.0
SAMPLES_OF_YEAR, TARGETS, TIMES, REPEATS = 15_768_000, 248, 43_200, 7


def seconds(perform: Callable[[], object], repeats: int = REPEATS) -> float:
    """The median of some repeats, in seconds."""
    took = []
    for _ in range(repeats):
        begun = time.perf_counter()
        perform()
        took.append(time.perf_counter() - begun)
    return statistics.median(took)


def pattern(count: int, step: float, rng: np.random.Generator) -> np.ndarray:
    """Bursts of 2 TB every ten minutes on an exponential floor."""
    values = rng.exponential(1e9, count)
    every, length = round(600.0 / step), max(1, round(40.0 / step))
    for begin in range(every // 3, count - length, every):
        values[begin : begin + length] += 2e12 / length
    return values


def year(folder: Path) -> None:
    """A year at 2 s, alone in a process, so that the most memory is its own."""
    from resilver import signature
    from resilver.importers.series import Series

    values = pattern(SAMPLES_OF_YEAR, 2.0, np.random.default_rng(1))
    series = Series(np.arange(SAMPLES_OF_YEAR) * 2.0, values, "year")
    begun = time.perf_counter()
    assert signature(series).holds
    took = time.perf_counter() - begun
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (folder / "year").write_text(f"{took} {most}")


def write_tokio(path: Path) -> int:
    """A day at 2 s of 248 targets; returns its bytes."""
    import h5py

    with h5py.File(path, "w") as file:
        file["datatargets/timestamps"] = np.arange(TIMES) * 2
        values = np.random.default_rng(2).exponential(1e6, (TIMES, TARGETS))
        data = file.create_dataset("datatargets/writebytes", data=values, chunks=(900, TARGETS))
        data.attrs["columns"] = [f"OST{number:04x}".encode() for number in range(TARGETS)]
        data.attrs["units"] = "bytes/sec"
    return path.stat().st_size


def main() -> None:
    """Print each figure beside its goal."""
    from resilver import Signature, shift_signatures, signature
    from resilver.importers.series import Series, read_series

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(0)
    runs = [Series(np.arange(1800) * 2.0, pattern(1800, 2.0, rng), "run") for _ in range(8)]
    signature(runs)
    eight = seconds(lambda: signature(runs))
    print(f"8 runs    {1e3 * eight:8.1f} ms  goal {1e3 * RUNS_GOAL_SECONDS:g} ms (an hour at 2 s)")
    jobs = Signature(600.0, 0.0, 60.0, 6e12), Signature(420.0, 0.0, 50.0, 6e12)
    shift = seconds(lambda: shift_signatures(*jobs, rate=150e9), 3)
    print(f"shift     {shift:8.3f} s   goal {SHIFT_GOAL_SECONDS:g} s (20 periods, all shifts)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_tokio(folder / "day.hdf5")
        rate = size / seconds(lambda: read_series(folder / "day.hdf5"), 3)
        print(f"file      {rate / 1e6:8.0f} MB/s goal {FILE_GOAL_RATE / 1e6:g} MB/s")
        process = os.fork()
        if process == 0:
            year(folder)
            os._exit(0)
        os.waitpid(process, 0)
        took, most = map(float, (folder / "year").read_text().split())
    print(f"a year    {took:8.2f} s   goal {YEAR_GOAL_SECONDS:g} s (15.8 M samples)")
    print(f"          {most / 2**20:8.0f} MiB  goal {YEAR_GOAL_BYTES / 2**20:g} MiB, its own 241")


if __name__ == "__main__":
    main()
