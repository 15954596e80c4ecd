"""What each assumption is worth: the table of a sensitivity analysis, and its tornado chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.charts.chart import Chart
from resilver.charts.named import bars
from resilver.charts.style import BLUE, ORANGE
from resilver.charts.vega import Spec, axis, rows
from resilver.counterfactuals import best_first
from resilver.report.counterfactuals import SAME, help_sentence, signed
from resilver.study.results import StudyTables
from resilver.tables import Table, table_of

if TYPE_CHECKING:
    from resilver.study.effects import Effect

NAME = "sensitivity"
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
    kind = "seconds" if effects[0].metric == "rebuild_seconds" else "rate"
    what = "Rebuild time" if kind == "seconds" else "Goodput"
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
    """The bottleneck of a rebuild, else what the goodput depends on, without the full stop."""
    effects: list[Effect] = getattr(results, "sensitivity", [])
    if not effects:
        return ""
    relaxed = [made for one in effects if (made := one.counterfactual) is not None]
    if relaxed:
        return help_sentence(best_first(relaxed), "the rebuild ends").removesuffix(".")
    most = effects[0]
    what = "The rebuild time" if most.metric == "rebuild_seconds" else "The goodput"
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
    table = sensitivity_table(results)
    if table is None:
        return None

    text = (
        "What the result changes by where one assumption is lower or higher and all others, and "
        "the seed, are as they are; the weightiest first."
    )
    title = "what each assumption is worth"
    heading = sensitivity_finding(results)
    return Chart(NAME, heading, text, lambda: tornado_spec(effects), table, title)


def tornado_spec(effects: Sequence[Effect]) -> Spec:
    """Two bars an assumption, from the result as it is.

    Args:
        effects: The effects, the weightiest first.
    """
    sides = ("lower", "higher")
    found = [
        (one.assumption, side, 100.0 * change, f"{one.assumption} {value}: {signed(change)}")
        for one in effects
        for side, value, change in zip(sides, (one.low, one.high), one.changes, strict=True)
        if change is not None
    ]
    names, kinds, changes, texts = zip(*found, strict=True)
    what = "the rebuild time" if effects[0].metric == "rebuild_seconds" else "the goodput"
    data = rows(name=names, kind=kinds, x=changes, text=texts)
    shown = dict(zip(sides, (BLUE, ORANGE), strict=True))
    across = axis("x", f"change of {what} (%)")
    return bars(data, across, shown, step=36, room=170, grouped=True, signed=True)
