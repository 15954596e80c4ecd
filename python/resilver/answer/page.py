"""An answer as one offline HTML page, and as a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from resilver.answer.document import Document, parts, rendered, write_page
from resilver.answer.model import Answer, Lines, Part, Section, Shown


def shown(page: Document, part: Part) -> str:
    """A part of an answer as HTML.

    Args:
        page: What carries its chart or its CSV.
        part: The part.
    """
    if isinstance(part, Shown):
        return page.shown(part.name, part.title, part.table, rows_max=part.rows, read=part.read())
    if isinstance(part, Lines):
        return page.lines(part.name, part.title, part.lines)
    return page.figure(part)


def render(answer: Answer, source: Mapping[str, str] | None = None) -> str:
    """The page of an answer as text.

    Args:
        answer: The answer.
        source: More about what it is made from, by what that is.
    """
    from resilver import __version__

    page = Document()
    page.hosts |= answer.hosts
    sections = [*answer.sections]
    if answer.notes or answer.basis:
        sections.append(Section("What this rests on", answer.basis, answer.notes))
    every = {"resilver": __version__, **answer.source, **(source or {})}
    body = rendered(
        "answer.html",
        title=answer.title,
        answer=answer.verdict,
        figures=answer.figures,
        sections=[(one, [shown(page, part) for part in one.parts]) for one in sections],
        provenance={key: text for key, text in every.items() if text},
    )
    return page.assemble(answer.title, body)


def write(answer: Answer, path: str | Path, command: str = "") -> Path:
    """Write the page of an answer.

    Args:
        answer: The answer.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    return write_page(render(answer, {"Made by": command}), path, "page")


def notebook(answer: Answer) -> str:
    """The verdict and the tables of an answer, as HTML without a script.

    Args:
        answer: The answer.
    """
    from markupsafe import escape

    said = "".join(f"<p>{escape(text)}</p>" for text in answer.verdict)
    tables = (part for part in answer.parts() if isinstance(part, Shown) and part.printed)
    return said + "".join(
        f"<h4>{escape(one.title)}</h4>{parts().table(one.table, one.title, one.printed)}"
        for one in tables
    )
