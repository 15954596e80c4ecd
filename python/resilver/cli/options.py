"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from resilver.cli.saving import PAGES, PICTURES
from resilver.request import option

FigureFormat = Literal["png", "svg", "pdf"]
"""File formats of figures."""

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="One line for each run that ends.")]


stated = partial(option, show_default=True)
"""An option whose help states its default."""


def page_output() -> Any:
    """Where the page of an answer goes."""
    text = "Write the answer as a page there."
    return file_output("FILE.html", text)


def file_output(metavar: str, text: str, endings: Sequence[str] | None = PAGES, **more: Any) -> Any:
    """Where an answer goes.

    Args:
        endings: The endings that its name may have; none where any, None where the command says.
    """
    more |= {"metavar": metavar, "text": text, "endings": endings}
    return option("--output", "-o", is_output=True, **more)


def overrides(what: str, example: str) -> Any:
    """Keys of a file that a command reads, with other values.

    Args:
        what: The file, such as "the study".
        example: Such as ``cluster.servers=128``.
    """
    text = f"Override one key of {what}, for example --set {example}. Repeatable."
    return option("--set", metavar="KEY=VALUE", text=text, default=())


def workers(text: str) -> Any:
    """How many processes perform what is simulated."""
    return option("--workers", metavar="N", min=1, text=text, is_output=True)


@dataclass(frozen=True)
class Workers:
    """What performs what is simulated."""

    workers: int | None = workers("Parallel processes; by default one a processor.")
    cluster: str | None = option(
        metavar="WHERE",
        text="Run on a cluster: the address or scheduler file of a running Dask scheduler, slurm, "
        "pbs or lsf, or allocation in a task of srun.",
        is_output=True,
    )
    cluster_config: Path | None = option(
        metavar="FILE",
        text="What to ask slurm, pbs or lsf for: cores, memory, walltime and so on, as TOML.",
        is_output=True,
    )


@dataclass(frozen=True)
class Where(Workers):
    """Where the runs of a study are performed."""

    split: int | None = option(
        text="Scan each run's population in N parts at once; by default long runs are split where "
        "a cluster has workers to spare.",
    )


def figures_output() -> Any:
    """The folder of the charts."""
    text = "Write the charts as files there too."
    return option("--figures", metavar="DIR", text=text, is_output=True)


def figure_format() -> Any:
    """As what the charts are written."""
    text = "File format of the figures."
    return stated("--format", text=text, default="png", is_output=True)


def figure_output(text: str = "Draw measured against modelled bandwidth there") -> Any:
    """Where the chart of a calibration goes.

    Args:
        text: What is drawn.
    """
    text = f"{text} (.png, .svg or .pdf)."
    return option("--figure", metavar="FILE", text=text, is_output=True, endings=PICTURES)


def table_output(text: str) -> Any:
    """Where the calibrated part goes.

    Args:
        text: What is written.
    """
    return file_output("FILE.toml", f"{text} Or the answer as a page (.html).", (".toml", *PAGES))


measuring = partial(option, rich_help_panel="Measuring")
"""An option of a measurement."""
