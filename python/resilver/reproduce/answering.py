"""The answer of a reproduction: ours beside the published numbers, the pictures, the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import Any

from resilver.answer import Answer, Section, Shown, sections_of
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
from resilver.tables import Table, table, table_of
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
"""The mark of each verdict, which is found sooner than a word."""

RESULTS = {ABSENT: "needs other runs"}
"""What a verdict is called for people, where that is something else."""

_ROWS_MAX = 1000
"""Numbers that a page and a terminal show; collections have less than 300."""


def reproduction_answer(made: Reproduction) -> Answer:
    """What came of a reproduction, for a terminal and a page.

    Args:
        made: What came of it.
    """
    one, numbers = made.entry, number_table(made.comparisons)
    every = Shown("numbers", "Numbers", numbers, rows=_ROWS_MAX, printed=_ROWS_MAX)
    is_one = len(made.parts) == 1
    return Answer(
        one.title,
        [
            summary(made),
            *([conclusion_words(made.conclusions)] if made.conclusions else []),
            f"Source: {one.source}.",
        ],
        sections_of(
            ("Conclusions of the source", [conclusion_table(made.conclusions)]),
            ("Every number", [] if is_one else [every, *made.overview]),
            *(_part(part, every if is_one else None) for part in made.parts),
            ("All numbers as a table", [_all_numbers(made.comparisons)]),
        ),
        holds=made.holds,
        notes=_notes(made),
        basis=[_stand_ins(one.stand_ins)] if one.stand_ins else [],
        source=_source(made),
    )


def _notes(made: Reproduction) -> list[str]:
    """What was changed, and which inputs stand in for others."""
    notes = []
    if made.wishes.settings:
        changed = " ".join(f"--set {quote(setting)}" for setting in made.wishes.settings)
        notes.append(f"Not the study as it ships: {changed}")
    if made.entry.stand_ins:
        names = ", ".join(made.entry.stand_ins)
        notes.append(f"Substituted inputs: {names}.")
    return notes


def _stand_ins(names: Iterable[str]) -> Shown:
    """Inputs that stand in for others."""
    made = table_of(
        [stand_in(name) for name in names],
        ("instead_of", "instead of", "text"),
        ("used", "used", "text"),
        ("name", "name", "text"),
        note="Nothing is fitted to pass a verdict: these inputs are public figures, or were fitted "
        "to what is published of them, and then what they were fitted to counts as by "
        "construction.",
    )
    return Shown("substituted", "Substituted inputs", made, printed=0)


def _part(part: Part, numbers: Shown | None) -> Section:
    """What the page shows of one entry.

    Args:
        part: What came of it.
        numbers: Its numbers where they are all; else it shows its own.
    """
    one, rows = part.entry, [row for row in part.evidence.rows if "run" in row and "seed" in row]
    if numbers is None:
        made = number_table(part.comparisons)
        numbers = Shown(f"numbers-{one.name}", "Numbers", made, rows=_ROWS_MAX, printed=0)
    text = f"{plural(len(rows), 'run')} of the study {one.name}, "
    text += f"{plural(len({row['seed'] for row in rows}), 'seed')} a point; numbers are medians "
    text += "unless they say otherwise, with the least and the greatest run below them."
    return Section(
        f"{', '.join(one.figures)}: {one.title}" if one.figures else one.title,
        [*([numbers] if part.comparisons else []), *part.pictures],
        [text] if rows else [],
    )


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


def number_table(comparisons: Iterable[Comparison]) -> Table:
    """The numbers beside the published ones, in words; what no number has is no column."""
    rows = list(comparisons)

    def column(name: str, heading: str, kind: str, of: Callable[[Comparison], str]) -> Any:
        return name, heading, kind, [of(one) for one in rows]

    # A text under the name "value" is set as a number.
    columns = [
        column("what", "number", "text", lambda one: one.what),
        column("where", "source", "note", lambda one: one.where),
        column("value", "published", "text", lambda one: _number(one.paper, one.unit)),
        column("value", "unchanged", "text", lambda one: _number(one.unchanged, one.unit)),
        column("value", "ours", "text", lambda one: _number(one.ours, one.unit)),
        column("range", "range", "note", _range),
        column("result", "result", "text", lambda one: _verdict(one.verdict)),
        column("kind", "kind", "text", lambda one: one.kind),
        column("why", "why", "note", _why),
        column("value", "difference", "text", lambda one: deviation_words(one.deviation)),
        column("allowed", "tolerance", "text", allowed_words),
        column("figure", "figure", "text", lambda one: one.figure),
    ]
    return table(*(one for one in columns if any(one[3])))


def _why(one: Comparison) -> str:
    return f"put in: {one.why}" if one.kind == CONSTRUCTED else one.why


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else number_words(value, unit)


def _verdict(verdict: str) -> str:
    return f"{MARKS[verdict]} {RESULTS.get(verdict, verdict)}"


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


def conclusion_table(conclusions: Sequence[Concluded]) -> Shown | None:
    """The conclusions of the source, each with its verdict, our figures and why."""
    if not conclusions:
        return None

    def figures(one: Concluded) -> str:
        return "; ".join(
            f"{number.what}: {_number(number.ours, number.unit)} {MARKS[number.verdict]}"
            for number in one.numbers
        )

    made = table_of(
        conclusions,
        ("verdict", "ours", "text", lambda one: _verdict(one.verdict)),
        ("claim", "conclusion of the source", "text", lambda one: one.said.claim),
        ("where", "source", "note", lambda one: one.said.where),
        ("figures", "our figures, and why", "text", figures),
        ("why", "why", "note", lambda one: one.said.why),
    )
    return Shown("conclusions", "Conclusions", made, rows=_ROWS_MAX)


def _all_numbers(comparisons: Sequence[Comparison]) -> Shown:
    made = table_of(
        comparisons,
        ("entry", "entry", "text"),
        ("key", "key", "text"),
        ("figure", "figure", "text"),
        ("what", "number", "text"),
        ("kind", "kind", "text"),
        ("unit", "unit", "text"),
        ("published", "published", "number", lambda one: one.paper),
        ("ours", "ours", "number"),
        ("expected", "expected", "number"),
        ("low", "least allowed", "number"),
        ("high", "most allowed", "number"),
        ("verdict", "verdict", "text"),
        ("query", "query over the runs, in SI units", "text"),
    )
    title = "ours and the published numbers"
    return Shown("comparisons", title, made, printed=0, is_closed=True)


def _source(made: Reproduction) -> dict[str, str]:
    """The source, and of the first run folder version, host and command, which are those of all."""
    one = made.entry
    # A whole collection has every figure, which its parts name.
    few = one.figures and (one.kind != "collection" or len(one.figures) == 1)
    source = {"Source": ", ".join([one.source, *(one.figures if few else ())])}
    found = (part.evidence.results for part in made.parts if part.evidence.results is not None)
    first = next(found, None)
    return source | (provenance(first, made.command) if first is not None else {})
