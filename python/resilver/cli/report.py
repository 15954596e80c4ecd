"""`resilver report`: the page and the figures of a run folder."""

from __future__ import annotations

import time
from pathlib import Path

from pyarrow import ArrowInvalid

from resilver.cli.console import EXIT_INCOMPLETE, print_json, say
from resilver.cli.studies import ReportRequest
from resilver.errors import ConfigError
from resilver.study import PartialResults, Results, Status, status

# A person who looks at charts does not follow more, and drawing takes seconds from the runs.
_SECONDS_BETWEEN_PAGES = 5.0
_SECONDS_BETWEEN_LOOKS = 1.0


def report(request: ReportRequest, *, as_json: bool) -> int:
    """Write the page, and the figures if they are wanted; 3 if the sweep ended incomplete."""
    from resilver.explore.page import explore_beside
    from resilver.report import write_figures, write_html
    from resilver.report.waits import wait_records

    page_path, folder = request.page, request.figures
    _check(request)
    if request.watch and not follow(request.folder, page_path, as_json=as_json):
        return EXIT_INCOMPLETE
    results = Results.open(request.folder)
    try:
        page_path.parent.mkdir(parents=True, exist_ok=True)
        page = write_html(results, page_path, explore=explore_beside(results, page_path))
        written: list[Path] = []
        if folder is not None:
            written = write_figures(
                results,
                folder,
                format=request.figure_format,
                names=request.names,
                every=request.every,
                width=request.width,
            )
    except OSError as error:
        place = error.filename or page_path
        raise ConfigError(
            f"{str(place)!r} cannot be written: {error.strerror or error}; choose another place"
        ) from error
    if as_json:
        paths = [str(path) for path in written]
        print_json({"report": str(page), "figures": paths, "waits": wait_records(results)})
        return 0
    if not request.watch:
        print(page)
    for path in written:
        print(path)
    if request.watch:
        say("all runs are finished, and the page is complete")
    else:
        say(f"open {page} in a browser; it needs no network")
    return 0


def _check(request: ReportRequest) -> None:
    """Refuse what would not be what its name says, before anything is written."""
    from resilver.charts.vega import FORMATS

    page = request.page
    ending = page.suffix.lower().removeprefix(".")
    if ending in FORMATS:
        rule = f"the page is HTML; write -o {page.with_suffix('.html').name}, or for the charts as "
        raise ConfigError(f'-o "{page.name}": {rule}files --figures DIR --format {ending}')
    if request.figures is None and (request.names or request.every):
        option = "--chart" if request.names else "--every-system"
        raise ConfigError(f"{option} is of charts as files; add --figures DIR")


def follow(folder: Path, page: Path, *, as_json: bool) -> bool:
    """Write the page as runs finish, until the sweep ends.

    Args:
        as_json: print nothing on the way, and the page as JSON if the sweep ends incomplete.

    Returns:
        Whether the sweep is complete; the page that says so is still to be written.

    Raises:
        ConfigError: it is no run folder, or the page cannot be written.
    """
    shown: tuple[int, int] | None = None
    due, pause = 0.0, _SECONDS_BETWEEN_PAGES
    while True:
        found = status(folder)
        if found.state == "complete":
            return True
        running = found.state == "running"
        now = (found.finished, found.failed)
        if not running or (now != shown and time.monotonic() >= due):
            begun = time.monotonic()
            _write_so_far(found, page, reload_seconds=round(pause) if running else None)
            ended = time.monotonic()
            # At most a tenth of a processor is taken from the runs.
            pause = max(_SECONDS_BETWEEN_PAGES, 10.0 * (ended - begun))
            due = ended + pause
            if shown is None and not as_json:
                print(page, flush=True)
                if running:
                    say(f"open {page} in a browser; it loads itself again as runs finish")
            shown = now
        if not running:
            if as_json:
                print_json({"report": str(page), "figures": []})
            say(f"{found.finished} of {found.total} runs are finished, and the sweep has stopped")
            return False
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _write_so_far(found: Status, page: Path, *, reload_seconds: int | None) -> None:
    from resilver.answer.model import Standing
    from resilver.report.html import this_moment, write_live

    progress = found.progress
    standing = Standing(
        found.finished,
        found.total,
        found.failed,
        this_moment(),
        progress.seconds_left if progress is not None else None,
        reload_seconds,
    )
    try:
        write_live(PartialResults(found.folder, found.finished_keys), page, standing)
    except (OSError, ArrowInvalid) as error:
        # A shard that is being replaced, or that a new start of the sweep has taken away.
        say(f"the page could not be written this time: {error}")
