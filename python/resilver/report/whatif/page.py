"""The page of an answer: its sentences and figures, charts, tables, and lines to paste."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.quantities import duration
from resilver.report.counterfactuals import HEADING, counterfactuals_table
from resilver.report.headline import KeyFigure
from resilver.report.judged import PageSection, write_judged
from resilver.report.whatif import tables
from resilver.report.whatif.clients import delay_words
from resilver.report.whatif.course import clients_chart, course_chart, rates_chart, space_chart
from resilver.report.whatif.fill import fill_chart, fullest_chart
from resilver.report.whatif.moves import places_chart, pools_chart
from resilver.report.whatif.sentences import answer_sentences, question, unwritten_words
from resilver.report.whatif.source import Facts, until_words, whole_words
from resilver.tables import cell_text
from resilver.words import chance, percent

if TYPE_CHECKING:
    from resilver.whatif.answer import WhatIf

_START = "Times count from the start of the run"
_HELPS = "The run again with one thing relaxed, all else as it is; the best first."
_WAITS = (
    "Shares of the time that PGs have work, all together. A long wait names no bottleneck: PGs "
    "wait for a slot whatever makes slots turn over slowly."
)
_PASTE = "Nothing was changed on the cluster. These lines change it."


def write_answer(answer: WhatIf, path: str | Path, command: str = "") -> Path:
    """Write the page of an answer.

    Args:
        answer: The answer.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page = Document()
    sections = answer_sections(page, answer)
    release = f", Ceph {answer.cluster.release}" if answer.cluster.release else ""
    told = {
        "Made by": command,
        "Cluster": f"{answer.cluster.label}{release}",
        "Data moves": "by events" if answer.is_by_events else "by steady flows",
        "Digest": answer.digest,
    }
    said, figures = answer_sentences(answer), key_figures(answer)
    return write_judged(page, path, question(answer), said, sections, told, figures)


def answer_sections(page: Document, answer: WhatIf) -> list[PageSection]:
    """What a page has below an answer's sentences.

    Args:
        page: What tables and charts are added to.
        answer: The answer.
    """
    facts = Facts(answer)
    page.hosts |= {osd["name"]: osd["host"] for osd in facts.osds if osd["host"]}
    made = (_time, _full, _waits, _moves, _clients, _plan, _basis)
    return [section for of in made for section in of(page, facts)]


def key_figures(answer: WhatIf) -> list[KeyFigure]:
    """The answer in numbers.

    Args:
        answer: The answer.
    """
    found, facts = answer.outcome, Facts(answer)
    made = []
    for label, seconds, words in (
        ("Whole again after", found.whole_seconds, whole_words),
        ("Degraded until", found.degraded_seconds, until_words),
        ("At risk until", found.at_risk_seconds, until_words),
    ):
        value = float("nan") if seconds is None else seconds
        made.append(KeyFigure(label, value, "s", words(facts, seconds)))
    if found.loss_chance and not found.lost_groups:
        text, detail = chance(found.loss_chance), "by OSDs that fail until all copies are back"
        made.append(KeyFigure("Chance of losing data", found.loss_chance, "share", text, detail))
    peak = f"{100 * found.peak_share:.1f} %"
    made.append(
        KeyFigure("Fullest OSD at its peak", found.peak_share, "share", peak, found.peak_osd)
    )
    if found.stuck_groups:
        count = f"{found.stuck_groups:,}"
        detail = f"{found.toofull_groups:,} at most in backfill_toofull"
        made.append(KeyFigure("Not clean at the end", found.stuck_groups, "groups", count, detail))
    written = found.recovered_bytes + found.moved_bytes
    least = unwritten_words(facts) or f"least possible {cell_text(found.least_bytes, 'bytes')}"
    text = cell_text(written, "bytes")
    made.append(KeyFigure("Made anew and moved", written, "B", text, least))
    if found.served_share is not None:
        text = delay_words(found.p99_seconds)
        detail = f"99 % of a pool's requests; {percent(found.served_share)} served at the worst"
        made.append(
            KeyFigure(
                "Clients wait up to",
                math.inf if found.p99_seconds is None else found.p99_seconds,
                "s",
                text,
                detail,
            )
        )
    return made


def upmap_lines(answer: WhatIf) -> list[str]:
    """The entries of the upmap that the balancer wrote, as lines to paste; not the plan's own.

    Args:
        answer: The answer.
    """
    lines, own = [], set(answer.commands)
    for row in answer.tables["upmaps"].to_pylist():
        group = f"{row['pool']}.{row['group']:x}"
        osds = re.findall(r"\d+", row["pairs"] or "")
        words = ["pg-upmap-items", group, *osds] if osds else ["rm-pg-upmap-items", group]
        lines.append(" ".join(["ceph osd", *words]))
    return [line for line in lines if line not in own]


def _figures(page: Document, charts: Iterable[Chart | None]) -> list[str]:
    return [page.figure(chart) for chart in charts if chart is not None]


def _time(page: Document, facts: Facts) -> list[PageSection]:
    """Until when what, by pool, and how it goes."""
    pools = tables.pools_table(facts)
    parts = [page.shown("pools", "Pools", pools, tables.POOL_SHOWN)]
    risks = tables.risks_table(facts)
    if risks.rows:
        parts.append(page.shown("risks", "Should further OSDs fail", risks))
    parts += _figures(page, (course_chart(facts), rates_chart(facts)))
    late = f"; the first change comes after {duration(facts.begins)}" if facts.begins else ""
    return [PageSection("When it is healthy", (f"{_START}{late}.",), parts)]


def _full(page: Document, facts: Facts) -> list[PageSection]:
    parts = _figures(page, (fill_chart(facts), fullest_chart(facts), space_chart(facts)))
    crossings = tables.crossings_table(facts)
    if crossings.rows:
        parts.append(page.shown("ratios", "OSDs that get to a ratio", crossings, rows_max=24))
    return [PageSection("How full OSDs get", (), parts)] if parts else []


def _waits(page: Document, facts: Facts) -> list[PageSection]:
    sections = []
    if facts.stuck:
        summary, every = tables.stuck_summary(facts), tables.stuck_table(facts)
        parts = [page.shown("stuck", "By state and reason", summary, rows_max=24)]
        parts.append(page.shown("stuck-groups", "Every one of them", every, rows_max=24))
        sections.append(PageSection("PGs that are not clean at the end", (), parts))
    if found := facts.answer.counterfactuals:
        parts = [page.shown("counterfactuals", HEADING, counterfactuals_table(found))]
        sections.append(PageSection(HEADING, (_HELPS,), parts))
    waits = tables.waits_table(facts)
    if waits.rows:
        parts = [page.shown("waits", "By kind", waits)]
        sections.append(PageSection("What PGs wait for", (_WAITS,), parts))
    return sections


def _moves(page: Document, facts: Facts) -> list[PageSection]:
    of = [*tables.levels(facts), "OSD"]
    charts = [places_chart(facts, level, rank) for rank, level in enumerate(of)]
    parts = _figures(page, (pools_chart(facts), *charts))
    return [PageSection("What moves, and where", (), parts)] if parts else []


def _clients(page: Document, facts: Facts) -> list[PageSection]:
    chart = clients_chart(facts)
    if chart is None:
        return []
    shown = page.shown("clients-of-pools", "By pool", tables.clients_table(facts))
    return [PageSection("What clients get", (), [page.figure(chart), shown])]


def _plan(page: Document, facts: Facts) -> list[PageSection]:
    answer = facts.answer
    parts = []
    if answer.steps:
        parts.append(page.shown("steps", "What happens when", tables.steps_table(answer)))
    upmaps = upmap_lines(answer)
    if answer.commands:
        parts.append(page.lines("commands", "Commands", answer.commands))
    if upmaps:
        parts.append(page.lines("upmaps", "The balancer's entries, as commands", upmaps))
    history = tables.history_table(facts)
    if history.rows:
        parts.append(page.shown("history", "What becomes of the map", history, rows_max=40))
    texts = (_PASTE,) if answer.commands or upmaps else ()
    return [PageSection("The plan", texts, parts)] if parts else []


def _basis(page: Document, facts: Facts) -> list[PageSection]:
    answer = facts.answer
    made = tables.assumptions_table(answer.assumptions)
    parts = [page.shown("assumptions", "Settings and devices", made, rows_max=100)]
    return [PageSection("What this rests on", answer.notes, parts if made.rows else ())]
