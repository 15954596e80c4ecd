"""`resilver demo`: the main job on an example that ships."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from resilver.cli.running import answer_study, perform
from resilver.cli.studies import DemoRequest


def demo(request: DemoRequest, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Execute the demo study, print its summary and write its report page.

    Args:
        request: where the runs go, and how many processes perform them.
        as_json: print the runs as JSON instead of the summary.
        quiet: print neither progress nor summary.
        verbose: print one line for each run that ends.

    Returns:
        The exit code.
    """
    from resilver.explore.beside import explore_beside
    from resilver.report import write_html
    from resilver.spec import Study

    folder = request.output if request.output is not None else Path("runs") / "demo"
    with as_file(files("resilver.catalog") / "studies" / "demo" / "study.toml") as path:
        study = Study.load(path)
    results = perform(study, folder, workers=request.workers, quiet=quiet, verbose=verbose)
    page = folder / "report.html"
    write_html(results, page, explore=explore_beside(results, page))
    return answer_study(results, f"open {page} in a browser", as_json=as_json, quiet=quiet)
