"""`resilver usage`: who uses a file system, asked of the table of a scan."""

from __future__ import annotations

import functools
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_output, keep_inputs
from resilver.cli.tables import print_figures
from resilver.errors import ConfigError, Problem, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.report.usage import StatRates

_DAYS = re.compile(r"\s*(\d{1,5})\s*d\s*")


class By(StrEnum):
    """What usage is told by."""

    owner = "owner"
    age = "age"
    path = "path"
    size = "size"


@dataclass(frozen=True)
class Asked:
    """What is asked of a scan's table."""

    table: Path = argument("USAGE.parquet", text="What resilver scan -o wrote.")
    by: By = option("--by", text="By what.", default=By.owner, show_default=True)
    top: int = option(
        "--top",
        metavar="N",
        min=1,
        text="How many owners or folders, the largest first.",
        default=20,
        show_default=True,
    )
    depth: int = option(
        "--depth",
        metavar="N",
        min=1,
        max=64,
        text="Into how many folders paths go.",
        default=1,
        show_default=True,
    )
    below: str = option(
        "--below", metavar="FOLDER", text="Only what is below this folder of the scan.", default=""
    )
    purge: str = option(
        "--purge", metavar="DAYS", text="What a purge of this age frees.", default="14 d"
    )
    stripes: int | None = option(
        "--stripes", metavar="K", text="Stripes a file, where the scan does not know them."
    )
    mds_time: str | None = option(
        "--mds-time", metavar="TIME", text="What a metadata server takes to answer, such as 0.5 ms."
    )
    ost_time: str | None = option(
        "--ost-time", metavar="TIME", text="The same of an object target."
    )
    clients: int = option(
        "--clients", metavar="P", min=1, text="How many clients ask for a stat of all.", default=1
    )
    mds_rate: float | None = option(
        "--mds-rate", metavar="N", text="Requests a second that metadata servers answer at most."
    )
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write it as a page there."
    )


def usage(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show who uses a file system, how much, how old it is, and what a stat of all costs.

    The table of a scan is asked, and not the file system.

    Examples:

    resilver usage usage.parquet --by owner --purge "30 d"

    resilver usage usage.parquet --by path --depth 2 --top 10 -o usage.html
    """
    from resilver.center.usage import usage as perform
    from resilver.report.usage import HEADINGS, usage_sentences, usage_table, write_usage

    keep_inputs(asked.page, [asked.table])
    check_output(asked.page)
    days = _DAYS.fullmatch(asked.purge)
    if days is None:
        rule = "the age is whole days"
        raise ConfigError(Problem(rule, 'such as "14 d"', "--purge", show(asked.purge)))
    rates = _rates(asked)
    found = perform(
        asked.table,
        purge_days=int(days[1]),
        depth=asked.depth,
        below=asked.below,
        stripes=asked.stripes,
    )
    if asked.page is not None:
        write_usage(found, asked.page, _command(asked), rates, owner_name, asked.top)
    if as_json:
        record = found.to_dict()
        if rates is not None:
            record["stat"]["seconds"] = found.stat.seconds(
                rates.mds_seconds, rates.ost_seconds, rates.clients, rates.mds_per_second
            )
        print_json(record)
    elif not quiet:
        for sentence in usage_sentences(found, rates):
            output().print(Text(sentence, "bold"))
        by = asked.by.value
        made = usage_table(found, by, None, owner_name)
        top = asked.top if asked.by in (By.owner, By.path) else len(made.rows)
        print_figures(HEADINGS[by], made, len(made.columns), top)
    if asked.page is not None and not quiet:
        say(f"wrote {asked.page}")


@functools.cache
def owner_name(number: str) -> str:
    """What this machine calls the owner of a number, and the number itself where it knows none."""
    import pwd

    try:
        return f"{pwd.getpwuid(int(number)).pw_name} ({number})"
    except (KeyError, OverflowError, ValueError):
        return number


def _rates(asked: Asked) -> StatRates | None:
    """How fast servers answer; None where nothing says."""
    from resilver.report.usage import StatRates
    from resilver.units import Seconds

    if asked.mds_time is None:
        others = (("--ost-time", asked.ost_time), ("--mds-rate", asked.mds_rate))
        for key, given in (*others, ("--clients", asked.clients if asked.clients > 1 else None)):
            if given is not None:
                rule = "how long a stat of all takes begins with the metadata server"
                raise ConfigError(Problem(rule, "add --mds-time", key, show(given)))
        return None
    times = []
    for key, text in (("--mds-time", asked.mds_time), ("--ost-time", asked.ost_time or "0 s")):
        try:
            times.append(float(Seconds.parse(text)))
        except ConfigError as error:
            raise ConfigError(problem.under(key) for problem in error.problems) from None
    if asked.mds_rate is not None and not 0 < asked.mds_rate < float("inf"):
        rule = "a rate is above 0"
        raise ConfigError(Problem(rule, "", "--mds-rate", show(asked.mds_rate)))
    return StatRates(times[0], times[1], asked.clients, asked.mds_rate)


def _command(asked: Asked) -> str:
    """What writes the same page again."""
    words = ["resilver", "usage", asked.table.name, "--purge", asked.purge]
    for name, given in (
        ("--top", asked.top if asked.top != 20 else None),
        ("--depth", asked.depth if asked.depth > 1 else None),
        ("--below", asked.below or None),
        ("--stripes", asked.stripes),
        ("--mds-time", asked.mds_time),
        ("--ost-time", asked.ost_time),
        ("--clients", asked.clients if asked.clients > 1 else None),
        ("--mds-rate", asked.mds_rate),
    ):
        words += [] if given is None else [name, str(given)]
    return shlex.join(words)
