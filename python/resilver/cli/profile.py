"""`resilver profile`: what the layers of a file system lose, and what slow disks cost."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_output, check_writable, keep_inputs, save_whole
from resilver.cli.tables import print_figures
from resilver.errors import ConfigError, Problem, show
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.center.layering import LayerProfile
    from resilver.center.profiling import LotProfile, MeasuredProfile

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_NEXT_SHOWN = 20
# Narrower terminals have the first columns of layers alone; the page and --json have all.
_WIDE, _COLUMNS_NARROW = 80, 5


class Of(StrEnum):
    """What an envelope is measured from."""

    fastest = "fastest"
    average = "average"


@dataclass(frozen=True)
class Asked:
    """What is profiled."""

    file: str = argument(
        "STUDY.toml|RATES|LOT.toml",
        text="A study, such as the catalog's center-spider-2-unit; measured rates of groups or "
        "disks, as CSV or as fair-lio printed them; or a lot of disks, such as the catalog's "
        "spider-2.",
    )
    within: str | None = option(
        "--within",
        metavar="PERCENT",
        text="How far a group may be below the reference; by default 5%. Of a study, also replace "
        "slow disks in rounds until all groups are within.",
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
    seeds: int | None = option(
        "--seeds",
        metavar="N",
        min=1,
        max=10_000,
        text="How often disks of rates or of a lot are drawn; by default 15. A study has seeds of "
        "its own.",
    )
    settings: tuple[str, ...] = option(
        "--set",
        metavar="KEY=VALUE",
        text="Override one key of a study or a lot, for example --set lot.spread=0.03. Repeatable.",
        default=(),
    )
    measured: tuple[str, ...] = option(
        "--measured",
        metavar="FILE",
        text="Of a study: measured rates to set beside the expected ones: what a benchmark program "
        "wrote (see resilver import benchmark; LEVEL=FILE says of which level its devices are), or "
        "CSV with columns layer and rate, and parts, mode and size where they are known. "
        "Repeatable.",
        default=(),
    )
    target: str | None = option(
        "--target",
        metavar="RATE",
        text="Of a study: the rate that clients should get, and what each part needs for it.",
    )
    culled: Path | None = option(
        "--culled",
        metavar="FILE.toml",
        text="Of a study with --within: write it there as it is with its new disks, to run it.",
    )
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write it as a page there."
    )


def profile(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Show what each layer of a file system loses, or which disk groups are too slow.

    Of a study, its layers from devices to clients: what each passes alone and behind those below,
    what is lost there, and which binds. With a target, exits with 1 if clients do not get it. With
    --within, slow disks of its RAID sets are replaced in rounds, and it says what that gains.

    Of rates or a lot, groups of disks against an envelope: what to replace, and what it gains. A
    CSV has columns group and rate, and unit and disk where there are some. A lot says how many
    disks there are and how they spread. Exits with 1 if a group is outside, or if culling a lot
    never ends.

    Examples:

    resilver profile center-spider-2-unit --target "1 TB/s" --measured ior.csv -o layers.html

    resilver profile center-spider-2-unit --within 5% --of fastest --culled culled.toml

    resilver profile rates.csv --within 7.5% --of fastest -o rates.html

    resilver profile spider-2 --set lot.spread=0.03 --of fastest
    """
    from resilver.center.layering import LayerProfile
    from resilver.center.profiling import MeasuredProfile
    from resilver.report import culling, layering
    from resilver.study import profile as perform

    within = None if asked.within is None else _share(asked.within)
    measured = [one.rpartition("=")[2] for one in asked.measured]
    for path in (asked.page, asked.culled):
        keep_inputs(path, [asked.file, *measured])
    check_output(asked.page)
    _check_culled(asked)
    found = perform(
        asked.file,
        within=within,
        of=asked.of.value,
        code=asked.code,
        seeds=asked.seeds,
        overrides=asked.settings,
        measured=asked.measured,
        target=asked.target,
    )
    if isinstance(found, LayerProfile):
        said = layering.layer_sentences(found)
        if asked.culled is not None and found.culled is not None:
            save_whole(asked.culled, found.culled.toml)
        if asked.page is not None:
            layering.write_layers(found, asked.page, _command(asked, is_study=True))
    elif isinstance(found, MeasuredProfile):
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
        for note in getattr(found, "notes", ()):
            say(note)
    for path in (asked.culled, asked.page):
        if path is not None and not quiet:
            say(f"wrote {path}")
    return 0 if found.holds else EXIT_FAILED


def _check_culled(asked: Asked) -> None:
    """Refuse to write a study with new disks where none are replaced, or where it cannot be."""
    from resilver.study.profiling import is_study

    if asked.culled is None:
        return
    rule, remedy = "", ""
    if not is_study(asked.file):
        rule, remedy = "this is asked of a study, and the file is none", "leave it out"
    elif asked.within is None:
        rule, remedy = "no disk is replaced without an envelope", "add --within 5%"
    if rule:
        raise ConfigError(Problem(rule, remedy, key="--culled", value=f'"{asked.culled}"'))
    check_writable(asked.culled)


def _share(text: str) -> float:
    match = _PERCENT.fullmatch(text.strip())
    share = float(match[1]) / 100.0 if match else 0.0
    if not 0.0 < share < 1.0:
        rule = "an envelope is a percentage above 0 and below 100"
        raise ConfigError(Problem(rule, "such as 7.5%", key="--within", value=show(text)))
    return share


def _command(asked: Asked, *, is_study: bool = False) -> str:
    """What makes the same page again."""
    words = ["resilver", "profile", Path(asked.file).name]
    if is_study:
        words += [] if asked.within is None else ["--within", asked.within, "--of", asked.of.value]
        words += [word for one in asked.measured for word in ("--measured", _short(one))]
        words += [] if asked.target is None else ["--target", asked.target]
    else:
        words += ["--within", asked.within or "5%", "--of", asked.of.value]
        words += ["--code", asked.code]
        words += [] if asked.seeds is None else ["--seeds", str(asked.seeds)]
    return shlex.join([*words, *(word for one in asked.settings for word in ("--set", one))])


def _short(measured: str) -> str:
    """A measured file as the page names it, without its folder."""
    level, sign, name = measured.rpartition("=")
    return f"{level}{sign}{Path(name).name}"


def _print(found: LayerProfile | MeasuredProfile | LotProfile, said: list[str]) -> None:
    from resilver.answer.figure_tables import figures_table
    from resilver.center.layering import LayerProfile
    from resilver.center.profiling import MeasuredProfile, median_draw
    from resilver.report import culling, layering

    for sentence in said:
        output().print(Text(sentence, "bold"))
    if isinstance(found, LayerProfile):
        for title, made in layering.layer_tables(found):
            columns = len(made.columns) if output().width >= _WIDE else _COLUMNS_NARROW
            print_figures(title, made, columns)
        if found.culled is not None and len(found.culled.cullings[0].rounds) > 1:
            print_figures("Rounds", culling.rounds_table(found.culled.cullings[0]), 5)
        return
    print_figures("Figures", figures_table(found.figures), 3)
    if isinstance(found, MeasuredProfile) and found.next:
        made = culling.next_table(found)
        print_figures("What to replace next", made, len(made.columns), _NEXT_SHOWN)
    if found.cullings:
        print_figures("Rounds", culling.rounds_table(median_draw(found.cullings)), 5)
