"""The answer of a scan: how much there is, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.answer import Answer, Form, Shown, sections_of
from resilver.quantities import decimal_bytes
from resilver.tables import table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.importers.scanned import Scanned

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
    made = table(
        ("kind", "kind", "text", [_WORDS.get(kind, "special files") for kind in totals]),
        ("entries", "count", "count", [total.entries for total in totals.values()]),
        ("size_bytes", "hold", "TB", [total.size_bytes for total in totals.values()]),
        ("allocated_bytes", "occupy", "TB", [total.allocated_bytes for total in totals.values()]),
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
