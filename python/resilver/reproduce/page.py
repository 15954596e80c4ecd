"""The page of a reproduction: ours beside the published numbers, the pictures, the stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from shlex import quote
from typing import Any

from resilver.answer import Answer, Lines, Section, Shown
from resilver.answer.document import Document, rendered, write_page
from resilver.charts.chart import Chart
from resilver.report.provenance import provenance
from resilver.reproduce.compare import (
    ABSENT,
    CHANGED,
    DIFFERS,
    FAILS,
    MET,
    MISSED,
    NOT_JUDGED,
    PASSES,
    VERDICTS,
    WITHIN,
    Comparison,
)
from resilver.reproduce.conclusions import FAILS as CONTRADICTED
from resilver.reproduce.conclusions import HOLDS, PARTLY, UNMODELLED, UNTESTED, Concluded
from resilver.reproduce.entries import stand_in
from resilver.reproduce.make import Part, Reproduction
from resilver.reproduce.published import CHECK, CONSTRUCTED, GOAL, MEASURED, PREDICTED
from resilver.reproduce.words import allowed_words, deviation_words, number_words
from resilver.tables import Column, Table, table
from resilver.words import plural

MARKS = {
    **dict.fromkeys((WITHIN, PASSES, MET, HOLDS), "✓"),
    **dict.fromkeys((FAILS, CONTRADICTED), "✗"),
    DIFFERS: "≠",
    MISSED: "↓",
    NOT_JUDGED: "·",
    CHANGED: "Δ",
    ABSENT: "–",
    PARTLY: "±",
    UNTESTED: "◌",
    UNMODELLED: "○",
}
"""The mark of each verdict, so that colour is not the only difference."""

RESULTS = {ABSENT: "needs other runs"}
"""What a verdict is called for people, where that is something else."""

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class NotedCell:
    """A cell of a table of verdicts.

    Args:
        text: What it says.
        note: What stands below it, smaller; may be empty.
        kind: Its classes: "n" for a number, "figure", "what", "range", "verdict", and "no" for a
            bad one.
        points: Lines of a list above the text.
    """

    text: str
    note: str = ""
    kind: str = ""
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdicts:
    """A table of verdicts: its headings, and a row of cells each."""

    headings: tuple[str, ...]
    rows: tuple[tuple[NotedCell, ...], ...]


def write_reproduction(made: Reproduction, path: str | Path) -> Path:
    """Write the page of a reproduction.

    Args:
        made: What came of it.
        path: The file to write; replaced in one step.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    page, one = Document(), made.entry
    everything = _table(made.comparisons)
    page.add_table("comparisons", everything)
    # A whole collection has every figure, which its parts name.
    few = one.figures and (one.kind != "collection" or len(one.figures) == 1)
    body = rendered(
        "reproduction.html",
        _TEMPLATES,
        title=one.title,
        leads=[summary(made), *([conclusion_words(made.conclusions)] if made.conclusions else [])],
        source=", ".join([one.source, *(one.figures if few else ())]),
        settings=", ".join(made.wishes.overrides),
        conclusions=conclusion_table(made.conclusions),
        every_number=verdict_table(made.comparisons) if len(made.parts) > 1 else None,
        overview=_drawn(page, (drawn.chart for drawn in made.overview)),
        parts_made=[_part(page, part) for part in made.parts],
        stand_ins=[stand_in(name) for name in one.stand_ins],
        comparisons=everything,
        provenance=_provenance(made),
    )
    return write_page(page.assemble(one.title, body), path, "page")


def _drawn(page: Document, charts: Iterable[Chart]) -> list[Chart]:
    """The charts, carried by the page."""
    made = list(charts)
    for chart in made:
        page.add_chart(chart.name, chart)
    return made


def _part(page: Document, part: Part) -> dict[str, Any]:
    """What the page shows of one entry."""
    one, rows = part.entry, [row for row in part.evidence.rows if "run" in row and "seed" in row]
    return {
        "name": one.name,
        "title": f"{', '.join(one.figures)}: {one.title}" if one.figures else one.title,
        "runs": len(rows),
        "seeds": len({row["seed"] for row in rows}),
        "numbers": verdict_table(part.comparisons) if part.comparisons else None,
        "charts": _drawn(page, (drawn.chart for drawn in part.pictures)),
    }


def summary(made: Reproduction) -> str:
    """What came of a reproduction, kind by kind."""
    if made.wishes.settings:
        return _changed_summary(made)
    totals, sentences = made.totals, []
    for kind, words, nouns in (
        (PREDICTED, "within tolerance", "Predicted"),
        (CONSTRUCTED, "within tolerance", "By construction"),
        (CHECK, "pass", "Own checks"),
        (GOAL, "met", "Goals"),
    ):
        right, wrong = (totals[kind][verdict] for verdict in VERDICTS[kind])
        if right + wrong:
            sentences.append(f"{nouns}: {right} of {right + wrong} {words}.")
    if not sentences:
        sentences.append("No number here is judged.")
    if plain := totals[MEASURED][NOT_JUDGED]:
        sentences.append(f"{plain} {'is' if plain == 1 else 'are'} compared with nothing.")
    if absent := sum(counts[ABSENT] for counts in totals.values()):
        sentences.append(f"{absent} {'needs' if absent == 1 else 'need'} other runs.")
    return " ".join(sentences)


def _changed_summary(made: Reproduction) -> str:
    """What a changed reproduction shows."""
    numbers = made.comparisons
    beside = any(one.unchanged is not None for one in numbers)
    words = f"Changed study: {plural(sum(one.ours is not None for one in numbers), 'number')}, "
    words += "beside the published ones"
    words += " and those of the study as it ships." if beside else "."
    if absent := sum(one.ours is None for one in numbers):
        words += f" {plural(absent, 'number')} {'needs' if absent == 1 else 'need'} other runs."
    return words


def verdict_table(comparisons: Iterable[Comparison]) -> Verdicts:
    """The comparisons with their verdicts in words and marks."""
    headings = (
        *("figure", "number", "kind", "published", "unchanged", "ours"),
        *("difference", "tolerance", "result"),
    )
    rows = [_cells(one) for one in comparisons]
    # What no number has, such as a figure where the source has none, is no column.
    kept = [rank for rank, _ in enumerate(headings) if any(row[rank].text for row in rows)]
    return Verdicts(
        tuple(headings[rank] for rank in kept), tuple(tuple(row[at] for at in kept) for row in rows)
    )


def numbers_answer(made: Reproduction) -> Answer:
    """The numbers beside the published ones, for a terminal.

    Args:
        made: What came of it.
    """
    found = made.comparisons

    def column(name: str, heading: str, kind: str, of: Callable[[Comparison], str]) -> Any:
        return name, heading, kind, [of(one) for one in found]

    columns = [
        column("what", "number", "text", lambda one: one.what),
        column("paper", "published", "value", lambda one: _number(one.paper, one.unit)),
        column("unchanged", "unchanged", "value", lambda one: _number(one.unchanged, one.unit)),
        column("ours", "ours", "value", lambda one: _number(one.ours, one.unit)),
        column("result", "result", "text", lambda one: _verdict(one.verdict, is_bad=False).text),
        column("kind", "kind", "text", lambda one: one.kind),
        column("deviation", "difference", "value", lambda one: deviation_words(one.deviation)),
        column("allowed", "tolerance", "text", allowed_words),
        column("figure", "figure", "text", lambda one: one.figure),
    ]
    # A text under the name "value" is set as a number.
    shown = [
        ("value" if kind == "value" else name, heading, "text", cells)
        for name, heading, kind, cells in columns
        if any(cells)
    ]
    said = [summary(made), *([conclusion_words(made.conclusions)] if made.conclusions else [])]
    claims = [f"{one.verdict}: {one.said.claim} ({one.said.where})" for one in made.conclusions]
    notes = []
    if made.wishes.settings:
        changed = " ".join(f"--set {quote(setting)}" for setting in made.wishes.settings)
        notes.append(f"Not the study as it ships: {changed}")
    if made.entry.stand_ins:
        names = ", ".join(made.entry.stand_ins)
        notes.append(f"Substituted inputs: {names}; the page says what they replace.")
    numbers = Shown("numbers", "Numbers", table(*shown), printed=1000)
    parts = (numbers, Lines("conclusions", "Conclusions of the source", claims))
    return Answer(made.entry.title, said, [Section("Numbers", parts)], notes=notes)


def _cells(one: Comparison) -> tuple[NotedCell, ...]:
    """The cells of a number's row."""
    return (
        NotedCell(one.figure, kind="figure"),
        NotedCell(one.what, one.where, "what"),
        NotedCell(one.kind, f"put in: {one.why}" if one.kind == CONSTRUCTED else one.why),
        NotedCell(_number(one.paper, one.unit), kind="n"),
        NotedCell(_number(one.unchanged, one.unit), kind="n"),
        NotedCell(_number(one.ours, one.unit), _range(one), "n"),
        NotedCell(deviation_words(one.deviation), kind="n"),
        NotedCell(allowed_words(one), kind="n range"),
        _verdict(one.verdict, is_bad=one.verdict in (FAILS, DIFFERS)),
    )


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else number_words(value, unit)


def _verdict(verdict: str, *, is_bad: bool) -> NotedCell:
    return NotedCell(
        f"{MARKS[verdict]} {RESULTS.get(verdict, verdict)}",
        kind="verdict no" if is_bad else "verdict",
    )


def _range(one: Comparison) -> str:
    """From which to which seed ours goes, where they differ."""
    if one.least is None or one.most is None:
        return ""
    least, most = number_words(one.least, ""), number_words(one.most, "")
    return "" if least == most else f"min {least}, max {most}"


def conclusion_words(conclusions: Sequence[Concluded]) -> str:
    """How many conclusions of the source hold by numbers that could have contradicted them.

    >>> conclusion_words([])
    'Of the 0 conclusions of the source, 0 hold, 0 hold in part, 0 do not hold.'
    """
    verdicts = [one.verdict for one in conclusions]
    words = (
        f"Of the {len(verdicts)} conclusions of the source, {verdicts.count(HOLDS)} hold, "
        f"{verdicts.count(PARTLY)} hold in part, {verdicts.count(CONTRADICTED)} do not hold"
    )
    if untested := verdicts.count(UNTESTED):
        words += f", {untested} {'is' if untested == 1 else 'are'} not tested by a predicted number"
    if absent := verdicts.count(ABSENT):
        words += f", {absent} {'was' if absent == 1 else 'were'} not run"
    if silent := verdicts.count(UNMODELLED):
        words += f", and of {silent} there is no model"
    return f"{words}."


def conclusion_table(conclusions: Iterable[Concluded]) -> Verdicts:
    """The conclusions of the source, each with its verdict, our figures and why."""
    headings = ("conclusion of the source", "ours", "our figures, and why")
    rows = []
    for one in conclusions:
        figures = tuple(
            f"{number.what}: {_number(number.ours, number.unit)} {MARKS[number.verdict]}"
            for number in one.numbers
        )
        verdict = _verdict(one.verdict, is_bad=one.verdict in (CONTRADICTED, PARTLY))
        said = NotedCell(one.said.claim, one.said.where)
        rows.append((said, verdict, NotedCell(one.said.why, points=figures)))
    return Verdicts(headings, tuple(rows))


def _table(comparisons: Iterable[Comparison]) -> Table:
    columns = (
        Column("entry", "entry", "text"),
        Column("key", "key", "text"),
        Column("figure", "figure", "text"),
        Column("what", "number", "text"),
        Column("kind", "kind", "text"),
        Column("unit", "unit", "text"),
        Column("published", "published", "number"),
        Column("ours", "ours", "number"),
        Column("expected", "expected", "number"),
        Column("low", "least allowed", "number"),
        Column("high", "most allowed", "number"),
        Column("verdict", "verdict", "text"),
        Column("query", "query over the runs, in SI units", "text"),
    )
    names = ("paper" if column.name == "published" else column.name for column in columns)
    values = attrgetter(*names)
    return Table(columns, [values(one) for one in comparisons])


def _provenance(made: Reproduction) -> dict[str, str]:
    """The provenance of the first run folder: version, host and command are those of all."""
    found = (one.evidence.results for one in made.parts if one.evidence.results is not None)
    first = next(found, None)
    return provenance(first, made.command) if first is not None else {}
