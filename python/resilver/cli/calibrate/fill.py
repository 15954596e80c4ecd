"""`resilver calibrate fill`: how much slower a file system is the fuller it is, if runs show it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.calibrate.output import check_places, tell_written
from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import keep_inputs, save_whole
from resilver.cli.tables import print_figures
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.calibration.fill import FillCalibration


@dataclass(frozen=True)
class FillRequest:
    """Which runs are read, and what comes of them."""

    file: Path = argument("FILE.csv", text="Runs of one benchmark, a line each, with a header.")
    fill: str = option(
        "--fill",
        metavar="COLUMN",
        text="How full the file system was: a share, or a percent where the column is called so.",
        default="fill",
        show_default=True,
    )
    rate: str = option(
        "--rate", metavar="COLUMN", text="What a run got.", default="rate", show_default=True
    )
    beside: tuple[str, ...] = option(
        "--beside",
        metavar="COLUMN",
        text="What else may explain the rates, such as how busy others were. Repeatable.",
        default=(),
    )
    output: Path | None = option(
        "--output",
        "-o",
        metavar="FILE.toml",
        text='Write the curve there, for rate_at_fill = { file = "FILE.toml" } of [capacity].',
    )
    figure: Path | None = option(
        "--figure", metavar="FILE", text="Draw runs and levels there (.png, .svg or .pdf)."
    )


def fill(asked: FillRequest, as_json: Json = False, quiet: Quiet = False) -> int:
    """Fit how a file system slows down as it fills, from runs of one benchmark.

    Rates that fall with the fill are fitted by levels. Where the runs do not show that they fall,
    no curve is written, and it exits with 1.

    Examples:

    resilver calibrate fill runs.csv -o fill.toml --figure fill.png

    resilver calibrate fill runs.csv --fill full_pct --rate write_rate --beside other_jobs
    """
    from resilver.calibration.fill import calibrate_fill

    for path in (asked.output, asked.figure):
        keep_inputs(path, [asked.file])
    check_places(asked.figure, asked.output)
    found = calibrate_fill(asked.file, fill=asked.fill, rate=asked.rate, beside=asked.beside)
    if asked.output is not None and found.is_shown:
        save_whole(asked.output, found.to_toml())
    if asked.figure is not None:
        from resilver.report.fill import write_fill_figure

        write_fill_figure(found, asked.figure)
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        _print(found)
    if not quiet:
        written = asked.output if found.is_shown else None
        use = "" if written is None else f'{{ file = "{written.name}" }}'
        tell_written((), written, f"it as capacity.rate_at_fill = {use}", asked.figure)
        if asked.output is not None and written is None:
            say(f"no curve is written to {asked.output}: the runs show none")
    return 0 if found.is_shown else EXIT_FAILED


def _print(found: FillCalibration) -> None:
    from resilver.report import fill as words

    for sentence in words.fill_sentences(found):
        output().print(Text(sentence, "bold"))
    print_figures("Rank correlation of rates", words.correlations_table(found), 4)
    if found.is_shown:
        print_figures("Levels", words.levels_table(found), 5)
