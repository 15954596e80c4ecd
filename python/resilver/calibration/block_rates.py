"""What a disk is calibrated by: fio's report, or rates of block devices by other benchmarks.

fair-lio and the suite around it tell rates alone. With a queue that always holds d requests each
waits for the d - 1 before it, so that its mean latency is d times size over rate (Little's law).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from resilver.errors import ConfigError, show
from resilver.importers.benchmarks import is_benchmark, read_benchmarks
from resilver.importers.benchmarks.fio_rows import is_fio as is_fio_text
from resilver.importers.fio import FioJob, FioReport, names_of, read_fio
from resilver.text import read_bytes, refuse
from resilver.units import exact_bytes

QUEUE = 4
"""The queue depth that is fitted where there are several: the recipe's, and fair-lio's default."""


def read_disk(paths: Sequence[Path], queue: int | None = None) -> FioReport:
    """Read what measured a disk.

    Args:
        paths: fio's JSON with one queue depth; or anything of block devices that `read_benchmarks`
            reads. Rates of several devices together are those of one in the mean, repeats have
            their median.
        queue: Of several queue depths the one to take; by default four, else the least.

    Returns:
        The measurements as jobs, one a pattern and size.

    Raises:
        ConfigError: A file cannot be read, or no rate in it is of a block device at that queue.
    """
    is_fio = not any(is_benchmark(path) and not _is_fio(path) for path in paths)
    report = read_fio(paths) if is_fio else _of_rates(paths)
    depths = sorted({job.queue_depth for job in report.jobs})
    taken = queue or (QUEUE if QUEUE in depths else depths[0])
    if taken not in depths:
        rule = f"there are queues of {', '.join(map(str, depths))}"
        raise ConfigError(rule, "name one of them", key="--queue", value=show(taken))
    cells: dict[tuple[str, int], list[FioJob]] = {}
    for job in report.jobs:
        if job.queue_depth == taken:
            cells.setdefault((job.mode, job.request_bytes), []).append(job)
    notes = list(report.skipped)
    if (most := max(map(len, cells.values()))) > 1:
        notes.append(f"of up to {most} runs of a pattern and size the median is taken")
    if len(depths) > 1:
        notes.append(_of_queues(report.jobs, taken, cells))
    jobs = tuple(_median(runs) for runs in cells.values())
    return replace(report, jobs=jobs, skipped=tuple(notes))


def _is_fio(path: Path) -> bool:
    return is_fio_text(read_bytes(path).decode("utf-8-sig", errors="replace"))


def _of_rates(paths: Sequence[Path]) -> FioReport:
    """Rates of block devices as jobs, of one device each."""
    table = read_benchmarks(paths)
    jobs, notes = [], list(table.notes)
    rows = [one for one in table.rows if one.layer == "block" and one.is_of_all]
    for one in rows:
        if not (one.bytes_per_second and one.mode and one.request_bytes and one.queue):
            continue
        rate = one.bytes_per_second / (one.devices or 1)
        latency = one.latency_seconds or one.queue * one.request_bytes / rate
        size, mode = one.request_bytes, one.mode
        jobs.append(FioJob(one.test, one.place, mode, size, one.queue, True, rate, latency))
    if not jobs:
        rule = "no rate in it is of block devices, with their queue depth and request size"
        refuse(paths[0], rule, "give what fio, fair-lio or the OLCF suite measured")
    if any(one.latency_seconds is None for one in rows):
        notes.append("latencies are queue times size over rate, since none are given")
    if (most := max(one.devices or 1 for one in rows)) > 1:
        notes.append(f"of up to {most} devices together a disk is taken for their mean")
    label = names_of([path.name for path in paths])
    programs = tuple(dict.fromkeys(one.program for one in rows))
    return FioReport(label, programs, tuple(jobs), tuple(notes))


def _median(runs: Sequence[FioJob]) -> FioJob:
    """Runs of one pattern and size as one."""
    return replace(
        runs[0],
        bytes_per_second=statistics.median(job.bytes_per_second for job in runs),
        latency_seconds=statistics.median(job.latency_seconds for job in runs),
    )


def _of_queues(
    jobs: Sequence[FioJob], taken: int, cells: Mapping[tuple[str, int], Sequence[FioJob]]
) -> str:
    """How much faster other queues were, which the table does not know."""
    gains = [
        (job.bytes_per_second / _median(cells[key]).bytes_per_second, job)
        for job in jobs
        if job.queue_depth != taken and (key := (job.mode, job.request_bytes)) in cells
    ]
    text = f"the table knows no queue, and is of {taken} requests outstanding"
    if not gains:
        return text
    gain, job = max(gains, key=lambda one: one[0])
    return (
        f"{text}; {job.queue_depth} made {job.mode} of {exact_bytes(job.request_bytes)} "
        f"{gain:.3g} times as fast"
    )
