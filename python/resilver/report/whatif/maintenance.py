"""Rolling maintenance: how long all turns take, and what clients and data risk meanwhile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilver.answer import Answer, KeyFigure, Lines, Shown, sections_of
from resilver.charts.chart import Chart
from resilver.charts.named import bars
from resilver.charts.scales import time_scale
from resilver.charts.style import BLUE
from resilver.charts.vega import axis, rows
from resilver.quantities import duration
from resilver.report.whatif.figures import figure_words, outcome_columns
from resilver.report.whatif.plan import assumption_parts
from resilver.report.whatif.sentences import assumption_sentences
from resilver.tables import Table, table
from resilver.words import chance, listed, plural, size_of

if TYPE_CHECKING:
    from resilver.whatif.several import Harm, Maintenance

_LISTED, _ROWS = 24, 20
_COLUMNS = (
    *("inactive_groups", "inactive_seconds", "at_risk_groups", "degraded_seconds"),
    *("recovered_bytes", "moved_bytes", "stuck_groups"),
)
_CLIENTS = ("served_share", "p99_seconds")
_ORDER = (
    "The parts with the greatest impact first: PGs lost, at zero redundancy at the end, stuck, "
    "inactive, then by time."
)


def maintenance_answer(found: Maintenance) -> Answer:
    """The answer of rolling maintenance."""
    made, keys = _table(found)
    shown = Shown("turns", "Turns", made, 2 + len(keys), rows=60, printed=_ROWS, folded=True)
    commands = Lines("commands", "Commands of the first turn", found.commands)
    return Answer(
        f"What does rolling maintenance of each {found.work.noun} do?",
        list(_sentences(found)),
        sections_of(("Turns by impact", (_chart(found), shown, commands), _ORDER)),
        found.to_dict(),
        holds=found.holds,
        figures=_figures(found),
        notes=[*assumption_sentences(found.assumptions), *found.notes],
        basis=assumption_parts(found.assumptions),
        source={"Cluster": found.cluster.label},
    )


def _turn_words(found: Maintenance, turn: Harm) -> str:
    seconds = found.turn_seconds(turn)
    return "never ends" if seconds is None else duration(seconds)


def _table(found: Maintenance) -> tuple[Table, tuple[str, ...]]:
    """A turn a row, and the keys of its figures; seconds follow in the CSV."""
    of = [turn.outcome for turn in found.turns]
    keys = (*_CLIENTS, *_COLUMNS) if found.has_load else _COLUMNS
    keys = (*keys, "loss_chance") if found.loss_chance else keys
    made = table(
        ("name", found.work.noun, "text", [turn.name for turn in found.turns]),
        ("turn_words", "turn takes", "text", [_turn_words(found, turn) for turn in found.turns]),
        *outcome_columns(keys, of),
        ("osds", "OSDs", "count", [len(turn.osds) for turn in found.turns]),
        ("turn_seconds", "turn_seconds", "seconds", [*map(found.turn_seconds, found.turns)]),
        *(
            (key, key, "seconds", [getattr(one, key) for one in of])
            for key in keys
            if "_sec" in key
        ),
    )
    return made, keys


def _sentences(found: Maintenance) -> Iterator[str]:
    """How long the work takes, and whom it hurts."""
    work, turns, level = found.work, found.turns, found.work.noun
    with_flags = f" with {listed(list(work.flags))} set" if work.flags else ""
    all_of = f"{plural(len(turns), level)} in turn, {duration(work.down_seconds)} each{with_flags}"
    total = found.total_seconds
    unending = [turn for turn in turns if found.turn_seconds(turn) is None]
    if total is None:
        yield (
            f"{all_of}: the cluster is not healthy again after {len(unending):,} of them. "
            f"{unending[0].name} leaves {plural(unending[0].outcome.stuck_groups, 'PG')} stuck"
            f"{f': {unending[0].reason}' * bool(unending[0].reason)}."
        )
    else:
        yield f"{all_of}: {duration(total)} in all, each once the cluster is healthy again."
    down = [turn for turn in turns if turn.outcome.inactive_groups]
    if down:
        most = max(down, key=lambda turn: turn.outcome.inactive_groups).outcome.inactive_groups
        yield (
            f"Not safe: {len(down):,} of {plural(len(turns), level)} cannot be stopped without an "
            f"outage; up to {plural(most, 'PG')} inactive, and clients of those PGs wait."
        )
    else:
        yield f"No PG is inactive: each {level} can be stopped without an outage."
    risk = max(turns, key=lambda turn: turn.outcome.at_risk_groups)
    if risk.outcome.at_risk_groups:
        yield (
            f"Up to {plural(risk.outcome.at_risk_groups, 'PG')} at zero redundancy while "
            f"{risk.name} is down: one more failure loses the latest writes there."
        )
    moved = math.fsum(one.outcome.recovered_bytes + one.outcome.moved_bytes for one in turns)
    if moved:
        yield f"{size_of(moved)} are re-replicated and moved in all."
    if found.has_load:
        least = min(turns, key=lambda turn: turn.outcome.served_share or 0.0)
        share = figure_words("served_share", least.outcome.served_share)
        slow = max(turns, key=lambda turn: turn.outcome.p99_seconds or math.inf)
        p99 = figure_words("p99_seconds", slow.outcome.p99_seconds)
        yield f"Clients: at least {share} of requests served; p99 at worst {p99} ({slow.name})."
    else:
        yield (
            f"No client load is stated (--load), so nothing is written while a {level} is down, "
            "and it comes back with all its data; with writes each turn takes longer."
        )
    if found.starts_seconds:
        yield f"The first stops {duration(found.starts_seconds)} after the start, as no data moves."


def _chart(found: Maintenance) -> Chart | None:
    """How long the longest turns take; None where all take as long."""
    each = [(found.turn_seconds(turn), turn.name) for turn in found.turns]
    ends = sorted(((end, name) for end, name in each if end is not None), reverse=True)
    if len(ends) < 2 or ends[0][0] - ends[-1][0] < 0.05 * ends[0][0]:
        return None
    shown, time = ends[:_LISTED], time_scale(ends[0][0])
    names, level = [name for _, name in shown], found.work.noun
    return Chart(
        "turns-by-part",
        f"{names[0]} takes longest: {duration(ends[0][0])}",
        f"From the stop of each {level} until the cluster is healthy again, the longest first.",
        lambda: bars(
            rows(
                part=names,
                name=names,
                x=[end / time.divisor for end, _ in shown],
                label=[duration(end) for end, _ in shown],
            ),
            axis(
                "x", f"length of a turn ({time.unit})", ends=(0.0, 1.3 * ends[0][0] / time.divisor)
            ),
            BLUE,
            noun=level,
        ),
        table(
            ("name", level, "text", names),
            ("turn_seconds", "turn takes", "seconds", [end for end, _ in shown]),
        ),
        "lengths of turns",
    )


def _figures(found: Maintenance) -> list[KeyFigure]:
    """The work in numbers."""
    level, total = found.work.noun, found.total_seconds
    inactive, risk = (
        max(found.turns, key=lambda turn, key=key: getattr(turn.outcome, key))  # type: ignore[misc]
        for key in ("inactive_groups", "at_risk_groups")
    )
    most, risky = inactive.outcome.inactive_groups, risk.outcome.at_risk_groups
    words = "never ends" if total is None else duration(total)
    figures = [
        KeyFigure("All turns", total or math.inf, "s", words, plural(len(found.turns), level)),
        KeyFigure("Most PGs inactive", most, "PGs", f"{most:,}", inactive.name * bool(most)),
        KeyFigure(
            "Most PGs at zero redundancy", risky, "PGs", f"{risky:,}", risk.name * bool(risky)
        ),
    ]
    if lost := found.loss_chance:
        detail = "by further failures"
        figures.append(KeyFigure("Probability of data loss", lost, "share", chance(lost), detail))
    return figures
