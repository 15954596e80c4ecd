"""What would end healing sooner and what each assumption is worth: sentences, tables, a tornado."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.charts.named import bars
from resilver.charts.style import BLUE, ORANGE
from resilver.charts.vega import Chart, Spec, axis, marks
from resilver.counterfactuals import (
    BOTTLENECK_SHARE,
    HELPS_SHARE,
    Counterfactual,
    best_first,
    bottleneck,
)
from resilver.quantities import duration
from resilver.study.results import StudyTables
from resilver.tables import Table, table, table_of
from resilver.words import listed, percent, plural

if TYPE_CHECKING:
    from resilver.study.effects import Effect

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
    """A row a thing relaxed, the best first: its values, and when healing then ends."""
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


_RESULTS = {
    "rebuild_seconds": ("rebuild time", "seconds"),
    "throughput_bytes_per_second": ("goodput", "rate"),
    "requests_completed": ("count of requests completed", "count"),
}
SENSITIVITY = "sensitivity"
"""What the chart is called."""


def sensitivity_table(results: StudyTables) -> Table | None:
    """A row an assumption, the weightiest first, or None where no analysis was made.

    Returns:
        The assumption, its value as it is, lower and higher, what came of these, and by how much
        that is another result.
    """
    effects: list[Effect] = getattr(results, "sensitivity", [])
    if not effects:
        return None
    what, kind = _RESULTS[effects[0].metric]
    what = what.capitalize()
    return table_of(
        effects,
        ("assumption", "Assumption", "text"),
        ("low_change", "Change if lower", "text", lambda one: signed(one.changes[0])),
        ("high_change", "Change if higher", "text", lambda one: signed(one.changes[1])),
        ("base", "As it is", "text"),
        ("low", "Lower", "text"),
        (f"low_{effects[0].metric}", f"{what} if lower", kind, lambda one: one.low_value),
        ("high", "Higher", "text"),
        (f"high_{effects[0].metric}", f"{what} if higher", kind, lambda one: one.high_value),
    )


def sensitivity_finding(results: StudyTables) -> str:
    """The bottleneck, else what clients' goodput depends on, without the full stop."""
    effects: list[Effect] = getattr(results, "sensitivity", [])
    if not effects:
        return ""
    relaxed = [made for one in effects if (made := one.counterfactual) is not None]
    if relaxed:
        return help_sentence(best_first(relaxed), "the rebuild ends").removesuffix(".")
    most = effects[0]
    what = f"The {_RESULTS[most.metric][0]}"
    best = max(effects, key=lambda one: one.gain)
    if best.gain >= BOTTLENECK_SHARE:
        after = best.high if best.relaxed == "high" else best.low
        text = f"The bottleneck: {best.assumption} ({best.key}). At {after} instead of {best.base} "
        return f"{text}the {_RESULTS[best.metric][0]} is {percent(best.gain)} higher"
    if most.swing < SAME:
        return f"{what} depends on none of the assumptions alone"
    low, high = most.changes
    return (
        f"{what} depends most on the {most.assumption}: {signed(low)} at {most.low}, "
        f"{signed(high)} at {most.high}"
    )


def sensitivity_chart(results: StudyTables) -> Chart | None:
    """The tornado chart of an analysis, or None where none was made."""
    effects: list[Effect] = getattr(results, "sensitivity", [])
    made = sensitivity_table(results)
    if made is None:
        return None
    text = (
        "What the result changes by where one assumption is lower or higher and all others, and "
        "the seed, are as they are; the weightiest first."
    )
    title = "what each assumption is worth"
    heading = sensitivity_finding(results)
    return Chart(SENSITIVITY, heading, text, lambda: tornado_spec(effects), made, title)


def tornado_spec(effects: Sequence[Effect]) -> Spec:
    """Two bars an assumption, the weightiest first, from the result as it is."""
    sides = ("lower", "higher")
    found = [
        (one.assumption, side, 100.0 * change, f"{one.assumption} {value}: {signed(change)}")
        for one in effects
        for side, value, change in zip(sides, (one.low, one.high), one.changes, strict=True)
        if change is not None
    ]
    what = f"the {_RESULTS[effects[0].metric][0]}"
    data = marks("name kind x text", found)
    shown = dict(zip(sides, (BLUE, ORANGE), strict=True))
    across = axis("x", f"change of {what} (%)")
    return bars(data, across, shown, step=36, room=170, grouped=True, signed=True)
