"""The page of a judgement that needs no run: sentences, sections of tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer.document import Document, rendered, write_page

if TYPE_CHECKING:
    from resilver.report.headline import KeyFigure


@dataclass(frozen=True)
class PageSection:
    """A section of the page.

    Args:
        heading: Its heading.
        texts: Its paragraphs.
        parts: HTML that a `Document` made: tables and figures.
    """

    heading: str
    texts: Sequence[str] = ()
    parts: Sequence[str] = field(default=(), repr=False)

    @property
    def anchor(self) -> str:
        """Its address on the page."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.heading.lower()).split())


def write_judged(
    page: Document,
    path: str | Path,
    title: str,
    answer: Sequence[str],
    sections: Sequence[PageSection],
    provenance: Mapping[str, str],
    figures: Sequence[KeyFigure] = (),
) -> Path:
    """Write such a page.

    Args:
        page: What its tables and charts were added to.
        path: The file to write; it is replaced in one step.
        title: Its title.
        answer: Its first sentences.
        sections: What follows.
        provenance: What it is made from, by what that is.
        figures: Numbers worth knowing, below those sentences.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    from resilver import __version__

    told = {"resilver": __version__, **{key: text for key, text in provenance.items() if text}}
    body = rendered(
        "judged.html",
        title=title,
        answer=answer,
        figures=figures,
        sections=sections,
        provenance=told,
    )
    return write_page(page.assemble(title, body), path, "page")
