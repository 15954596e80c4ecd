"""The commands and their options; what each does is in a module of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from resilver.cli.calibrate import calibrate
from resilver.cli.command import command
from resilver.cli.import_app import app as import_app
from resilver.cli.options import (
    Cluster,
    ClusterConfig,
    FigureFormat,
    Figures,
    Format,
    Json,
    Quiet,
    Settings,
    Split,
    StudyFile,
    Verbose,
    Workers,
)
from resilver.cli.place.perform import place
from resilver.cli.place.words import PlaceCommand
from resilver.cli.population_app import app as population_app
from resilver.cli.redundancy_app import redundancy
from resilver.cli.topology_app import topology

app = typer.Typer(
    name="resilver",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Predict how a storage system heals: who loses what when parts of it fail, and how long "
        "the rebuild takes.\n\nStart with [bold]resilver demo[/bold]."
    ),
)

app.add_typer(import_app, name="import")
app.add_typer(population_app, name="population")
app.add_typer(calibrate, name="calibrate")
app.command()(topology)
app.command()(redundancy)
command(app, cls=PlaceCommand)(place)


def _version(wanted: bool) -> None:
    if wanted:
        from resilver import __version__

        typer.echo(f"resilver {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Run folder; by default runs/demo."),
    ] = None,
    workers: Workers = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Rebuild one lost server of 64, summarise it and write its report page.

    Example: resilver demo
    """
    from resilver.cli.demo import demo as perform

    perform(output, workers, as_json=as_json, quiet=quiet, verbose=verbose)


@app.command()
def check(study: StudyFile, settings: Settings = None, as_json: Json = False) -> None:
    """Validate a study, print it with every default filled in, and estimate what it costs.

    Example: resilver check study.toml --set cluster.servers=128
    """
    from resilver.cli.check import check as perform

    code = perform(study, settings or [], as_json=as_json)
    if code:
        raise typer.Exit(code)


@app.command()
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
    workers: Workers = None,
    cluster: Cluster = None,
    cluster_config: ClusterConfig = None,
    split: Split = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity", help="Run again with each assumption 20 % lower and 20 % higher."
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
) -> None:
    """Perform every run of a study that its run folder does not have yet.

    Ctrl-C keeps finished runs; the same command does the rest.

    Examples:

    resilver run study.toml -o runs/study --workers 2

    resilver run study.toml --sensitivity

    resilver run study.toml --each osd -o runs/each-osd

    resilver run study.toml --cluster tcp://node1:8786

    resilver run study.toml --cluster slurm --cluster-config cluster.toml
    """
    from resilver.cli.running import Where
    from resilver.cli.running import run as perform

    perform(
        study,
        [*(settings or []), *([f"study.each={each}"] if each is not None else [])],
        output,
        Where(workers, cluster, cluster_config, split),
        sensitivity=sensitivity,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on until it ends.")] = False,
    as_json: Json = False,
) -> None:
    """Say how far the sweep of a run folder is: done, failed, left, its rate and its time left.

    It reads the folder only, and so works from another terminal, while a batch job runs, or over a
    network file system. Ends with 3 for a sweep that was left incomplete.

    Example: resilver status runs/study --watch
    """
    from resilver.cli.status import status as perform

    code = perform(folder, watch=watch, as_json=as_json)
    if code:
        raise typer.Exit(code)


@app.command()
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
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Write the page again as runs of a sweep finish."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write one offline page with the key figures and charts of a run folder.

    Example: resilver report runs/demo -o demo.html --figures figures --format svg
    """
    from resilver.cli.report import report as perform

    name: Literal["png", "svg"] = "svg" if figure_format is FigureFormat.svg else "png"
    code = perform(folder, output, figures, name, watch=watch, as_json=as_json)
    if code:
        raise typer.Exit(code)


@app.command()
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
    workers: Workers = None,
    cluster: Cluster = None,
    cluster_config: ClusterConfig = None,
    split: Split = None,
    figures: Figures = None,
    figure_format: Format = FigureFormat.png,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make the figures of a published study again, with ours beside the published numbers.

    Exits with 1 if a number lies outside of its band. Ctrl-C keeps finished runs; the same command
    does the rest.

    Examples:

    resilver reproduce --list

    resilver reproduce rebuild-scaling

    resilver reproduce rebuild-scaling 8 --seeds 3 -o runs/figure-8

    resilver reproduce rebuild-scaling --cluster tcp://node1:8786
    """
    from resilver.cli.reproduce import Request, list_entries
    from resilver.cli.reproduce import reproduce as perform
    from resilver.cli.running import Where

    if listing:
        list_entries(as_json=as_json)
        return
    request = Request(
        name,
        figure,
        output,
        seeds,
        tuple(settings or ()),
        Where(workers, cluster, cluster_config, split),
        figures,
        figure_format.value,
    )
    code = perform(request, as_json=as_json, quiet=quiet, verbose=verbose)
    if code:
        raise typer.Exit(code)


@app.command()
def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there instead of stdout."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON schema of study files, for completion and checks in an editor.

    Example: resilver schema -o study.schema.json
    """
    from resilver.cli.schema import schema as perform

    perform(output, as_json=as_json)
