"""`resilver import logs`: what logs of servers and of programs hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer import Answer
from resilver.cli.options import file_output
from resilver.cli.saving import PAGES, TABLES
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.importers.log_rows import Log


@dataclass(frozen=True)
class Asked:
    """Which logs are read, and what is made of them."""

    logs: tuple[Path, ...] = argument(
        "FILE",
        text="Dumps of lctl get_param (counters, job_stats, brw_stats), lctl dl -t, lfs df, "
        "lnetctl stats show, HDF5 of LMT or TOKIO, or Darshan logs.",
    )
    table: Path | None = file_output(
        "FILE", "Write all rows there: .csv, .parquet; or a page, .html.", (*TABLES, *PAGES)
    )
    mix: bool = option(
        text="Print the sizes of requests (brw_stats) as traffic.mix of a study, and no table.",
        default=False,
    )


def logs(asked: Asked) -> Answer:
    """Show what logs contain: which parts, which period, bytes read and written.

    Examples:

    resilver import logs oss1.txt oss2.txt lmt.h5 -o moved.parquet

    resilver import logs brw_stats.txt --mix
    """
    from resilver.importers.logs import read_logs
    from resilver.report.logs import logs_answer

    found = read_logs(asked.logs)
    return replace(logs_answer(found), text=_mix(found, asked.logs[0]) if asked.mix else "")


def _mix(found: Sequence[Log], path: Path) -> str:
    """The requests of all logs as TOML."""
    from resilver.importers.brw_stats import mix_text

    rows = [row for log in found if log.kind == "requests" for row in log.rows]
    head = (
        "# What clients asked the object targets for, by brw_stats: requests by the largest size\n"
        "# of their class, each a power of two of pages of 4 KiB. Below [traffic] of a study.\n"
    )
    return head + mix_text(rows, path)
