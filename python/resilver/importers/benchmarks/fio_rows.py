"""fio's JSON as rows of the table of benchmarks; `resilver.importers.fio` reads it."""

from __future__ import annotations

import re
from pathlib import Path

from resilver.importers.benchmarks.table import Found
from resilver.importers.fio import parse_fio

PROGRAM = "fio"


def is_fio(text: str) -> bool:
    """Whether a text has fio's JSON."""
    return re.search(r'"fio version"\s*:', text) is not None and '"jobs"' in text


def read_fio_rows(text: str, path: Path) -> Found:
    """Read what fio measured, of block devices unless the caller knows better.

    Returns:
        A rate a job.

    Raises:
        ConfigError: It is not fio's JSON, or its jobs are of no use.
    """
    report = parse_fio(text, path)
    found = Found(path, PROGRAM, notes=list(report.skipped))
    for job in report.jobs:
        found.add(
            "block",
            job.name,
            mode=job.mode,
            request_bytes=job.request_bytes,
            queue=job.queue_depth,
            threads=1,
            devices=1,
            bytes_per_second=job.bytes_per_second,
            latency_seconds=job.latency_seconds,
        )
    cached = sum(not job.direct for job in report.jobs)
    if cached:
        found.notes.append(
            f"{path.name}: {cached} of {len(found.rows)} jobs ran without direct I/O, so that the "
            "page cache may have answered"
        )
    return found
