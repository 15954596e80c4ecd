"""The pages of durability: of one system, and of several beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.data_loss.answer import Durabilities, Durability
from resilver.figure import Figure
from resilver.report.durability import tables, words
from resilver.report.durability.charts import causes_chart, pareto_chart, sensitivity_chart
from resilver.report.durability.courses import bursts_chart, heat_chart, survival_chart
from resilver.report.durability.sentences import answer_sentences, compared_sentences
from resilver.report.durability.source import is_yearly, label, labels, title, within
from resilver.report.headline import KeyFigure
from resilver.report.judged import PageSection, write_judged
from resilver.tables import cell_text
from resilver.words import plural

_DETAILED_MAX = 12
"""Systems of which a page has sections of their own."""
_ROWS = 60
_AT_ONCE = "All these failures happen at one moment, before anything is repaired."


def write_durability(found: Durability | Durabilities, path: str | Path, command: str = "") -> Path:
    """Write the page of an answer.

    Args:
        found: The answer for one system or several.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Returns:
        The path.

    Raises:
        ConfigError: The file cannot be written.
    """
    page = Document()
    if isinstance(found, Durability):
        said = [*answer_sentences(found), *found.notes]
        sections, figures = _sections(page, found), _tiles(found)
        digest = found.digest
    else:
        notes = dict.fromkeys(note for one in found.systems for note in one.notes)
        said = [*compared_sentences(found), *notes]
        sections, figures = _compared(page, found), []
        digest = ", ".join(dict.fromkeys(one.digest for one in found.systems if one.digest))
    told = {"Made by": command, "Digest": digest}
    said = [words.unbroken(text) for text in said]
    return write_judged(page, path, title(found), said, sections, told, figures)


def charts(found: Durability | Durabilities) -> list[Chart]:
    """All charts of an answer, in their order on its page.

    Args:
        found: The answer for one system or several.
    """
    if isinstance(found, Durabilities):
        systems = found.systems
        made = (pareto_chart(systems, found.compared or "systems"), causes_chart(systems))
        return [one for one in (*made, survival_chart(systems)) if one is not None]
    made_of = (causes_chart((found,)), survival_chart((found,)), bursts_chart(found))
    more = (heat_chart(found), sensitivity_chart(found))
    return [one for one in (*made_of, *more) if one is not None]


def _tiles(found: Durability) -> list[KeyFigure]:
    """The answer in numbers, each with its interval."""
    tiles = []

    def add(label: str, figure: Figure | None, unit: str, text: str, detail: str) -> None:
        if figure is not None and (figure.value is not None or figure.high < 1.0):
            value = float("nan") if figure.value is None else figure.value
            tiles.append(
                KeyFigure(label, value, unit, words.unbroken(text), words.unbroken(detail))
            )

    loss, annual = found.loss_probability, found.annual
    add(f"Data lost {within(found)}", loss, "1", words.chance(loss), _interval(loss))
    count = words.nines_of(annual)
    between = tables.nines_between(annual)
    add("Nines of a year", annual, "1", count, f"95 %: {between}" if between else "")
    if not is_yearly(found):
        add("Data lost in a year", annual, "1", words.chance(annual), _interval(annual))
    if (mean := found.mttdl_seconds) is not None:
        text = words.span_between(mean)
        detail = f"95 %: {text}" if text else "the inverse of a rate, not an age"
        add("Mean time to data loss", mean, "s", words.span(mean), detail)
    if (lost := found.expected_lost_bytes) is not None:
        text = words.size_between(lost)
        of = f"of {cell_text(found.user_bytes, 'bytes')}" if found.user_bytes else ""
        add(f"Lost {within(found)}", lost, "B", words.size(lost), f"95 %: {text}" if text else of)
    if (one := found.object_loss_probability) is not None:
        add("A given object lost", one, "1", words.chance(one), _interval(one) or within(found))
    return tiles


def _interval(figure: Figure) -> str:
    between = words.chance_between(figure)
    return f"95 %: {between}" if between else ""


def _figures(page: Document, made: Sequence[Chart | None]) -> list[str]:
    return [_figure(page, chart) for chart in made if chart is not None]


def _figure(page: Document, chart: Chart, rank: int | None = None) -> str:
    """A chart; of several systems' under a name of its own."""
    name = chart.name if rank is None else f"{chart.name}-{rank}"
    return page.figure(replace(chart, name=name, heading=words.unbroken(chart.heading)))


def _sections(page: Document, found: Durability) -> list[PageSection]:
    """What a page of one system has below its first sentences."""
    made = tables.answer_table(found)
    parts = [page.shown("answer", "With 95 % intervals", made, tables.ANSWER_WORDS)]
    sections = [PageSection("In numbers", (_counted(found),), parts)]
    for heading, texts, of in (
        ("What loses data", (), (causes_chart((found,)),)),
        ("When data is lost", (), (survival_chart((found,)),)),
        ("Many failures at once", (_AT_ONCE,), (bursts_chart(found), heat_chart(found))),
        ("What matters most", (), (sensitivity_chart(found),)),
    ):
        if parts := _figures(page, of):
            sections.append(PageSection(heading, texts, parts))
    premises = tables.premises_table(found.premises)
    parts = [page.shown("premises", "Premises", premises, rows_max=100)] if premises.rows else []
    return [*sections, PageSection("What this rests on", (), parts)] if parts else sections


def _counted(found: Durability) -> str:
    """How large a system is."""
    text = f"{label(found)}: {plural(found.groups, 'group')} on {plural(found.devices, 'device')}"
    text += f", {found.overhead:.4g} bytes kept for a byte of data"
    return (
        f"{text}, {cell_text(found.user_bytes, 'bytes')} stored."
        if found.user_bytes
        else f"{text}."
    )


def _compared(page: Document, found: Durabilities) -> list[PageSection]:
    """What a page of several systems has below its first sentences."""
    systems = found.systems
    what = found.compared or "systems"
    chart = pareto_chart(systems, what)
    parts = _figures(page, (chart,))
    made = tables.compared_table(systems)
    heading = f"{what[0].upper()}{what[1:]}, the safest first"
    parts.append(page.shown("systems", heading, made, tables.compared_words(made), _ROWS))
    sections = [PageSection("Side by side", (), parts)]
    for heading, chart in (
        ("What loses data", causes_chart(systems)),
        ("When data is lost", survival_chart(systems)),
    ):
        if chart is not None:
            sections.append(PageSection(heading, (), [_figure(page, chart)]))
    if len(systems) <= _DETAILED_MAX:
        sections += _each(page, systems)
    return [*sections, _basis(page, systems)]


def _each(page: Document, systems: Sequence[Durability]) -> list[PageSection]:
    """A section a system that has more to show than its row."""
    sections = []
    for rank, (name, one) in enumerate(zip(labels(systems), systems, strict=True), 1):
        parts = [
            _figure(page, chart, rank)
            for chart in (bursts_chart(one), heat_chart(one), sensitivity_chart(one))
            if chart is not None
        ]
        if parts:
            said = [words.unbroken(text) for text in answer_sentences(one)]
            sections.append(PageSection(name, said, parts))
    return sections


def _basis(page: Document, systems: Sequence[Durability]) -> PageSection:
    shared = tables.shared_premises(systems)
    parts = []
    if shared:
        made = tables.premises_table(shared)
        parts.append(page.shown("premises", "Premises of all", made, rows_max=100))
    differing = tables.differing_premises_table(systems)
    if differing is not None:
        parts.append(page.shown("differing", "What differs", differing, rows_max=100))
    return PageSection("What this rests on", (), parts)
