"""How full a cluster may be so that it heals: what was tried, in sentences and as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.answer.document import Document
from resilver.report.judged import PageSection, write_judged
from resilver.report.whatif.ranking import ranking_sections, ranking_sentences
from resilver.tables import Table, cell_text, table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.whatif.several import FillSearch, FillTrial


def fill_table(found: FillSearch) -> Table:
    """A fill a row, the lowest first.

    Args:
        found: The search.
    """
    trials = found.trials
    of = [None if one.worst is None else one.worst.outcome for one in trials]

    def figures(name: str) -> list[Any]:
        return [getattr(one, name, None) for one in of]

    reasons = [("reason", "why", "text", [one.reason or None for one in trials])]
    return table(
        ("share", "fill", "fill", [one.share for one in trials]),
        ("heals", "heals", "text", ["yes" if one.holds else "no" for one in trials]),
        ("worst", found.level, "text", [one.worst and one.worst.name for one in trials]),
        ("stuck_groups", "not clean", "count", figures("stuck_groups")),
        ("toofull_groups", "backfill_toofull", "count", figures("toofull_groups")),
        ("peak_share", "fullest OSD", "fill", figures("peak_share")),
        *(reasons if any(one.reason for one in trials) else ()),
    )


def fill_sentences(found: FillSearch) -> list[str]:
    """How full the cluster may be, how full it is, and what happens above.

    Args:
        found: The search.
    """
    level = "OSD" if found.level == "osd" else found.level
    best, now = found.best_share, found.present_share
    present = f"it is {cell_text(now, 'fill')} full now" + ", too full" * bool(best and now > best)
    if best is None:
        left = _left(found.trials[0])
        return [f"At no fill do all PGs heal from the failure of any {level}: {left}."]
    said = [
        f"The cluster may be {cell_text(best, 'fill')} full: all PGs heal, whichever {level} "
        f"fails; {present}."
    ]
    above = [trial for trial in found.trials if not trial.holds]
    if above:
        said.append(f"Above, they do not: {_left(above[0])}.")
    else:
        most = cell_text(found.most_share, "fill")
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
    return f"at {at} the failure of {worst.name} leaves {count} not clean at the end{tail}"


def write_fill(found: FillSearch, path: str | Path, command: str = "") -> Path:
    """Write the page of a search for a fill: what was tried, and the parts by harm.

    Args:
        found: The search.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page, fills, ranking = Document(), fill_table(found), found.ranking
    table = page.shown("fills", "What was tried", fills, len(fills.columns), rows_max=60)
    sections = [PageSection("What was tried", (), [table])]
    sentences, provenance = fill_sentences(found), {"Made by": command}
    if ranking is not None:
        sections += ranking_sections(page, ranking)
        sentences += ranking_sentences(ranking)
        provenance["Cluster"] = ranking.cluster.label
    title = f"How full may the cluster be so that {found.aim}?"
    return write_judged(page, path, title, sentences, sections, provenance)
