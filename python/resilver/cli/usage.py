"""`resilver usage`: who uses a file system, asked of the table of a scan."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resilver.answer import Answer
from resilver.cli.options import page_output, stated
from resilver.request import argument, days, number, option, refuse, seconds, value_of

if TYPE_CHECKING:
    from resilver.center.stat_cost import StatCost


@dataclass(frozen=True)
class Asked:
    """What is asked of the table of a scan."""

    table: Path = argument("USAGE.parquet", text="The table that resilver scan -o wrote.")
    by: Literal["owner", "age", "path", "size"] = stated(
        text="Show usage by this.", default="owner"
    )
    top: int = stated(min=1, text="How many owners or folders, the largest first.", default=20)
    depth: int = stated(min=1, max=64, text="How many folders deep paths go.", default=1)
    below: str = option(
        metavar="FOLDER", text="Only what is below this folder of the scan.", default=""
    )
    purge: str = option(
        text="Show what a purge of files unused for so long frees.",
        default="14 d",
        quantity=days(),
    )
    stripes: int | None = option(
        metavar="K", text="Stripes a file, where the scan does not know them."
    )
    mds_time: str | None = option(
        text="How long a metadata server takes to answer, such as 0.5 ms.",
        quantity=seconds("0.5 ms"),
    )
    ost_time: str | None = option(
        text="How long an OST takes to answer.",
        quantity=seconds("0.5 ms"),
    )
    clients: int = option(
        metavar="P",
        min=1,
        text="How many clients share a stat of everything.",
        default=1,
    )
    mds_rate: str | None = option(
        text="Requests a second that all metadata servers answer at most.",
        quantity=number("10000"),
    )
    page: Path | None = page_output()


def usage(asked: Asked) -> Answer:
    """Show who uses a file system, how much, how old it is, and what a stat of all costs.

    It reads the table of a scan, and not the file system.

    Examples:

    resilver usage usage.parquet --by owner --purge "30 d"

    resilver usage usage.parquet --by path --depth 2 --top 10 -o usage.html
    """
    from resilver.center.usage import usage as perform
    from resilver.report.usage import usage_answer

    found = perform(
        asked.table,
        purge_days=int(value_of(asked, "purge") or 0),
        depth=asked.depth,
        below=asked.below,
        stripes=asked.stripes,
    )
    return usage_answer(found, asked.by, _takes(asked, found.stat), owner_name, asked.top)


@functools.cache
def owner_name(number: str) -> str:
    """What this machine calls the owner of a number, and the number itself where it knows none."""
    import pwd

    try:
        return f"{pwd.getpwuid(int(number)).pw_name} ({number})"
    except (KeyError, OverflowError, ValueError):
        return number


def _takes(asked: Asked, stat: StatCost) -> tuple[float, int] | None:
    """How long a stat of everything takes so many clients; None where nothing says."""
    first = value_of(asked, "mds_time")
    if first is None:
        rule = "the time of a stat of everything needs that of the metadata server"
        refuse(asked, ("ost_time", "mds_rate", "clients"), rule, "add --mds-time")
        return None
    second, most = value_of(asked, "ost_time") or 0.0, value_of(asked, "mds_rate")
    return stat.seconds(first, second, asked.clients, most), asked.clients
