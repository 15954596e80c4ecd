"""Which part does most harm when it fails, and which settings meet an aim: tables and pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from resilver.answer import Answer, KeyFigure, Lines, Part, Section, Shown, sections_of
from resilver.charts.named import bars
from resilver.charts.scales import time_scale
from resilver.charts.style import BLUE, PURPLE, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows
from resilver.quantities import duration
from resilver.report.whatif.capacity import ratio_words
from resilver.report.whatif.figures import figure_words, outcome_columns
from resilver.report.whatif.plan import assumption_parts, plan_answer
from resilver.report.whatif.sentences import assumption_sentences, loss_note
from resilver.tables import Table, cell_text, table
from resilver.whatif.several import noun_of
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.whatif.answer import Outcome
    from resilver.whatif.several import Harm, Ranking, Search

_LISTED = 24
_ENDS = ("at_risk_seconds", "degraded_seconds", "whole_seconds")
_IMPACTS = {"healthy again": BLUE, "PGs stuck": PURPLE, "data lost": VERMILLION}
_ORDER = (
    "The worst first: parts whose failure loses data, then by PGs at zero redundancy at the end, "
    "PGs stuck, PGs inactive, time at zero redundancy, time degraded, PGs backfill_toofull, and "
    "the fullest OSD."
)
_ROWS = 20
"""Rows that a terminal shows."""


_BESIDE = ("stuck_groups", "whole_seconds", "peak_share")
"""Figures that stand beside those without the changes."""
_MORE = (
    *("inactive_groups", "at_risk_seconds", "degraded_seconds", "at_risk_end_groups"),
    *("loss_chance", "lost_groups", "toofull_groups", "recovered_bytes"),
)
_TODAY = "today"


def ranking_table(ranking: Ranking) -> Table:
    """A part a row, the worst first; words before SI values."""
    harms = ranking.harms
    of = [harm.outcome for harm in harms]
    by_name = {harm.name: harm.outcome for harm in ranking.today}
    now = [by_name.get(harm.name) for harm in harms]
    columns = outcome_columns(_BESIDE, of)
    if ranking.today:
        today = outcome_columns(_BESIDE, now, _TODAY)
        columns = [column for pair in zip(columns, today, strict=True) for column in pair]
    columns += outcome_columns(_MORE, of)
    seconds = (*_ENDS, "inactive_seconds", "backfillfull_seconds")
    return table(
        ("name", noun_of(ranking.level), "text", [harm.name for harm in harms]),
        *columns,
        ("osds", "OSDs", "count", [len(harm.osds) for harm in harms]),
        ("peak_osd", "fullest OSD's name", "text", [one.peak_osd for one in of]),
        *((name, name, "seconds", [getattr(one, name) for one in of]) for name in seconds),
        note=loss_note(ranking.horizon_seconds) if any(one.loss_chance for one in of) else "",
    )


def ranking_sentences(ranking: Ranking) -> list[str]:
    """Which part has the greatest impact, how many leave PGs stuck, and what is usual."""
    harms, level = ranking.harms, noun_of(ranking.level)
    if not harms:
        return [f"There is no {level} that could fail."]
    said = [f"Worst {level} of {len(harms):,}: {_impact(harms[0])}."]
    said += _beside_today(ranking)
    counted = (
        (sum(one.outcome.lost_groups > 0 for one in harms), "lose data"),
        (sum(one.outcome.stuck_groups > 0 for one in harms), "leave PGs stuck"),
        (
            sum(one.outcome.backfillfull_seconds is not None for one in harms),
            "fill an OSD to backfillfull",
        ),
    )
    failures = plural(len(harms), f"{level} failure")
    found = [
        f"{'all' if count == len(harms) else f'{count:,} of'} {failures} {what}"
        for count, what in counted
        if count
    ]
    if found:
        text = "; ".join(found)
        said.append(f"{text[0].upper()}{text[1:]}.")
    else:
        said.append("The cluster heals from any of them, and no OSD reaches backfillfull.")
    said += _stuck_words(ranking)
    if ends := _ends(harms):
        of = "" if len(ends) == len(harms) else " of those that heal"
        now = _ends(ranking.today)
        today = f" (median today {duration(median(now))})" if now else ""
        middle, last = duration(median(ends)), duration(max(ends))
        said.append(f"Time to heal{of}: median {middle}, longest {last}{today}.")
    return said


def _stuck_words(ranking: Ranking) -> Iterator[str]:
    """Why the worst failure leaves PGs stuck."""
    worst = ranking.harms[0]
    ratio = ratio_words(ranking.cluster.ratios["backfillfull"])
    if worst.outcome.toofull_groups and worst.reason:
        yield f"PGs stay stuck because no OSD accepts backfill above backfillfull ({ratio})."
    elif worst.reason:
        yield f"PGs stay stuck, with {worst.name}: {worst.reason}."


def _ends(harms: Sequence[Harm]) -> list[float]:
    """After which time each failure heals, of those that do."""
    return [one.outcome.whole_seconds for one in harms if one.outcome.whole_seconds is not None]


def _beside_today(ranking: Ranking) -> Iterator[str]:
    """The worst part without the changes, and when the parts fail with them."""
    if ranking.today:
        yield f"Today, without the changes: {_impact(ranking.today[0])}."
    if ranking.at_seconds or ranking.today:
        after = f"{duration(ranking.at_seconds)} after the start"
        settled = "once the changes have settled, " * ranking.is_settled
        yield f"Each fails {settled}{after}; times count from the failure."


def _impact(harm: Harm) -> str:
    """A part, and what its failure does."""
    found = harm.outcome

    def words(key: str) -> str:
        return figure_words(key, getattr(found, key))

    parts = []
    if found.lost_groups:
        parts.append(f"{plural(found.lost_groups, 'PG')} lost")
    elif found.stuck_groups:
        at_risk = f", {found.at_risk_end_groups:,} of them at zero redundancy"
        parts.append(f"{plural(found.stuck_groups, 'PG')} stuck")
        parts[0] += at_risk * bool(found.at_risk_end_groups)
    else:
        if found.inactive_groups:
            inactive = plural(found.inactive_groups, "PG")
            parts.append(f"{inactive} inactive until {words('inactive_seconds')}")
        if found.at_risk_seconds:
            parts.append(f"zero redundancy until {words('at_risk_seconds')}")
        parts.append(f"healthy after {words('whole_seconds')}")
        parts.append(f"fullest OSD {words('peak_share')}")
    return f"{harm.name} ({', '.join(parts)})"


def stuck_chart(ranking: Ranking) -> Chart | None:
    """PGs that the failure of each part leaves stuck, the most first; None of fewer than two."""
    harms = sorted(ranking.harms, key=lambda one: (-one.outcome.stuck_groups, one.name))
    harms = [one for one in harms if one.outcome.stuck_groups][:_LISTED]
    if len(harms) < 2:
        return None
    stuck = [one.outcome.stuck_groups for one in harms]
    names, level = [one.name for one in harms], noun_of(ranking.level)
    return Chart(
        "stuck-by-part",
        f"The failure of {names[0]} leaves most PGs stuck: {stuck[0]:,}",
        f"PGs that are not clean at the end of the run, by the {level} that fails.",
        lambda: bars(
            rows(part=names, name=names, x=stuck, label=[f"{count:,}" for count in stuck]),
            axis("x", "PGs stuck", ends=(0.0, 1.12 * stuck[0])),
            VERMILLION,
            noun=level,
        ),
        table(("name", level, "text", names), ("stuck_groups", "PGs stuck", "count", stuck)),
        "PGs stuck",
    )


def impact_chart(ranking: Ranking) -> Chart | None:
    """How long each of the worst parts leaves data at risk and PGs stuck, the worst first."""
    harms = ranking.harms[:_LISTED]
    ends = [getattr(one.outcome, name) for one in harms for name in _ENDS]
    most = max((end for end in ends if end), default=0.0)
    if not most:
        return None
    more = f" The worst {_LISTED} of {len(ranking.harms):,}." * (len(ranking.harms) > len(harms))
    text = (
        f"How long the failure of each {noun_of(ranking.level)} is felt, the worst first: full "
        "while PGs are at zero redundancy, pale until the cluster is healthy; the tick is when no "
        f"PG is degraded any more.{more}"
    )
    if None in ends:
        text += " What is so at the end of the run reaches beyond all others."
    return Chart(
        "impact",
        ranking_sentences(ranking)[0].removesuffix("."),
        text,
        lambda: _impact_spec(ranking, harms, most),
        ranking_table(ranking),
        "the ranking",
    )


def _impact_spec(ranking: Ranking, harms: Sequence[Harm], most: float) -> Spec:
    time = time_scale(most)
    at_risk, degraded, whole = (
        [
            (1.06 * most if (end := getattr(one.outcome, name)) is None else end) / time.divisor
            for one in harms
        ]
        for name in _ENDS
    )
    names = [one.name for one in harms]
    found = [_outcome_words(one.outcome) for one in harms]
    data = rows(
        part=names,
        name=names,
        kind=[kind for kind, _ in found],
        x=at_risk,
        x2=[max(pair) for pair in zip(at_risk, whole, strict=True)],
        mark=degraded,
        label=[words for _, words in found],
        text=[_impact(one) for one in harms],
    )
    ends = (0.0, 1.4 * max(*whole, *at_risk, *degraded))
    across = axis("x", f"time since the failure ({time.unit})", ends=ends)
    kinds = {row["kind"] for row in data["values"]}
    shown = {kind: colour for kind, colour in _IMPACTS.items() if kind in kinds}
    return bars(data, across, shown, noun=noun_of(ranking.level), step=22)


def _outcome_words(found: Outcome) -> tuple[str, str]:
    """How a failure ends, and what stands behind its bar."""
    healthy, stuck, lost = _IMPACTS
    if found.lost_groups:
        return lost, f"{plural(found.lost_groups, 'PG')} lost"
    if found.stuck_groups:
        return stuck, f"{plural(found.stuck_groups, 'PG')} stuck"
    kind = stuck if found.whole_seconds is None else healthy
    return kind, figure_words("whole_seconds", found.whole_seconds)


def ranking_answer(ranking: Ranking) -> Answer:
    """The answer of a ranking."""
    made = ranking_table(ranking)
    # Seconds follow in the CSV.
    columns = 3 + len(_BESIDE) * (1 + bool(ranking.today)) + len(_MORE)
    title = "The worst first"
    shown = Shown("ranking", title, made, columns, rows=60, printed=_ROWS, folded=True)
    return Answer(
        f"Which {noun_of(ranking.level)} has the greatest impact when it fails?",
        ranking_sentences(ranking),
        sections_of(
            ("Parts by impact", (stuck_chart(ranking), impact_chart(ranking), shown), _ORDER)
        ),
        ranking.to_dict(),
        holds=ranking.holds,
        figures=_figures(ranking),
        notes=[*assumption_sentences(ranking.assumptions), *ranking.notes],
        basis=assumption_parts(ranking.assumptions),
        source={"Cluster": ranking.cluster.label},
    )


def _figures(ranking: Ranking) -> list[KeyFigure]:
    """The ranking in numbers."""
    harms = ranking.harms
    if not harms:
        return []
    healing, ends = sum(one.outcome.holds for one in harms), _ends(harms)
    worst, fullest = harms[0], max(harms, key=lambda one: one.outcome.peak_share)
    stuck, peak = worst.outcome.stuck_groups, fullest.outcome.peak_share
    level, of = noun_of(ranking.level), f"{healing:,} of {len(harms):,}"
    made = [
        KeyFigure(f"Failures of a {level} that heal", healing, "failures", of),
        KeyFigure("Most PGs stuck", stuck, "PGs", f"{stuck:,}", f"{worst.name} fails"),
        KeyFigure("Fullest OSD", peak, "share", cell_text(peak, "fill"), f"{fullest.name} fails"),
    ]
    if ends:
        middle, longest = median(ends), f"longest {duration(max(ends))}"
        made.append(KeyFigure("Median time to heal", middle, "s", duration(middle), longest))
    return made


def search_table(search: Search) -> Table:
    """What was tried, the settings to use first."""
    trials = search.trials
    of = [one.outcome for one in trials]
    settings = (
        (f"setting_{rank}", name, "text", [one.settings.get(name) for one in trials])
        for rank, name in enumerate(search.names)
    )
    risks = ["at_risk_seconds", "loss_chance"]
    keys = ["whole_seconds", *(risks[::-1] if "chance of loss" in search.aim else risks)]
    keys.insert(1, "p99_seconds") if any(one.served_share is not None for one in of) else None
    return table(
        *settings,
        ("meets", "meets the aim", "text", ["yes" if one.meets else "no" for one in trials]),
        ("in_force", "in force", "text", ["yes" if one.in_force else "no" for one in trials]),
        *outcome_columns([*keys, "peak_share", "stuck_groups"], of),
        note=loss_note(search.answer.horizon_seconds) if any(one.loss_chance for one in of) else "",
    )


def search_sentences(search: Search) -> list[str]:
    """Whether settings meet the aim, and which to use."""
    tried = plural(len(search.trials), "combination")
    first = ", ".join(f"{name} = {value}" for name, value in search.trials[0].settings.items())
    in_force = " (in force)" * search.trials[0].in_force
    if search.best is None and len(search.trials) == 1:
        said = [f"The aim, {search.aim}, is not met with {first}{in_force}."]
        said.append("No other value that was tried changes anything here.")
    elif search.best is None:
        said = [f"No combination of settings meets the aim, {search.aim}; {tried} tried."]
        said.append(f"Closest: {first}{in_force}.")
    elif search.is_met_already:
        said = [f"The aim, {search.aim}, is already met with {first}: nothing to change."]
    else:
        meets = sum(one.meets for one in search.trials)
        verb = "meets" if meets == 1 else "meet"
        said = [f"The aim, {search.aim}, is met with {first}."]
        said.append(f"{meets:,} of {tried} {verb} it.")
    return [*said, *search.left_out]


def search_answer(search: Search) -> Answer:
    """The answer of a search for settings, with the answer under those to use."""
    best = plan_answer(search.answer)
    tried = Shown("trials", "What was tried", search_table(search), rows=60, printed=_ROWS)
    commands = Lines("settings", "Commands", search.commands) if search.commands else None
    # Commands that stand above already are not given a second time.
    others = [line for line in search.answer.commands if line not in search.commands]
    return replace(
        best,
        verdict=search_sentences(search),
        sections=[
            *sections_of(("Settings", (tried, commands))),
            Section(
                f"With {'these settings' if search.holds else 'the closest settings'}",
                texts=best.verdict,
                printed=True,
            ),
            *(replace(one, parts=_without(one.parts, others)) for one in best.sections),
        ],
        record=search.to_dict(),
        holds=search.holds,
    )


def _without(parts: Sequence[Part], lines: Sequence[str]) -> list[Part]:
    """Parts with these commands in place of the plan's own, and none where there are none."""
    made = [
        replace(part, lines=lines) if isinstance(part, Lines) and part.name == "commands" else part
        for part in parts
    ]
    return [part for part in made if not isinstance(part, Lines) or part.lines]
