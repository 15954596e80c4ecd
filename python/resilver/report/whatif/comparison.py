"""Plans side by side: the answers of each, the best of them marked, and their courses together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.charts.scales import Scale, count_scale, time_scale
from resilver.charts.style import SERIES
from resilver.quantities import duration
from resilver.report.arrays import TIMELINE_INTERVALS_MAX, Floats
from resilver.report.judged import PageSection, write_judged
from resilver.report.timeline import Marks, Panel, over_time
from resilver.report.whatif import tables
from resilver.report.whatif.clients import delay_words
from resilver.report.whatif.fill import fills
from resilver.report.whatif.sentences import whole_sentence
from resilver.report.whatif.source import Facts, until_words, whole_words
from resilver.tables import Table, cell_text, table
from resilver.words import listed, plural

if TYPE_CHECKING:
    from resilver.whatif.answer import Outcome, WhatIf
    from resilver.whatif.several import PlansCompared

_FOREVER = float("inf")
BEST = " *"
_BEST_NOTE = "* is the best of its row, of the plans that end healthy, where they differ."


@dataclass(frozen=True)
class Row:
    """One answer of every plan.

    Attributes:
        heading: What it is.
        words: It, for people.
        cost: What orders plans by it, the best first.
    """

    heading: str
    words: Callable[[Facts], str]
    cost: Callable[[Outcome], float]


def _until(name: str, heading: str) -> Row:
    def cost(found: Outcome) -> float:
        seconds = getattr(found, name)
        return _FOREVER if seconds is None else float(seconds)

    words = whole_words if name == "whole_seconds" else until_words
    return Row(heading, lambda facts: words(facts, getattr(facts.answer.outcome, name)), cost)


def _first(name: str, heading: str) -> Row:
    """When the first OSD gets to a ratio: the later the better, and never is best."""

    def words(facts: Facts) -> str:
        seconds = getattr(facts.answer.outcome, name)
        return "never" if seconds is None else duration(seconds) if seconds else "at the start"

    def cost(found: Outcome) -> float:
        seconds = getattr(found, name)
        return -_FOREVER if seconds is None else -float(seconds)

    return Row(heading, words, cost)


def _count(name: str, heading: str, kind: str = "count") -> Row:
    return Row(
        heading,
        lambda facts: cell_text(getattr(facts.answer.outcome, name), kind),
        lambda found: float(getattr(found, name) or 0.0),
    )


ROWS = (
    _until("whole_seconds", "healthy after"),
    _until("degraded_seconds", "degraded until"),
    _until("at_risk_seconds", "at risk until"),
    _until("inactive_seconds", "inactive until"),
    _count("loss_chance", "chance of losing data", "chance"),
    _count("lost_groups", "PGs losing data"),
    _count("stuck_groups", "not clean at the end"),
    _count("toofull_groups", "most in backfill_toofull"),
    _count("peak_share", "fullest OSD at its peak", "fill"),
    _first("nearfull_seconds", "first OSD nearfull"),
    _first("backfillfull_seconds", "first OSD backfillfull"),
    _first("full_seconds", "first OSD full"),
    _count("recovered_bytes", "re-replicated", "bytes"),
    _count("moved_bytes", "moved", "bytes"),
    Row(
        "clients' 99 % within",
        lambda facts: delay_words(facts.answer.outcome.p99_seconds),
        lambda found: _FOREVER if found.p99_seconds is None else found.p99_seconds,
    ),
    Row(
        "clients served at least",
        lambda facts: cell_text(facts.answer.outcome.served_share, "share"),
        lambda found: -(found.served_share or 0.0),
    ),
)
"""What plans are compared by, in the order of the table."""
_CLIENTS = 2
"""Of `ROWS`, the last that need a load."""


def compared_table(compared: PlansCompared) -> Table:
    """A row an answer, a column a plan, the best of each row marked.

    Args:
        compared: The plans' answers.
    """
    answers = compared.answers
    has_load = any(one.outcome.served_share is not None for one in answers)
    shown = ROWS if has_load else ROWS[:-_CLIENTS]
    cells = []
    judged = _judged(answers)
    for row in shown:
        costs = [row.cost(one.outcome) for one in judged]
        best, differ = min(costs), max(costs) > min(costs)
        marks = [differ and one in judged and row.cost(one.outcome) == best for one in answers]
        words = [row.words(Facts(one)) for one in answers]
        cells.append([text + BEST * mark for text, mark in zip(words, marks, strict=True)])
    plans = [
        (f"plan_{rank}", one.plan, "text", [line[rank] for line in cells])
        for rank, one in enumerate(answers)
    ]
    return table(("what", "", "text", [row.heading for row in shown]), *plans, note=_BEST_NOTE)


def _judged(answers: Sequence[WhatIf]) -> Sequence[WhatIf]:
    """The answers of which one may be called best: what was not done costs nothing."""
    return [one for one in answers if one.holds] or answers


def compared_sentences(compared: PlansCompared) -> list[str]:
    """Which plan is whole first, which risks least, which fills least.

    Args:
        compared: The plans' answers.
    """
    answers, said = compared.answers, []
    lost = [one for one in answers if one.outcome.lost_groups]
    if lost:
        said.append(f"{_named(lost)} {'loses' if len(lost) == 1 else 'lose'} data.")
    whole = [one for one in answers if one.holds]
    ordered = sorted(whole, key=lambda one: one.outcome.whole_seconds or 0.0)
    if not whole:
        said.append("No plan ends with a healthy cluster.")
    else:
        first, last = ordered[0], ordered[-1]
        text = f"Plan {first.plan} is healthy first, after {_after(first)}"
        if len(ordered) == 1:
            text = f"Only plan {first.plan} ends with a healthy cluster, after {_after(first)}"
        elif _after(first) == _after(last):
            text = f"{_named(ordered)} are healthy after {_after(first)}"
        else:
            text += f", plan {last.plan} last, after {_after(last)}"
        rest = [one for one in answers if not one.holds]
        text += f"; p{_named(rest)[1:]} never" if rest and len(ordered) > 1 else ""
        said.append(f"{text}.")
    said += [_risk(_judged(answers)), _fill(_judged(answers))]
    return [text for text in said if text]


def _named(answers: Sequence[WhatIf]) -> str:
    """Plans by their names, as a sentence begins."""
    return f"Plan{'s' * (len(answers) > 1)} {listed([one.plan for one in answers])}"


def _after(answer: WhatIf) -> str:
    return duration(answer.outcome.whole_seconds or 0.0)


def _risk(answers: Sequence[WhatIf]) -> str:
    """Which plan leaves data at risk the shortest, and which the longest; empty if all alike."""
    times = [one.outcome.at_risk_seconds for one in answers]
    costs = [_FOREVER if seconds is None else seconds for seconds in times]
    best, worst = int(np.argmin(costs)), int(np.argmax(costs))
    if costs[best] == costs[worst]:
        return ""
    shortest, longest = (_at_risk(answers[at]) for at in (best, worst))
    return (
        f"PGs are at zero redundancy {shortest} with plan "
        f"{answers[best].plan}, {longest} with plan {answers[worst].plan}."
    )


def _at_risk(answer: WhatIf) -> str:
    """How long groups of a plan are at risk, as in a sentence."""
    seconds = answer.outcome.at_risk_seconds
    if seconds is None:
        return until_words(Facts(answer), seconds)
    return f"until {duration(seconds)}" if seconds else "at no time"


def _fill(answers: Sequence[WhatIf]) -> str:
    peaks = [one.outcome.peak_share for one in answers]
    best, worst = int(np.argmin(peaks)), int(np.argmax(peaks))
    if f"{peaks[best]:.3f}" == f"{peaks[worst]:.3f}":
        return f"The fullest OSD gets to {cell_text(peaks[best], 'fill')} with each of them."
    return (
        f"The fullest OSD gets to {cell_text(peaks[best], 'fill')} with plan {answers[best].plan}, "
        f"to {cell_text(peaks[worst], 'fill')} with plan {answers[worst].plan}."
    )


def together_chart(compared: PlansCompared) -> Chart | None:
    """What lacks copies, what is misplaced, and the fullest OSD over time, a line a plan.

    Args:
        compared: The plans' answers.
    """
    facts = [Facts(one) for one in compared.answers]
    end = max(one.answer.end_seconds for one in facts)
    if end <= 0.0:
        return None
    edges = np.linspace(0.0, end, TIMELINE_INTERVALS_MAX + 1)
    panels = []
    for kind in ("degraded", "misplaced"):
        lines = [_at(one.times, one.series(f"{kind}_objects"), edges) for one in facts]
        most = max(float(line.max()) for line in lines)
        if most > 0.0:
            series = _series(facts, lines)
            panels.append(Panel(f"{kind} copies", count_scale(most), series, filled=False))
    fullest = []
    for one in facts:
        found = fills(one)
        peaks = np.nanmax(found, axis=1) if found.size else np.zeros(one.moments.size)
        fullest.append(_at(one.moments, peaks, edges))
    series = _series(facts, fullest)
    panels.append(Panel("fullest OSD (%)", Scale(0.01, ""), series, filled=False, zero=False))
    time = time_scale(end)
    said = compared_sentences(compared)
    return Chart(
        "together",
        said[0].removesuffix("."),
        "Copies of objects that are missing, those that are not where they should be, and how full "
        "the fullest OSD is, over time, a line a plan.",
        lambda: over_time(
            edges, tuple(panels), f"time since the start ({time.unit})", time, Marks(), 160
        ),
        compared_table(compared),
        "plans side by side",
    )


def _at(times: Floats, values: Floats, edges: Floats) -> Floats:
    """The values that hold at the beginnings of intervals; the last one holds on."""
    if not times.size:
        return np.zeros(edges.size - 1)
    return values[np.maximum(np.searchsorted(times, edges[:-1], side="right") - 1, 0)]


def _series(facts: Sequence[Facts], lines: Sequence[Floats]) -> tuple[tuple[str, str, Floats], ...]:
    return tuple(
        (one.answer.plan, SERIES[rank % len(SERIES)], line)
        for rank, (one, line) in enumerate(zip(facts, lines, strict=True))
    )


def differing_table(compared: PlansCompared) -> Table | None:
    """What plans rest on that is not alike in all of them, a column a plan; None where all is.

    Args:
        compared: The plans' answers.
    """
    of = [
        {(one.name, one.applies_to): one.value for one in a.assumptions} for a in compared.answers
    ]
    keys = list(dict.fromkeys(key for one in of for key in one))
    found = [key for key in keys if len({one.get(key) for one in of}) > 1]
    if not found:
        return None
    names = [f"{name} ({part})" if part else name for name, part in found]
    plans: list[tuple[str, str, str, list[Any]]] = [
        (f"plan_{rank}", answer.plan, "text", [one.get(key) for key in found])
        for rank, (answer, one) in enumerate(zip(compared.answers, of, strict=True))
    ]
    return table(("name", "what", "text", names), *plans)


def write_compared(compared: PlansCompared, path: str | Path, command: str = "") -> Path:
    """Write the page that compares plans.

    Args:
        compared: The plans' answers.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page, answers = Document(), compared.answers
    parts = [page.shown("plans", "The plans' answers", compared_table(compared))]
    chart = together_chart(compared)
    parts += [page.figure(chart)] if chart is not None else []
    sections = [PageSection("Side by side", (), parts)]
    for rank, one in enumerate(answers):
        facts = Facts(one)
        pools, steps = tables.pools_table(facts), tables.steps_table(one)
        parts = [page.shown(f"steps-{rank}", "What happens when", steps)] if one.steps else []
        parts.append(page.shown(f"pools-{rank}", "Pools", pools, tables.POOL_SHOWN))
        if facts.stuck:
            stuck = tables.stuck_summary(facts)
            parts.append(page.shown(f"stuck-{rank}", "Not clean at the end", stuck, rows_max=12))
        parts += [page.lines(f"commands-{rank}", "Commands", one.commands)] * bool(one.commands)
        sections.append(
            PageSection(f"Plan {rank + 1}: {one.plan}", (whole_sentence(facts),), parts)
        )
    differing = differing_table(compared)
    parts = [page.shown("differing", "What differs", differing)] if differing is not None else []
    made = tables.assumptions_table(answers[0].assumptions)
    title = f"Settings and devices of {answers[0].plan}"
    parts.append(page.shown("assumptions", title, made, rows_max=100))
    sections.append(PageSection("What this rests on", answers[0].notes, parts))
    told = {"Made by": command, "Cluster": answers[0].cluster.label}
    asked = f"Which of {plural(len(answers), 'plan')} is best?"
    return write_judged(page, path, asked, compared_sentences(compared), sections, told)
