"""`resilver import benchmark`: what benchmark programs wrote, as one table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from resilver.answer import Answer
from resilver.cli.options import file_output, stated
from resilver.cli.saving import PAGES, TABLES
from resilver.request import argument


@dataclass(frozen=True)
class Asked:
    """What is read, and where the table goes."""

    files: tuple[Path, ...] = argument(
        "FILE",
        text="What fair-lio, the OLCF suite, obdfilter-survey, sgpdd-survey, IOR, mdtest, IO500, "
        "fio (JSON) or elbencho wrote; gzipped or not. The format is detected.",
    )
    output: Path | None = file_output(
        "FILE", "Write the rates there: .csv, .parquet or a page, .html.", (*TABLES, *PAGES)
    )
    fio_layer: Literal["block", "server", "file system"] = stated(
        text="What fio measured.", default="block"
    )


def benchmark(asked: Asked) -> Answer:
    """Read the output of benchmark programs as one table of rates.

    A row is a rate: its layer, mode and request size, and how many requests, threads, clients and
    devices there were. If two layers were measured alike it shows what the upper one costs.

    Examples:

    resilver import benchmark fair-lio.txt ior.txt -o rates.csv

    resilver import benchmark survey.summary result_summary.txt --json
    """
    from resilver.center.benchmarks import costs
    from resilver.importers.benchmarks import read_benchmarks
    from resilver.report.benchmarks import benchmarks_answer

    found = read_benchmarks(asked.files, fio_layer=asked.fio_layer)
    return benchmarks_answer(found, costs(found.rows))
