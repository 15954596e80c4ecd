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

# A command's name, its function below `resilver.cli`, and the first sentence of that function's
# docstring, which a test holds equal: an overview imports nothing of what it lists.
_COMMANDS = {
    "Predict": [
        Promise(
            "what-if",
            "what_if:what_if",
            "Predict what a failure, an expansion or another change does to a real Ceph cluster.",
            reads=("cluster", "dump"),
        ),
        Promise(
            "explore",
            "explore:explore",
            "Write one offline page that simulates: fail parts with a click and watch them heal.",
            reads=("cluster", "dump", "study"),
        ),
        Promise(
            "durability",
            "durability:durability",
            "Estimate the probability of data loss, with confidence intervals.",
            reads=("study", "cluster", "dump"),
        ),
        Promise("run", "studies:run", "Run a study; resumes if interrupted.", reads=("study",)),
        Promise(
            "report",
            "studies:report",
            "Write one offline page with the key figures and charts of a run folder.",
            reads=("run",),
        ),
        Promise(
            "demo",
            "studies:demo",
            "Rebuild one lost server of 64, print a summary and write its report page.",
        ),
    ],
    "Studies": [
        Promise(
            "check",
            "studies:check",
            "Validate a study, list what its results rest on, and estimate its cost.",
            reads=("study",),
        ),
        Promise(
            "status",
            "studies:status",
            "Show the progress of a run folder: runs done, failed and left, rate, time left.",
            reads=("run", "study"),
        ),
        Promise(
            "reproduce",
            "reproduce:reproduce",
            "Reproduce the figures of a published study, next to the published numbers.",
        ),
        Promise(
            "schema",
            "schema:schema",
            "Print the JSON schema of study files, for completion and checks in an editor.",
        ),
    ],
    "Placement": [
        Promise(
            "place",
            "place.perform:place",
            "Show where data is placed, how evenly, and what a change would move.",
            "place.words:PlaceCommand",
            reads=("cluster", "dump", "map", "study"),
        ),
        Promise(
            "plan",
            "plan:plan",
            "Change the CRUSH map of a Ceph cluster without moving data, then move it in steps.",
            reads=("cluster", "dump"),
        ),
        Promise(
            "crush",
            "crush.command:crush",
            "Build, edit, print and test CRUSH maps, in crushtool's words.",
            "crush.words:CrushCommand",
            reads=("map", "cluster", "dump"),
        ),
        Promise(
            "topology",
            "topology:topology",
            "Build a network topology and show its parts, its diameter and its links.",
        ),
        Promise(
            "redundancy",
            "redundancy:redundancy",
            "Compare codes: overhead, failures survived, bytes read, written and rebuilt.",
        ),
    ],
    "Center": [
        Promise(
            "size",
            "size:size",
            "Size a file system: units of each offer, the demand that decides, how full it gets.",
            reads=("sizing",),
        ),
        Promise(
            "profile",
            "profile:profile",
            "Show what each layer of a file system loses, or which disk groups are too slow.",
            reads=("study", "lot", "csv", "benchmark", "log"),
        ),
        Promise(
            "route",
            "route:route",
            "Assign clients to routers, and show channel loads and what a job gets.",
            reads=("machine",),
        ),
        Promise(
            "advise",
            "advise:advise",
            "Recommend the targets for a job's files, by current load and fill.",
            reads=("log",),
        ),
        Promise(
            "signature",
            "signature:signature",
            "Find the I/O pattern that a job's runs share in server logs: period, burst, volume.",
            reads=("log", "csv", "parquet", "signature"),
        ),
        Promise(
            "usage",
            "usage:usage",
            "Show who uses a file system, how much, how old it is, and what a stat of all costs.",
            reads=("scan",),
        ),
        Promise(
            "scan",
            "scan:scan",
            "Count everything below a folder, and write the table that resilver usage reads.",
        ),
        Promise(
            "quality",
            "quality:quality",
            "Check whether benchmark runs are in control: steps, drifts and outliers.",
            reads=("csv", "benchmark"),
        ),
    ],
    "Measure": [
        Promise(
            "watch",
            "watch:watch",
            "Say what a Ceph cluster would survive now, and write it as gauges for alerts.",
            reads=("cluster", "dump"),
        ),
    ],
}
_GROUPS = {
    "import": (
        "Convert measurements made elsewhere into inputs of studies.",
        [
            Promise(
                "ceph",
                "import_cluster:ceph",
                "Collect the output of a Ceph cluster's commands in one bundle for other commands.",
                reads=("cluster", "dump", "map"),
            ),
            Promise(
                "sizes",
                "importing:sizes",
                "Make a histogram of file sizes from a live tree or from listings of files.",
            ),
            Promise(
                "benchmark",
                "import_benchmark:benchmark",
                "Read the output of benchmark programs as one table of rates.",
                reads=("benchmark", "csv"),
            ),
            Promise(
                "logs",
                "import_logs:logs",
                "Show what logs contain: which parts, which period, bytes read and written.",
                reads=("log",),
            ),
        ],
    ),
    "calibrate": (
        "Fit the models of disks, networks, coding, fill and failures to measurements.",
        [
            Promise(
                "disk",
                "calibrate.disk:disk",
                "Fit the service-time table of a disk to results of fio or another benchmark.",
                reads=("benchmark", "csv"),
            ),
            Promise(
                "network",
                "calibrate.network:network",
                "Compute the bandwidth of a LogGP table, and its error against measurements.",
            ),
            Promise(
                "coding",
                "calibrate.coding:coding",
                "Measure how fast a core encodes and decodes, with ISA-L (Debian: libisal2).",
            ),
            Promise(
                "fill",
                "calibrate.fill:fill",
                "Fit how a file system slows down as it fills, from runs of one benchmark.",
                reads=("benchmark", "csv"),
            ),
            Promise(
                "failures",
                "calibrate.failures:failures",
                "Estimate failure rates, and whether they depend on age, from a list of lifetimes.",
                reads=("csv",),
            ),
        ],
    ),
    "bench": (
        "Plan benchmarks of block devices, and run them with fio.",
        [
            Promise(
                "plan",
                "bench:plan",
                "Plan block tests: a published grid, or the most informative in a given time.",
            ),
            Promise(
                "run",
                "bench:run",
                "Run the tests of a plan with fio, except those that have a result.",
                reads=("study",),
            ),
        ],
    ),
    "population": (
        "Draw what systems store: files and objects by size.",
        [
            Promise(
                "show",
                "population:show",
                "Draw populations and show their files and objects by count and by volume.",
            ),
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
