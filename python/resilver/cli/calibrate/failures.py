"""`resilver calibrate failures`: how often components fail, and whether by age."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from resilver.cli.options import Json, Quiet
from resilver.cli.replying import reply
from resilver.request import argument, option


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
        text="Distribution of the printed lines; auto is Weibull if a constant rate is rejected.",
        default=Law.auto,
        show_default=True,
    )


def failures(asked: FailuresRequest, as_json: Json = False, quiet: Quiet = False) -> int:
    """Estimate failure rates, and whether they depend on age, from a list of lifetimes.

    A life that did not fail counts for as long as it was seen. Prints the lines for a study, with
    --quiet these alone. If nothing failed there is an upper bound alone, and it exits with 1.

    Examples:

    resilver calibrate failures lives.csv

    resilver calibrate failures lives.csv --law exponential --quiet >> study.toml
    """
    from resilver.calibration.failures import calibrate_failures
    from resilver.report.calibration import failures_answer

    found = calibrate_failures(asked.file, asked.law.value)
    if quiet and found.law and not as_json:
        print(found.to_toml().rstrip())
    return reply(failures_answer(found), as_json=as_json, quiet=quiet)
