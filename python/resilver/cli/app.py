"""The commands by name, each with its module, which is imported when the command is asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from resilver.cli.command import EXIT_CODES, Overview, Promise, group, promise

app = typer.Typer(
    name="resilver",
    cls=Overview,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
    help=(
        "Predict how a storage system heals: who loses what when parts fail, how long the rebuild "
        "takes, what clients notice, and how likely data is lost."
    ),
)

# A command's name, and its function below `resilver.cli`: an overview imports nothing of what it
# lists, and reads what it says of them.
_COMMANDS = {
    "Predict": [
        Promise("what-if", "what_if:what_if", reads=("cluster", "dump")),
        Promise("explore", "explore:explore", reads=("cluster", "dump", "study")),
        Promise("durability", "durability:durability", reads=("study", "cluster", "dump")),
        Promise("run", "studies:run", reads=("study",)),
        Promise("report", "studies:report", reads=("run",)),
        Promise("demo", "studies:demo"),
    ],
    "Studies": [
        Promise("check", "studies:check", reads=("study",)),
        Promise("status", "studies:status", reads=("run", "study")),
        Promise("reproduce", "reproduce:reproduce"),
        Promise("schema", "schema:schema"),
    ],
    "Placement": [
        Promise(
            "place",
            "place.perform:place",
            "crush.words:PlaceCommand",
            reads=("cluster", "dump", "map", "study"),
        ),
        Promise("plan", "plan:plan", reads=("cluster", "dump")),
        Promise(
            "crush",
            "crush.command:crush",
            "crush.words:CrushCommand",
            reads=("map", "cluster", "dump"),
        ),
        Promise("topology", "topology:topology"),
        Promise("redundancy", "redundancy:redundancy"),
    ],
    "Center": [
        Promise("size", "size:size", reads=("sizing",)),
        Promise("profile", "profile:profile", reads=("study", "lot", "csv", "benchmark", "log")),
        Promise("route", "route:route", reads=("machine",)),
        Promise("advise", "advise:advise", reads=("log",)),
        Promise("signature", "signature:signature", reads=("log", "csv", "parquet", "signature")),
        Promise("usage", "usage:usage", reads=("scan",)),
        Promise("scan", "scan:scan"),
        Promise("quality", "quality:quality", reads=("csv", "benchmark")),
    ],
    "Measure": [
        Promise("watch", "watch:watch", reads=("cluster", "dump")),
    ],
}
_GROUPS = {
    "import": (
        "Convert measurements made elsewhere into inputs of studies.",
        [
            Promise("ceph", "import_cluster:ceph", reads=("cluster", "dump", "map")),
            Promise("sizes", "importing:sizes"),
            Promise("benchmark", "import_benchmark:benchmark", reads=("benchmark", "csv")),
            Promise("logs", "import_logs:logs", reads=("log",)),
        ],
    ),
    "calibrate": (
        "Fit the models of disks, networks, coding, fill and failures to measurements.",
        [
            Promise("disk", "calibrate.disk:disk", reads=("benchmark", "csv")),
            Promise("network", "calibrate.network:network"),
            Promise("coding", "calibrate.coding:coding"),
            Promise("fill", "calibrate.fill:fill", reads=("benchmark", "csv")),
            Promise("failures", "calibrate.failures:failures", reads=("csv",)),
        ],
    ),
    "bench": (
        "Plan benchmarks of block devices, and run them with fio.",
        [
            Promise("plan", "bench:plan"),
            Promise("run", "bench:run", reads=("study",)),
        ],
    ),
    "population": (
        "Draw what systems store: files and objects by size.",
        [
            Promise("show", "population:show"),
        ],
    ),
}


def _version(wanted: bool) -> None:
    if wanted:
        from resilver import __version__

        typer.echo(f"resilver {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


@app.command("help", hidden=True)
def _help(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]", help="A command, or all.")
    ] = None,
) -> None:
    """Print the help of a command, or of all with a sentence each."""
    app([*([] if words == ["all"] else words or []), "--help"], obj=words, prog_name="resilver")


for panel, promises in _COMMANDS.items():
    for one in promises:
        promise(app, one, panel)
for name, (text, promises) in _GROUPS.items():
    below = group(text)
    for one in promises:
        promise(below, one)
    app.add_typer(below, name=name, rich_help_panel="Measure")
