"""What would make healing end sooner: the bottleneck in a sentence, and every rerun in a table."""

from __future__ import annotations

from collections.abc import Sequence

from resilver.counterfactuals import HELPS_SHARE, Counterfactual, bottleneck
from resilver.quantities import duration
from resilver.tables import Table, table
from resilver.words import listed, percent, plural

HEADING = "What would help"
SAME = 0.001
"""A change below this share is none that anybody would act on."""


def help_sentence(found: Sequence[Counterfactual], end: str = "the cluster is healthy") -> str:
    """The bottleneck, or that nothing on the list is one; empty where no run was made again.

    Args:
        found: The counterfactuals, the best first.
        end: What is there at the end: ``the rebuild ends``.
    """
    if not found:
        return ""
    best = found[0]
    if not best.helps:
        names = listed([one.relaxed for one in found])
        return f"Nothing on the list helps by {100 * HELPS_SHARE:g} %: {names}, each relaxed alone."
    named = bottleneck(found) is not None
    text = "The bottleneck: " if named else "No bottleneck alone; what helps most: "
    text = "What helps most: " if best.freed_groups else text
    text += best.relaxed if best.setting.startswith("-") else f"{best.relaxed} ({best.setting})"
    twice = best.after.startswith("twice")
    text += ". Twice as fast, " if twice else f". At {best.after} instead of {best.before} "
    if best.freed_groups:
        return f"{text}{plural(best.freed_groups, 'PG')} fewer stay stuck."
    after = duration(best.end_seconds or 0.0)
    return f"{text}{end} after {after}, {percent(best.sooner_share or 0.0)} sooner."


def signed(change: float | None) -> str:
    """A change as a signed percentage.

    >>> signed(0.173), signed(-0.06), signed(0.0001), signed(None)
    ('+17 %', '-6.0 %', 'none', 'n/a')
    """
    if change is None:
        return "n/a"
    if abs(change) < SAME:
        return "none"
    return f"{'+' if change > 0 else '-'}{percent(abs(change))}"


def counterfactuals_table(found: Sequence[Counterfactual]) -> Table:
    """A row a thing relaxed, the best first: its values, and when healing then ends.

    Args:
        found: The counterfactuals, the best first.
    """
    is_stuck = any(one.stuck_groups for one in found)
    end = "ends after" if is_stuck else "healthy after"
    stuck = [("stuck_groups", "PGs stuck", "count", [one.stuck_groups for one in found])]
    change = [None if one.sooner_share is None else -one.sooner_share for one in found]
    return table(
        ("relaxed", "changed alone", "text", [one.relaxed for one in found]),
        ("before", "from", "text", [one.before for one in found]),
        ("after", "to", "text", [one.after for one in found]),
        ("end_seconds", end, "seconds", [one.end_seconds for one in found]),
        ("change", "change", "text", [signed(one) for one in change]),
        *(stuck if is_stuck else ()),
        ("setting", "set by", "text", [one.setting for one in found]),
    )
