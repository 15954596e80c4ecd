"""`resilver calibrate failures`: how often components fail, and whether by age."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from resilver.cli.console import EXIT_FAILED, output, print_json
from resilver.cli.options import Json, Quiet
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.calibration.failures import FailureCalibration, Fitted


class Law(StrEnum):
    """Which law the lines for a study have."""

    auto = "auto"
    exponential = "exponential"
    weibull = "weibull"


@dataclass(frozen=True)
class FailuresRequest:
    """Which list is read, and which law is asked for."""

    file: Path = argument(
        "LIST.csv",
        text="Lives, a line each: component, start, end, failed, and age where it was not new.",
    )
    law: Law = option(
        "--law",
        text="Distribution of the printed lines; auto is Weibull where a constant rate is refuted.",
        default=Law.auto,
        show_default=True,
    )


def failures(asked: FailuresRequest, as_json: Json = False, quiet: Quiet = False) -> int:
    """Estimate failure rates, and whether they depend on age, from a list of lifetimes.

    A life that did not fail counts for as long as it was seen. Prints the lines of a study that say
    so, with --quiet these alone. Where nothing failed there is a bound alone, and it exits with 1.

    Examples:

    resilver calibrate failures lives.csv

    resilver calibrate failures lives.csv --law exponential --quiet >> study.toml
    """
    from resilver.calibration.failures import calibrate_failures

    found = calibrate_failures(asked.file, asked.law.value)
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        _print(found)
    if found.law and not as_json:
        output().print(Text(found.to_toml().rstrip()), soft_wrap=True)
    return 0 if found.failures else EXIT_FAILED


def _print(found: FailureCalibration) -> None:
    console = output()
    console.print(Text(found.finding(), "bold"))
    seen = Text(
        f"{found.failures:,} of {found.lives:,} lives of {found.components:,} components ended "
        f"with a failure, in {found.component_years:,.4g} years seen."
    )
    console.print(seen)
    if not found.failures:
        return
    console.print(_figures(found))
    console.print(_ages(found))
    if found.law == "weibull" and found.weibull is not None:
        note = "A constant rate is not what these lives show; the one above is their mean."
        console.print(Text(note))


def _figures(found: FailureCalibration) -> Table:
    """A row a figure of the fits."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for heading in ("fitted", "95 % from", "to"):
        table.add_column(heading, justify="right")

    def add(name: str, one: Fitted, scale: float = 1.0) -> None:
        cells = (f"{scale * figure:.4g}" for figure in (one.value, one.low, one.high))
        table.add_row(name, *cells)

    add("failures a year, posterior mean", found.per_year)
    add("AFR (%), posterior mean", found.afr, 100)
    counted = f"{100 * found.counted_afr:.4g}"
    table.add_row("failures / years (%)", counted, "", "")
    if found.weibull is not None:
        add("Weibull: shape", found.weibull.shape)
        add("Weibull: scale (y)", found.weibull.scale_years)
    return table


def _ages(found: FailureCalibration) -> Table:
    """What happened by age, beside what the fits say."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    headings = ["age (y)", "years seen", "failed", "constant rate"]
    for heading in headings + ["Weibull"] * (found.weibull is not None):
        table.add_column(heading, justify="right")
    for row in found.ages:
        cells = [
            f"{row.from_years:.2f} to {row.to_years:.2f}",
            f"{row.component_years:,.4g}",
            f"{row.failures:,}",
            f"{row.constant:,.3g}",
        ]
        table.add_row(*cells, *([f"{row.weibull:,.3g}"] if row.weibull is not None else []))
    return table
