"""What an answer is made of: a verdict, figures, sections of tables and charts, and its record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resilver.charts.chart import Chart
from resilver.tables import Table


@dataclass(frozen=True)
class KeyFigure:
    """One number worth knowing.

    Args:
        label: What it is, in a few words.
        value: The number in the SI unit `unit`.
        unit: "s", "B/s", "B", "1" (a ratio), "share", "hops" or the noun of a count.
        text: The number for people.
        detail: Its spread or context; may be empty.
    """

    label: str
    value: float
    unit: str
    text: str
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Shown:
    """A table of an answer.

    Args:
        name: What it is called on a page and in file names: letters, digits and hyphens.
        title: What it holds.
        table: The table, whose first columns say most: a narrow terminal shows no others.
        columns: How many of its columns people read; the CSV has all.
        rows: How many of its rows a page shows; None for all.
        printed: How many of its rows the terminal shows; 0 leaves the table to the page.
        is_turned: Whether the terminal shows each row as a column: few rows, many columns.
    """

    name: str
    title: str
    table: Table
    columns: int | None = None
    rows: int | None = None
    printed: int = 40
    is_turned: bool = False


@dataclass(frozen=True)
class Lines:
    """Lines that a reader copies, such as commands.

    Args:
        name: What they are called on a page.
        title: What they are.
        lines: The lines.
        printed: How many of them the terminal shows; None for all.
    """

    name: str
    title: str
    lines: Sequence[str]
    printed: int | None = None


Part = Shown | Lines | Chart
"""What a section shows."""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of an answer.

    Args:
        heading: Its heading.
        parts: What it shows, in the order of a page.
        texts: Its paragraphs on a page.
    """

    heading: str
    parts: Sequence[Part] = field(default=(), repr=False)
    texts: Sequence[str] = ()

    @property
    def anchor(self) -> str:
        """Its address on the page."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.heading.lower()).split())


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to what a command was asked.

    Args:
        title: The title of its page.
        verdict: Its first sentences; the first one answers the question.
        sections: What stands behind it.
        record: The same for a program, JSON-able, in SI units.
        holds: Whether the answer is yes, where it is yes or no.
        figures: Numbers worth knowing, below the verdict on a page.
        notes: What it rests on, and what was left out.
        source: What it is made from, by what that is.
    """

    title: str
    verdict: Sequence[str]
    sections: Sequence[Section] = field(default=(), repr=False)
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)
    holds: bool = True
    figures: Sequence[KeyFigure] = ()
    notes: Sequence[str] = ()
    source: Mapping[str, str] = field(default_factory=dict)

    def parts(self) -> Iterator[Part]:
        """The parts of all sections, in their order."""
        return (part for section in self.sections for part in section.parts)

    def charts(self) -> list[Chart]:
        """The charts of all sections, in their order."""
        return [part for part in self.parts() if isinstance(part, Chart)]

    def tables(self) -> dict[str, Table]:
        """The tables of all sections by name."""
        return {part.name: part.table for part in self.parts() if isinstance(part, Shown)}

    def to_dict(self) -> dict[str, Any]:
        """The record of the answer."""
        return dict(self.record)

    def _repr_html_(self) -> str:
        """How a notebook shows it: the verdict and the tables, without a script."""
        from resilver.answer.page import notebook

        return notebook(self)


def sections_of(*given: tuple[str, Iterable[Part | None]] | Section) -> list[Section]:
    """Sections of those of these that show anything.

    Args:
        given: A section, or its heading and its parts, of which None is left out.
    """
    made = [
        one
        if isinstance(one, Section)
        else Section(one[0], [part for part in one[1] if part is not None])
        for one in given
    ]
    return [one for one in made if one.parts or one.texts]
