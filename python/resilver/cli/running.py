"""`resilver run`: perform a study and say what came of it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.cli.console import say
from resilver.cli.loading import load_study
from resilver.cli.progress import StudyDisplay
from resilver.cli.replying import reply
from resilver.spec import Study
from resilver.study import Results, execute, trace
from resilver.study.executors import choose
from resilver.study.tracing import parse_window, traced_run

if TYPE_CHECKING:
    from resilver.cli.options import Where
    from resilver.cli.studies import DemoRequest, RunRequest
    from resilver.spec import Study


def run(request: RunRequest, where: Where, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Load, execute, and print the summary or the runs as JSON."""
    # Before the study is read: in an allocation, this is where all tasks but the driver's stay.
    with closing(
        choose(where.cluster, workers=where.workers, cluster_config=where.cluster_config)
    ) as choice:
        options = (("each", request.each), ("aim", request.aim))
        stated = [
            f"study.{key}={json.dumps(value, ensure_ascii=False)}"
            for key, value in options
            if value is not None
        ]
        study = load_study(request.study, (*request.settings, *stated))
        # A file called `...toml` has the parent folder for a stem.
        stem = request.study.stem.strip(".") or "study"
        folder = request.output if request.output is not None else Path("runs") / stem
        if request.trace is not None:
            # What cannot be traced is refused before anything runs.
            parse_window(request.trace)
            traced_run(study)
        results = perform(study, folder, choice, where.split, quiet=quiet, verbose=verbose)
        if request.sensitivity:
            _turn(study, folder, choice, quiet=quiet, verbose=verbose)
        if request.trace is not None:
            of_run = trace(study, folder, request.trace, executor=choice)
            if not quiet:
                counts = ", ".join(f"{name} {t.num_rows:,}" for name, t in of_run.tables.items())
                say(f"traced {of_run.run} in {shown(of_run.folder)}; rows: {counts}")
    beside = _beside(results) if request.sensitivity else None
    next_command = f"resilver report {shown(folder)}"
    return answer_study(results, next_command, as_json=as_json, quiet=quiet, beside=beside)


def answer_study(
    results: Results,
    next_command: str,
    *,
    as_json: bool,
    quiet: bool,
    beside: Mapping[str, Any] | None = None,
) -> int:
    """Say what became of a study.

    Args:
        next_command: what the reader may want to type next.
        beside: what the JSON has beside the runs; the runs alone by default.

    Returns:
        The exit code: 1 where PGs of a real cluster are stuck or lost at the end, as of a what-if.
    """
    from resilver.report.clusters import clusters_answer, is_of_clusters
    from resilver.report.provenance import cost_note
    from resilver.report.study import records, study_answer

    answer = clusters_answer(results) if is_of_clusters(results) else study_answer(results)
    rows = records(results) if as_json else []
    answer = replace(
        answer,
        record={"runs": rows, **beside} if beside is not None else rows,
        notes=[*answer.notes, cost_note(results)],
    )
    return reply(answer.then([next_command]), as_json=as_json, quiet=quiet)


def _turn(study: Study, folder: Path, choice: Any, *, quiet: bool, verbose: bool) -> None:
    """Run the study with each assumption lower and higher, with progress on stderr."""
    from resilver.study import sensitivity

    command = ["resilver", *sys.argv[1:]]
    with StudyDisplay(quiet=quiet, verbose=verbose) as display:
        sensitivity(study, folder, executor=choice, progress=display, command=command)


def _beside(results: Results) -> dict[str, Any]:
    """What is said beside the runs: what they rest on, and what each of that is worth."""
    return {
        "assumptions": results.provenance["assumptions"],
        "chances": results.provenance["chances"],
        "sensitivity": [one.record() for one in results.sensitivity],
    }


def perform(
    study: Study,
    folder: Path,
    choice: Any = None,
    split: int | None = None,
    *,
    workers: int | None = None,
    quiet: bool,
    verbose: bool,
) -> Results:
    """Execute a study with progress on stderr.

    Args:
        choice: what performs the runs; by default processes of this machine.
        split: into how many parts to split the scan of each run's population.
        workers: parallel processes of this machine; by default one a processor.
        verbose: print one line for each run that ends.
    """
    command = ["resilver", *sys.argv[1:]]
    with StudyDisplay(quiet=quiet, verbose=verbose) as display:
        results = execute(
            study,
            folder,
            workers=workers,
            executor=choice,
            split=split,
            progress=display,
            command=command,
        )
    if not quiet:
        total = len(set(results.provenance["run_keys"]))
        # A folder that is complete already needs no execution, and then nothing was shown.
        reused = total if display.reused is None else display.reused
        if reused:
            say(f"{reused} of {total} runs were in {shown(folder)} already and have been reused")
    return results


def shown(path: Path) -> str:
    """A path as a person would type it in a shell.

    Returns:
        The path, quoted if it has to be.
    """
    return shlex.quote(str(path))


def demo(request: DemoRequest, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Execute the study of the catalog of this name, and write its page."""
    from resilver.explore.page import explore_beside
    from resilver.report import write_html

    folder = request.output if request.output is not None else Path("runs") / "demo"
    with as_file(files("resilver.catalog") / "studies" / "demo" / "study.toml") as path:
        study = Study.load(path)
    results = perform(study, folder, workers=request.workers, quiet=quiet, verbose=verbose)
    page = folder / "report.html"
    write_html(results, page, explore=explore_beside(results, page))
    return answer_study(results, f"open {page} in a browser", as_json=as_json, quiet=quiet)
