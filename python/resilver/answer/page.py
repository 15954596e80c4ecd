"""An answer as an offline HTML page, as a notebook shows it, and its tables and charts as files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from pathlib import Path

from resilver.answer.document import Document, parts, rendered, write_page
from resilver.answer.model import Answer, Figures, Lines, Part, Section, Shown, Standing, turned
from resilver.charts.vega import write_picture
from resilver.errors import ConfigError
from resilver.tables import Table, table_bytes, to_csv


def shown(page: Document, part: Part, suffix: str = "") -> str:
    """A part of an answer as HTML.

    Args:
        page: What carries its chart or its CSV.
        suffix: What follows its name on a page of several cases.
    """
    if isinstance(part, Figures):
        return str(parts().tiles(part.figures, part.title))
    name = f"{part.name}{suffix}"
    if isinstance(part, Shown):
        read = turned(part.read()) if part.is_turned else part.read()
        closed = part.is_closed
        return page.shown(name, part.title, part.table, read, part.rows, is_closed=closed)
    if isinstance(part, Lines):
        lines = part.lines if part.shared is None else part.shared
        return page.lines(name, part.title, lines, part.file)
    return page.figure(part, name)


def _drawn(page: Document, section: Section) -> list[str]:
    """The parts of a section as HTML; charts for experts come last, under a heading."""
    suffix = "" if section.case is None else f"-{section.case}"
    every = [(part, getattr(part, "is_for_experts", False)) for part in section.parts]
    first = [shown(page, part, suffix) for part, is_last in every if not is_last]
    last = [shown(page, part, suffix) for part, is_last in every if is_last]
    return [*first, *(['<h3 class="more">More details</h3>'] if last else []), *last]


def render(
    answer: Answer,
    source: Mapping[str, str] | None = None,
    standing: Standing | None = None,
    explore: str = "",
) -> str:
    """The page of an answer as text.

    Args:
        source: More about what it is made from, by what that is.
        standing: How far what it is made from is, where that is not all there.
        explore: The name of the page beside it that computes; empty for none.
    """
    from resilver import __version__

    page = Document()
    page.hosts |= answer.hosts
    sections = [*answer.sections]
    if answer.notes or answer.basis:
        sections.append(Section("What this rests on", answer.basis, answer.notes))
    # Each heading stands once, with what its sections show: one for all cases, or one a case.
    named = groupby(sections, key=lambda one: (one.heading, one.case is None))
    shown_of = [[(one, _drawn(page, one)) for one in group] for _, group in named]
    every = {"resilver": __version__, **answer.source, **(source or {})}
    body = rendered(
        "answer.html",
        title=answer.title,
        answer=answer,
        standing=standing,
        explore=explore,
        sections=[(of[0][0], of) for of in shown_of],
        provenance={key: text for key, text in every.items() if text},
    )
    return page.assemble(answer.title, body, standing)


def write(answer: Answer, path: str | Path, command: str = "") -> Path:
    """Write the page of an answer.

    Args:
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    return write_page(render(answer, {"Made by": command}), path, "page")


def notebook(answer: Answer) -> str:
    """The verdict and the tables of an answer, as HTML without a script."""
    from markupsafe import escape

    said = "".join(f"<p>{escape(text)}</p>" for text in answer.said)
    tables = (part for part in answer.parts() if isinstance(part, Shown) and part.printed)
    return said + "".join(
        f"<h4>{escape(one.title)}</h4>{parts().table(one.table, one.title, one.printed)}"
        for one in tables
    )


def write_files(
    answer: Answer, tables: Path | None, pictures: Path | None, format: str = "png"
) -> None:
    """Write the tables of an answer and its charts as pictures, each named by its part.

    Args:
        tables: The folder of its tables and of those of its charts, as CSV, or of the tables of its
            runs; None for none.
        pictures: The folder of its charts; None for none.
        format: "png", "svg" or "pdf".

    Raises:
        ConfigError: A file cannot be written.
    """
    if tables is not None:
        files = {f"{name}.csv": partial(_csv, one) for name, one in answer.tables().items()}
        if answer.runs:
            runs = answer.runs.items()
            files = {f"{name}.parquet": partial(table_bytes, one, ".parquet") for name, one in runs}
        for name, content in files.items():
            path = tables / name
            try:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content())
            except OSError as error:
                rule = f"--tables: {str(path)!r} cannot be written ({error.strerror})"
                raise ConfigError(f"{rule}; choose another place") from error
    if pictures is not None:
        for chart in answer.charts():
            path = pictures / f"{chart.name}.{format}"
            write_picture(chart.make(), path, chart.heading, "--figures")


def _csv(table: Table) -> bytes:
    return to_csv(table, None).encode()
