"""`resilver calibrate failures`: how often components fail, and whether by age."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from resilver.answer import Answer
from resilver.cli.options import stated
from resilver.request import argument


@dataclass(frozen=True)
class FailuresRequest:
    """Which list is read, and which law is asked for."""

    file: Path = argument(
        "LIST.csv",
        text="Lives, a line each: component, start, end, failed, and age where it was not new.",
    )
    law: Literal["auto", "exponential", "weibull"] = stated(
        text="Distribution of the printed lines; auto is Weibull if a constant rate is rejected.",
        default="auto",
    )


def failures(asked: FailuresRequest, as_json: bool = False, quiet: bool = False) -> Answer:
    """Estimate failure rates, and whether they depend on age, from a list of lifetimes.

    A life that did not fail counts for as long as it was seen. Prints the lines for a study, with
    --quiet these alone. If nothing failed there is an upper bound alone, and it exits with 1.

    Examples:

    resilver calibrate failures lives.csv

    resilver calibrate failures lives.csv --law exponential --quiet >> study.toml
    """
    from resilver.calibration.failures import calibrate_failures
    from resilver.report.calibration import failures_answer

    found = calibrate_failures(asked.file, asked.law)
    answer = failures_answer(found)
    if quiet and found.law and not as_json:
        return replace(answer, text=f"{found.to_toml().rstrip()}\n")
    return answer
