"""What an answer is made of: a verdict, figures, sections of tables and charts, and its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from resilver.charts.vega import Chart
from resilver.quantities import daily, duration
from resilver.tables import Column, Table, cell_text, table_of
from resilver.units import format_duration

if TYPE_CHECKING:
    import pyarrow as pa

    from resilver.center.figures import Figure


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
        rows: How many of its rows a page shows; None for what a page shows of any.
        printed: How many of its rows the terminal shows; 0 leaves the table to the page.
        is_turned: Whether each row is shown as a column: few rows, many columns.
        is_split: Whether columns without room in a terminal stand below the others.
        folded: Whether a column of one value in all rows is named in the note instead.
        keys: How many of its first columns are whole in a terminal, which leaves none of them out;
            where it has no room for a column beside them it shows a paragraph a row.
        is_closed: Whether a page shows it closed.
    """

    name: str
    title: str
    table: Table
    columns: int | None = None
    rows: int | None = None
    printed: int = 40
    is_turned: bool = False
    is_split: bool = False
    folded: bool = False
    keys: int = 0
    is_closed: bool = False

    def read(self) -> Table:
        """The table as people read it: its first columns, without those that say nothing."""
        columns, rows = self.table.columns[: self.columns], self.table.rows
        texts = [{cell_text(row[at], of.kind) for row in rows} for at, of in enumerate(columns)]
        folds = self.folded and len(rows) > 1
        same = [at for at, found in enumerate(texts) if folds and at and len(found) == 1]
        kept = [at for at in range(len(columns)) if at not in same]
        said = "; ".join(f"{columns[at].heading} {''.join(texts[at])}" for at in same)
        notes = [self.table.note, f"The same in every row: {said}." if said else ""]
        read = [[row[at] for at in kept] for row in rows]
        return Table(tuple(columns[at] for at in kept), read, " ".join(filter(None, notes)))


@dataclass(frozen=True)
class Lines:
    """Lines that a reader copies, such as commands.

    Args:
        name: What they are called on a page.
        title: What they are.
        lines: The lines.
        printed: How many of them the terminal shows; None for all.
        file: The name under which a page saves them, closed until then; empty for a part that is
            only copied.
        shared: The lines as a page has them, which tells no folders; None for the same.
    """

    name: str
    title: str
    lines: Sequence[str]
    printed: int | None = None
    file: str = ""
    shared: Sequence[str] | None = None


@dataclass(frozen=True)
class Figures:
    """Numbers worth knowing: a line each in a terminal, a tile each on a page.

    Args:
        title: What they are of.
        figures: The numbers, most important first.
    """

    title: str
    figures: Sequence[KeyFigure]


Part = Shown | Lines | Figures | Chart
"""What a section shows."""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of an answer.

    Args:
        heading: Its heading.
        parts: What it shows, in the order of a page.
        texts: Its paragraphs on a page.
        printed: Whether the terminal shows heading and paragraphs too, as of an answer in another.
        case: Which of the answer's cases it is of, by its place; None for all of them. Neighbours
            of one heading are one section, of which a page shows the chosen case.
    """

    heading: str
    parts: Sequence[Part] = field(default=(), repr=False)
    texts: Sequence[str] = ()
    printed: bool = False
    case: int | None = None

    @property
    def anchor(self) -> str:
        """Its address on the page."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.heading.lower()).split())


@dataclass(frozen=True)
class Case:
    """One of several systems of an answer, among which a page lets its reader choose.

    Args:
        label: What it is, such as `cluster.servers = 64`.
        verdict: What is said of it.
    """

    label: str
    verdict: Sequence[str]


@dataclass(frozen=True, eq=False)
class Form:
    """What an answer may be written as, besides its page and its charts.

    Args:
        content: Makes the file's bytes or text; None where the command wrote it, or nothing is
            to be written.
        use: What reads the file, as a clause; ``{}`` is its name. Without a content, all that is
            said of it, and ``{}`` is its path.
    """

    content: Callable[[], bytes | str] | None
    use: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to what a command was asked.

    Args:
        title: The title of its page.
        verdict: Its first sentences; the first one answers the question.
        sections: What stands behind it.
        record: The same for a program, JSON-able, in SI units: an object, or a list of them.
        holds: Whether the answer is yes, where it is yes or no.
        figures: Numbers worth knowing, below the verdict on a page.
        notes: What it rests on, and what was left out.
        basis: The same in tables, which stand beside the notes on a page.
        source: What it is made from, by what that is.
        hosts: The host of each device, which a page marks with the device.
        forms: What else it may be written as, by the ending of the file's name.
        runs: Tables of the runs that it is of, by name, perhaps with a folder: a folder of tables
            then holds these, as Parquet.
        text: What a terminal prints of it, as it stands, in place of the above: lines for a script.
        cases: The systems among which a page lets its reader choose; none of a single one.
        chosen: The place of the case that a terminal shows, and a page at first.
    """

    title: str
    verdict: Sequence[str]
    sections: Sequence[Section] = field(default=(), repr=False)
    record: Any = field(default_factory=dict, repr=False)
    holds: bool = True
    figures: Sequence[KeyFigure] = ()
    notes: Sequence[str] = ()
    basis: Sequence[Part] = field(default=(), repr=False)
    source: Mapping[str, str] = field(default_factory=dict)
    hosts: Mapping[str, str] = field(default_factory=dict, repr=False)
    forms: Mapping[str, Form] = field(default_factory=dict, repr=False)
    runs: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    text: str = field(default="", repr=False)
    cases: Sequence[Case] = field(default=(), repr=False)
    chosen: int = 0

    @property
    def said(self) -> list[str]:
        """The verdict, and what is said of the chosen case."""
        if not self.cases:
            return [*self.verdict]
        case = self.cases[self.chosen]
        return [*self.verdict, f"At {case.label}: {' '.join(case.verdict)}"]

    def parts(self) -> Iterator[Part]:
        """The parts of all sections, in their order, and what the answer rests on."""
        yield from (part for section in self.sections for part in section.parts)
        yield from self.basis

    def charts(self) -> list[Chart]:
        """The charts of all sections, in their order."""
        return [part for part in self.parts() if isinstance(part, Chart)]

    def tables(self) -> dict[str, Table]:
        """The tables of all sections and of their charts by name."""
        return {part.name: part.table for part in self.parts() if isinstance(part, Shown | Chart)}

    def then(
        self, commands: Sequence[str], why: str = "Next", shared: Sequence[str] | None = None
    ) -> Answer:
        """The answer with what to type next in its last section; as it is without commands.

        Args:
            why: What the commands are for.
            shared: The same for a page, which tells no folders; None where they name none.
        """
        section = Section("Next", [Lines("next", why, commands, shared=shared)])
        return replace(self, sections=[*self.sections, section]) if commands else self

    def to_dict(self) -> Any:
        """The record of the answer."""
        return self.record

    def _repr_html_(self) -> str:
        """How a notebook shows it: the verdict and the tables, without a script."""
        from resilver.answer.page import notebook

        return notebook(self)


def sections_of(*given: tuple[Any, ...] | Section) -> list[Section]:
    """Sections of those of these that show anything.

    Args:
        given: A section; or its heading, its parts, of which None is left out, and its paragraphs,
            which do not stand without a part.
    """
    sections = []
    for one in given:
        if isinstance(one, Section):
            sections += [one] if one.parts or one.texts else []
            continue
        heading, parts, *texts = one
        if shown := [part for part in parts if part is not None]:
            sections.append(Section(heading, shown, [text for text in texts if text]))
    return sections


def turned(table: Table) -> Table:
    """A table with a column a row: the cells of the first column are the headings."""
    first, *others = table.columns
    heads = [cell_text(row[0], first.kind) for row in table.rows]
    columns = (Column("name", "", "text"), *(Column("value", head, "text") for head in heads))
    rows = [
        [column.heading, *(cell_text(row[at], column.kind) for row in table.rows)]
        for at, column in enumerate(others, 1)
    ]
    return Table(columns, rows, table.note)


@dataclass(frozen=True)
class Standing:
    """How far a study is.

    Args:
        finished: Runs that are finished, which the page shows.
        total: Runs of the study.
        failed: Runs that failed.
        moment: When this was so, in words.
        seconds_left: Time left, where it is known.
        reload_seconds: How often the page loads itself again; None once nothing more will come.
    """

    finished: int
    total: int
    failed: int
    moment: str
    seconds_left: float | None = None
    reload_seconds: int | None = None

    @property
    def words(self) -> str:
        """How far, how much failed, and how long it takes yet."""
        words = f"{self.finished:,} of {self.total:,} runs"
        words += " so far" if self.reload_seconds else "; the sweep has stopped"
        if self.failed:
            words += f", {self.failed:,} failed"
        if self.reload_seconds and self.seconds_left is not None:
            words += f", about {format_duration(max(1, round(self.seconds_left)))} left"
        return words

    @property
    def share(self) -> float:
        """The share of the runs that are finished."""
        return self.finished / self.total if self.total else 1.0

    @property
    def note(self) -> str:
        """When this was so, and what comes next."""
        if self.reload_seconds:
            more = "This page follows the sweep: it loads itself again as runs finish."
        else:
            more = "Do the rest by running the study again."
        return f"As of {self.moment}. {more}"


_KINDS = {"bytes": "TB", "rate": "TB/s"}
"""How figures are shown: sizes and rates in decimal units, as they are bought."""


def figure_words(figure: Figure) -> str:
    """A figure's value for people."""
    if figure.kind == "seconds":
        return duration(figure.value)
    if figure.kind == "daily":
        return daily(figure.value)
    if figure.kind == "share":
        return f"{100 * figure.value:.3g} %"
    return cell_text(figure.value, _KINDS.get(figure.kind, figure.kind))


def figures_shown(name: str, title: str, figures: Sequence[Figure]) -> Shown | None:
    """Figures with their derivations, a row each, and SI values in the CSV; None of none."""
    made = table_of(
        figures,
        ("figure", "figure", "text", lambda one: one.what),
        ("value", "value", "text", figure_words),
        ("derivation", "derivation", "text"),
        ("si_value", "in SI units", "number", lambda one: one.value),
    )
    return Shown(name, title, made, 3) if figures else None
