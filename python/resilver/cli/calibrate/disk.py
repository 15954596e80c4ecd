"""`resilver calibrate disk`: a volume's table from fio's output, or from fio run here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from resilver.cli.calibrate.output import (
    FIGURE,
    check_places,
    measuring,
    option_bytes,
    tell_written,
)
from resilver.cli.console import output, print_json
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError, Problem
from resilver.request import argument, option
from resilver.units import exact_bytes

if TYPE_CHECKING:
    from resilver.calibration import DiskCalibration
    from resilver.importers.fio import FioReport

_TITLES = {
    "read": "sequential read",
    "write": "sequential write",
    "randread": "random read",
    "randwrite": "random write",
}
_MEGABYTE = 1e6


class Fit(StrEnum):
    """Ways to fit a disk."""

    recipe = "recipe"
    line = "line"


@dataclass(frozen=True)
class DiskRequest:
    """Which measurements of a disk are fitted, or made, and what comes of them."""

    files: tuple[Path, ...] = argument(
        "FIO.json|RATES",
        text="What fio wrote with --output-format=json; or fair-lio, the OLCF suite or another "
        "benchmark of block devices.",
        default=(),
    )
    output: Path | None = option(
        "--output",
        "-o",
        metavar="FILE.toml",
        text='Write the table there, for cluster.device = { file = "FILE.toml" }.',
    )
    figure: Path | None = FIGURE
    fit: Fit = option(
        "--fit",
        text="recipe: largest rate, median latencies. line: least squares on bandwidths.",
        default=Fit.recipe,
        show_default=True,
    )
    queue: int | None = option(
        "--queue",
        metavar="N",
        min=1,
        text="Of several queue depths the one to fit; by default 4, else the least.",
    )
    run: Path | None = measuring(
        "--run",
        metavar="DEVICE_OR_FILE",
        text="Measure with fio instead: a file to make (removed after), or a block device.",
    )
    seconds: float = measuring(
        "--seconds",
        min=0.1,
        max=86400,
        text="For each job: four patterns by 12 sizes are 48.",
        default=60.0,
        show_default=True,
    )
    size: str = measuring(
        "--size", text="How much of the disk to use.", default="4 GiB", show_default=True
    )
    largest: str = measuring(
        "--largest", text="The largest size to measure.", default="8 MiB", show_default=True
    )
    overwrite: bool = measuring(
        "--overwrite", text="Destroy what an existing file or a block device holds.", default=False
    )
    save: Path | None = measuring("--save", metavar="FIO.json", text="Keep what fio measured.")


def disk(asked: DiskRequest, as_json: Json = False, quiet: Quiet = False) -> None:
    """Fit the service-time table of a disk to results of fio or another benchmark.

    It needs reads and writes, in order and at random, at equal sizes with one queue depth; --fit
    line does with fewer sizes of some, as a reduced plan of resilver bench plan measures them.

    Examples:

    resilver calibrate disk disk.json -o disk.toml --figure disk.png

    resilver calibrate disk --run /mnt/data/probe --seconds 10 --size "8 GiB" -o disk.toml
    """
    check_places(asked.figure, asked.output, asked.save)
    found = _calibration(asked, quiet)
    if asked.output is not None:
        save_whole(asked.output, found.to_toml())
    if asked.figure is not None:
        from resilver.report.calibration import write_disk_figure

        write_disk_figure(found, asked.figure)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if not quiet:
        use = "" if asked.output is None else f'{{ file = "{asked.output.name}" }}'
        tell_written(found.notes, asked.output, f"it as cluster.device = {use}", asked.figure)


def _calibration(asked: DiskRequest, quiet: bool) -> DiskCalibration:
    from resilver.calibration.block_rates import read_disk
    from resilver.calibration.disk import calibrate_report

    if asked.run is None and asked.save is not None:
        rule = "--save keeps what --run measures"
        raise ConfigError(Problem(rule, "leave --save out, or write the table with -o"))
    if (asked.run is None) == (not asked.files):
        rule = "either measured files or --run is needed, and not both"
        raise ConfigError(Problem(rule, "name the files, or what to measure"))
    report = (
        read_disk(asked.files, asked.queue)
        if asked.run is None
        else _measured(asked, asked.run, quiet)
    )
    return calibrate_report(report, asked.fit.value)


def _measured(asked: DiskRequest, target: Path, quiet: bool) -> FioReport:
    from resilver.calibration.fio_run import FioPlan, measure
    from resilver.cli.calibrate.output import Bar
    from resilver.importers.fio import parse_fio

    size = option_bytes("--size", asked.size)
    largest = option_bytes("--largest", asked.largest)
    plan = FioPlan(target, size, asked.seconds, asked.overwrite, largest)
    with Bar(quiet) as bar:
        text = measure(plan, bar)
    if asked.save is not None:
        save_whole(asked.save, text)
    return parse_fio(text, Path("fio.json") if asked.save is None else asked.save)


def _print(found: DiskCalibration) -> None:
    table = found.table
    console = output()
    rows = _table("", "rate", "overhead")
    rows.add_row("read", f"{table.read_rate / _MEGABYTE:,.1f} MB/s", _micro(table.read_overhead))
    rows.add_row("write", f"{table.write_rate / _MEGABYTE:,.1f} MB/s", _micro(table.write_overhead))
    console.print(rows)
    seeks = _table("size", "read seek", "write seek")
    for size, read, write in zip(
        table.request_sizes, table.read_seek, table.write_seek, strict=True
    ):
        seeks.add_row(exact_bytes(size), _micro(read), _micro(write))
    console.print(seeks)
    console.print(_curves(found))
    errors = _table(f"RMSE over {len(table.request_sizes)} sizes", "MB/s", "of the mean measured")
    for mode, title in _TITLES.items():
        error = found.rmse[mode]
        rate = f"{error.bytes_per_second / _MEGABYTE:,.2f}"
        errors.add_row(title, rate, f"{100 * error.fraction:.2f} %")
    console.print(errors)


def _curves(found: DiskCalibration) -> Table:
    """Bandwidths in MB/s, each mode's measured and modelled side by side."""
    curves = _table("MB/s", *(name for mode in found.rmse for name in (mode, "model")))
    by_cell = {(point.mode, point.request_bytes): point for point in found.points}
    for size in found.table.request_sizes:
        cells = []
        for mode in found.rmse:
            point = by_cell.get((mode, size))
            cells += (
                ["-", "-"]
                if point is None
                else [
                    _rate(point.measured_bytes_per_second),
                    _rate(point.modelled_bytes_per_second),
                ]
            )
        curves.add_row(exact_bytes(size), *cells)
    return curves


def _rate(bytes_per_second: float) -> str:
    """Megabytes a second in few enough letters for nine columns in a terminal."""
    value = bytes_per_second / _MEGABYTE
    return f"{value:,.1f}" if value < 999.95 else f"{value:,.0f}"


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for index, name in enumerate(names):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    return table


def _micro(seconds: float) -> str:
    """A duration of the table for people: in microseconds, to the nanosecond."""
    return f"{seconds * 1e6:,.3f} us" if seconds else "0 us"
