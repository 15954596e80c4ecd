"""How full a cluster may be so that it heals: what was tried, in sentences and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.report.tables import Table, cell_text, table
from resilver.report.words import plural

if TYPE_CHECKING:
    from resilver.whatif.several import FillSearch, FillTrial


def fill_table(found: FillSearch) -> Table:
    """A fill a row, the lowest first.

    Args:
        found: The search.
    """
    trials = found.trials
    of = [one.worst.outcome for one in trials]
    return table(
        ("share", "fill", "fill", [one.share for one in trials]),
        ("heals", "heals", "text", ["yes" if one.heals else "no" for one in trials]),
        ("worst", found.ranking.level, "text", [one.worst.name for one in trials]),
        ("stuck_groups", "not clean", "count", [one.stuck_groups for one in of]),
        ("toofull_groups", "backfill_toofull", "count", [one.toofull_groups for one in of]),
        ("peak_share", "fullest OSD", "fill", [one.peak_share for one in of]),
    )


def fill_sentences(found: FillSearch) -> list[str]:
    """How full the cluster may be, how full it is, and what happens above.

    Args:
        found: The search.
    """
    level = "OSD" if found.ranking.level == "osd" else found.ranking.level
    best, now = found.best_share, found.present_share
    present = f"it is {cell_text(now, 'fill')} full now" + ", too full" * bool(best and now > best)
    if best is None:
        lowest = found.trials[0]
        return [f"At no fill do all PGs heal from the failure of any {level}: {_left(lowest)}."]
    said = [
        f"The cluster may be {cell_text(best, 'fill')} full: all PGs heal, whichever {level} "
        f"fails; {present}."
    ]
    above = [one for one in found.trials if not one.heals]
    if above:
        said.append(f"Above, they do not: {_left(above[0])}.")
    else:
        most = cell_text(found.most_share, "fill")
        said.append(f"More does not fit: at {most} the first OSD holds all it can.")
    return said


def _left(trial: FillTrial) -> str:
    """What a failure leaves behind, as a clause."""
    outcome = trial.worst.outcome
    lost = f", {outcome.lost_groups:,} of them lost" if outcome.lost_groups else ""
    return (
        f"at {cell_text(trial.share, 'fill')} the failure of {trial.worst.name} leaves "
        f"{plural(outcome.stuck_groups or outcome.lost_groups, 'PG')} not clean at the end{lost}"
    )
