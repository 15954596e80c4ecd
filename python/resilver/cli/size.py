"""`resilver size`: how large a file system must be, and why."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.command import argument, option
from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_page, keep_inputs
from resilver.cli.tables import print_figures, print_turned

if TYPE_CHECKING:
    from resilver.center import Sizing


@dataclass(frozen=True)
class Asked:
    """What is sized."""

    file: str = argument(
        "SIZING.toml", text="The sizing file, or the name of one in the catalog: spider-2."
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of the file, for example --set demand.bandwidth='1 TB/s'. "
        "Repeatable.",
        default=(),
    )
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write it as a page there."
    )


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

    keep_inputs(asked.page, [asked.file])
    check_page(asked.page)
    found = perform(SizingFile.load(asked.file, asked.settings))
    if asked.page is not None:
        from resilver.report.sizing import write_sizing

        settings = [word for one in asked.settings for word in ("--set", one)]
        command = shlex.join(["resilver", "size", Path(asked.file).name, *settings])
        write_sizing(found, asked.page, command)
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        _print(found)
    if asked.page is not None and not quiet:
        say(f"wrote {asked.page}")
    return 0 if found.holds else EXIT_FAILED


def _print(found: Sizing) -> None:
    """The answer, then the figures behind it."""
    from resilver.report import capacity
    from resilver.report.figure_tables import figures_table
    from resilver.report.sizing import answer_sentences, needs_table, offers_table

    console = output()
    for sentence in answer_sentences(found):
        console.print(Text(sentence, "bold"))
    if len(found.offers) > 1:
        print_turned(offers_table(found.offers))
    if found.demands:
        print_figures("The demand", figures_table(found.demands), 3)
    for offer in found.offers:
        if offer.needs:
            print_figures(f"{offer.name}: units by demand", needs_table(offer), 4)
        units = "1 unit" if offer.units == 1 else f"{offer.units:,} units"
        print_figures(f"{offer.name}: {units}", figures_table(offer.figures), 3)
    ahead = found.outlook
    if ahead is not None and ahead.figures:
        print_figures("Fill over time", figures_table(ahead.figures), 3)
    if ahead is not None and ahead.rates:
        print_figures("Share of the bandwidth", capacity.rates_table(ahead), 3)
        if not ahead.rates[0].is_measured:
            console.print(Text(capacity.STAND_IN_NOTE, "dim"))
    if ahead is not None and ahead.purges:
        print_figures("What a purge frees now", capacity.purges_table(ahead), 4)
    if found.dealt is not None:
        print_figures("Projects by namespace", capacity.namespaces_table(found), 4)
    if found.copied is not None:
        print_figures("Islands", figures_table(found.copied.figures), 3)
    if found.knees and found.offers:
        print_figures("Head room", figures_table(found.knees), 3)
