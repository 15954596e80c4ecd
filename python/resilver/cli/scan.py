"""`resilver scan`: every file below a folder into one table, which then is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer import Answer
from resilver.cli.importing import say_left_out, walk_line
from resilver.cli.options import file_output, stated
from resilver.cli.progress import Display
from resilver.errors import ConfigError
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.importers.scanned import Scanned
    from resilver.importers.walk import TreeWalk, WalkProgress


@dataclass(frozen=True)
class Asked:
    """What is scanned."""

    folder: Path = argument("PATH", text="The folder.")
    workers: int = stated(min=1, max=256, text="Threads that read folders.", default=8)
    table: Path | None = file_output(
        "FILE.parquet", "Write a row for each file and folder there.", (".parquet",)
    )
    every_file_system: bool = option(
        text="Go on into folders on which other file systems are mounted.",
        default=False,
    )
    strict: bool = option(text="Exit with 1 if anything could not be read.", default=False)


def scan(asked: Asked, quiet: bool = False) -> Answer:
    """Count everything below a folder, and write the table that resilver usage reads.

    A file of several names counts once, and symbolic links are not followed.

    Examples:

    resilver scan . -o usage.parquet

    resilver scan /scratch --workers 64 --strict -o usage.parquet
    """
    from resilver.importers.walk import TreeWalk
    from resilver.report.usage import scan_answer

    with TreeWalk(
        asked.folder,
        workers=asked.workers,
        one_file_system=not asked.every_file_system,
        with_rows=asked.table is not None,
    ) as walk:
        found = _performed(walk, asked.table, quiet=quiet)
    if not quiet:
        say_left_out(found.left_out)
    table = None if asked.table is None else str(asked.table)
    return scan_answer(found, table, is_strict=asked.strict)


def _performed(walk: TreeWalk, table: Path | None, *, quiet: bool) -> Scanned:
    from resilver.importers.scanned import scan as perform
    from resilver.study.files import replace_file

    found: list[Scanned] = []
    with Display(quiet=quiet) as display:

        def progress(state: WalkProgress) -> None:
            display.show(walk_line(state))

        if table is None:
            return perform(walk, None, progress)
        try:
            # An interrupt leaves no half file, and what stood there before stays.
            replace_file(
                table.resolve(), lambda place: found.append(perform(walk, place, progress))
            )
        except OSError as error:
            rule = f"the table cannot be written: {error.strerror or error}"
            raise ConfigError(rule, "choose another place", place=str(table)) from error
    return found[0]
