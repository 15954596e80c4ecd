"""`resilver size`: how large a file system must be, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.answer import Answer
from resilver.cli.options import overrides, page_output
from resilver.request import argument


@dataclass(frozen=True)
class Asked:
    """What is sized."""

    file: str = argument(
        "SIZING.toml", text="The sizing file, or the name of one in the catalog: spider-2."
    )
    settings: tuple[str, ...] = overrides("the file", "demand.bandwidth='1 TB/s'")
    page: Path | None = page_output()


def size(asked: Asked) -> Answer:
    """Size a file system: units of each offer, the demand that decides, how full it gets.

    Exits with 1 if no offer meets all demands, as where an offer says how many units there are, or
    if what comes in finds no room.

    Examples:

    resilver size spider-2

    resilver size sizing.toml --set demand.bandwidth="1 TB/s" -o sizing.html
    """
    from resilver.center import SizingFile
    from resilver.center import size as perform
    from resilver.report.sizing import sizing_answer

    return sizing_answer(perform(SizingFile.load(asked.file, asked.settings)))
