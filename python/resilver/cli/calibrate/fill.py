"""`resilver calibrate fill`: how much slower a file system is the fuller it is, if runs show it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.answer import Answer
from resilver.cli.options import figure_output, stated, table_output
from resilver.request import argument, option


@dataclass(frozen=True)
class FillRequest:
    """Which runs are read, and what comes of them."""

    file: Path = argument("FILE.csv", text="Runs of one benchmark, a line each, with a header.")
    fill: str = stated(
        metavar="COLUMN",
        text="How full the file system was: a share, or a percent where the column is called so.",
        default="fill",
    )
    rate: str = stated(metavar="COLUMN", text="What a run got.", default="rate")
    beside: tuple[str, ...] = option(
        metavar="COLUMN",
        text="What else may explain the rates, such as how busy others were. Repeatable.",
        default=(),
    )
    output: Path | None = table_output(
        "Write the curve there, for rate_at_fill of a sizing's [capacity]."
    )
    figure: Path | None = figure_output("Draw runs and levels there")


def fill(asked: FillRequest) -> Answer:
    """Fit how a file system slows down as it fills, from runs of one benchmark.

    Rates that fall with the fill are fitted by levels. If the runs do not show that they fall, no
    curve is written, and it exits with 1.

    Examples:

    resilver calibrate fill runs.csv -o fill.toml --figure fill.png

    resilver calibrate fill runs.csv --fill full_pct --rate write_rate --beside other_jobs
    """
    from resilver.calibration.fill import calibrate_fill
    from resilver.report.fill import fill_answer

    return fill_answer(
        calibrate_fill(asked.file, fill=asked.fill, rate=asked.rate, beside=asked.beside)
    )
