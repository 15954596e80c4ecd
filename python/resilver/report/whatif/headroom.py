"""How full a cluster may be so that it heals: what was tried, in sentences and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.report.tables import Table, cell_text, table
from resilver.report.words import plural

if TYPE_CHECKING:
    from resilver.whatif.several import FillSearch, Ranking


def fill_table(found: FillSearch) -> Table:
    """A fill a row, the lowest first.

    Args:
        found: The search.
    """
    worst = [one.harms[0] for _, one in found.trials]
    of = [harm.outcome for harm in worst]
    return table(
        ("share", "fill", "fill", [share for share, _ in found.trials]),
        ("heals", "heals", "text", ["yes" if one.holds else "no" for _, one in found.trials]),
        ("worst", found.level, "text", [harm.name for harm in worst]),
        ("stuck_groups", "not clean", "count", [one.stuck_groups for one in of]),
        ("toofull_groups", "backfill_toofull", "count", [one.toofull_groups for one in of]),
        ("peak_share", "fullest OSD", "fill", [one.peak_share for one in of]),
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
        left = _left(*found.trials[0])
        return [f"At no fill do all PGs heal from the failure of any {level}: {left}."]
    said = [
        f"The cluster may be {cell_text(best, 'fill')} full: all PGs heal, whichever {level} "
        f"fails; {present}."
    ]
    above = [trial for trial in found.trials if not trial[1].holds]
    if above:
        said.append(f"Above, they do not: {_left(*above[0])}.")
    else:
        most = cell_text(found.most_share, "fill")
        said.append(f"More does not fit: at {most} the first OSD holds all it can.")
    return said


def _left(share: float, ranking: Ranking) -> str:
    """What the worst failure leaves behind at a fill, as a clause."""
    worst = ranking.harms[0]
    lost = worst.outcome.lost_groups
    count = plural(worst.outcome.stuck_groups or lost, "PG")
    tail = f", {lost:,} of them lost" if lost else ""
    at = cell_text(share, "fill")
    return f"at {at} the failure of {worst.name} leaves {count} not clean at the end{tail}"
