"""Answers about durability: of one system, and of several beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from resilver.answer import Answer, KeyFigure, Part, Section, Shown, sections_of
from resilver.data_loss.answer import Durabilities, Durability, Premise
from resilver.figure import Figure
from resilver.report.durability import tables, words
from resilver.report.durability.charts import causes_chart, pareto_chart, sensitivity_chart
from resilver.report.durability.courses import bursts_chart, heat_chart, survival_chart
from resilver.report.durability.sentences import answer_sentences, compared_sentences
from resilver.tables import Column, Table
from resilver.words import plural

_DETAILED_MAX = 12
"""Systems of which an answer has sections of their own."""
_ROWS = 60
_SAME_REPAIR = (
    "All codes are compared at the same repair time. A wider code reads more for each piece that "
    "it rebuilds, so where reads limit repairs it takes longer: ask of it with its own --repair."
)
_AT_ONCE = "All these failures happen at one moment, before anything is repaired."


def durability_answer(found: Durability | Durabilities) -> Answer:
    """The answer for one system or for several."""
    if isinstance(found, Durability):
        return Answer(
            f"Probability of data loss: {words.label(found)}",
            answer_sentences(found),
            _sections(found),
            found.to_dict(),
            holds=found.loss_probability.value is not None,
            figures=_tiles(found),
            notes=found.notes,
            basis=_premises("Inputs", found.premises),
            source={"Digest": found.digest},
        )
    systems = found.systems
    repairs = {one.value for system in systems for one in system.premises if one.name == "repair"}
    is_same = found.compared == "codes" and len(repairs) == 1
    digests = dict.fromkeys(one.digest for one in systems if one.digest)
    return Answer(
        f"Durability of {len(systems):,} {found.compared or 'systems'}",
        compared_sentences(found),
        _compared(found),
        found.to_dict(),
        holds=all(one.loss_probability.value is not None for one in systems),
        notes=[
            *[_SAME_REPAIR] * is_same,
            *dict.fromkeys(note for one in systems for note in one.notes),
        ],
        basis=_basis(systems),
        source={"Digest": ", ".join(digests)},
    )


def _tiles(found: Durability) -> list[KeyFigure]:
    """The answer in numbers, each with its interval."""
    tiles = []

    def add(
        name: str, figure: Figure | None, unit: str, shown: tables.Shows, otherwise: str = ""
    ) -> None:
        if figure is not None and (figure.value is not None or figure.high < 1.0):
            value = float("nan") if figure.value is None else figure.value
            text, between = (words_of(figure) for words_of in shown)
            detail = f"95 %: {between}" if between else otherwise
            tiles.append(KeyFigure(name, value, unit, text, detail))

    annual, when = found.annual, words.within(found)
    add(f"Data lost {when}", found.loss_probability, "1", tables.CHANCE)
    add("Nines", annual, "1", tables.NINES, "-log10 of the yearly probability")
    if not words.is_yearly(found):
        add("Data lost in a year", annual, "1", tables.CHANCE)
    mean, lost = found.mttdl_seconds, found.expected_lost_bytes
    add("Mean time to data loss", mean, "s", tables.SPAN, "the inverse of a rate, not an age")
    stored = f"of {words.stored_words(found)}"
    add(f"Expected loss {when}", lost, "B", tables.sizes(found), stored)
    add("A given object lost", found.object_loss_probability, "1", tables.CHANCE, when)
    return tiles


def _sections(found: Durability) -> list[Section]:
    """What decides comes first; the course over time only where it is not a straight line."""
    figures = tables.answer_table(found)
    printed = 40 if any(row[2] for row in figures.rows) else 0
    shown = Shown(
        "figures", "In numbers", figures, tables.ANSWER_WORDS, printed=printed, folded=True
    )
    grid = None if found.bursts is None else tables.bursts_grid(found.bursts)
    at_once = Shown("at-once", "Simultaneous failures", grid, is_split=True) if grid else None
    return sections_of(
        ("What loses data", (causes_chart((found,)),)),
        ("What matters most", (sensitivity_chart(found),)),
        ("In numbers", (shown,), _counted(found)),
        ("Simultaneous failures", (bursts_chart(found), heat_chart(found), at_once), _AT_ONCE),
        ("When data is lost", (survival_chart((found,)),)),
    )


def _counted(found: Durability) -> str:
    """How large a system is."""
    text = f"{words.label(found)}: {plural(found.groups, 'group')} on "
    text += f"{plural(found.devices, 'device')}, storage overhead {found.overhead:.4g}x"
    return f"{text}, {words.stored_words(found)} stored." if found.user_bytes else f"{text}."


def _compared(found: Durabilities) -> list[Section]:
    """Systems side by side, and a section each where there are few."""
    systems, what = found.systems, found.compared or "systems"
    made = tables.compared_table(systems)
    heading, columns = f"{what[0].upper()}{what[1:]}, safest first", tables.compared_words(made)
    shown = Shown("systems", heading, made, columns, _ROWS, is_split=True)
    matters, at_once = "What matters most", "Simultaneous failures"
    rates = [one.sensitivity and tables.sensitivity_table(one.sensitivity) for one in systems]
    bursts = [one.bursts and tables.bursts_table(one.bursts) for one in systems]
    sections = sections_of(
        ("Side by side", (pareto_chart(systems, what), shown)),
        ("What loses data", (causes_chart(systems),)),
        (matters, (_together("sensitivity", matters, systems, rates, columns=4),)),
        (at_once, (_together("bursts", at_once, systems, bursts, columns=6),), _AT_ONCE),
        ("When data is lost", (survival_chart(systems),)),
    )
    few = systems if len(systems) <= _DETAILED_MAX else ()
    for rank, (name, one) in enumerate(zip(words.labels(systems), few, strict=False), 1):
        charts = (sensitivity_chart(one), bursts_chart(one), heat_chart(one))
        parts = [
            replace(chart, name=f"{chart.name}-{rank}", printed=0) for chart in charts if chart
        ]
        if parts:
            sections.append(Section(name, parts, answer_sentences(one)))
    return sections


def _together(
    name: str,
    title: str,
    systems: Sequence[Durability],
    of_each: Sequence[Table | None],
    columns: int,
) -> Shown | None:
    """The tables of systems below each other."""
    named = zip(words.labels(systems), of_each, strict=True)
    found = [(label, one) for label, one in named if one is not None]
    if not found:
        return None
    rows = [(label, *row) for label, one in found for row in one.rows]
    heads = (Column("system", "system", "text"), *found[0][1].columns)
    return Shown(name, title, Table(heads, rows), columns, _ROWS)


def _premises(title: str, premises: Sequence[Premise]) -> list[Part]:
    made = tables.premises_table(premises)
    return [Shown("premises", title, made, rows=100)] if premises else []


def _basis(systems: Sequence[Durability]) -> list[Part]:
    """The inputs that all systems share, and those in which they differ."""
    shared = [one for one in systems[0].premises if all(one in other.premises for other in systems)]

    own = [[of for of in one.premises if of not in shared] for one in systems]
    made = list(map(tables.premises_table, own))
    differ = _together("differing", "Inputs that differ", systems, made, columns=5)
    some = [differ] if differ is not None and differ.table.rows else []
    return [*_premises("Inputs of all", shared), *some]
