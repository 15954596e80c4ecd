"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


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
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="WHERE",
        help=(
            "Run on a cluster: the address or scheduler file of a running Dask scheduler, "
            "slurm, pbs or lsf, or allocation in a task of srun."
        ),
        show_default=False,
    ),
]
ClusterConfig = Annotated[
    Path | None,
    typer.Option(
        "--cluster-config",
        metavar="FILE",
        help="What to ask slurm, pbs or lsf for: cores, memory, walltime and so on, as TOML.",
        show_default=False,
    ),
]
Split = Annotated[
    int | None,
    typer.Option(
        "--split",
        metavar="N",
        help=(
            "Scan each run's population in N parts at once; by default long runs are split where "
            "a cluster has workers to spare."
        ),
        show_default=False,
    ),
]
Figures = Annotated[
    Path | None,
    typer.Option("--figures", metavar="DIR", help="Write the charts as files there too."),
]
Format = Annotated[FigureFormat, typer.Option("--format", help="File format of the figures.")]
