"""`resilver quality`: whether a benchmark that is run again and again still comes to the same."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from resilver.cli.console import EXIT_FAILED, output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import check_output, keep_inputs
from resilver.cli.tables import print_figures
from resilver.request import argument, option

_WIDE, _COLUMNS_NARROW, _SHOWN = 80, 4, 40


@dataclass(frozen=True)
class Asked:
    """Which runs are judged."""

    files: tuple[Path, ...] = argument(
        "FILE.csv", text="Runs, a line each; each file is a series. Gzipped or not."
    )
    value: str | None = option(
        "--value", metavar="COLUMN", text="What was measured; by default a column called rate."
    )
    unit: str | None = option(
        "--unit", metavar="UNIT", text="The unit of values without one, such as MiB/s."
    )
    time: str | None = option(
        "--time",
        metavar="COLUMN",
        text="When: seconds since 1970, or ISO 8601. By default a column called so; without one "
        "runs are taken in the order of their lines.",
    )
    by: str | None = option("--by", metavar="COLUMN", text="A column that tells series apart.")
    first: int | None = option(
        "--first",
        metavar="N",
        min=10,
        text="How many runs say what is usual at first; by default 30, of fewer than 60 half.",
    )
    page: Path | None = option(
        "--output", "-o", metavar="FILE.html", text="Write the charts as a page there."
    )


def quality(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> int:
    """Check whether benchmark runs are in control: steps, drifts and outliers.

    Each run is held against those before it, by Shewhart's limits and cumulative sums. Exits with 1
    if anything is out of control.

    Examples:

    resilver quality runs.csv -o quality.html

    resilver quality ior.csv --value bw --unit MiB/s --time date --by filesystem
    """
    from resilver.center.quality import quality_chart
    from resilver.report.quality import quality_sentences, quality_tables, write_quality

    keep_inputs(asked.page, asked.files)
    check_output(asked.page)
    found = quality_chart(
        asked.files,
        value=asked.value,
        time=asked.time,
        by=asked.by,
        unit=asked.unit,
        first=asked.first,
    )
    if asked.page is not None:
        write_quality(found, asked.page, _command(asked))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        for sentence in quality_sentences(found):
            output().print(Text(sentence, "bold"))
        for title, made in quality_tables(found):
            columns = len(made.columns) if output().width >= _WIDE else _COLUMNS_NARROW
            print_figures(title, made, columns, _SHOWN)
        for note in found.notes:
            say(note)
    if asked.page is not None and not quiet:
        say(f"wrote {asked.page}")
    return 0 if found.holds else EXIT_FAILED


def _command(asked: Asked) -> str:
    """What makes the same page again."""
    words = ["resilver", "quality", *(path.name for path in asked.files)]
    for name in ("value", "unit", "time", "by", "first"):
        if (given := getattr(asked, name)) is not None:
            words += [f"--{name}", str(given)]
    return shlex.join(words)
