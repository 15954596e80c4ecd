"""Options of the commands that perform studies; what performs them is imported when it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resilver.cli.options import (
    FigureFormat,
    Figures,
    Format,
    Json,
    Quiet,
    Settings,
    StudyFile,
    Verbose,
    Where,
)


def demo(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Run folder; by default runs/demo."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", min=1, help="Processes; by default one a processor."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Rebuild one lost server of 64, print a summary and write its report page.

    Example: resilver demo
    """
    from resilver.cli.demo import demo as perform

    perform(output, workers, as_json=as_json, quiet=quiet, verbose=verbose)


def check(study: StudyFile, settings: Settings = None, as_json: Json = False) -> int:
    """Validate a study, print it with every default filled in, and estimate its cost.

    Exits with 1 if a run needs more memory than this machine has.

    Example: resilver check study.toml --set cluster.servers=128
    """
    from resilver.cli.check import check as perform

    return perform(study, settings or [], as_json=as_json)


def run(
    study: StudyFile,
    settings: Settings = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Run folder; by default runs/ and the study's name.",
        ),
    ] = None,
    *,
    where: Where,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Run again with each assumption halved and doubled, and name the bottleneck.",
        ),
    ] = False,
    each: Annotated[
        str | None,
        typer.Option(
            "--each",
            metavar="LEVEL",
            help="Fail each part of a level in turn, such as osd or host, and rank them.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Run a study; resumes if interrupted.

    Ctrl-C keeps finished runs; the same command does the rest. Exits with 1 if PGs of a real Ceph
    cluster are stuck or lost at the end, as resilver what-if does.

    Examples:

    resilver run study.toml -o runs/study --workers 2

    resilver run study.toml --sensitivity

    resilver run study.toml --each osd -o runs/each-osd

    resilver run study.toml --cluster tcp://node1:8786

    resilver run study.toml --cluster slurm --cluster-config cluster.toml
    """
    from resilver.cli.running import run as perform

    return perform(
        study,
        [*(settings or []), *([f"study.each={each}"] if each is not None else [])],
        output,
        where,
        sensitivity=sensitivity,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on until it ends.")] = False,
    as_json: Json = False,
) -> int:
    """Show the progress of a run folder: runs done, failed and left, rate, time left.

    It reads the folder only, and so works from another terminal, while a batch job runs, or over a
    network file system. Ends with 3 for a sweep that was left incomplete.

    Example: resilver status runs/study --watch
    """
    from resilver.cli.status import status as perform

    return perform(folder, watch=watch, as_json=as_json)


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page; by default report.html in the folder."
        ),
    ] = None,
    figures: Figures = None,
    figure_format: Format = FigureFormat.png,
    names: Annotated[
        list[str] | None,
        typer.Option("--chart", metavar="NAME", help="Of the charts only this one; repeatable."),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--every-system", help="Charts of one run for each system of a sweep."),
    ] = False,
    width: Annotated[
        int, typer.Option("--width", metavar="PX", min=300, max=4000, help="Width of a chart.")
    ] = 760,
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Write the page again as runs of a sweep finish."),
    ] = False,
    as_json: Json = False,
) -> int:
    """Write one offline page with the key figures and charts of a run folder.

    Examples:

    resilver report runs/demo -o demo.html

    resilver report runs/demo --figures figures --chart timeline --format pdf
    """
    from resilver.cli.report import Wanted
    from resilver.cli.report import report as perform

    wanted = Wanted(figures, figure_format.value, tuple(names or ()), every, width)
    return perform(folder, output, wanted, watch=watch, as_json=as_json)


def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="What to reproduce; see --list.")
    ] = None,
    figure: Annotated[
        str | None,
        typer.Argument(metavar="FIGURE", help="One figure or table, such as 8 or 'Table II'."),
    ] = None,
    listing: Annotated[
        bool,
        typer.Option("--list", help="List what can be reproduced, with its figures and times."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Runs and page; by default runs/reproduce."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", metavar="N", min=1, help="Seeds a point; by default the study's own."
        ),
    ] = None,
    settings: Settings = None,
    *,
    where: Where,
    figures: Figures = None,
    figure_format: Format = FigureFormat.png,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Reproduce the figures of a published study, next to the published numbers.

    Exits with 1 if a check of our own fails, with 4 if a published number differs from ours by more
    than its tolerance. Ctrl-C keeps finished runs; the same command does the rest.

    Examples:

    resilver reproduce --list

    resilver reproduce rebuild-scaling

    resilver reproduce rebuild-scaling 8 --seeds 3 -o runs/figure-8

    resilver reproduce rebuild-scaling --cluster tcp://node1:8786
    """
    from resilver.cli.reproduce import Request, list_entries
    from resilver.cli.reproduce import reproduce as perform

    if listing:
        list_entries(as_json=as_json)
        return 0
    chosen = tuple(settings or ())
    request = Request(name, figure, output, seeds, chosen, where, figures, figure_format.value)
    return perform(request, as_json=as_json, quiet=quiet, verbose=verbose)
