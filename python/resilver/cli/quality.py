"""`resilver quality`: whether a benchmark that is repeated over time still gives the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.answer import Answer
from resilver.cli.options import page_output
from resilver.request import argument, option


@dataclass(frozen=True)
class Asked:
    """Which runs are checked."""

    files: tuple[Path, ...] = argument(
        "FILE.csv", text="Runs, a line each; each file is a series. May be gzipped."
    )
    value: str | None = option(metavar="COLUMN", text="The measured column; by default rate.")
    unit: str | None = option(
        metavar="UNIT", text="The unit of values that have none, such as MiB/s."
    )
    time: str | None = option(
        metavar="COLUMN",
        text="The column of times: seconds since 1970, or ISO 8601. By default time; without it "
        "runs are taken in the order of their lines.",
    )
    by: str | None = option(metavar="COLUMN", text="Make a series of each value of this column.")
    first: int | None = option(
        min=10,
        text="How many runs set the baseline; by default 30, of fewer than 60 half.",
    )
    page: Path | None = page_output()


def quality(asked: Asked) -> Answer:
    """Check whether benchmark runs are in control: steps, drifts and outliers.

    Each run is held against those before it, by Shewhart's limits and cumulative sums. Exits with 1
    if anything is out of control.

    Examples:

    resilver quality runs.csv -o quality.html

    resilver quality ior.csv --value bw --unit MiB/s --time date --by filesystem
    """
    from resilver.center.quality import quality_chart
    from resilver.report.quality import quality_answer

    found = quality_chart(
        asked.files,
        value=asked.value,
        time=asked.time,
        by=asked.by,
        unit=asked.unit,
        first=asked.first,
    )
    return quality_answer(found)
