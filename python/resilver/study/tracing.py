"""A trace of a study's first run: every message, request, buffer and wait of a window of its time.

It is a run of its own beside those of the study, held to be the same by its digest.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from resilver.core_input import devices
from resilver.errors import ConfigError, SimulationError
from resilver.simulate.traced import traced
from resilver.study.circos import circos_files
from resilver.study.execution import execute, label
from resilver.study.interrupt import InterruptWatch
from resilver.study.perfetto import perfetto_trace
from resilver.units import Seconds, exact_duration

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.spec import Run, Study

ROWS_MAX = 5_000_000
"""How many rows a table of a trace may have."""

FOLDER = "trace"
"""The folder of a run folder that keeps it."""


@dataclass(frozen=True)
class Trace:
    """What happened in a window of a run's time.

    Attributes:
        folder: Where it is kept.
        run: The run in a few words: its swept values and its seed.
        tables: ``messages``, ``disks``, ``buffers``, ``waits`` and ``engine``.
    """

    folder: Path
    run: str
    tables: dict[str, pa.Table]


def trace(
    study: Study,
    folder: str | Path,
    window: str,
    *,
    rows_max: int = ROWS_MAX,
    **options: Any,
) -> Trace:
    """Run a study, and its first run again with a trace of a window of its time.

    Beside the tables as Parquet, the folder ``trace`` of the run folder has ``trace.pftrace``,
    which Perfetto opens, and ``karyotype.txt`` and ``links.txt``, the run's transfers for Circos.

    Args:
        folder: The study's run folder.
        window: From when and until when, such as ``"1 s..2 s"``.
        rows_max: How many rows a table may have.
        options: Further arguments of `execute`.

    Returns:
        The trace; what began before the end of its window and was not over before its begin.

    Raises:
        ConfigError: The window cannot be used, or has more rows; or what is run has no messages.
        Interrupted: Ctrl-C; what is finished of the study is kept, and of the trace nothing.

    >>> from resilver import Cluster, Fault, Population, Study
    >>> study = Study(
    ...     cluster=Cluster(servers=8),
    ...     population=Population(file_size="8 MiB", files=200),
    ...     faults=[Fault(fail={"servers": ["server.0"]})],
    ... )
    >>> found = trace(study, "runs/traced", "0 s..10 ms", workers=0)  # doctest: +SKIP
    >>> found.tables["messages"].num_rows  # doctest: +SKIP
    """
    times = parse_window(window)
    run = traced_run(study)
    results = execute(study, folder, **options)
    row = next(row for row in results.runs.to_pylist() if row["run"] == run.key)
    if times[0] >= row["simulated_seconds"]:
        ends = f"the run ends at {exact_duration(row['simulated_seconds'])}"
        raise ConfigError(ends, "begin the window before", key="trace", value=window)
    place = Path(folder) / FOLDER
    # What an earlier window left is not of this one.
    shutil.rmtree(place, ignore_errors=True)
    return _traced(run, row["digest"], place, times, rows_max)


def _traced(
    run: Run,
    digest: str,
    place: Path,
    times: tuple[Seconds, Seconds],
    rows_max: int,
) -> Trace:
    ends = (times[0].picoseconds, times[1].picoseconds)
    with InterruptWatch() as interrupt:
        goes_on = lambda _: not interrupt.requested  # noqa: E731
        result, tables = traced(run.system, run.seed, ends, rows_max, goes_on)
    if result.metrics["digest"] != digest:
        raise SimulationError("the traced run is another than the study's: its digest differs")
    place.mkdir(parents=True)
    for name, table in tables.items():
        pq.write_table(table, place / f"{name}.parquet", compression="zstd")
    (place / "trace.pftrace").write_bytes(perfetto_trace(tables))
    names = {device.number: device.name for device in devices(run.system)}
    for name, text in circos_files(result.transfers, names).items():
        (place / name).write_text(text, encoding="utf-8")
    return Trace(place, label(run), tables)


def traced_run(study: Study) -> Run:
    """The run that is traced, the first.

    Raises:
        ConfigError: It sends no messages.
    """
    run = study.runs()[0]
    if run.system.report is not None:
        rule = "a real Ceph cluster heals PG by PG, without single messages"
        raise ConfigError(rule, "leave --trace out", key="cluster.ceph")
    for pool in run.system.of_pools:
        if pool.traffic is not None and pool.traffic.engine == "flows":
            rule = "clients as flows send no single messages"
            raise ConfigError(rule, 'use engine = "events"', key="traffic.engine", value="flows")
    return run


def parse_window(text: str) -> tuple[Seconds, Seconds]:
    """From when until when a text such as ``"1 s..2 s"`` says.

    Raises:
        ConfigError: It is no such text.

    >>> parse_window("1 ms..2 s")
    (0.001, 2.0)
    """
    first, dots, last = text.partition("..")
    if not dots:
        rule = "a window has two times with two dots between"
        raise ConfigError(rule, 'write it as in "1 s..2 s"', key="trace", value=text)
    try:
        begin, end = Seconds.parse(first.strip()), Seconds.parse(last.strip())
    except ConfigError as error:
        problem = error.problems[0]
        raise ConfigError(problem.rule, problem.remedy, key="trace", value=text) from error
    if not begin < end:
        raise ConfigError("a window ends after it begins", "swap the times", "trace", text)
    return begin, end
