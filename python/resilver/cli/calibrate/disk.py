"""`resilver calibrate disk`: a volume's table from fio's output, or from fio run here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resilver.answer import Answer
from resilver.cli.options import figure_output, measuring, stated, table_output
from resilver.cli.progress import Display
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError
from resilver.request import argument, option, size, value_of
from resilver.units import Bytes

if TYPE_CHECKING:
    from resilver.calibration import DiskCalibration
    from resilver.importers.fio import FioReport


_SIZE = size("4 GiB")


@dataclass(frozen=True)
class DiskRequest:
    """Which measurements of a disk are fitted, or made, and what comes of them."""

    files: tuple[Path, ...] = argument(
        "FIO.json|RATES",
        text="What fio wrote with --output-format=json; or fair-lio, the OLCF suite or another "
        "benchmark of block devices.",
        default=(),
    )
    output: Path | None = table_output("Write the table there, for cluster.device of a study.")
    figure: Path | None = figure_output()
    fit: Literal["recipe", "line"] = stated(
        text="recipe: largest rate, median latencies. line: least squares on bandwidths.",
        default="recipe",
    )
    queue: int | None = option(
        min=1,
        text="Of several queue depths the one to fit; by default 4, else the least.",
    )
    run: Path | None = measuring(
        metavar="DEVICE_OR_FILE",
        text="Measure with fio instead: a file to make (removed after), or a block device.",
    )
    seconds: float = measuring(
        min=0.1,
        max=86400,
        text="For each job: four patterns by 12 sizes are 48.",
        default=60.0,
        show_default=True,
    )
    size: str = measuring(
        text="How much of the disk to use.",
        default="4 GiB",
        show_default=True,
        quantity=_SIZE,
    )
    largest: str = measuring(
        text="The largest size to measure.",
        default="8 MiB",
        show_default=True,
        quantity=_SIZE,
    )
    overwrite: bool = measuring(
        text="Destroy what an existing file or a block device holds.", default=False
    )
    save: Path | None = measuring(
        metavar="FIO.json", text="Keep what fio measured.", is_output=True, endings=()
    )


def disk(asked: DiskRequest, quiet: bool = False) -> Answer:
    """Fit the service-time table of a disk to results of fio or another benchmark.

    It needs reads and writes, in order and at random, at equal sizes with one queue depth; --fit
    line does with fewer sizes of some, as a reduced plan of resilver bench plan measures them.

    Examples:

    resilver calibrate disk disk.json -o disk.toml --figure disk.png

    resilver calibrate disk --run /mnt/data/probe --seconds 10 --size "8 GiB" -o disk.toml
    """
    from resilver.report.calibration import disk_answer

    return disk_answer(_calibration(asked, quiet))


def _calibration(asked: DiskRequest, quiet: bool) -> DiskCalibration:
    from resilver.calibration.block_rates import read_disk
    from resilver.calibration.disk import calibrate_report

    if asked.run is None and asked.save is not None:
        rule = "--save keeps what --run measures"
        raise ConfigError(rule, "leave --save out, or write the table with -o")
    if (asked.run is None) == (not asked.files):
        rule = "either measured files or --run is needed, and not both"
        raise ConfigError(rule, "name the files, or what to measure")
    report = (
        read_disk(asked.files, asked.queue)
        if asked.run is None
        else _measured(asked, asked.run, quiet)
    )
    return calibrate_report(report, asked.fit)


def _measured(asked: DiskRequest, target: Path, quiet: bool) -> FioReport:
    from resilver.calibration.fio_run import FioPlan, measure
    from resilver.importers.fio import parse_fio

    room, largest = (Bytes(value_of(asked, name) or 0) for name in ("size", "largest"))
    plan = FioPlan(target, room, asked.seconds, asked.overwrite, largest)
    with Display(quiet=quiet) as display:
        text = measure(plan, display)
    if asked.save is not None:
        save_whole(asked.save, text)
    return parse_fio(text, Path("fio.json") if asked.save is None else asked.save)
