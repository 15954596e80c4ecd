"""How full a cluster may be so that it heals: what was tried, in sentences and as a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from resilver.answer import Answer, KeyFigure, Section, Shown, sections_of
from resilver.report.whatif.figures import outcome_columns
from resilver.report.whatif.ranking import ranking_answer
from resilver.tables import Table, cell_text, table
from resilver.whatif.several import noun_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.whatif.several import FillSearch, FillTrial


def fill_table(search: FillSearch) -> Table:
    """A fill a row, the lowest first."""
    trials = search.trials
    of = [None if one.worst is None else one.worst.outcome for one in trials]
    reasons = [("reason", "why", "text", [one.reason or None for one in trials])]
    return table(
        ("share", "fill", "fill", [one.share for one in trials]),
        ("heals", "heals", "text", ["yes" if one.holds else "no" for one in trials]),
        (
            "worst",
            f"worst {search.level}",
            "text",
            [one.worst and one.worst.name for one in trials],
        ),
        *outcome_columns(("stuck_groups", "toofull_groups", "peak_share"), of),
        *(reasons if any(one.reason for one in trials) else ()),
    )


def fill_sentences(search: FillSearch) -> list[str]:
    """How full the cluster may be, how full it is, and what happens above."""
    level = noun_of(search.level)
    best, now = search.best_share, search.present_share
    present = f"it is {cell_text(now, 'fill')} full now" + ", too full" * bool(best and now > best)
    if best is None:
        return [
            f"The cluster heals from the failure of any {level} at no fill: "
            f"{_left(search.trials[0])}."
        ]
    said = [
        f"The cluster heals from the failure of any {level} up to {cell_text(best, 'fill')} full; "
        f"{present}."
    ]
    above = [trial for trial in search.trials if not trial.holds]
    if above:
        said.append(f"Above, it does not: {_left(above[0])}.")
    else:
        most = cell_text(search.most_share, "fill")
        said.append(f"More does not fit: at {most} the first OSD holds all it can.")
    return said


def _left(trial: FillTrial) -> str:
    """What the worst failure leaves behind at a fill, or why none was tried, as a clause."""
    worst, at = trial.worst, cell_text(trial.share, "fill")
    if worst is None:
        return f"at {at} {trial.reason}"
    lost = worst.outcome.lost_groups
    count = plural(worst.outcome.stuck_groups or lost, "PG")
    tail = f", {lost:,} of them lost" if lost else ""
    return f"at {at} the failure of {worst.name} leaves {count} stuck{tail}"


def fill_answer(search: FillSearch) -> Answer:
    """The answer of a search for a fill: what was tried, and the parts by impact there."""
    at = "the highest fill that heals" if search.holds else "the lowest fill that was tried"
    shares = (
        ("Heals up to", search.best_share),
        ("Full now", search.present_share),
        ("Full when an OSD is full", search.most_share),
    )
    answer = Answer(
        f"How full may the cluster be so that {search.aim}?",
        fill_sentences(search),
        sections_of(("Fill", [Shown("fills", "What was tried", fill_table(search))])),
        search.to_dict(),
        holds=search.holds,
        figures=[
            KeyFigure(label, share, "share", cell_text(share, "fill"))
            for label, share in shares
            if share is not None
        ],
    )
    if search.ranking is None:
        return answer
    there = ranking_answer(search.ranking)
    section = Section(f"At {at}", texts=there.verdict, printed=True)
    sections = [*answer.sections, section, *there.sections]
    return replace(
        there,
        **{key: getattr(answer, key) for key in ("title", "verdict", "record", "holds", "figures")},
        sections=sections,
    )
