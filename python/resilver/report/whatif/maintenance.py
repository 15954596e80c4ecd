"""Rolling maintenance: how long it takes, what clients get, and what data is at risk meanwhile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from resilver.answer import Answer, KeyFigure, Lines, Shown, sections_of
from resilver.charts.named import bars
from resilver.charts.scales import time_scale
from resilver.charts.style import BLUE
from resilver.charts.vega import Chart, axis, rows
from resilver.quantities import duration
from resilver.report.whatif.figures import SERVED, figure_words, outcome_columns
from resilver.report.whatif.plan import assumption_parts
from resilver.report.whatif.sentences import EMPTY, assumption_sentences, loss_note
from resilver.tables import Table, table
from resilver.words import chance, listed, plural, size_of

if TYPE_CHECKING:
    from resilver.whatif.several import Harm, Maintenance

_LISTED, _ROWS, _NAMED = 24, 20, 3
_COLUMNS = (
    *("inactive_groups", "inactive_seconds", "at_risk_groups", "degraded_seconds"),
    *("recovered_bytes", "moved_bytes", "stuck_groups"),
)
_CLIENTS = ("served_share", "p99_seconds")


def maintenance_answer(maintenance: Maintenance) -> Answer:
    """The answer of rolling maintenance."""
    turns, keys = _table(maintenance)
    noun = maintenance.work.noun
    shown = Shown("turns", "Turns", turns, 2 + len(keys), rows=60, printed=_ROWS, folded=True)
    preparing = Lines("preparing", "Commands before the first stop", maintenance.preparing)
    commands = Lines("commands", f"Commands for {maintenance.first}", maintenance.commands)
    lines = (preparing, commands) if maintenance.preparing else (commands,)
    order = f"Each {noun} in turn, those with the greatest impact first."
    return Answer(
        f"What does rolling maintenance of each {noun} do?",
        list(_sentences(maintenance)),
        sections_of(("Turns by impact", (_chart(maintenance), shown, *lines), order)),
        maintenance.to_dict(),
        holds=maintenance.holds,
        figures=_figures(maintenance),
        notes=[*assumption_sentences(maintenance.assumptions), *maintenance.notes],
        basis=assumption_parts(maintenance.assumptions),
        source={"Cluster": maintenance.cluster.label},
    )


def _turn_words(maintenance: Maintenance, turn: Harm) -> str:
    """How long a turn takes."""
    seconds = maintenance.turn_seconds(turn)
    return f"over {duration(maintenance.horizon_seconds)}" if seconds is None else duration(seconds)


def _table(maintenance: Maintenance) -> tuple[Table, tuple[str, ...]]:
    """A turn a row, and the keys of its figures; seconds follow in the CSV."""
    turns = maintenance.turns
    outcomes = [turn.outcome for turn in turns]
    keys = (*_CLIENTS, *_COLUMNS) if outcomes[0].served_share is not None else _COLUMNS
    keys = (*keys, "loss_chance") if maintenance.loss_chance else keys
    times = [key for key in keys if key.endswith("_seconds")]
    columns = table(
        ("name", maintenance.work.noun, "text", [turn.name for turn in turns]),
        ("turn_words", "turn takes", "text", [_turn_words(maintenance, turn) for turn in turns]),
        *outcome_columns(keys, outcomes),
        ("osds", "OSDs", "count", [len(turn.osds) for turn in turns]),
        ("turn_seconds", "turn_seconds", "seconds", [*map(maintenance.turn_seconds, turns)]),
        *((key, key, "seconds", [getattr(one, key) for one in outcomes]) for key in times),
        note=loss_note(maintenance.horizon_seconds) if maintenance.loss_chance else "",
    )
    return columns, keys


def _sentences(maintenance: Maintenance) -> Iterator[str]:
    """How long maintenance takes, and what it does to clients and data."""
    turns, noun = maintenance.turns, maintenance.work.noun
    if unsafe := maintenance.unsafe:
        names = listed(unsafe if len(unsafe) <= _NAMED else [*unsafe[:_NAMED], "others"])
        most = max(turn.outcome.inactive_groups for turn in turns)
        affected = f"up to {plural(most, 'PG')}" if most else "some PGs for a short time"
        yield (
            f"Not safe: {len(unsafe):,} of {plural(len(turns), noun)} cannot be stopped without an "
            f"outage ({names}); {affected} inactive, whose clients wait."
        )
    yield _total_sentence(maintenance)
    if not unsafe:
        safe = f"Safe to stop, one {noun} after the other: no PG becomes inactive."
        yield safe if maintenance.cluster.objects else EMPTY
    risk = max(turns, key=lambda turn: turn.outcome.at_risk_groups)
    if maintenance.cluster.objects and risk.outcome.at_risk_groups:
        count = risk.outcome.at_risk_groups
        verb = "is" if count == 1 else "are"
        yield f"Up to {plural(count, 'PG')} {verb} at zero redundancy while {risk.name} is down."
    recovered = sum(turn.outcome.recovered_bytes for turn in turns)
    amounts = {"re-replicated": recovered, "backfilled": maintenance.moved_bytes}
    if words := [f"{size_of(amount)} {what}" for what, amount in amounts.items() if amount]:
        yield f"In all {listed(words)}."
    yield from _client_sentences(maintenance)
    if unwritten := list(maintenance.unwritten):
        is_of_all = len(unwritten) == len(maintenance.cluster.pools)
        pools = "" if is_of_all else f" for {listed(unwritten)}"
        yield (
            f"No client writes are stated{pools} (--load), so what is down comes back with all of "
            "its data there; with writes each turn takes longer."
        )


def _total_sentence(maintenance: Maintenance) -> str:
    """How long all turns take, or which have no end."""
    work, turns, total = maintenance.work, maintenance.turns, maintenance.total_seconds
    flags = f" with {listed(list(work.flags))} set" if work.flags else ""
    text = f"{plural(len(turns), work.noun)} in turn, {duration(work.down_seconds)} each{flags}"
    if total is None:
        unending = [turn for turn in turns if maintenance.turn_seconds(turn) is None]
        first = unending[0]
        lost, stuck = first.outcome.lost_groups, first.outcome.stuck_groups
        left = f"{plural(lost, 'PG')} lost" if lost else f"{plural(stuck, 'PG')} not clean"
        return (
            f"{text}: not healthy within {duration(maintenance.horizon_seconds)} after "
            f"{len(unending):,} of them; after {first.name} {left}."
        )
    text += f": {duration(total)} in all, each once the cluster is healthy again"
    if maintenance.starts_seconds:
        wait = duration(maintenance.starts_seconds)
        return f"{text}, after {wait} until no data moves any more."
    return f"{text}."


def _client_sentences(maintenance: Maintenance) -> Iterator[str]:
    """What clients get at worst, beside what they get without maintenance."""
    turns, before = maintenance.turns, maintenance.before
    if before.served_share is None:
        return
    if before.served_share < SERVED:
        share = figure_words("served_share", before.served_share)
        yield f"Clients ask for more than the cluster serves even without maintenance: {share}."
        return
    least = min(turns, key=lambda turn: turn.outcome.served_share or 0.0)
    slow = max(turns, key=lambda turn: turn.outcome.p99_seconds or math.inf)
    share = figure_words("served_share", least.outcome.served_share)
    if (slowest := slow.outcome.p99_seconds) is None:
        yield f"Clients: at worst {share} of requests served, while {least.name} is down."
        return
    p99 = f"p99 at most {duration(slowest)} ({slow.name})"
    if before.p99_seconds is not None:
        p99 += f", {duration(before.p99_seconds)} without maintenance"
    yield f"Clients: {share} of requests served; {p99}."


def _chart(maintenance: Maintenance) -> Chart | None:
    """How long the longest turns take; None where one has no end, or all take as long."""
    turns = [(maintenance.turn_seconds(turn), turn.name) for turn in maintenance.turns]
    ends = sorted(((end, name) for end, name in turns if end is not None), reverse=True)
    if len(ends) < max(2, len(turns)) or ends[0][0] - ends[-1][0] < 0.05 * ends[0][0]:
        return None
    shown, time = ends[:_LISTED], time_scale(ends[0][0])
    names, noun = [name for _, name in shown], maintenance.work.noun
    text = f"From the stop of each {noun} until the cluster is healthy again, the longest first."
    text += f" The longest {len(shown)} of {len(ends):,}." * (len(ends) > len(shown))
    right = 1.3 * ends[0][0] / time.divisor
    return Chart(
        "turns-by-part",
        f"{names[0]} takes longest: {duration(ends[0][0])}",
        text,
        lambda: bars(
            rows(
                part=names,
                name=names,
                x=[end / time.divisor for end, _ in shown],
                label=[duration(end) for end, _ in shown],
            ),
            axis("x", f"length of a turn ({time.unit})", ends=(0.0, right)),
            BLUE,
            noun=noun,
        ),
        table(
            ("name", noun, "text", names),
            ("turn_seconds", "turn takes", "seconds", [end for end, _ in shown]),
        ),
        "lengths of turns",
    )


def _figures(maintenance: Maintenance) -> list[KeyFigure]:
    """Maintenance in numbers."""
    turns, total = maintenance.turns, maintenance.total_seconds
    inactive = max(turns, key=lambda turn: turn.outcome.inactive_groups)
    risk = max(turns, key=lambda turn: turn.outcome.at_risk_groups)
    most, risky = inactive.outcome.inactive_groups, risk.outcome.at_risk_groups
    words = "no end" if total is None else duration(total)
    count = plural(len(turns), maintenance.work.noun)
    figures = [
        KeyFigure("All turns", math.inf if total is None else total, "s", words, count),
        KeyFigure("Most PGs inactive", most, "PGs", f"{most:,}", inactive.name * bool(most)),
        KeyFigure(
            "Most PGs at zero redundancy", risky, "PGs", f"{risky:,}", risk.name * bool(risky)
        ),
    ]
    if lost := maintenance.loss_chance:
        detail = "by further failures"
        figures.append(KeyFigure("Probability of data loss", lost, "share", chance(lost), detail))
    return figures
