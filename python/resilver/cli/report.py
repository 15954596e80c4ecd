"""`resilver report`: the page and the figures of a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from resilver.cli.console import print_json, say
from resilver.errors import ConfigError
from resilver.study import Results


def report(
    folder: Path,
    output: Path | None,
    figures: Path | None,
    figure_format: Literal["png", "svg"],
    *,
    as_json: bool,
) -> None:
    """Write the page, and the figures if they are wanted.

    Args:
        folder: the run folder.
        output: the page; by default report.html in the run folder.
        figures: a folder for the charts as files.
        figure_format: "png" or "svg".
        as_json: print the written paths as JSON.

    Raises:
        ConfigError: the folder is not a complete run folder, or a file cannot be written.
    """
    from resilver.report import write_figures, write_html

    results = Results.open(folder)
    page_path = output if output is not None else folder / "report.html"
    try:
        page_path.parent.mkdir(parents=True, exist_ok=True)
        page = write_html(results, page_path)
        written: list[Path] = []
        if figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
            written = write_figures(results, figures, format=figure_format)
    except OSError as error:
        place = error.filename or page_path
        raise ConfigError(
            f"{str(place)!r} cannot be written: {error.strerror or error}; choose another place"
        ) from error
    if as_json:
        print_json({"report": str(page), "figures": [str(path) for path in written]})
        return
    print(page)
    for path in written:
        print(path)
    say(f"open {page} in a browser; it needs no network")
