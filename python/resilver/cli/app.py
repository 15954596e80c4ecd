"""The commands and their options; what each does is in a module of its own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

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


class FigureFormat(StrEnum):
    """File formats of figures."""

    png = "png"
    svg = "svg"


StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="The study file.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override one key of the study, for example --set cluster.servers=128. Repeatable.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="One line for each run that ends.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        help="Parallel processes; by default one a processor.",
        show_default=False,
    ),
]


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

    perform(study, settings or [], as_json=as_json)


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
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Perform every run of a study that its run folder does not have yet.

    Ctrl-C keeps finished runs; the same command does the rest.

    Example: resilver run study.toml -o runs/study --workers 2
    """
    from resilver.cli.run import run as perform

    perform(
        study,
        settings or [],
        output,
        workers,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page; by default report.html in the folder."
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Write the charts as files there too."),
    ] = None,
    figure_format: Annotated[
        FigureFormat, typer.Option("--format", help="File format of the figures.")
    ] = FigureFormat.png,
    as_json: Json = False,
) -> None:
    """Write one offline page with the key figures and charts of a run folder.

    Example: resilver report runs/demo -o demo.html --figures figures --format svg
    """
    from resilver.cli.report import report as perform

    name: Literal["png", "svg"] = "svg" if figure_format is FigureFormat.svg else "png"
    perform(folder, output, figures, name, as_json=as_json)


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


@app.command()
def place(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A `ceph report`, a `ceph osd crush dump` or a CRUSH map as text.",
        ),
    ],
    groups: Annotated[
        bool, typer.Option("--groups", help="Every placement group of a report, with its up set.")
    ] = False,
    object_name: Annotated[
        str | None,
        typer.Option("--object", metavar="NAME", help="Where one object of --pool is."),
    ] = None,
    pool: Annotated[
        str | None, typer.Option("--pool", metavar="POOL", help="A pool's name or number.")
    ] = None,
    rule: Annotated[
        str | None, typer.Option("--rule", metavar="RULE", help="A rule's number or name.")
    ] = None,
    copies: Annotated[
        int, typer.Option("--num-rep", metavar="N", min=1, max=64, help="Devices an input.")
    ] = 3,
    first: Annotated[int, typer.Option("--min-x", metavar="X", min=0, help="First input.")] = 0,
    last: Annotated[int, typer.Option("--max-x", metavar="X", min=0, help="Last input.")] = 1023,
    mappings: Annotated[
        bool,
        typer.Option("--show-mappings", help="Print where each input goes, as crushtool does."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Say where CRUSH puts things: the groups of a real cluster, an object, or a rule's inputs.

    Examples:
    resilver place report.json --groups --pool rbd
    resilver place report.json --pool rbd --object vm-12
    resilver place map.txt --rule 0 --num-rep 3 --min-x 0 --max-x 9 --show-mappings
    """
    from resilver.cli.place import PlaceRequest
    from resilver.cli.place import place as perform

    request = PlaceRequest(
        source=source,
        groups=groups,
        object_name=object_name,
        pool=pool,
        rule=rule,
        copies=copies,
        first=first,
        last=last,
        mappings=mappings,
    )
    perform(request, as_json=as_json)
