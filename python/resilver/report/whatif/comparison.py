"""Plans side by side: the answers of each, the best of them marked, and their courses together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from resilver.answer import Answer, Lines, Shown, sections_of
from resilver.charts.over_time import Marks, Panel, over_time
from resilver.charts.scales import Scale, count_scale
from resilver.charts.style import SERIES
from resilver.charts.vega import Chart
from resilver.quantities import duration
from resilver.report.arrays import TIMELINE_INTERVALS_MAX, Floats
from resilver.report.whatif import tables
from resilver.report.whatif.course import SINCE
from resilver.report.whatif.figures import figure_words, key_figure
from resilver.report.whatif.fill import fills
from resilver.report.whatif.plan import assumption_parts, command_parts, pools_shown
from resilver.report.whatif.sentences import loss_note, whole_sentence
from resilver.report.whatif.source import Facts
from resilver.tables import Table, cell_text, table
from resilver.whatif.figures import BY_KEY
from resilver.words import listed, plural

if TYPE_CHECKING:
    from resilver.whatif.answer import Outcome, WhatIf
    from resilver.whatif.several import PlansCompared

_FOREVER = float("inf")
BEST = " *"
_BEST_NOTE = "* is the best of its row among the plans that end healthy, where they differ."
_ROWS = (
    *("whole_seconds", "degraded_seconds", "at_risk_seconds", "inactive_seconds"),
    *("loss_chance", "lost_groups", "stuck_groups", "toofull_groups", "peak_share"),
    *("nearfull_seconds", "backfillfull_seconds", "full_seconds"),
    *("recovered_bytes", "moved_bytes", "p99_seconds", "served_share"),
)
"""What plans are compared by, in the order of the table."""
_CLIENTS = 2
"""Of `_ROWS`, the last that need a load."""


def _cost(key: str, outcome: Outcome) -> float:
    """What orders plans by a figure, the best first."""
    figure, value = BY_KEY[key], getattr(outcome, key)
    if value is None:
        value = _FOREVER if figure.unit == "seconds" else 0.0
    return float(-value if figure.better == "more" else value)


def compared_table(compared: PlansCompared) -> Table:
    """A row a figure, a column a plan, the best of each row marked."""
    answers = compared.answers
    has_load = any(one.outcome.served_share is not None for one in answers)
    shown = _ROWS if has_load else _ROWS[:-_CLIENTS]
    headings = [BY_KEY[key].heading for key in shown]
    cells = []
    for key in shown:
        words = [figure_words(key, getattr(one.outcome, key), Facts(one)) for one in answers]
        cells.append(_marked(answers, words, [_cost(key, one.outcome) for one in answers]))
    largest = Facts(answers[0]).largest_room
    of_pool = [Facts(one).room_of(largest["pool"]) for one in answers] if largest else []
    rooms = [row for row in of_pool if row is not None]
    if largest is not None and len(rooms) == len(answers):
        headings.append(f"more fits into pool {largest['name']} at the end")
        words = [cell_text(row["end_bytes"], "bytes") for row in rooms]
        cells.append(_marked(answers, words, [-(row["end_bytes"] or 0) for row in rooms]))
    plans = [
        (f"plan_{rank}", one.plan, "text", [line[rank] for line in cells])
        for rank, one in enumerate(answers)
    ]
    note = f"{_BEST_NOTE} {loss_note(answers[0].horizon_seconds)}"
    return table(("what", "", "text", headings), *plans, note=note)


def _marked(answers: Sequence[WhatIf], words: list[str], costs: list[float]) -> list[str]:
    """A figure of each plan in words, the best of those that are judged marked."""
    judged = _judged(answers)
    of = [cost for one, cost in zip(answers, costs, strict=True) if one in judged]
    best, differ = min(of), max(of) > min(of)
    return [
        text + BEST * (differ and one in judged and cost == best)
        for one, text, cost in zip(answers, words, costs, strict=True)
    ]


def _judged(answers: Sequence[WhatIf]) -> Sequence[WhatIf]:
    """The answers of which one may be called best: what was not done costs nothing."""
    return [one for one in answers if one.holds] or answers


def compared_sentences(compared: PlansCompared) -> list[str]:
    """Which plan is healthy first, which risks least, which fills least."""
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
    said += [_range(key, _judged(answers)) for key in ("at_risk_seconds", "peak_share")]
    return [text for text in said if text]


def _named(answers: Sequence[WhatIf]) -> str:
    """Plans by their names, as a sentence begins."""
    return f"Plan{'s' * (len(answers) > 1)} {listed([one.plan for one in answers])}"


def _after(answer: WhatIf) -> str:
    return duration(answer.outcome.whole_seconds or 0.0)


def _range(key: str, answers: Sequence[WhatIf]) -> str:
    """The plans with the least and with the most of a figure; empty if it is alike with all."""
    ordered = sorted(answers, key=lambda one: _cost(key, one.outcome))
    ends = [ordered[0], ordered[-1]]
    least, most = (figure_words(key, getattr(one.outcome, key), Facts(one)) for one in ends)
    if least == most:
        return ""
    return (
        f"{BY_KEY[key].label}: {least} with plan {ends[0].plan}, {most} with plan {ends[1].plan}."
    )


def together_chart(compared: PlansCompared) -> Chart | None:
    """What lacks copies, what is misplaced, and the fullest OSD over time, a line a plan."""
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
    said = compared_sentences(compared)
    return Chart(
        "together",
        said[0].removesuffix("."),
        "Copies of objects that are missing, those that are not where they should be, and how full "
        "the fullest OSD is, over time, a line a plan.",
        lambda: over_time(edges, tuple(panels), SINCE, Marks(), 160),
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
    """What plans rest on that is not alike in all of them, a column a plan; None where all is."""
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


def compared_answer(compared: PlansCompared) -> Answer:
    """The answer of plans side by side."""
    answers = compared.answers
    side = Shown("plans", "Side by side", compared_table(compared), is_split=True)
    differing = differing_table(compared)
    differs = Shown("differing", "What differs", differing, printed=0) if differing else None
    figures = [
        replace(key_figure(Facts(one), "whole_seconds"), label=f"{one.plan}: healthy after")
        for one in answers
    ]
    return Answer(
        f"Which of {plural(len(answers), 'plan')} is best?",
        compared_sentences(compared),
        sections_of(
            ("Side by side", (side, together_chart(compared))),
            *(_plan_section(rank, one) for rank, one in enumerate(answers)),
            ("Assumptions that differ", [differs]),
        ),
        compared.to_dict(),
        holds=compared.holds,
        figures=figures,
        notes=answers[0].notes,
        basis=assumption_parts(answers[0].assumptions),
        source={"Cluster": answers[0].cluster.label},
        # A plan's name is its author's, and may be a path.
        runs={
            f"plan-{rank}/{name}": made
            for rank, one in enumerate(answers, 1)
            for name, made in one.tables.items()
        },
    )


def _plan_section(rank: int, answer: WhatIf) -> tuple[object, ...]:
    """What a page has of each plan; a terminal has the columns side by side."""
    facts, after = Facts(answer), f"-{rank}"
    steps, commands = command_parts(answer, after)
    summary = tables.stuck_summary(facts)
    stuck = Shown(f"stuck{after}", "Not clean at the end", summary, rows=12, printed=0)
    commands = replace(commands, printed=0) if isinstance(commands, Lines) else None
    parts = [steps, pools_shown(facts, after), stuck if facts.stuck else None, commands]
    return f"Plan {rank + 1}: {answer.plan}", parts, whole_sentence(facts)
