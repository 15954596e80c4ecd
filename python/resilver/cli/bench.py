"""`resilver bench`: which block tests to run in a given time, and running them with fio."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resilver.answer import Answer, Form
from resilver.cli.console import say
from resilver.cli.options import file_output, stated
from resilver.cli.progress import Display
from resilver.errors import ConfigError, show
from resilver.request import Quantity, argument, option, seconds, size, value_of
from resilver.units import Bytes, Seconds
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.calibration.bench_plan import Plan

_HOUR, _MINUTE = 3600.0, 60.0
_TIME, _PAUSE = seconds("30 s"), Quantity(Seconds.parse, "15 s", least=-1.0)


@dataclass(frozen=True)
class PlanAsked:
    """What is planned."""

    like: Literal["olcf3"] = stated(
        text="The published plan that tests are taken from: olcf3, the benchmarks by which the "
        "OLCF chose Spider II.",
        default="olcf3",
    )
    budget: str | None = option(
        metavar="TIME",
        text="How long all of it may take, such as 30min: the tests that tell most of a disk's "
        "table. By default the whole published plan.",
        quantity=_TIME,
    )
    seconds: str = stated(
        metavar="TIME", text="How long a test takes.", default="30 s", quantity=_TIME
    )
    pause: str = stated(metavar="TIME", text="The rest after it.", default="15 s", quantity=_PAUSE)
    seed: int | None = option(
        min=0,
        text="What the order is drawn from; by default the plan's own.",
    )
    output: Path | None = file_output(
        "FOLDER",
        "Where the plan, fio's jobs and the scripts for IOR and obdfilter-survey go.",
        endings=None,
    )


@dataclass(frozen=True)
class RunAsked:
    """Which plan is run, and where."""

    plan: Path = argument("PLAN", text="The folder of a plan, or its plan.json.")
    target: Path | None = option(
        metavar="FILE_OR_DEVICE",
        text="A file to make (removed after), or with --overwrite a block device; by default a "
        "file in the plan's folder.",
    )
    size: str = stated(text="How much of it to use.", default="4 GiB", quantity=size("4 GiB"))
    overwrite: bool = option(
        text="Destroy what an existing file or a block device holds.", default=False
    )


def plan(asked: PlanAsked) -> Answer:
    """Plan block tests: a published grid, or the most informative in a given time.

    Tests are in a random order of a fixed seed. With -o it writes the plan, which resilver bench
    run runs, the same as a job file of fio's, and scripts for IOR and obdfilter-survey.

    Examples:

    resilver bench plan --like olcf3

    resilver bench plan --budget 30min -o bench
    """
    from resilver.calibration.bench_plan import GRIDS, reduced

    seconds, pause = value_of(asked, "seconds") or 0.0, value_of(asked, "pause") or 0.0
    budget, grids = value_of(asked, "budget"), GRIDS[asked.like]
    if budget is None:
        plans = [grid.plan(seconds, pause, asked.seed) for grid in grids]
    else:
        plans = [reduced(grids[0], budget, seconds, pause, asked.seed)]
    written = [] if asked.output is None else _write(plans, asked.output)
    whole = grids[0].plan(seconds, pause).total_seconds
    said = []
    for one in plans:
        share = f", {100 * one.total_seconds / whole:.2g} % of the whole plan"
        time = f"{_hours(one.total_seconds)}{share if budget is not None else ''}"
        said.append(f"{len(one.tests)} tests of {one.name} take {time}.")
    files = list(map(str, written))
    record = {"plans": [one.to_dict() for one in plans], "files": files}
    wrote = "\n".join(f"wrote {file}" for file in files)
    suffix = "" if asked.output is None else asked.output.suffix.lower()
    return Answer("A plan of block tests", said, record=record, forms={suffix: Form(None, wrote)})


def run(asked: RunAsked, quiet: bool = False) -> Answer:
    """Run the tests of a plan with fio, except those that have a result.

    Ctrl-C ends fio and keeps the results of tests that ended; the same command does the rest. What
    it leaves is read by resilver import benchmark and resilver calibrate disk --fit line.

    Example: resilver bench run bench --target /mnt/data/probe --size "64 GiB"
    """
    from resilver.calibration.bench_plan import read_plan
    from resilver.calibration.bench_run import RESULTS, BenchRun, run_plan

    found = read_plan(asked.plan)
    folder = asked.plan if asked.plan.is_dir() else asked.plan.parent
    target = asked.target or folder / "target"
    room = Bytes(value_of(asked, "size") or 0)
    wanted = BenchRun(found, folder / RESULTS, target, room, asked.overwrite)
    left = len(wanted.left)
    if left and not quiet:
        each = found.seconds + found.pause_seconds
        say(f"{left} of {len(found.tests)} tests are left, {_hours(left * each)}")
    with Display(quiet=quiet) as display:
        done = run_plan(wanted, display)
    files = f"{shlex.quote(str(wanted.folder))}/*-run*.json"
    fit = f"resilver calibrate disk --fit line {files}"
    results = [str(wanted.result_of(test)) for test in found.tests]
    return Answer(
        "A run of block tests",
        [f"{plural(done, 'test')} ran."],
        record={"tests": len(found.tests), "ran": done, "results": results},
    ).then([fit], "Fit a disk to them")


def _hours(seconds: float) -> str:
    """A time as plans are told: in hours, or in minutes below one."""
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.3g} min"
    return f"{seconds / _HOUR:.2g} h"


def _write(plans: list[Plan], folder: Path) -> list[Path]:
    """Write plans and scripts; one plan stands in the folder itself, several each in its own."""
    from resilver.calibration.bench_plan import PLAN_FILE, write_plan
    from resilver.calibration.bench_scripts import OBDFILTER_SCRIPT, fio_jobs, ior_script

    files: list[tuple[Path, str, bool]] = []
    for one in plans:
        at = folder / one.name if len(plans) > 1 else folder
        files.append((at / PLAN_FILE, write_plan(one), False))
        files.append((at / "block.fio", fio_jobs(one), False))
    files.append((folder / "ior.sh", ior_script(plans[0]), True))
    files.append((folder / "obdfilter.sh", OBDFILTER_SCRIPT, True))
    there = next((path for path, _, _ in files if path.exists()), None)
    if there is not None:
        rule = "there is a plan already, and its results would be of another"
        raise ConfigError(rule, "name a new folder", key="--output", value=show(str(there)))
    try:
        for path, text, is_script in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if is_script else 0o644)
    except OSError as error:
        rule = f"it cannot be written: {error.strerror}"
        raise ConfigError(
            rule, "choose another folder", key="--output", value=show(str(folder))
        ) from None
    return [path for path, _, _ in files]
