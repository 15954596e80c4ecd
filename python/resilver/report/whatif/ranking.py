"""Which part does most harm when it fails, and which settings meet an aim: tables and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from resilver.answer.document import Document
from resilver.charts.chart import Chart
from resilver.charts.scales import time_scale
from resilver.charts.style import BLUE, GREY, PURPLE, VERMILLION
from resilver.charts.vega import Spec, colours, level, rows, tip, told_apart
from resilver.charts.vega import number as axis
from resilver.quantities import duration
from resilver.report.judged import PageSection, write_judged
from resilver.report.whatif.clients import delay_words
from resilver.report.whatif.page import answer_sections
from resilver.report.whatif.sentences import answer_sentences, question
from resilver.report.whatif.tables import assumptions_table
from resilver.tables import Table, cell_text, table
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.whatif.answer import Outcome
    from resilver.whatif.several import Harm, Ranking, Search

    Column = tuple[str, str, str, Sequence[Any]]

_LISTED = 24
_ENDS = (
    ("at_risk_seconds", "at risk until", VERMILLION, "triangle-up"),
    ("degraded_seconds", "degraded until", GREY, "circle"),
    ("whole_seconds", "healthy after", BLUE, "diamond"),
)
# What is behind another mark is still seen.
_SIZE = {"condition": {"test": "datum.kind === 'healthy after'", "value": 35}, "value": 90}
_NOT = ("never", PURPLE, "triangle-right")
_ORDER = (
    "The worst first: parts whose failure loses data, then by PGs that do not get clean, PGs "
    "that serve nobody, how long data is at risk, how long it is degraded, PGs that wait for "
    "space, and how full the fullest OSD gets."
)


def _level(ranking: Ranking) -> str:
    """The noun of the parts that fail."""
    return "OSD" if ranking.level == "osd" else ranking.level


def _until(seconds: float | None, zero: str = "none") -> str:
    if seconds is None:
        return "never"
    return duration(seconds) if seconds else zero


def ranking_table(ranking: Ranking) -> Table:
    """A part a row, the worst first; words before SI values.

    Args:
        ranking: The ranking.
    """
    of = [(harm, harm.outcome) for harm in ranking.harms]
    by_name = {harm.name: harm.outcome for harm in ranking.today}
    now = [by_name.get(harm.name) for harm in ranking.harms]
    served: list[tuple[str, str, str, list[Any]]] = [
        ("inactive_groups", "inactive", "count", [o.inactive_groups for _, o in of]),
        ("at_risk_words", "at risk until", "text", [_until(o.at_risk_seconds) for _, o in of]),
    ]

    def beside(name: str, kind: str, value: Callable[[Outcome], Any]) -> Iterator[Column]:
        """What it is without the changes; nothing of a part that they add."""
        if ranking.today:
            yield (f"{name}_today", "today", kind, [None if o is None else value(o) for o in now])

    return table(
        ("name", _level(ranking), "text", [harm.name for harm, _ in of]),
        ("stuck_groups", "not clean", "count", [o.stuck_groups for _, o in of]),
        *beside("stuck_groups", "count", lambda o: o.stuck_groups),
        *([] if ranking.today else served),
        ("whole_words", "healthy after", "text", [_until(o.whole_seconds) for _, o in of]),
        *beside("whole_words", "text", lambda o: _until(o.whole_seconds)),
        ("peak_share", "fullest OSD", "fill", [o.peak_share for _, o in of]),
        *beside("peak_share", "fill", lambda o: o.peak_share),
        *(served if ranking.today else []),
        ("degraded_words", "degraded until", "text", [_until(o.degraded_seconds) for _, o in of]),
        (
            "at_risk_end_groups",
            "at risk at the end",
            "count",
            [o.at_risk_end_groups for _, o in of],
        ),
        ("loss_chance", "chance of loss", "chance", [o.loss_chance for _, o in of]),
        ("lost_groups", "lose data", "count", [o.lost_groups for _, o in of]),
        ("toofull_groups", "backfill_toofull", "count", [o.toofull_groups for _, o in of]),
        ("peak_osd", "which", "text", [o.peak_osd for _, o in of]),
        ("osds", "OSDs that fail", "count", [len(harm.osds) for harm, _ in of]),
        ("recovered_bytes", "re-replicated", "bytes", [o.recovered_bytes for _, o in of]),
        *(
            (name, name.removesuffix("_seconds"), "seconds", [getattr(o, name) for _, o in of])
            for name in (*(one[0] for one in _ENDS), "inactive_seconds", "backfillfull_seconds")
        ),
    )


RANKING_WORDS = 6
"""Columns of the ranking that a terminal of 80 shows."""
RANKING_SHOWN = 14
"""Columns of it that a page shows; seconds follow in the CSV."""


def ranking_sentences(ranking: Ranking) -> list[str]:
    """Which part does most harm, how many leave groups behind, and what is usual.

    Args:
        ranking: The ranking.
    """
    harms = ranking.harms
    if not harms:
        return [f"There is no {_level(ranking)} that could fail."]
    each = plural(len(harms), _level(ranking))
    first, worst = harms[0], harms[0].outcome
    said = [f"Of {each}, {first.name} has the greatest impact when it fails: {_harm(worst)}."]
    said += _beside_today(ranking)
    lost = sum(one.outcome.lost_groups > 0 for one in harms)
    stuck = sum(one.outcome.stuck_groups > 0 for one in harms)
    full = sum(one.outcome.backfillfull_seconds is not None for one in harms)
    counted = (
        (lost, "data is lost"),
        (stuck, "PGs are not clean at the end"),
        (full, "an OSD gets to backfillfull"),
    )
    found = [
        f"with {f'{count:,} of them' if count < len(harms) else 'each of them'} {what}"
        for count, what in counted
        if count
    ]
    if found:
        said.append(f"W{'; '.join(found)[1:]}.")
    else:
        said.append("Whichever fails, the cluster is healthy again; no OSD gets to backfillfull.")
    ends = _ends(harms)
    if ends:
        within = f"within {duration(median(ends))}, all within {duration(max(ends))}"
        are_all = len(ends) == len(harms)
        of = "Half of these failures heal" if are_all else "Of those that heal, half do so"
        now = _ends(ranking.today)
        today = f"; today half within {duration(median(now))}" if now else ""
        said.append(f"{of} {within}{today}.")
    return said


def _ends(harms: Sequence[Harm]) -> list[float]:
    """After which time each failure heals, of those that do."""
    return [one.outcome.whole_seconds for one in harms if one.outcome.whole_seconds is not None]


def _beside_today(ranking: Ranking) -> Iterator[str]:
    """Which part does most harm without the changes, and when the parts fail with them."""
    if ranking.today:
        first = ranking.today[0]
        yield f"Today, without the changes, it is {first.name}: {_harm(first.outcome)}."
    if ranking.at_seconds or ranking.today:
        after = f"{duration(ranking.at_seconds)} after the start"
        settled = "once the changes have settled, " * ranking.is_settled
        yield f"Each fails {settled}{after}; times count from the failure."


def _harm(found: Outcome) -> str:
    """What one failure does, in a clause."""
    if found.lost_groups:
        return f"{plural(found.lost_groups, 'PG')} lose data"
    if found.stuck_groups:
        at_risk = found.at_risk_end_groups
        risk = f", {at_risk:,} of them at zero redundancy" if at_risk else ""
        return f"{plural(found.stuck_groups, 'PG')} not clean at the end{risk}"
    parts = []
    if found.inactive_groups:
        until = _until(found.inactive_seconds)
        parts.append(f"{plural(found.inactive_groups, 'PG')} inactive until {until}")
    if found.at_risk_seconds:
        parts.append(f"at risk until {duration(found.at_risk_seconds)}")
    parts.append(f"healthy after {_until(found.whole_seconds, 'no time')}")
    parts.append(f"the fullest OSD at {cell_text(found.peak_share, 'fill')}")
    return ", ".join(parts)


def harm_chart(ranking: Ranking) -> Chart | None:
    """Until when each of the worst parts leaves data at risk, degraded, or not whole.

    Args:
        ranking: The ranking.
    """
    harms = ranking.harms[:_LISTED]
    ends = [getattr(one.outcome, name) for one in harms for name, _, _, _ in _ENDS]
    most = max((end for end in ends if end), default=0.0)
    if not most:
        return None
    more = f" The worst {_LISTED} of {len(ranking.harms):,}." * (len(ranking.harms) > len(harms))
    text = f"What the failure of each {_level(ranking)} leaves until when, the worst first.{more}"
    if any(end is None for end in ends):
        text += " What is so at the end of the run stands at the right edge."
    return Chart(
        "harm",
        ranking_sentences(ranking)[0].removesuffix("."),
        text,
        lambda: _harm_spec(ranking, most),
        ranking_table(ranking),
        "the ranking",
    )


def _harm_spec(ranking: Ranking, most: float) -> Spec:
    harms = ranking.harms[:_LISTED]
    time = time_scale(most)
    edge = 1.06 * most
    points = []
    for one in harms:
        times = [(kind, getattr(one.outcome, name)) for name, kind, _, _ in _ENDS]
        points += [(one.name, kind, at / time.divisor) for kind, at in times if at]
        if any(at is None for _, at in times):
            points.append((one.name, _NOT[0], edge / time.divisor))
    names, kinds, x = zip(*points, strict=True)
    told = [(kind, colour, shape) for _, kind, colour, shape in _ENDS]
    told = [one for one in (*told, _NOT) if one[0] in kinds]
    words = [one[0] for one in told]
    read = tip(("part", _level(ranking)), ("kind", "what"), ("x", time.unit))
    shapes = told_apart(words, [one[2] for one in told])
    named = colours(words, [one[1] for one in told]) | {"field": "kind"}
    title = f"time since the failure ({time.unit})"
    return {
        "height": 17 * len(harms) + 10,
        "room": (130, 24),
        "data": rows(part=names, name=names, kind=kinds, x=x),
        "mark": {"type": "point", "filled": True},
        "encoding": {
            "x": axis("x", title, ends=(0.0, 1.02 * edge / time.divisor)),
            "y": level("", grid=True),
            "color": named,
            "shape": shapes,
            "size": _SIZE,
            "tooltip": read,
        },
    }


def write_ranking(ranking: Ranking, path: str | Path, command: str = "") -> Path:
    """Write the page that ranks parts by harm.

    Args:
        ranking: The ranking.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page = Document()
    sections = ranking_sections(page, ranking)
    title = f"Which {_level(ranking)} has the greatest impact when it fails?"
    told = {"Made by": command, "Cluster": ranking.cluster.label}
    return write_judged(page, path, title, ranking_sentences(ranking), sections, told)


def ranking_sections(page: Document, ranking: Ranking) -> list[PageSection]:
    """What a page has of a ranking: its chart, its table, and what it rests on.

    Args:
        page: The page.
        ranking: The ranking.
    """
    chart = harm_chart(ranking)
    parts = [page.figure(chart)] if chart is not None else []
    made = ranking_table(ranking)
    parts.append(page.shown("ranking", "The ranking", made, RANKING_SHOWN, rows_max=60))
    basis = [
        page.shown("assumptions", "Settings and devices", assumptions_table(ranking.assumptions))
    ]
    return [
        PageSection("Parts by impact", (_ORDER,), parts),
        PageSection("What this rests on", ranking.notes, basis),
    ]


def search_table(search: Search) -> Table:
    """What was tried, the settings to use first.

    Args:
        search: The search.
    """
    trials = search.trials
    settings = (
        (f"setting_{rank}", name, "text", [one.settings.get(name) for one in trials])
        for rank, name in enumerate(search.names)
    )
    has_load = any(one.outcome.served_share is not None for one in trials)
    delays = [delay_words(one.outcome.p99_seconds) for one in trials]
    clients = [("p99_seconds", "clients' 99 %", "text", delays)] if has_load else []
    risks: list[tuple[str, str, str, list[Any]]] = [
        ("risk", "at risk until", "text", [_until(one.outcome.at_risk_seconds) for one in trials]),
        ("loss_chance", "chance of loss", "chance", [one.outcome.loss_chance for one in trials]),
    ]
    return table(
        *settings,
        ("meets", "meets the aim", "text", ["yes" if one.meets else "no" for one in trials]),
        ("in_force", "in force", "text", ["yes" if one.in_force else "no" for one in trials]),
        ("whole", "healthy after", "text", [_until(one.outcome.whole_seconds) for one in trials]),
        *clients,
        *(reversed(risks) if "chance of loss" in search.aim else risks),
        ("peak_share", "fullest OSD", "fill", [one.outcome.peak_share for one in trials]),
        ("stuck_groups", "not clean", "count", [one.outcome.stuck_groups for one in trials]),
    )


def search_sentences(search: Search) -> list[str]:
    """Whether settings meet the aim, and which to use.

    Args:
        search: The search.
    """
    tried = plural(len(search.trials), "combination")
    first = ", ".join(f"{name} = {value}" for name, value in search.trials[0].settings.items())
    in_force = " (in force)" * search.trials[0].in_force
    if search.best is None and len(search.trials) == 1:
        said = [f"The aim, {search.aim}, is not met with {first}{in_force}."]
        said.append("No other value that was tried changes anything here.")
    elif search.best is None:
        said = [f"None of {tried} of settings meets the aim, {search.aim}."]
        said.append(f"Nearest comes {first}{in_force}.")
    elif search.is_met_already:
        said = [f"The aim, {search.aim}, is already met with {first}: nothing to change."]
    else:
        meets = sum(one.meets for one in search.trials)
        verb = "meets" if meets == 1 else "meet"
        said = [f"The aim, {search.aim}, is met with {first}."]
        said.append(f"{meets:,} of {tried} of settings {verb} it.")
    return [*said, *search.left_out]


def write_search(search: Search, path: str | Path, command: str = "") -> Path:
    """Write the page of a search for settings, with the answer under those to use.

    Args:
        search: The search.
        path: The file to write; it is replaced in one step.
        command: What makes it again.

    Raises:
        ConfigError: The file cannot be written.
    """
    page, answer = Document(), search.answer
    parts = [page.shown("trials", "What was tried", search_table(search), rows_max=60)]
    if search.commands:
        parts.append(page.lines("settings", "Commands", search.commands))
    nearest = "the settings to use" if search.holds else "what comes nearest to the aim"
    sections = [
        PageSection("Settings", (), parts),
        PageSection(f"With {nearest}", answer_sentences(answer)),
        *answer_sections(page, answer),
    ]
    told = {"Made by": command, "Cluster": answer.cluster.label}
    return write_judged(page, path, question(answer), search_sentences(search), sections, told)
