"""`resilver calibrate`: the options; what each command does is in a module of its own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

calibrate = typer.Typer(
    no_args_is_help=True,
    help="Fit the models of disks, networks and coding to measurements.",
)

_RUN = "Measuring"


class Fit(StrEnum):
    """Ways to fit a disk."""

    recipe = "recipe"
    line = "line"


Figure = Annotated[
    Path | None,
    typer.Option(
        "--figure",
        metavar="FILE",
        help="Draw measured against modelled bandwidth there (.png or .svg).",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no messages.")]


Largest = Annotated[
    str,
    typer.Option("--largest", help="The largest size to measure.", rich_help_panel=_RUN),
]
FioFiles = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FIO.json...", help="What fio wrote with --output-format=json."),
]
Target = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="DEVICE_OR_FILE",
        help="Measure with fio instead: a file to make (removed after), or a block device.",
        rich_help_panel=_RUN,
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        "--seconds",
        min=0.1,
        max=86400,
        help="For each job: four patterns by 12 sizes are 48.",
        rich_help_panel=_RUN,
    ),
]
Size = Annotated[
    str, typer.Option("--size", help="How much of the disk to use.", rich_help_panel=_RUN)
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Destroy what an existing file or a block device holds.",
        rich_help_panel=_RUN,
    ),
]
SaveFio = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FIO.json", help="Keep what fio measured.", rich_help_panel=_RUN
    ),
]


@calibrate.command()
def disk(
    files: FioFiles = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.toml",
            help='Write the table there, for cluster.device = { file = "FILE.toml" }.',
        ),
    ] = None,
    figure: Figure = None,
    fit: Annotated[
        Fit,
        typer.Option(
            "--fit",
            help="recipe: largest rate, median latencies. line: least squares on bandwidths.",
        ),
    ] = Fit.recipe,
    run: Target = None,
    seconds: Seconds = 60.0,
    size: Size = "4 GiB",
    largest: Largest = "8 MiB",
    overwrite: Overwrite = False,
    save: SaveFio = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit the service-time table of a disk to what fio measured.

    fio must have run rw=read, write, randread and randwrite at equal sizes, with one iodepth.

    Examples:

    resilver calibrate disk disk.json -o disk.toml --figure disk.png

    resilver calibrate disk --run /mnt/data/probe --seconds 10 --size "8 GiB" -o disk.toml
    """
    from resilver.cli.calibrate.disk import DiskRequest, calibrate_disk

    asked = DiskRequest(
        files=files or [],
        output=output,
        figure=figure,
        method=fit.value,
        run=run,
        seconds=seconds,
        size=size,
        largest=largest,
        overwrite=overwrite,
        save=save,
    )
    calibrate_disk(asked, as_json=as_json, quiet=quiet)


@calibrate.command()
def network(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="NETGAUGE.dat", help="What netgauge's LogGP pattern wrote."),
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured",
            metavar="FILE",
            help='Point-to-point times or rates, under a line such as "# size time(us)".',
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the usable rows there: .dat as netgauge's, .toml for a study file.",
        ),
    ] = None,
    figure: Figure = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="HOST:PORT",
            help='Measure over TCP instead: against --serve there, or "loopback".',
            rich_help_panel=_RUN,
        ),
    ] = None,
    serve: Annotated[
        str | None,
        typer.Option(
            "--serve",
            metavar="ADDRESS:PORT",
            help="Be the other end of --run, until Ctrl-C.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Keep the ping-pong times of --run, in the form that --measured reads.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    largest: Largest = "64 MiB",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what bandwidth a measured LogGP table gives, and how far that is from measurements.

    Examples:

    resilver calibrate network netgauge.dat --measured mpptest.txt --figure network.png

    resilver calibrate network --run loopback -o loopback.dat
    """
    from resilver.cli.calibrate.network import NetworkRequest, calibrate_network

    asked = NetworkRequest(file, measured, output, figure, run, serve, save, largest)
    calibrate_network(asked, as_json=as_json, quiet=quiet)


@calibrate.command()
def coding(
    codes: Annotated[
        list[str] | None,
        typer.Argument(metavar="CODE...", help='Such as "rs 8+3" or "lrc 8+5 local 4".'),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.toml",
            help='Write the rates there, for redundancy.coding = { file = "FILE.toml" }.',
        ),
    ] = None,
    strip: Annotated[
        str, typer.Option("--strip", help="One device's part of a stripe.")
    ] = "64 KiB",
    library: Annotated[
        Path | None,
        typer.Option(
            "--library", metavar="FILE", help="Intel's ISA-L; by default what the system finds."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how fast one core encodes and decodes, with Intel's ISA-L (Debian: libisal2).

    Rates are of user data. Decoding is measured with every number of losses that a code survives.

    Example: resilver calibrate coding "rs 8+3" "lrc 8+5 local 4" -o coding.toml
    """
    from resilver.cli.calibrate.coding import CodingRequest, calibrate_coding

    asked = CodingRequest(codes or [], output, strip, library)
    calibrate_coding(asked, as_json=as_json, quiet=quiet)
