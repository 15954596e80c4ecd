"""`resilver import benchmark`: what benchmark programs wrote, as one table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from resilver.cli.console import output, print_json, say
from resilver.cli.options import Json, Quiet
from resilver.cli.saving import TABLES, check_output, keep_inputs, save_whole
from resilver.cli.tables import print_figures
from resilver.request import argument, option

if TYPE_CHECKING:
    from resilver.importers.benchmarks import Benchmarks

_SHOWN = 40
# So many columns a window of such a width has room for; a wider one has all.
_COLUMNS = ((80, 4), (150, 5))


class DataLayer(StrEnum):
    """What a program that moves data may have measured."""

    block = "block"
    server = "server"
    file_system = "file system"


@dataclass(frozen=True)
class Asked:
    """What is read, and where the table goes."""

    files: tuple[Path, ...] = argument(
        "FILE",
        text="What fair-lio, the OLCF suite, obdfilter-survey, sgpdd-survey, IOR, mdtest, IO500, "
        "fio (JSON) or elbencho wrote; gzipped or not. The format is detected.",
    )
    output: Path | None = option(
        "--output", "-o", metavar="FILE", text="The table to write: .csv or .parquet."
    )
    fio_layer: DataLayer = option(
        "--fio-layer",
        text="What fio measured.",
        default=DataLayer.block,
        show_default=True,
    )


def benchmark(asked: Asked, as_json: Json = False, quiet: Quiet = False) -> None:
    """Read the output of benchmark programs as one table of rates.

    A row is a rate: of which layer, in which mode, at which size of requests, with how many
    requests, threads, clients and devices. Where two layers were measured alike it says what the
    upper one costs.

    Examples:

    resilver import benchmark fair-lio.txt ior.txt -o rates.csv

    resilver import benchmark survey.summary result_summary.txt --json
    """
    from resilver.center.benchmarks import costs
    from resilver.importers.benchmarks import own, read_benchmarks
    from resilver.report.benchmarks import benchmarks_table, costs_table, layer_sentences

    target = asked.output
    keep_inputs(target, asked.files)
    check_output(target, TABLES)
    found = read_benchmarks(asked.files, fio_layer=asked.fio_layer.value)
    between = costs(found.rows)
    if target is not None:
        is_csv = target.suffix.lower() == ".csv"
        save_whole(target, own.to_csv(found) if is_csv else own.to_parquet(found))
    if as_json:
        told = [{**asdict(one), "cost": one.cost} for one in between]
        print_json({"rates": found.to_dicts(), "costs": told, "notes": list(found.notes)})
    elif not quiet:
        for sentence in layer_sentences(found.rows, between):
            output().print(Text(sentence, "bold"))
        made = benchmarks_table(found.rows)
        room = (count for width, count in _COLUMNS if output().width < width)
        print_figures("Rates", made, next(room, len(made.columns)), _SHOWN)
        if between:
            made = costs_table(between)
            print_figures("What the layer above costs", made, len(made.columns), _SHOWN)
    _tell(found, target, quiet=quiet)


def _tell(found: Benchmarks, target: Path | None, *, quiet: bool) -> None:
    if quiet:
        return
    for note in found.notes:
        say(note)
    if target is not None:
        say(f"wrote {target}; resilver profile STUDY --measured reads it")
