"""Charts of an answer: its course over time, and who takes in what is made anew or moved."""

from __future__ import annotations

from typing import Any

import numpy as np

from resilver.charts.named import bars
from resilver.charts.over_time import Marks, Panel, over_time
from resilver.charts.scales import Scale, byte_scale, count_scale, rate_scale, time_scale
from resilver.charts.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SERIES, SKY, VERMILLION
from resilver.charts.vega import Chart, Spec, axis, rows, tip
from resilver.quantities import duration
from resilver.report.arrays import TIMELINE_INTERVALS_MAX, Floats, Integers
from resilver.report.timeline import rate_of
from resilver.report.whatif.figures import clients_by_pool
from resilver.report.whatif.sentences import unwritten_words
from resilver.report.whatif.source import Facts
from resilver.report.whatif.tables import places, places_table, pools_table
from resilver.tables import cell_text, table, table_of
from resilver.words import against, plural

_MARKED_MAX = 12
SINCE = "time since the start"
"""The title of the axis of time."""
_OBJECTS = (
    ("degraded_objects", "degraded", VERMILLION),
    ("misplaced_objects", "misplaced", BLUE),
)
_SHORT = (
    ("degraded_groups", "degraded", ORANGE),
    ("undersized_groups", "undersized", BLUE),
    ("at_risk_groups", "zero redundancy", VERMILLION),
    ("inactive_groups", "inactive", PURPLE),
)
_MOVING = (
    ("recovering_groups", "recovering", SKY),
    ("backfilling_groups", "backfilling", BLUE),
    ("backfill_wait_groups", "backfill_wait", GREY),
    ("toofull_groups", "backfill_toofull", VERMILLION),
)
_RATES = (
    ("recovered_bytes_per_second", "re-replicated", VERMILLION),
    ("moved_bytes_per_second", "backfilled", BLUE),
)


def shown_moments(times: Floats, most: int = TIMELINE_INTERVALS_MAX) -> Integers:
    """Which moments a chart shows: all, or some, evenly over time, with the first and the last.

    Args:
        times: The moments by rising time.
        most: How many intervals between them a chart shows at most.
    """
    if times.size <= most + 1:
        return np.arange(times.size)
    wanted = np.searchsorted(times, np.linspace(times[0], times[-1], most + 1))
    return np.unique(np.append(np.minimum(wanted, times.size - 1), [0, times.size - 1]))


def _marks(facts: Facts) -> Marks:
    """The moments of the plan's changes, where these are few."""
    moments = sorted({step.at_seconds for step in facts.answer.steps})
    within = [at for at in moments if 0.0 < at <= facts.answer.end_seconds]
    return Marks(faults=tuple(within[:_MARKED_MAX]))


def marks_words(facts: Facts) -> str:
    """What upright lines mean; empty where there are none."""
    return "Upright lines are the plan's later changes." if _marks(facts).faults else ""


def _panels(facts: Facts, at: Integers) -> tuple[Panel, ...]:
    """Objects, PGs short of OSDs, and PGs that move or wait; those with anything in them."""
    found = []
    for what, columns, stacked, filled in (
        ("copies", _OBJECTS, False, True),
        # Areas of PGs that lack several things would hide each other.
        ("PGs", _SHORT, False, False),
        ("PGs", _MOVING, True, True),
    ):
        drawn: dict[bytes, tuple[str, str, Floats]] = {}
        for column, name, colour in columns:
            values = facts.series(column)
            if values.any():
                # Lines that are one are drawn as one, by both names.
                key = values.tobytes() if not filled else name.encode()
                names = f"{drawn[key][0]}, {name}" if key in drawn else name
                drawn[key] = (names, drawn[key][1] if key in drawn else colour, values[at][:-1])
        series = tuple(drawn.values())
        if series:
            # One series has no legend that names it.
            title = f"{series[0][0]} {what}" if len(series) == 1 else what
            most = max(float(values.max()) for _, _, values in series)
            found.append(Panel(title, count_scale(most), series, stacked=stacked, filled=filled))
    return tuple(found)


def course_chart(facts: Facts) -> Chart | None:
    """How objects and PGs recover over time; None where nothing ever happens."""
    at = shown_moments(facts.times)
    if at.size < 2 or facts.is_calm:
        return None
    panels, edges = _panels(facts, at), facts.times[at]
    if not panels:
        return None
    waits, moves = facts.series("backfill_wait_groups"), facts.series("backfilling_groups")
    moves = moves + facts.series("recovering_groups")
    heading = f"Up to {plural(float(moves.max()), 'PG')} move data at a time"
    if waits.any():
        heading += f", while up to {waits.max():,.0f} wait for a reservation"
    columns = [column for column, _, _ in (*_OBJECTS, *_SHORT, *_MOVING)]
    text = (
        "Copies of objects that are missing or not where they should be; PGs by what they lack; "
        "and, stacked, PGs that move data or wait. "
    )
    return Chart(
        "course",
        heading,
        (text + marks_words(facts)).strip(),
        lambda: over_time(edges, panels, SINCE, _marks(facts)),
        table_of(
            facts.rows("timeline"),
            ("time_seconds", "at", "seconds"),
            *((column, column.replace("_", " "), "count") for column in columns),
            ("deleting_groups", "deleting", "count"),
        ),
        "objects and PGs over time",
    )


def _means(facts: Facts, column: str, at: Integers) -> Floats:
    """The means of a rate between moments; a row has that since the row before."""
    amounts = facts.series(column)[1:] * np.diff(facts.times)
    sums = np.diff(np.append(0.0, np.cumsum(amounts))[at])
    return rate_of(sums, np.diff(facts.times[at]))


def rates_chart(facts: Facts) -> Chart | None:
    """How fast data is re-replicated and backfilled; None where none is."""
    at = shown_moments(facts.times)
    if at.size < 2:
        return None
    rates = [(name, colour, _means(facts, column, at)) for column, name, colour in _RATES]
    rates = [one for one in rates if one[2].any()]
    if not rates:
        return None
    edges = facts.times[at]
    most = max(float(one.max()) for _, _, one in rates)
    objects = _means(facts, "recovered_objects_per_second", at)
    panels = [Panel("rate", rate_scale(most), tuple(rates))]
    if objects.any():
        series = (("objects", GREEN, objects),)
        panels.append(Panel("objects/s", count_scale(float(objects.max())), series))
    return Chart(
        "rates",
        f"All OSDs together recover up to {cell_text(most, 'rate')}",
        f"Bytes written a second, and objects re-replicated a second. {marks_words(facts)}".strip(),
        lambda: over_time(edges, tuple(panels), SINCE, _marks(facts)),
        table_of(
            facts.rows("timeline"),
            ("time_seconds", "until", "seconds"),
            *((column, name, "rate") for column, name, _ in _RATES),
            ("recovered_objects_per_second", "objects a second", "number"),
        ),
        "rates over time",
    )


def space_chart(facts: Facts) -> Chart | None:
    """What all OSDs hold beyond what they held at the start; None where that never changes."""
    moments, used = facts.moments, facts.held
    at = shown_moments(moments)
    if at.size < 2 or not np.ptp(used) > 0.0:
        return None
    edges, gained = moments[at], used[at] - used[0]
    end, most = float(used[-1] - used[0]), float((used - used[0]).max())
    heading = "All OSDs together hold as much at the end as at the start"
    if abs(end) > 0.01 * float(np.abs(gained).max()):
        heading = f"All OSDs together hold {cell_text(abs(end), 'bytes')} "
        heading += f"{'more' if end >= 0.0 else 'less'} at the end than at the start"
    if facts.held_beyond > 0.0:
        heading += f", and up to {cell_text(most, 'bytes')} more on the way"
    scale = byte_scale(float(np.abs(gained).max()))
    panel = Panel("more than at the start", scale, (("used", BLUE, gained[:-1]),))
    return Chart(
        "space",
        heading,
        "Bytes used on all OSDs, those that are gone included, beyond what they had used at the "
        "start. A copy that moves takes room in both places until its PG is clean and the old "
        f"one is deleted. {marks_words(facts)}".strip(),
        lambda: over_time(edges, (panel,), SINCE, _marks(facts), 160),
        table(
            ("time_seconds", "at", "seconds", moments),
            ("used_bytes", "used", "bytes", used),
            (
                "pending_bytes",
                "granted and to come",
                "bytes",
                np.nansum(facts.by_osd("pending_bytes"), axis=1),
            ),
        ),
        "what all OSDs hold over time",
    )


def clients_chart(facts: Facts) -> Chart | None:
    """What clients of each pool wait, and what share of theirs is served; None without a load."""
    of = clients_by_pool(facts)
    times = sorted({row["time_seconds"] for of_pool in of.values() for row in of_pool})
    if len(times) < 2:
        return None
    edges = np.array(times)
    edges = edges[shown_moments(edges)]
    names = facts.answer.cluster.pools
    delays: list[tuple[str, str, Floats]] = []
    served: list[tuple[str, str, Floats]] = []
    for rank, (pool, of_pool) in enumerate(of.items()):
        known = [row["time_seconds"] for row in of_pool]
        at = np.searchsorted(known, edges[:-1], side="right") - 1
        name, colour = names.get(pool, str(pool)), SERIES[rank % len(SERIES)]
        for found, column in ((delays, "p99_seconds"), (served, "served_share")):
            # What is not served at all has no delay: a gap in the line.
            values = np.array([of_pool[max(one, 0)][column] for one in at], dtype=np.float64)
            found.append((name, colour, values))
    worst = max(
        (float(np.nanmax(of)) for _, _, of in delays if not np.isnan(of).all()), default=0.0
    )
    panels = [Panel("99 % within", time_scale(worst), tuple(delays), filled=False)]
    if any((values < 0.9995).any() for _, _, values in served):
        panels.append(Panel("served (%)", Scale(0.01, ""), tuple(served), filled=False))

    every = [
        row | {"pool": names.get(pool, str(pool))}
        for pool, of_pool in of.items()
        for row in of_pool
    ]
    return Chart(
        "clients",
        f"Of clients' requests, 99 % are answered within {duration(worst)} at the worst",
        "The delay that 99 % of each pool's requests stay below, over time, and the share of what "
        f"its clients ask that is served. {marks_words(facts)}".strip(),
        lambda: over_time(edges, tuple(panels), SINCE, _marks(facts)),
        table_of(
            every,
            ("pool", "pool", "text"),
            ("time_seconds", "at", "seconds"),
            ("p99_seconds", "99 % within", "seconds"),
            ("mean_seconds", "mean", "seconds"),
            ("served_share", "served", "share"),
        ),
        "clients over time",
    )


_LISTED = 24
_POOLS = (
    ("recovered_bytes", "re-replicated", VERMILLION),
    ("moved_bytes", "moved", BLUE),
)
_PLACES = (("received", BLUE), ("read for others", GREY))


def pools_chart(facts: Facts) -> Chart | None:
    """What was written for each pool, beside the least possible; None where nothing was."""
    pools = [
        pool
        for pool in facts.pools
        if pool["recovered_bytes"] or pool["moved_bytes"] or pool["least_bytes"]
    ]
    if not pools:
        return None
    found = facts.answer.outcome
    written = found.recovered_bytes + found.moved_bytes
    least = cell_text(found.least_bytes, "bytes")
    missing = unwritten_words(facts) or f"it takes {least} at least"
    heading = f"{cell_text(written, 'bytes')} are written; {missing}"
    text = (
        "Bytes written to re-replicate lost copies and to move intact data, by pool; the upright "
        "mark is the least that must be written to get from the sets of OSDs before to those after."
    )
    most = max(max(p["recovered_bytes"] + p["moved_bytes"], p["least_bytes"] or 0) for p in pools)
    scale = byte_scale(float(most))

    def spec() -> Spec:
        seen = [one for one in _POOLS if any(pool[one[0]] for pool in pools)] or _POOLS
        data = rows(
            name=[pool["name"] for pool in pools for _ in seen],
            kind=[kind for _ in pools for _, kind, _ in seen],
            x=[pool[column] / scale.divisor for pool in pools for column, _, _ in seen],
            # One tick a pool, however many pieces its bar has.
            mark=[
                None if rank else (pool["least_bytes"] or 0) / scale.divisor
                for pool in pools
                for rank in range(len(seen))
            ],
        )
        # One kind has no legend that names it.
        what = "written" if len(seen) > 1 else seen[0][1]
        across = axis("x", f"{what} ({scale.unit})", ends=(0.0, 1.05 * most / scale.divisor))
        read = tip(
            ("name", "pool"), ("kind", "what"), ("x", scale.unit), ("mark", f"least ({scale.unit})")
        )
        shown = {kind: colour for _, kind, colour in seen}
        return bars(data, across, shown, stacked=True, read=read)

    return Chart("written", heading, text, spec, pools_table(facts), "pools")


def places_chart(facts: Facts, of: str, rank: int = 0) -> Chart | None:
    """What the buckets of a CRUSH type took in and read; None where none did.

    Args:
        of: The type, or ``OSD``.
        rank: Its number among those of a page; a type may have any name.
    """
    every = places(facts, of)
    found = [one for one in every if one["received_bytes"] or one["sent_bytes"]]
    if not found:
        return None
    first = found[0]
    heading = f"{first['name']} receives most: {cell_text(first['received_bytes'], 'bytes')}"
    takers = [one["received_bytes"] for one in found if one["received_bytes"]]
    if len(takers) > 1:
        mean = sum(takers) / len(takers)
        heading += f", {against(first['received_bytes'] / mean, 'the mean')} of all that receive"
    text = f"What each {of} writes, and what is read from it for others"
    text += f"; the first {_LISTED} of {len(found):,}." if len(found) > _LISTED else "."
    shown = found[:_LISTED]
    made, title = places_table(every, of), plural(len(every), of)
    return Chart(f"places-{rank}", heading, text, lambda: _places_spec(shown), made, title)


def _places_spec(shown: list[dict[str, Any]]) -> Spec:
    names = [one["name"] for one in shown]
    kinds = [kind for kind, _ in _PLACES]
    values = [one[key] for key in ("received_bytes", "sent_bytes") for one in shown]
    scale = byte_scale(float(max(values)))
    data = rows(
        part=names * 2,
        name=names * 2,
        kind=[kind for kind in kinds for _ in names],
        x=[value / scale.divisor for value in values],
    )
    across = axis("x", f"bytes ({scale.unit})")
    return bars(data, across, dict(_PLACES), noun="where", step=24, grouped=True)
