"""From what fio measured to the figures of a volume's service-time table.

The model serves one request at a time, first in, first out, in overhead + size / rate + seek. With
a queue that always holds d requests, each waits for the d - 1 before it: its latency is d service
times, and the bandwidth is its size over one service time.

Source: P. Carns et al., "Impact of data placement on resilience in large-scale object storage
systems" (2016), section III-B.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from resilver.errors import ConfigError, Problem, Problems, raise_all, show
from resilver.importers.fio import MODES, FioJob
from resilver.units import exact_bytes, format_duration

Method = Literal["recipe", "line"]
"""``recipe``: the paper's. ``line``: the straight line through the service times."""

_OVERHEAD_BYTES = 4096

_Cells = Mapping[str, Mapping[int, FioJob]]


@dataclass(frozen=True)
class DirectionFit:
    """The figures of one direction.

    Attributes:
        bytes_per_second: The rate.
        overhead_seconds: The fixed time of a request.
        seek_seconds: The seek of a request, one a size.
    """

    bytes_per_second: float
    overhead_seconds: float
    seek_seconds: tuple[float, ...]


@dataclass(frozen=True)
class DiskFit:
    """A volume's figures.

    Attributes:
        request_bytes: The sizes of the seeks, rising: those measured, and doublings between where
            a pattern lacks some.
        queue_depth: How many requests were outstanding.
        read: The figures of reads.
        write: The figures of writes.
        notes: What a reader must know: figures set to zero, measurements through a cache.
    """

    request_bytes: tuple[int, ...]
    queue_depth: int
    read: DirectionFit
    write: DirectionFit
    notes: tuple[str, ...]


def fit_disk(jobs: Sequence[FioJob], method: Method = "recipe", place: str = "") -> DiskFit:
    """Fit a volume's figures.

    Args:
        jobs: Sequential and random reads and writes, each at two sizes or more, all at one queue
            depth; by the recipe at the same sizes.
        method: ``recipe`` takes the largest sequential bandwidth as the rate, the median latency at
            4 KiB (else at the smallest size) over the queue depth, less the transfer, as the
            overhead, and the difference of the random and the sequential median latency over the
            queue depth as the seek. ``line`` puts a straight line through the sequential service
            times (size over bandwidth) by size, with the least sum of squared relative deviations,
            and takes what random service times lie above it as the seek. It does with fewer sizes
            of a pattern than others have: seeks between them are read off straight lines over the
            size's logarithm, those beyond are as the nearest.
        place: The files that the jobs are from, for messages.

    Returns:
        The figures; durations in whole picoseconds, the simulator's clock.

    Raises:
        ConfigError: A pattern or size is missing or there twice, queue depths differ, or there is
            one size only.

    >>> def job(mode, size, service):
    ...     return FioJob(mode, "", mode, size, 4, True, size / service, 4 * service)
    >>> jobs = [job(mode, size, 1e-4 + size / 1e9 + (mode[:4] == "rand") * 5e-3)
    ...         for mode in MODES for size in (4096, 4194304)]
    >>> fit = fit_disk(jobs, "line")
    >>> round(fit.read.bytes_per_second), fit.read.overhead_seconds, fit.read.seek_seconds
    (1000000000, 0.0001, (0.005, 0.005))
    """
    cells = _cells(jobs, place, method)
    sizes = _sizes(cells)
    notes = _surroundings(jobs, sizes)
    if left := len(MODES) * len(sizes) - len(jobs):
        notes.append(
            f"{left} of {len(MODES) * len(sizes)} patterns and sizes were not measured; the line "
            "and the seeks of other sizes stand for them"
        )
    directions = []
    for direction in ("read", "write"):
        fit = _by_recipe if method == "recipe" else _by_line
        rate, overhead, seeks = fit(cells[direction], cells[f"rand{direction}"], sizes)
        notes += _negatives(direction, overhead, seeks, sizes)
        directions.append(
            DirectionFit(
                float(round(rate)),
                _picoseconds(overhead),
                tuple(_picoseconds(seek) for seek in seeks),
            )
        )
    return DiskFit(sizes, jobs[0].queue_depth, directions[0], directions[1], tuple(notes))


def _sizes(cells: _Cells) -> tuple[int, ...]:
    """The sizes of the table: those measured, and doublings between where some are missing."""
    found = {size for mode in cells.values() for size in mode}
    if any(len(mode) < len(found) for mode in cells.values()):
        least, most = min(found), max(found)
        found |= {least << power for power in range((most // least).bit_length())}
    return tuple(sorted(found))


def _cells(jobs: Sequence[FioJob], place: str, method: Method) -> _Cells:
    """The jobs by pattern and size, complete as far as the method needs it."""
    cells: dict[str, dict[int, FioJob]] = {mode: {} for mode in MODES}
    problems = []
    for job in jobs:
        other = cells[job.mode].setdefault(job.request_bytes, job)
        if other is not job:
            rule = f"{job.mode} of {exact_bytes(job.request_bytes)} is measured twice"
            remedy = f"also by {other.place}; keep one of the two"
            problems.append(Problem(rule, remedy, place=job.place))
    problems += [replace(problem, place=place) for problem in _missing(cells, method)]
    depths = {job.queue_depth: job for job in jobs}
    if len(depths) > 1:
        one, two = list(depths)[:2]
        rule = f"the jobs keep queues of {one} and of {two} requests"
        remedy = "calibrate with one iodepth; a synchronous engine keeps one request"
        problems.append(Problem(rule, remedy, place=depths[two].place))
    raise_all(problems)
    return cells


def _missing(cells: _Cells, method: Method) -> Problems:
    sizes = sorted({size for mode in cells.values() for size in mode})
    for mode in MODES:
        if not cells[mode]:
            rule = f"no job measures {mode}"
            remedy = f"run fio with --rw={mode} at {_some(sizes)}"
            yield Problem(rule, remedy, key="rw", value=show(mode))
            continue
        for size in sizes:
            if size not in cells[mode] and method == "recipe":
                rule = "no job measures it at this size, which others are measured at"
                remedy = (
                    f"run fio with --rw={mode} --bs={size}, or fit the line, which does without"
                )
                value = show(exact_bytes(size))
                yield Problem(rule, remedy, key=f"{mode} of bs", value=value)
        if len(cells[mode]) == 1 and len(sizes) > 1 and method == "line":
            rule = "a pattern is measured at two sizes or more, and this at one"
            remedy = f"run fio with --rw={mode} at {_some(sizes)}"
            yield Problem(rule, remedy, key="rw", value=show(mode))
    if len(sizes) == 1:
        rule = "one size cannot tell the overhead from the rate"
        remedy = "measure several, such as 4 KiB to 8 MiB"
        yield Problem(rule, remedy, key="bs", value=show(exact_bytes(sizes[0])))


def _some(sizes: Sequence[int]) -> str:
    shown = ", ".join(exact_bytes(size) for size in sizes[:4])
    return shown + (f" and {len(sizes) - 4} more" if len(sizes) > 4 else "")


def _by_recipe(
    sequential: Mapping[int, FioJob], random: Mapping[int, FioJob], sizes: Sequence[int]
) -> tuple[float, float, list[float]]:
    rate = max(job.bytes_per_second for job in sequential.values())
    least = sequential[_overhead_size(sizes)]
    overhead = least.latency_seconds / least.queue_depth - least.request_bytes / rate
    seeks = [
        (random[size].latency_seconds - sequential[size].latency_seconds)
        / sequential[size].queue_depth
        for size in sizes
    ]
    return rate, overhead, seeks


def _by_line(
    sequential: Mapping[int, FioJob], random: Mapping[int, FioJob], sizes: Sequence[int]
) -> tuple[float, float, list[float]]:
    """The line o + x s that makes the sum of ((o + x s - t) / t)^2 least, t the service times."""
    measured = sorted(sequential)
    times = [size / sequential[size].bytes_per_second for size in measured]
    # Divided by its own time, each row of the system is (1/t, s/t) . (o, x) = 1.
    rows = [(1 / time, size / time) for size, time in zip(measured, times, strict=True)]
    a, b = math.fsum(u * u for u, _ in rows), math.fsum(u * v for u, v in rows)
    c = math.fsum(v * v for _, v in rows)
    p, q = math.fsum(u for u, _ in rows), math.fsum(v for _, v in rows)
    determinant = a * c - b * b
    overhead, per_byte = 0.0, q / c
    if determinant > 0:
        overhead, per_byte = (p * c - q * b) / determinant, (a * q - b * p) / determinant
    if overhead < 0:
        # Without an overhead the best slope is that of the one remaining column; the overhead
        # stays negative so that the reader is told.
        per_byte = q / c
    if per_byte <= 0:
        rule = "larger requests take no longer than small ones, so that no rate can be fitted"
        remedy = "fit with the recipe, or measure larger sizes"
        raise ConfigError(rule, remedy, place=sequential[measured[-1]].place)
    base = max(overhead, 0.0)
    seeks = {size: size / random[size].bytes_per_second - base - size * per_byte for size in random}
    return 1 / per_byte, overhead, [_between(seeks, size) for size in sizes]


def _between(known: Mapping[int, float], size: int) -> float:
    """A value at a size, on straight lines over the logarithm of sizes at which it is known."""
    below = max((one for one in known if one <= size), default=min(known))
    above = min((one for one in known if one >= size), default=max(known))
    if below == above:
        return known[below]
    share = math.log(size / below) / math.log(above / below)
    return known[below] + share * (known[above] - known[below])


def _surroundings(jobs: Sequence[FioJob], sizes: Sequence[int]) -> list[str]:
    notes = []
    cached = [job.name for job in jobs if not job.direct]
    if cached:
        notes.append(
            f"{len(cached)} of {len(jobs)} jobs ran without direct I/O, so that the page cache may "
            "have answered; run fio with direct=1 to measure the device"
        )
    short = [job for job in jobs if job.depth_fraction is not None and job.depth_fraction < 0.9]
    if short:
        notes.append(
            f"{len(short)} of {len(jobs)} jobs kept fewer than {short[0].queue_depth} requests "
            f"outstanding for over a tenth of the time, {short[0].name} among them; their "
            "latencies are of a shorter queue"
        )
    if (taken := _overhead_size(sizes)) != _OVERHEAD_BYTES:
        notes.append(
            f"the overhead is taken at {exact_bytes(taken)}, the smallest size, since 4 KiB is not "
            "among them"
        )
    return notes


def _overhead_size(sizes: Sequence[int]) -> int:
    """The size whose latency gives the recipe's overhead."""
    return _OVERHEAD_BYTES if _OVERHEAD_BYTES in sizes else sizes[0]


def _negatives(
    direction: str, overhead: float, seeks: Sequence[float], sizes: Sequence[int]
) -> Iterator[str]:
    if round(overhead * 1e12) < 0:
        came_out = f"-{format_duration(-overhead)}"
        yield f"the overhead of a {direction} came out at {came_out} and is set to zero"
    below = [size for size, seek in zip(sizes, seeks, strict=True) if round(seek * 1e12) < 0]
    if below:
        faster = f"a random {direction} was faster than a sequential one at {_some(below)}"
        yield f"{faster}; the seek there is set to zero"


def _picoseconds(seconds: float) -> float:
    """`seconds`, not below zero, to the picosecond."""
    return max(round(seconds * 1e12), 0) / 1e12
