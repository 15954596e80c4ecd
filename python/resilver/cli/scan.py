"""`resilver scan`: every file below a folder into one table, which then is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.importing import say_left_out, walk_display
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_writable
from resilver.errors import ConfigError, Problem
from resilver.quantities import decimal_bytes
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.importers.scanned import Scanned
    from resilver.importers.walk import TreeWalk


@dataclass(frozen=True)
class Asked:
    """What is scanned."""

    folder: Path = argument("PATH", text="The folder.")
    workers: int = option(
        "--workers",
        metavar="N",
        min=1,
        max=256,
        text="Threads that read folders.",
        default=8,
        show_default=True,
    )
    table: Path | None = option(
        "--output", "-o", metavar="FILE.parquet", text="Write a row for each file and folder there."
    )
    every_file_system: bool = option(
        "--every-file-system",
        text="Go on into folders on which other file systems are mounted.",
        default=False,
    )
    strict: bool = option(
        "--strict", text="Exit with 1 if anything could not be read.", default=False
    )


def scan(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Count everything below a folder, and write the table that resilver usage reads.

    A file of several names counts once, and symbolic links are not followed.

    Examples:

    resilver scan . -o usage.parquet

    resilver scan /scratch --workers 64 --strict -o usage.parquet
    """
    from resilver.importers.walk import TreeWalk

    if asked.table is not None and asked.table.suffix != ".parquet":
        rule = "the table is one .parquet file"
        raise ConfigError(Problem(rule, "end its name so", "--output", f'"{asked.table}"'))
    check_writable(asked.table)
    with TreeWalk(
        asked.folder,
        workers=asked.workers,
        one_file_system=not asked.every_file_system,
        with_rows=asked.table is not None,
    ) as walk:
        found = _performed(walk, asked.table, quiet=quiet)
    if as_json:
        told = None if asked.table is None else str(asked.table)
        print_json(found.to_dict() | {"output": told})
    elif not quiet:
        _print(found)
    if not quiet:
        say_left_out(found.left_out)
        if asked.table is not None:
            say(f"wrote {asked.table}; ask it with resilver usage {asked.table}")
    is_partial = found.left_out.unreadable or found.left_out.vanished
    return EXIT_FAILED if asked.strict and is_partial else 0


def _performed(walk: TreeWalk, table: Path | None, *, quiet: bool) -> Scanned:
    from resilver.importers.scanned import scan as perform
    from resilver.study.files import replace_file

    found: list[Scanned] = []
    with walk_display(quiet=quiet) as progress:
        if table is None:
            return perform(walk, None, progress)
        try:
            # An interrupt leaves no half file, and what stood there before stays.
            replace_file(
                table.resolve(), lambda place: found.append(perform(walk, place, progress))
            )
        except OSError as error:
            rule = f"the table cannot be written: {error.strerror or error}"
            raise ConfigError(Problem(rule, "choose another place", place=str(table))) from error
    return found[0]


def _print(found: Scanned) -> None:
    """What was counted, by kind."""
    from resilver.words import plural

    words = {"file": "files", "folder": "folders", "link": "symbolic links"}
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("", "count", "hold", "occupy"):
        shown.add_column(name, justify="right" if name else "left")
    for kind, total in found.totals.items():
        if total.entries:
            cells = (decimal_bytes(total.size_bytes), decimal_bytes(total.allocated_bytes))
            shown.add_row(words.get(kind, "special files"), f"{total.entries:,}", *cells)
    files = found.totals["file"].entries
    text = f"{plural(files, 'file')} {'holds' if files == 1 else 'hold'} "
    text += (
        f"{decimal_bytes(found.size_bytes)}; all occupies {decimal_bytes(found.allocated_bytes)}."
    )
    output().print(Text(text, "bold"))
    output().print(shown)
    count = sum(total.entries for total in found.totals.values())
    if found.seconds >= 0.5:
        say(f"{count / found.seconds:,.0f} entries a second")
