"""What a scan's table says, in words, tables, and on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.charts.named import bars
from resilver.charts.style import BLUE, SKY
from resilver.charts.vega import Spec, rows
from resilver.charts.vega import number as axis
from resilver.quantities import decimal_bytes
from resilver.report.capacity import ages_chart
from resilver.report.judged import PageSection, write_judged
from resilver.tables import Table, table
from resilver.units import exact_bytes, format_duration
from resilver.words import percent, plural

if TYPE_CHECKING:
    from resilver.center.usage import Usage, UsageRow

HEADINGS = {"owner": "By owner", "age": "By age", "path": "By path", "size": "By size"}
_FIRST = {"owner": "owner", "age": "days unused", "path": "folder", "size": "from"}
_STRIPES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class StatRates:
    """How fast servers answer a `stat`, as the caller says; see `StatCost.seconds`."""

    mds_seconds: float
    ost_seconds: float
    clients: int = 1
    mds_per_second: float | None = None


def usage_sentences(found: Usage, rates: StatRates | None = None) -> list[str]:
    """What it comes to: what is there, what a purge frees, what a `stat` of all asks."""
    verb = "holds" if found.files == 1 else "hold"
    purge = found.purge
    return [
        f"{plural(found.files, 'file')} {verb} {decimal_bytes(found.size_bytes)} and all occupies "
        f"{decimal_bytes(found.allocated_bytes)}.",
        f"A purge of {purge.days} d frees {decimal_bytes(purge.allocated_bytes)} in "
        f"{plural(purge.files, 'file')} of {plural(purge.owners, 'owner')}.",
        *stat_sentences(found, rates),
    ]


def stat_sentences(found: Usage, rates: StatRates | None = None) -> list[str]:
    """What a `stat` of everything asks of which servers, and how long it takes."""
    cost = found.stat
    said = f"A stat of all asks the metadata servers {plural(cost.entries, 'time')}"
    if cost.ost_requests is None:
        said += "; what it asks of object targets depends on stripes, which the scan does not know."
    else:
        mean = cost.ost_requests / cost.files if cost.files else 0.0
        said += f" and the object targets {plural(cost.ost_requests, 'time')}"
        said += f" ({mean:.3g} stripes a file{', as assumed' if cost.is_assumed else ''})."
        if cost.ost_requests > cost.files:
            share = cost.at(1) / (cost.entries + cost.ost_requests)
            said += f" With one stripe a file it would be {percent(share)} of that."
    answer = [said]
    if rates is not None:
        seconds = cost.seconds(
            rates.mds_seconds, rates.ost_seconds, rates.clients, rates.mds_per_second
        )
        who = "One client takes" if rates.clients == 1 else f"{rates.clients:,} clients take"
        answer.append(f"{who} {format_duration(seconds)} for it.")
    return answer


def usage_table(
    found: Usage, by: str, top: int | None = None, owner: Callable[[str], str] = str
) -> Table:
    """Usage by owner, age, path or size.

    Args:
        found: What a table answered.
        by: By which.
        top: How many rows; None for all.
        owner: The name of an owner of this number.
    """
    every = found.by[by]
    shown = every if top is None or by in ("age", "size") else every[:top]
    first = [_name(row, by, owner) for row in shown]
    whole = sum(row.allocated_bytes for row in every)
    note = "" if len(shown) == len(every) else f"{len(every) - len(shown):,} more are left out."
    return table(
        (by, _FIRST[by], "text", first),
        ("files", "files", "count", [row.files for row in shown]),
        ("size_bytes", "hold", "TB", [row.size_bytes for row in shown]),
        ("allocated_bytes", "occupy", "TB", [row.allocated_bytes for row in shown]),
        (
            "allocated_share",
            "share",
            "share",
            [row.allocated_bytes / whole if whole else 0.0 for row in shown],
        ),
        (
            "purged_bytes",
            f"{found.purge_days} d purge frees",
            "TB",
            [row.purged_bytes for row in shown],
        ),
        note=note,
    )


def _name(row: UsageRow, by: str, owner: Callable[[str], str]) -> str:
    if by == "size":
        return exact_bytes(int(row.name)) if row.name != "0" else "0 B"
    return owner(row.name) if by == "owner" else row.name


def purges_table(found: Usage) -> Table:
    """What purges of several ages free."""
    return table(
        ("days", "not used for, days", "count", [one.days for one in found.purges]),
        ("files", "files", "count", [one.files for one in found.purges]),
        ("allocated_bytes", "frees", "TB", [one.allocated_bytes for one in found.purges]),
        ("owners", "owners", "count", [one.owners for one in found.purges]),
    )


def stat_chart(found: Usage) -> Chart:
    """The requests of a `stat` of everything, by stripes a file."""
    cost = found.stat
    named = [(f"{plural(k, 'stripe')} a file", k * cost.files) for k in _STRIPES]
    if cost.ost_requests is not None:
        named.insert(0, ("as assumed" if cost.is_assumed else "as scanned", cost.ost_requests))
    most = cost.at(_STRIPES[-1]) / cost.at(1) if cost.entries else 1.0
    heading = (
        f"With {_STRIPES[-1]} stripes a file a stat of all asks {most:.3g} times what it asks "
    )
    heading += "with one"
    text = "Requests of a stat of everything, by the stripes of each file: one to a metadata "
    text += "server for each entry, and one to an object target for each stripe."
    kinds = ("metadata servers", "object targets")

    def spec() -> Spec:
        data = rows(
            name=[name for name, _ in named for _ in kinds],
            kind=[kind for _ in named for kind in kinds],
            x=[count for _, osts in named for count in (cost.entries, osts)],
        )
        shown = dict(zip(kinds, (BLUE, SKY), strict=True))
        return bars(data, axis("x", "requests"), shown, noun="files", step=30, stacked=True)

    made = table(
        ("stripes", "stripes", "text", [name for name, _ in named]),
        ("mds_requests", "to metadata servers", "count", [cost.entries] * len(named)),
        ("ost_requests", "to object targets", "count", [osts for _, osts in named]),
    )
    return Chart("stat", heading, text, spec, made, "requests of a stat")


def write_usage(
    found: Usage,
    path: str | Path,
    command: str = "",
    rates: StatRates | None = None,
    owner: Callable[[str], str] = str,
    top: int = 20,
) -> Path:
    """Write the page of a scan's table.

    Args:
        found: What the table answered.
        path: The file to write; it is replaced in one step.
        command: What makes it again.
        rates: How fast servers answer, if known.
        owner: The name of an owner of this number.
        top: How many owners and folders.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    page = Document()
    parts = [
        page.figure(ages_chart(found.bytes_by_day, found.purge_days)),
        page.shown("purges", "What a purge frees", purges_table(found)),
    ]
    sections = [PageSection("What a purge frees", (), parts)]
    tables = [
        page.shown(f"by-{by}", heading, usage_table(found, by, top, owner))
        for by, heading in HEADINGS.items()
    ]
    sections.append(PageSection("Who and what uses it", (), tables))
    texts = stat_sentences(found, rates)
    sections.append(PageSection("What a stat costs", texts, [page.figure(stat_chart(found))]))
    told: Mapping[str, str] = {"Scanned": found.scanned.root, "Made by": command}
    answer = usage_sentences(found, rates)[:2]
    return write_judged(page, path, "Who uses the file system", answer, sections, told)
