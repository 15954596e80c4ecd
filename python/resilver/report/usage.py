"""What a scan found and what its table says, in words, tables, and on a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.charts.idioms import series, side_by_side
from resilver.charts.named import bars
from resilver.charts.style import BLUE, SKY
from resilver.charts.vega import Chart, Spec, axis
from resilver.quantities import decimal_bytes
from resilver.report.capacity import ages_chart
from resilver.tables import Table, table_of
from resilver.units import exact_bytes, format_duration
from resilver.words import percent, plural

if TYPE_CHECKING:
    from resilver.center.usage import Usage, UsageRow
    from resilver.importers.scanned import Scanned

HEADINGS = {"owner": "By owner", "age": "By age", "path": "By path", "size": "By size"}
_FIRST = {"owner": "owner", "age": "days unused", "path": "folder", "size": "from"}
_STRIPES = (1, 2, 4, 8, 16)


Takes = tuple[float, int]
"""How many seconds a `stat` of everything takes, and how many clients share it."""


def usage_sentences(found: Usage, takes: Takes | None = None) -> list[str]:
    """What it comes to: what is there, what a purge frees, what a `stat` of all asks."""
    verb = "holds" if found.files == 1 else "hold"
    purge = found.purge
    return [
        f"{plural(found.files, 'file')} {verb} {decimal_bytes(found.size_bytes)}; everything "
        f"occupies {decimal_bytes(found.allocated_bytes)}.",
        f"A purge of {purge.days} d frees {decimal_bytes(purge.allocated_bytes)} in "
        f"{plural(purge.files, 'file')} of {plural(purge.owners, 'owner')}.",
        *stat_sentences(found, takes),
    ]


def stat_sentences(found: Usage, takes: Takes | None = None) -> list[str]:
    """What a `stat` of everything asks of which servers, and how long it takes."""
    cost = found.stat
    said = f"A stat of everything sends the metadata servers {plural(cost.entries, 'request')}"
    if cost.ost_requests is None:
        said += "; its requests to OSTs depend on stripes, which the scan does not know."
    else:
        mean = cost.ost_requests / cost.files if cost.files else 0.0
        said += f" and the OSTs {cost.ost_requests:,}"
        said += f" ({mean:.3g} stripes a file{', assumed' if cost.is_assumed else ''})."
        if cost.ost_requests > cost.files:
            share = cost.at(1) / (cost.entries + cost.ost_requests)
            said += f" With one stripe a file it would be {percent(share)} of that."
    answer = [said]
    if takes is not None:
        seconds, clients = takes
        who = "one client" if clients == 1 else f"{clients:,} clients"
        answer.append(f"It takes {who} {format_duration(seconds)}.")
    return answer


def usage_table(found: Usage, by: str, owner: Callable[[str], str] = str) -> Table:
    """Usage by owner, age, path or size.

    Args:
        owner: The name of an owner of this number.
    """
    whole = sum(row.allocated_bytes for row in found.by[by])
    return table_of(
        found.by[by],
        (by, _FIRST[by], "text", lambda row: _name(row, by, owner)),
        ("files", "files", "count"),
        ("size_bytes", "hold", "TB"),
        ("allocated_bytes", "occupy", "TB"),
        ("allocated_share", "share", "share", lambda row: row.allocated_bytes / (whole or 1)),
        ("purged_bytes", f"{found.purge_days} d purge frees", "TB"),
    )


def _name(row: UsageRow, by: str, owner: Callable[[str], str]) -> str:
    if by == "size":
        return exact_bytes(int(row.name)) if row.name != "0" else "0 B"
    return owner(row.name) if by == "owner" else row.name


def purges_table(found: Usage) -> Table:
    """What purges of several ages free."""
    return table_of(
        found.purges,
        ("days", "not used for, days", "count"),
        ("files", "files", "count"),
        ("allocated_bytes", "frees", "TB"),
        ("owners", "owners", "count"),
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
    kinds = {"mds_requests": "metadata servers", "ost_requests": "object targets"}
    made = table_of(
        [(name, cost.entries, osts) for name, osts in named],
        ("stripes", "stripes", "text"),
        *((column, f"to {kind}", "count") for column, kind in kinds.items()),
    )

    def spec() -> Spec:
        data = side_by_side(made, "x", kinds, name="stripes")
        shown = series(kinds.values(), (BLUE, SKY))
        return bars(data, axis("x", "requests"), shown, noun="files", step=30, stacked=True)

    return Chart("stat", heading, text, spec, made, "requests of a stat")


def usage_answer(
    found: Usage,
    by: str = "owner",
    takes: Takes | None = None,
    owner: Callable[[str], str] = str,
    top: int = 20,
) -> Answer:
    """The answer of a scan's table.

    Args:
        by: Of which table a terminal shows rows.
        takes: How long a `stat` of everything takes, if known.
        owner: The name of an owner of this number.
        top: How many owners and folders are shown.
    """
    record = found.to_dict()
    if takes is not None:
        record["stat"]["seconds"], _ = takes
    tables = []
    for key, heading in HEADINGS.items():
        made = usage_table(found, key, owner)
        rows = top if key in ("owner", "path") else max(len(made.rows), 1)
        tables.append(Shown(f"by-{key}", heading, made, rows=rows, printed=rows * (key == by)))
    purges = Shown("purges", "What a purge frees", purges_table(found), printed=0)
    return Answer(
        "Who uses the file system",
        usage_sentences(found, takes),
        sections_of(
            ("What a purge frees", [ages_chart(found.bytes_by_day, found.purge_days), purges]),
            ("Who and what uses it", tables),
            ("What a stat costs", [stat_chart(found)]),
        ),
        record,
        source={"Scanned": found.scanned.root},
    )


_WORDS = {"file": "files", "folder": "folders", "link": "symbolic links"}


def scan_answer(found: Scanned, output: str | None = None, *, is_strict: bool = False) -> Answer:
    """The answer of a scan.

    Args:
        output: Where its table is, if anywhere.
        is_strict: Whether the answer is no where anything could not be read.
    """
    files = found.totals["file"].entries
    text = f"{plural(files, 'file')} {'holds' if files == 1 else 'hold'} "
    text += f"{decimal_bytes(found.size_bytes)}; everything occupies "
    text += f"{decimal_bytes(found.allocated_bytes)}."
    totals = {kind: total for kind, total in found.totals.items() if total.entries}
    count = sum(total.entries for total in totals.values())
    made = table_of(
        [(_WORDS.get(kind, "special files"), *total) for kind, total in totals.items()],
        ("kind", "kind", "text"),
        ("entries", "count", "count"),
        ("size_bytes", "hold", "TB"),
        ("allocated_bytes", "occupy", "TB"),
    )
    said = [text]
    if found.seconds >= 0.5:
        said.append(f"It read {count / found.seconds:,.0f} entries a second.")
    is_partial = bool(found.left_out.unreadable or found.left_out.vanished)
    return Answer(
        f"What is below {found.root}",
        said,
        sections_of(("By kind", [Shown("kinds", "By kind", made)])),
        found.to_dict() | {"output": output},
        not (is_strict and is_partial),
        forms={".parquet": Form(None, "wrote {}; read it with resilver usage {}")},
    )
