"""`resilver size`: how large a file system must be, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.cli.options import Json, Quiet, overrides, page_output
from resilver.cli.replying import command_line, reply
from resilver.cli.saving import check_output
from resilver.request import argument


@dataclass(frozen=True)
class Asked:
    """What is sized."""

    file: str = argument(
        "SIZING.toml", text="The sizing file, or the name of one in the catalog: spider-2."
    )
    settings: tuple[str, ...] = overrides("the file", "demand.bandwidth='1 TB/s'")
    page: Path | None = page_output()


def size(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
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

    check_output(asked.page, reads=[asked.file])
    answer = sizing_answer(perform(SizingFile.load(asked.file, asked.settings)))
    return reply(answer, command_line("size", asked), page=asked.page, as_json=as_json, quiet=quiet)
