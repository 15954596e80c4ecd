"""The page of a reproduction: ours beside the published numbers, the pictures, the stand-ins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from operator import attrgetter
from pathlib import Path

from resilver.report.document import Document, write_page
from resilver.report.provenance import provenance
from resilver.report.tables import Column, Table
from resilver.reproduce.compare import ABSENT, COMPARED, DIFFERS, FAILS, HOLDS, Comparison
from resilver.reproduce.conclusions import PARTLY, Concluded
from resilver.reproduce.entries import stand_in
from resilver.reproduce.make import Part, Reproduction
from resilver.reproduce.words import band_words, deviation_words, number_words

MARKS = {HOLDS: "✓", FAILS: "✗", DIFFERS: "≠", COMPARED: "·", ABSENT: "–"}
"""The mark of each verdict, so that colour is not the only difference."""

_STYLE = """
.verdicts td, .verdicts th { white-space: normal; vertical-align: top; }
.verdicts td.n, .verdicts th.n { white-space: nowrap; }
.verdicts .verdict, .verdicts .figure { white-space: nowrap; }
.verdict { font-weight: 600; }
.verdict.no { color: #b3400a; }
@media (prefers-color-scheme: dark) { .verdict.no { color: #ff9a62; } }
.verdicts ul { margin: 0 0 0.3em; padding-left: 1.1em; }
.verdicts .value { white-space: nowrap; }
.tall { max-height: none; }
@media (max-width: 45rem) {
  .verdicts .figure, .verdicts .deviation, .verdicts .band { display: none; }
  .conclusions thead { display: none; }
  .conclusions td { display: block; border: 0; }
  .conclusions tr { border-bottom: 1px solid #8886; }
}
"""


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
    page = Document()
    body = f"<style>{_STYLE}</style>\n" + "\n".join(_body(page, made))
    return write_page(page.assemble(made.entry.title, body), path, "page")


def _body(page: Document, made: Reproduction) -> Iterable[str]:
    one = made.entry
    # A whole collection has every figure, which its parts name.
    few = one.figures and (one.kind != "collection" or len(one.figures) == 1)
    figures = f", {_listed(one.figures)}" if few else ""
    yield f"<main id='main'><header><h1>{escape(one.title)}</h1>"
    yield f'<p class="lead">{escape(summary(made))}</p>'
    if made.conclusions:
        yield f'<p class="lead">{escape(conclusion_words(made.conclusions))}</p>'
    yield f"<p>Source: {escape(one.source)}{escape(figures)}.</p>"
    if made.wishes.overrides:
        settings = ", ".join(made.wishes.overrides)
        yield (
            f"<p><strong>Not the study as it ships:</strong> <code>{escape(settings)}</code>. The "
            "published numbers are for the study as it ships.</p>"
        )
    yield "</header>"
    yield "<noscript><p>Charts need JavaScript. The tables hold the same numbers.</p></noscript>"
    if made.conclusions:
        yield "<section><h2>What the source concludes, and what ours says</h2>"
        yield conclusion_table(made.conclusions)
        yield "</section>"
    if len(made.parts) > 1:
        yield "<section><h2>Every number</h2>"
        yield verdict_table(made.comparisons)
        yield "</section>"
    for drawn in made.overview:
        yield page.figure(drawn.chart)
    for part in made.parts:
        yield from _part(page, part)
    yield _stand_ins(one.stand_ins)
    yield "<section><h2>All numbers as a table</h2>"
    yield page.details("comparisons", "ours and the published numbers", _table(made.comparisons))
    yield "</section>"
    yield from _provenance(made)
    yield "</main>"


def summary(made: Reproduction) -> str:
    """What came of a reproduction in a sentence or two."""
    counts = {
        verdict: sum(one.verdict == verdict for one in made.comparisons)
        for verdict in (HOLDS, FAILS, DIFFERS, COMPARED, ABSENT)
    }
    held, wrong = counts[HOLDS], counts[FAILS]
    sentences = []
    if wrong:
        verb = "does" if wrong == 1 else "do"
        sentences.append(
            f"{held} of {held + wrong} numbers with a band lie in it; {wrong} {verb} not."
        )
    elif held:
        sentences.append(
            f"All {held} numbers with a band lie in it."
            if held > 1
            else "The one number with a band lies in it."
        )
    else:
        sentences.append("No number here is judged by a band.")
    if differ := counts[DIFFERS]:
        verb = "differs" if differ == 1 else "differ"
        sentences.append(f"{differ} {verb} from what the source says, which is no band of ours.")
    if plain := counts[COMPARED]:
        more = " more" if held + wrong else ""
        sentences.append(f"{plain}{more} {'is' if plain == 1 else 'are'} compared only.")
    if absent := counts[ABSENT]:
        sentences.append(f"{absent} {'was' if absent == 1 else 'were'} not run.")
    return " ".join(sentences)


def verdict_table(comparisons: Iterable[Comparison]) -> str:
    """The comparisons as a table with their verdicts in words and marks."""
    heads = (
        ("figure", "figure"),
        ("number", ""),
        ("published", "n"),
        ("ours", "n"),
        ("deviation", "n deviation"),
        ("band", "n band"),
        ("verdict", "verdict"),
    )
    rows = [_cells(one) for one in comparisons]
    # What no number has, such as a figure where the source has none, is no column.
    kept = [rank for rank, _ in enumerate(heads) if any(cells[rank] for cells, _ in rows)]
    head = "".join(
        f'<th scope="col" class="{heads[rank][1]}">{heads[rank][0]}</th>' for rank in kept
    )
    body = []
    for cells, is_wrong in rows:
        classes = [f"{kind} no" if kind == "verdict" and is_wrong else kind for _, kind in heads]
        marked = (
            f'<td class="{classes[rank]}">{cells[rank]}</td>'
            if classes[rank]
            else f"<td>{cells[rank]}</td>"
            for rank in kept
        )
        body.append(f"<tr>{''.join(marked)}</tr>")
    return (
        '<div class="scroll tall" role="region" tabindex="0" aria-label="Ours and the published '
        f'numbers"><table class="verdicts"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _cells(one: Comparison) -> tuple[tuple[str, ...], bool]:
    """The cells of a number's row, and whether its verdict is a bad one."""
    paper = "" if one.paper is None else number_words(one.paper, one.unit)
    ours = "" if one.ours is None else number_words(one.ours, one.unit)
    where = f'<br><small class="note">{escape(one.where)}</small>' if one.where else ""
    cells = (
        escape(one.figure),
        f"{escape(one.what)}{where}",
        escape(paper),
        f"{escape(ours)}{_range(one)}",
        escape(deviation_words(one.deviation)),
        escape(band_words(one)),
        f"{MARKS[one.verdict]} {escape(one.verdict)}",
    )
    return cells, one.verdict in (FAILS, DIFFERS)


def _range(one: Comparison) -> str:
    """From which to which seed ours goes, where they differ."""
    if one.least is None or one.most is None:
        return ""
    least, most = number_words(one.least, ""), number_words(one.most, "")
    return "" if least == most else f'<br><small class="note">{least} to {most}</small>'


def conclusion_words(conclusions: Sequence[Concluded]) -> str:
    """How many conclusions of the source hold.

    >>> conclusion_words([])
    'Of the 0 conclusions of the source, 0 hold, 0 hold in part, 0 do not hold.'
    """
    verdicts = [one.verdict for one in conclusions]
    words = (
        f"Of the {len(verdicts)} conclusions of the source, {verdicts.count(HOLDS)} hold, "
        f"{verdicts.count(PARTLY)} hold in part, {verdicts.count(FAILS)} do not hold"
    )
    absent = verdicts.count(ABSENT)
    return (
        f"{words}, {absent} {'was' if absent == 1 else 'were'} not run." if absent else f"{words}."
    )


def conclusion_table(conclusions: Iterable[Concluded]) -> str:
    """The conclusions of the source, each with its verdict, our figures and why."""
    marks = {**MARKS, PARTLY: "±"}
    rows = []
    for one in conclusions:
        wrong = " no" if one.verdict in (FAILS, PARTLY) else ""
        figures = "".join(
            f'<li>{escape(number.what)}: <span class="value">'
            f"{'' if number.ours is None else escape(number_words(number.ours, number.unit))}"
            f" {MARKS[number.verdict]}</span></li>"
            for number in one.numbers
        )
        rows.append(
            f"<tr><td>{escape(one.said.claim)}"
            f'<br><small class="note">{escape(one.said.where)}</small></td>'
            f'<td class="verdict{wrong}">{marks[one.verdict]} {escape(one.verdict)}</td>'
            f"<td><ul>{figures}</ul>{escape(one.said.why)}</td></tr>"
        )
    return (
        '<div class="scroll tall" role="region" tabindex="0" aria-label="Conclusions">'
        '<table class="verdicts conclusions"><thead><tr>'
        '<th scope="col">conclusion of the source</th>'
        '<th scope="col">ours</th><th scope="col">our figures, and why</th></tr></thead>\n'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _part(page: Document, part: Part) -> Iterable[str]:
    one = part.entry
    figures = f"{_listed(one.figures)}: " if one.figures else ""
    yield f'<section id="{one.name}"><h2>{escape(figures + one.title)}</h2>'
    runs = sum(1 for row in part.evidence.rows if "seed" in row and "run" in row)
    seeds = len({row["seed"] for row in part.evidence.rows if "run" in row})
    if runs:
        yield (
            f'<p class="note">{runs:,} {"run" if runs == 1 else "runs"} of the study '
            f"<code>{escape(one.name)}</code>, {seeds} {'seed' if seeds == 1 else 'seeds'} a "
            "point; numbers are medians unless they say otherwise, with the least and the greatest "
            "run below them.</p>"
        )
    if part.comparisons:
        yield verdict_table(part.comparisons)
    for drawn in part.pictures:
        yield page.figure(drawn.chart)
    yield "</section>"


def _stand_ins(names: Iterable[str]) -> str:
    """What stands in for what, or nothing."""
    rows = "".join(
        f"<tr><td>{escape(one.instead_of)}</td><td>{escape(one.used)}</td>"
        f"<td><code>{escape(one.name)}</code></td></tr>"
        for one in map(stand_in, names)
    )
    if not rows:
        return ""
    return (
        "<section><h2>Inputs that stand in for others</h2>"
        "<p>Nothing is fitted to reach a band; these inputs are public figures, or were fitted to "
        "what is published of them.</p>"
        '<div class="scroll tall"><table class="verdicts"><thead><tr><th scope="col">instead of'
        '</th><th scope="col">used</th><th scope="col">name</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _table(comparisons: Iterable[Comparison]) -> Table:
    columns = (
        Column("entry", "entry", "text"),
        Column("key", "key", "text"),
        Column("figure", "figure", "text"),
        Column("what", "number", "text"),
        Column("unit", "unit", "text"),
        Column("published", "published", "number"),
        Column("ours", "ours", "number"),
        Column("low", "least", "number"),
        Column("high", "most", "number"),
        Column("verdict", "verdict", "text"),
        Column("query", "query over the runs, in SI units", "text"),
    )
    names = ("paper" if column.name == "published" else column.name for column in columns)
    values = attrgetter(*names)
    return Table(columns, [values(one) for one in comparisons])


def _provenance(made: Reproduction) -> Iterable[str]:
    """The provenance of the first run folder: version, host and command are those of all."""
    for part in made.parts:
        if part.evidence.results is not None:
            told = provenance(part.evidence.results, made.command).items()
            items = (f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in told)
            yield f"<section><h2>Provenance</h2><dl>{''.join(items)}</dl></section>"
            return


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
