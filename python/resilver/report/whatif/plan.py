"""The answer of one plan: its sentences, figures, charts, tables and commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from resilver.answer import Answer, KeyFigure, Lines, Part, Section, Shown, sections_of
from resilver.quantities import duration
from resilver.report.counterfactuals import HEADING, counterfactuals_table
from resilver.report.whatif import course, sentences, tables
from resilver.report.whatif.figures import key_figure
from resilver.report.whatif.fill import fill_chart, fullest_chart
from resilver.report.whatif.source import Facts
from resilver.tables import Table, cell_text
from resilver.words import percent

if TYPE_CHECKING:
    from resilver.whatif.answer import Assumption, WhatIf

_HELPS = "The same run with one thing relaxed, all else unchanged; the best first."
_WAITS = (
    "Shares of the time that PGs have work, all together. A long wait names no bottleneck: PGs "
    "wait for a slot whatever makes slots turn over slowly."
)
_ROOM = "How much more user data fits until full or nearfull, and by MAX AVAIL"
_AUTOSCALER = "PGs that pools have, and that Ceph's autoscaler aims at"
_COMMANDS = "Nothing was changed on the cluster. These commands change it."
_ROWS = 12
"""Rows that a terminal shows."""


def plan_answer(answer: WhatIf) -> Answer:
    """The answer of a plan."""
    facts = Facts(answer)
    release = f", Ceph {answer.cluster.release}" if answer.cluster.release else ""
    return Answer(
        sentences.question(answer),
        sentences.answer_sentences(answer),
        _sections(facts),
        answer.to_dict(),
        holds=answer.holds,
        figures=_figures(facts),
        notes=[*sentences.assumption_sentences(answer.assumptions), *answer.notes],
        basis=assumption_parts(answer.assumptions),
        source={
            "Cluster": f"{answer.cluster.label}{release}",
            "Data moves": "by events" if answer.is_by_events else "by steady flows",
            "Digest": answer.digest,
        },
        hosts={osd["name"]: osd["host"] for osd in facts.osds if osd["host"]},
        runs=answer.tables,
    )


def assumption_parts(assumptions: Sequence[Assumption]) -> list[Part]:
    """The settings and devices that an answer rests on, as a table of a page."""
    made = tables.assumptions_table(assumptions)
    shown = Shown("assumptions", "Settings and devices", made, rows=100, printed=0)
    return [shown] if made.rows else []


def pools_shown(facts: Facts, rank: str = "", printed: int = 0) -> Shown:
    """The table of pools.

    Args:
        rank: What stands behind its name.
        printed: How many of its rows the terminal shows.
    """
    made = tables.pools_table(facts)
    return Shown(f"pools{rank}", "Pools", made, tables.POOL_SHOWN, printed=printed)


def _figures(facts: Facts) -> list[KeyFigure]:
    """The answer in numbers."""
    outcome = facts.answer.outcome
    made = [key_figure(facts, f"{of}_seconds") for of in ("whole", "degraded", "at_risk")]
    if outcome.loss_chance and not outcome.lost_groups:
        made.append(
            key_figure(facts, "loss_chance", f"by further failures {sentences.loss_span(facts)}")
        )
    made.append(key_figure(facts, "peak_share", outcome.peak_osd))
    if outcome.stuck_groups:
        full = f"up to {outcome.toofull_groups:,} in backfill_toofull"
        made.append(key_figure(facts, "stuck_groups", full if outcome.toofull_groups else ""))
    written = outcome.recovered_bytes + outcome.moved_bytes
    least = sentences.unwritten_words(facts) or f"minimum {cell_text(outcome.least_bytes, 'bytes')}"
    text = cell_text(written, "bytes")
    made.append(KeyFigure("Re-replicated and backfilled", written, "B", text, least))
    if outcome.served_share is not None:
        served = f"at worst; {percent(outcome.served_share)} of requests served"
        made.append(key_figure(facts, "p99_seconds", served))
    return made


def upmap_lines(answer: WhatIf) -> list[str]:
    """The upmap entries that the balancer writes, as commands; not the plan's own."""
    lines, own = [], set(answer.commands)
    for row in answer.tables["upmaps"].to_pylist():
        group = f"{row['pool']}.{row['group']:x}"
        osds = re.findall(r"\d+", row["pairs"] or "")
        words = ["pg-upmap-items", group, *osds] if osds else ["rm-pg-upmap-items", group]
        lines.append(" ".join(["ceph osd", *words]))
    return [line for line in lines if line not in own]


def _sections(facts: Facts) -> list[Section]:
    """What stands behind the answer, in the order of a page."""
    late = f"; the first change comes after {duration(facts.begins)}" if facts.begins else ""
    healing = (
        pools_shown(facts, printed=0 if facts.is_calm else _ROWS),
        _table("risks", "If further OSDs fail", tables.risks_table(facts)),
        course.course_chart(facts),
        course.rates_chart(facts),
        _table("autoscaler", _AUTOSCALER, tables.autoscaler_table(facts)),
    )
    fill = (
        fill_chart(facts),
        fullest_chart(facts),
        course.space_chart(facts),
        _table("room", _ROOM, tables.room_table(facts), 24, _ROWS),
        _table("ratios", "OSDs that reach a ratio", tables.crossings_table(facts), 24, _ROWS),
    )
    stuck = (
        _table("stuck", "By state and reason", tables.stuck_summary(facts), 24),
        _table("stuck-groups", "Every PG", tables.stuck_table(facts), 24),
    )
    reruns = counterfactuals_table(facts.answer.counterfactuals)
    # Which settings they are stands on the page.
    helps = _table("counterfactuals", HEADING, reruns, printed=_ROWS)
    waits = _table("waits", "By kind", tables.waits_table(facts))
    levels = enumerate([*tables.levels(facts), "OSD"])
    moved = [
        course.pools_chart(facts),
        *(course.places_chart(facts, level, rank) for rank, level in levels),
    ]
    chart = course.clients_chart(facts)
    served = _table("clients-of-pools", "By pool", tables.clients_table(facts))
    return sections_of(
        ("When it is healthy", healing, f"Times count from the start{late}."),
        ("How full OSDs get", fill),
        ("PGs that are not clean at the end", stuck),
        (HEADING, [helps], _HELPS),
        ("What PGs wait for", [waits], _WAITS),
        ("What moves, and where", moved),
        ("What clients get", (chart, served) if chart else ()),
        _plan(facts),
    )


def _table(name: str, title: str, made: Table, rows: int = 60, printed: int = 0) -> Shown | None:
    return Shown(name, title, made, rows=rows, printed=printed) if made.rows else None


def command_parts(answer: WhatIf, rank: str = "") -> list[Part | None]:
    """The plan and its commands, with `rank` behind their names."""
    steps = _table(f"steps{rank}", "What happens when", tables.steps_table(answer))
    made = Lines(f"commands{rank}", "Commands", answer.commands)
    return [steps, made if answer.commands else None]


def _plan(facts: Facts) -> tuple[object, ...]:
    upmaps = upmap_lines(facts.answer)
    parts = [
        *command_parts(facts.answer),
        Lines("upmaps", "Commands for the balancer's entries", upmaps, _ROWS) if upmaps else None,
        _table("history", "Changes of the OSD map", tables.history_table(facts), 40),
    ]
    return "The plan", parts, _COMMANDS if facts.answer.commands or upmaps else ""
