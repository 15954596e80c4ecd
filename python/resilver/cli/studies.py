"""Options of the commands that perform studies; what performs them is imported when it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resilver.cli.options import (
    FigureFormat,
    Json,
    Quiet,
    Verbose,
    Where,
    figure_format,
    figures_output,
    overrides,
    workers,
)
from resilver.request import argument, option


@dataclass(frozen=True)
class DemoRequest:
    """Where the demo goes, and what performs it."""

    output: Path | None = option(
        "--output", "-o", metavar="DIR", text="Run folder; by default runs/demo."
    )
    workers: int | None = workers("Processes; by default one a processor.")


def demo(
    request: DemoRequest, as_json: Json = False, quiet: Quiet = False, verbose: Verbose = False
) -> int:
    """Rebuild one lost server of 64, print a summary and write its report page.

    Example: resilver demo
    """
    _begin_workers(request.workers)
    from resilver.cli.running import demo as perform

    return perform(request, as_json=as_json, quiet=quiet, verbose=verbose)


def _begin_workers(count: int | None) -> None:
    """Have what workers import be imported while this process imports and reads the study."""
    if count != 0:
        from resilver.study import fork_server

        fork_server.begin()


@dataclass(frozen=True)
class StudyRequest:
    """A study file with other values of some keys."""

    study: Path = argument(
        "STUDY.toml", text="The study file, or the name of a study in the catalog."
    )
    settings: tuple[str, ...] = overrides("the study", "cluster.servers=128")


def check(request: StudyRequest, as_json: Json = False) -> int:
    """Validate a study, list what its results rest on, and estimate its cost.

    Prints what the study states; --json has every default too. Exits with 1 if a run needs more
    memory than this machine has.

    Example: resilver check study.toml --set cluster.servers=128
    """
    from resilver.cli.check import check as perform

    return perform(request, as_json=as_json)


@dataclass(frozen=True)
class RunRequest(StudyRequest):
    """What is run, and into which folder."""

    output: Path | None = option(
        "--output", "-o", metavar="DIR", text="Run folder; by default runs/ and the study's name."
    )
    sensitivity: bool = option(
        text="Run again with each assumption halved and doubled, and name the bottleneck.",
        default=False,
    )
    trace: str | None = option(
        metavar="WINDOW",
        text="Write every message, request, buffer and wait of a window of the first run's time.",
    )
    each: str | None = option(
        metavar="LEVEL",
        text="Fail each part of a level in turn, such as osd or host, and rank them.",
    )
    aim: str | None = option(
        metavar="AIM",
        text="Rank the systems of a sweep: most or least of a metric, then limits to keep.",
    )


def run(
    request: RunRequest,
    where: Where,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Run a study; resumes if interrupted.

    Ctrl-C keeps finished runs; the same command does the rest. Exits with 1 if PGs of a real Ceph
    cluster are stuck or lost at the end, as resilver what-if does.

    Examples:

    resilver run study.toml -o runs/study --workers 2

    resilver run study.toml --sensitivity

    resilver run study.toml --trace "1 s..2 s"

    resilver run study.toml --each osd -o runs/each-osd

    resilver run study.toml --aim "most throughput, rebuild_seconds <= 2 h"

    resilver run study.toml --cluster tcp://node1:8786

    resilver run study.toml --cluster slurm --cluster-config cluster.toml
    """
    if where.cluster is None:
        _begin_workers(where.workers)
    from resilver.cli.running import run as perform

    return perform(request, where, as_json=as_json, quiet=quiet, verbose=verbose)


@dataclass(frozen=True)
class StatusRequest:
    """Which folder is looked at, and for how long."""

    folder: Path = argument("DIR", text="A run folder.")
    watch: bool = option("--watch", "-w", text="Go on until it ends.", default=False)


def status(request: StatusRequest, as_json: Json = False) -> int:
    """Show the progress of a run folder: runs done, failed and left, rate, time left.

    It reads the folder only, and so works from another terminal, while a batch job runs, or over a
    network file system. Ends with 3 for a sweep that was left incomplete.

    Example: resilver status runs/study --watch
    """
    from resilver.cli.status import status as perform

    return perform(request.folder, watch=request.watch, as_json=as_json)


@dataclass(frozen=True)
class ReportRequest:
    """Which folder is reported on, and which charts are written as files."""

    folder: Path = argument("DIR", text="A run folder.")
    output: Path | None = option(
        "--output", "-o", metavar="FILE", text="The page; by default report.html in the folder."
    )
    figures: Path | None = figures_output()
    figure_format: FigureFormat = figure_format()
    names: tuple[str, ...] = option(
        "--chart",
        metavar="NAME",
        text="Of the charts only this one; repeatable.",
        default=(),
    )
    every: bool = option(
        "--every-system", text="Charts of one run for each system of a sweep.", default=False
    )
    width: int = option(
        metavar="PX",
        min=300,
        max=4000,
        text="Width of a chart.",
        default=760,
        show_default=True,
    )
    watch: bool = option(
        "--watch", "-w", text="Write the page again as runs of a sweep finish.", default=False
    )

    @property
    def page(self) -> Path:
        """Where the page goes."""
        return self.output if self.output is not None else self.folder / "report.html"


def report(request: ReportRequest, as_json: Json = False) -> int:
    """Write one offline page with the key figures and charts of a run folder.

    Examples:

    resilver report runs/demo -o demo.html

    resilver report runs/demo --figures figures --chart timeline --format pdf
    """
    from resilver.cli.report import report as perform

    return perform(request, as_json=as_json)
