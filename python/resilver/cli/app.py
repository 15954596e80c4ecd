"""The commands by name, each with its module, which is imported when the command is asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from resilver.cli.command import EXIT_CODES, Group, Promise, group, promise

app = typer.Typer(
    name="resilver",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
    help=(
        "Predict how a storage system heals: who loses what when parts of it fail, and how long "
        "the rebuild takes.\n\nStart with [bold]resilver demo[/bold]."
    ),
)

# A command's name, its function below `resilver.cli`, and the first sentence of that function's
# docstring, which a test holds equal: an overview imports nothing of what it lists.
_COMMANDS = {
    "Simulate": [
        Promise(
            "demo",
            "studies:demo",
            "Rebuild one lost server of 64, summarise it and write its report page.",
        ),
        Promise(
            "check",
            "studies:check",
            "Validate a study, print it with every default filled in, and estimate what it costs.",
        ),
        Promise(
            "run",
            "studies:run",
            "Perform every run of a study that its run folder does not have yet.",
        ),
        Promise(
            "status",
            "studies:status",
            "Say how far the sweep of a run folder is: done, failed, left, its "
            "rate and its time left.",
        ),
        Promise(
            "report",
            "studies:report",
            "Write one offline page with the key figures and charts of a run folder.",
        ),
        Promise(
            "reproduce",
            "studies:reproduce",
            "Make the figures of a published study again, with ours beside the published numbers.",
        ),
        Promise(
            "what-if",
            "what_if:what_if",
            "Say what a failure, an expansion or another change does to a real "
            "Ceph cluster beforehand.",
        ),
        Promise(
            "explore",
            "explore:explore",
            "Write one offline page that computes: fail parts of a system by a click and see how "
            "it heals.",
        ),
    ],
    "Judge": [
        Promise(
            "place",
            "place.perform:place",
            "Say where things go, how good that is, and what a change would move.",
            "place.words:PlaceCommand",
        ),
        Promise(
            "redundancy",
            "redundancy:redundancy",
            "Say what codes cost, what they survive, and what reads, writes and rebuilds move.",
        ),
        Promise(
            "topology",
            "topology:topology",
            "Build a network's topology: what there is, how far it is across, and what it costs.",
        ),
        Promise(
            "durability",
            "durability:durability",
            "Say how likely data is lost, with its interval: of codes, layouts, "
            "studies, real clusters.",
        ),
        Promise(
            "size",
            "size:size",
            "Say how many units of each offer a file system needs, which demand "
            "binds, how full it gets.",
        ),
        Promise(
            "profile",
            "profile:profile",
            "Say what each layer of a file system loses, or which groups of disks are too slow.",
        ),
        Promise(
            "quality",
            "quality:quality",
            "Say whether a benchmark's runs are in control: steps, drifts and "
            "outliers, and their sizes.",
        ),
    ],
    "Advise": [
        Promise(
            "route",
            "route:route",
            "Say which router serves which client, what each channel carries, and what a job gets.",
        ),
        Promise(
            "advise",
            "advise:advise",
            "Say which targets a job's files should go to, by what is busy and full now.",
        ),
        Promise(
            "signature",
            "signature:signature",
            "Find the pattern that a job's runs repeat, under what others move: "
            "period, burst, volume.",
        ),
    ],
    "Read": [
        Promise(
            "scan",
            "scan:scan",
            "Count what is below a folder, and write it as a table that resilver usage asks.",
        ),
        Promise(
            "usage",
            "usage:usage",
            "Say who uses a file system, how much, since when not, and what a stat of all costs.",
        ),
        Promise(
            "schema",
            "schema:schema",
            "Print the JSON schema of study files, for completion and checks in an editor.",
        ),
    ],
}
_GROUPS = {
    "import": (
        "Turn what was measured elsewhere into the inputs of studies.",
        [
            Promise(
                "ceph",
                "import_cluster:ceph",
                "Put what a Ceph cluster's commands print into one bundle, which "
                "other commands read.",
            ),
            Promise(
                "sizes",
                "importing:sizes",
                "Make a histogram of file sizes from a live tree or from listings of files.",
            ),
            Promise(
                "benchmark",
                "import_benchmark:benchmark",
                "Read what benchmark programs wrote, as one table of rates.",
            ),
            Promise(
                "logs",
                "import_logs:logs",
                "Say what logs hold: of which parts, from when to when, and what was "
                "read and written.",
            ),
        ],
    ),
    "calibrate": (
        "Fit the models of disks, networks, coding, fill and failures to measurements.",
        [
            Promise(
                "disk",
                "calibrate.disk:disk",
                "Fit the service-time table of a disk to what fio measured, or another benchmark.",
            ),
            Promise(
                "network",
                "calibrate.network:network",
                "Say what bandwidth a measured LogGP table gives, and how far that is "
                "from measurements.",
            ),
            Promise(
                "coding",
                "calibrate.coding:coding",
                "Measure how fast one core encodes and decodes, with Intel's ISA-L "
                "(Debian: libisal2).",
            ),
            Promise(
                "fill",
                "calibrate.fill:fill",
                "Say how much slower a file system is the fuller it is, by runs of one benchmark.",
            ),
            Promise(
                "failures",
                "calibrate.failures:failures",
                "Say how often components fail, and whether by their age, from a list "
                "of their lives.",
            ),
        ],
    ),
    "bench": (
        "Plan benchmarks of block devices, and run them with fio.",
        [
            Promise(
                "plan",
                "bench:plan",
                "Plan block tests: a published grid, or those that tell most in a given time.",
            ),
            Promise("run", "bench:run", "Run a plan's tests with fio that have no result yet."),
        ],
    ),
    "population": (
        "What systems store: files and objects by size.",
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


for panel, promises in _COMMANDS.items():
    for one in promises:
        promise(app, one, panel)
for name, (text, promises) in _GROUPS.items():
    below = group(text)
    for one in promises:
        promise(below, one)
    app.add_typer(below, name=name, rich_help_panel="Read")
