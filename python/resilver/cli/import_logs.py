"""`resilver import logs`: what logs of servers and of programs hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.cli.options import Json, Quiet
from resilver.cli.replying import command_line, reply
from resilver.cli.saving import PAGES, TABLES, check_output
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
    table: Path | None = option(
        "--output",
        "-o",
        metavar="FILE",
        text="Write all rows there: .csv, .parquet; or a page, .html.",
        is_output=True,
    )
    mix: bool = option(
        text="Print the sizes of requests (brw_stats) as traffic.mix of a study, and no table.",
        default=False,
    )


def logs(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Show what logs contain: which parts, which period, bytes read and written.

    Examples:

    resilver import logs oss1.txt oss2.txt lmt.h5 -o moved.parquet

    resilver import logs brw_stats.txt --mix
    """
    from resilver.importers.logs import read_logs
    from resilver.report.logs import logs_answer

    check_output(asked.table, (*TABLES, *PAGES), asked.logs)
    found = read_logs(asked.logs)
    if asked.mix:
        sys.stdout.write(_mix(found, asked.logs[0]))
    return reply(
        logs_answer(found),
        command_line("import logs", asked),
        page=asked.table,
        as_json=as_json and not asked.mix,
        quiet=quiet or asked.mix,
    )


def _mix(found: Sequence[Log], path: Path) -> str:
    """The requests of all logs as TOML."""
    from resilver.importers.brw_stats import mix_text

    rows = [row for log in found if log.kind == "requests" for row in log.rows]
    head = (
        "# What clients asked the object targets for, by brw_stats: requests by the largest size\n"
        "# of their class, each a power of two of pages of 4 KiB. Below [traffic] of a study.\n"
    )
    return head + mix_text(rows, path)
