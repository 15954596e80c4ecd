"""The commands of `resilver population` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="What systems store: files and objects by size.",
)


@app.callback()
def _root() -> None:
    pass


@app.command()
def show(
    populations: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|FILE|STUDY.toml",
            help="Populations of the catalog, histograms, listings, folders, or studies.",
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override one key of the study around each population, for example "
            "--set cluster.servers=64. Repeatable.",
        ),
    ] = None,
    volume: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="SIZE",
            help="Draw this volume, such as '1 PiB'. By default a study's own, and otherwise about "
            "16 million files.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="The seed that files are drawn by.")
    ] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Draw them into a .png or .svg file."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON on stdout.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no messages.")] = False,
) -> None:
    """Draw populations and show their files and objects by count and by volume.

    Example: resilver population show genomes1000 mira -o populations.png
    """
    from resilver.cli.population import show as perform

    perform(
        populations,
        settings or [],
        volume,
        seed,
        output,
        as_json=as_json,
        quiet=quiet,
    )
