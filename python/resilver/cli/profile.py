"""`resilver profile`: groups of disks against an envelope, and what slow ones cost."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.command import argument, option
from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_page, keep_inputs
from resilver.cli.tables import print_figures
from resilver.errors import ConfigError, Problem, show

if TYPE_CHECKING:
    from resilver.center.profiling import LotProfile, MeasuredProfile

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_NEXT_SHOWN = 20


class Of(StrEnum):
    """What an envelope is measured from."""

    fastest = "fastest"
    average = "average"


@dataclass(frozen=True)
class Asked:
    """What is profiled."""

    file: str = argument(
        "RATES.csv|LOT.toml",
        text="Measured rates of groups or disks, or a lot of disks; spider-2 is the catalog's.",
    )
    within: str = option(
        "--within",
        metavar="PERCENT",
        text="How far a group may be below the reference.",
        default="5%",
        show_default=True,
    )
    of: Of = option(
        "--of",
        text="The reference: the fastest group of its unit, or the average of all groups.",
        default=Of.average,
        show_default=True,
    )
    code: str = option(
        "--code",
        metavar="CODE",
        text="The code of the groups, where disks were measured.",
        default="rs 8+2",
        show_default=True,
    )
    seeds: int = option(
        "--seeds",
        metavar="N",
        min=1,
        max=10_000,
        text="How often disks are drawn.",
        default=15,
        show_default=True,
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of a lot, for example --set lot.spread=0.03. Repeatable.",
        default=(),
    )
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write it as a page there."
    )


def profile(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Hold groups of disks against an envelope: which are too slow, what to replace, what it gains.

    A CSV has columns group and rate, and unit and disk where there are some. A lot says how many
    disks there are and how they spread. Exits with 1 if a group is outside, or if culling a lot
    never ends.

    Examples:

    resilver profile rates.csv --within 7.5% --of fastest -o rates.html

    resilver profile spider-2 --set lot.spread=0.03 --of fastest
    """
    from resilver.center.profiling import MeasuredProfile
    from resilver.center.profiling import profile as perform
    from resilver.report import culling

    within = _share(asked.within)
    keep_inputs(asked.page, [asked.file])
    check_page(asked.page)
    found = perform(
        asked.file,
        within=within,
        of=asked.of.value,
        code=asked.code,
        seeds=asked.seeds,
        overrides=asked.settings,
    )
    if isinstance(found, MeasuredProfile):
        said = culling.measured_sentences(found)
        if asked.page is not None:
            culling.write_measured(found, asked.page, _command(asked))
    else:
        said = culling.lot_sentences(found)
        if asked.page is not None:
            culling.write_lot(found, asked.page, _command(asked))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        _print(found, said)
    if asked.page is not None and not quiet:
        say(f"wrote {asked.page}")
    return 0 if found.holds else EXIT_FAILED


def _share(text: str) -> float:
    match = _PERCENT.fullmatch(text.strip())
    share = float(match[1]) / 100.0 if match else 0.0
    if not 0.0 < share < 1.0:
        rule = "an envelope is a percentage above 0 and below 100"
        raise ConfigError(Problem(rule, "such as 7.5%", key="--within", value=show(text)))
    return share


def _command(asked: Asked) -> str:
    """What makes the same page again."""
    words = ["resilver", "profile", Path(asked.file).name, "--within", asked.within]
    words += ["--of", asked.of.value, "--code", asked.code, "--seeds", str(asked.seeds)]
    return shlex.join([*words, *(word for one in asked.settings for word in ("--set", one))])


def _print(found: MeasuredProfile | LotProfile, said: list[str]) -> None:
    from resilver.center.profiling import MeasuredProfile, median_draw
    from resilver.report import culling
    from resilver.report.figure_tables import figures_table

    for sentence in said:
        output().print(Text(sentence, "bold"))
    print_figures("Figures", figures_table(found.figures), 3)
    if isinstance(found, MeasuredProfile) and found.next:
        made = culling.next_table(found)
        print_figures("What to replace next", made, len(made.columns), _NEXT_SHOWN)
    if found.cullings:
        print_figures("Rounds", culling.rounds_table(median_draw(found.cullings)), 5)
