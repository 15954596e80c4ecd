"""An answer in tables: pools, the fullest OSDs, what waits, and what it rests on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from resilver.quantities import duration
from resilver.report.whatif.capacity import ratio_words
from resilver.report.whatif.figures import clients_by_pool, figure_words, worst_delay
from resilver.report.whatif.sentences import GOVERNS, waits_by_kind
from resilver.report.whatif.source import LEVELS, Facts, share
from resilver.tables import Table, table, table_of
from resilver.whatif.figures import BY_KEY

if TYPE_CHECKING:
    from resilver.whatif.answer import Assumption, WhatIf

_UNTIL = ("whole_seconds", "degraded_seconds", "at_risk_seconds", "inactive_seconds")
_WRITTEN = ("recovered_bytes", "moved_bytes", "least_bytes")
POOL_SHOWN = 1 + len(_UNTIL) + 2 + len(_WRITTEN)
"""Columns of the pools' table that a page shows; seconds follow in the CSV."""


def pools_table(facts: Facts) -> Table:
    """A row a pool: until when what is the matter, in words, what was written, and seconds."""

    def until(pool: dict[str, Any], key: str) -> str:
        return figure_words(key, pool[key], facts, pool["pool"])

    return table_of(
        facts.pools,
        ("name", "pool", "text"),
        *(
            (
                key.replace("_seconds", "_words"),
                BY_KEY[key].heading,
                "text",
                partial(until, key=key),
            )
            for key in _UNTIL
        ),
        ("groups", "PGs", "count"),
        ("lost_groups", BY_KEY["lost_groups"].heading, "count"),
        *((key, BY_KEY[key].heading, "bytes") for key in _WRITTEN),
        *((key, key.removesuffix("_seconds"), "seconds") for key in _UNTIL),
    )


def room_table(facts: Facts) -> Table:
    """A row a pool: how much more fits at the start and at the end, and which OSD is full first."""
    full = facts.room("full")

    def bytes_of(state: str, moment: str) -> list[float | None]:
        return [row[f"{moment}_bytes"] for row in facts.room(state)]

    named = [None if row["end_osd"] is None else f"osd.{row['end_osd']}" for row in full]
    return table(
        ("name", "pool", "text", [row["name"] for row in full]),
        ("full_end_bytes", "full, at end", "bytes", bytes_of("full", "end")),
        ("full_start_bytes", "at start", "bytes", bytes_of("full", "start")),
        ("first_full", "first full", "text", named),
        ("nearfull_end_bytes", "nearfull, at end", "bytes", bytes_of("nearfull", "end")),
        ("nearfull_start_bytes", "at start", "bytes", bytes_of("nearfull", "start")),
        ("max_avail_end_bytes", "MAX AVAIL, at end", "bytes", bytes_of("max_avail", "end")),
        ("max_avail_start_bytes", "at start", "bytes", bytes_of("max_avail", "start")),
    )


def autoscaler_table(facts: Facts) -> Table:
    """A row a pool that has other PGs than the autoscaler aims at, at the start or at the end."""
    moments = ("start", "end")
    rows = [
        row
        for row in facts.rows("autoscaler")
        if any(row[f"{moment}_groups"] != row[f"{moment}_wanted_groups"] for moment in moments)
    ]
    return table_of(
        rows,
        ("name", "pool", "text"),
        ("mode", "pg_autoscale_mode", "text"),
        ("start_groups", "PGs at the start", "count"),
        ("start_wanted_groups", "aimed at", "count"),
        ("end_groups", "at the end", "count"),
        ("end_wanted_groups", "aimed at then", "count"),
    )


def risks_table(facts: Facts) -> Table:
    """A row a pool that lacked copies or shards: how likely further failures lose its data."""
    pools = [row for row in facts.rows("risks") if row["pool"] is not None]

    def until(row: dict[str, Any]) -> str:
        return figure_words("degraded_seconds", row["lacking_seconds"], facts, row["pool"])

    return table_of(
        pools,
        ("name", "pool", "text"),
        ("loss_chance", BY_KEY["loss_chance"].heading, "chance"),
        ("lacking_groups", "PGs degraded", "count"),
        ("fewest_failures", "further failures needed", "count"),
        ("critical_osds", "OSDs of which one is enough", "count"),
        ("lacking_words", "until", "text", until),
    )


_NAME, _HOST, *_FILLS = (
    ("name", "OSD", "text", itemgetter("name")),
    ("host", "host", "text", itemgetter("host")),
    ("start", "at the start", "fill", partial(share, name="used_start_bytes")),
    ("peak", "peak", "fill", partial(share, name="peak_used_bytes")),
    ("end", "at the end", "fill", partial(share, name="used_end_bytes")),
)
_SUMMED = ("received_bytes", "sent_bytes", "used_start_bytes", "used_end_bytes", "capacity_bytes")


def crossings_table(facts: Facts) -> Table:
    """OSDs that reach a ratio, the fullest first: when they do, and where they are."""
    reached = [osd for osd in facts.osds if any(osd[f"{of}_seconds"] is not None for of in LEVELS)]
    ratios = facts.answer.cluster.ratios
    start, peak, end = _FILLS

    def passed(osd: dict[str, Any], level: str) -> str:
        seconds = osd[f"{level}_seconds"]
        return f"after {duration(seconds)}" if seconds else figure_words("full_seconds", seconds)

    levels = (
        (
            f"{level}_words",
            f"{level} {ratio_words(ratios[level])}",
            "text",
            partial(passed, level=level),
        )
        for level in LEVELS
        if any(osd[f"{level}_seconds"] is not None for osd in reached)
    )
    return table_of(reached, _NAME, peak, *levels, _HOST, start, end)


def osds_table(facts: Facts) -> Table:
    """Every OSD, the fullest first: how full, what it received and sent, and its PGs."""
    return table_of(
        facts.osds,
        _NAME,
        _HOST,
        *_FILLS,
        ("peak_seconds", "peak after", "seconds"),
        ("received_bytes", "received", "bytes"),
        ("sent_bytes", "sent", "bytes"),
        ("groups_start", "PGs at the start", "count"),
        ("groups_end", "at the end", "count"),
        ("busy_seconds", "busy", "seconds"),
        *((f"{level}_seconds", level, "seconds") for level in LEVELS),
        ("capacity_bytes", "capacity", "bytes"),
    )


def places(facts: Facts, level: str) -> list[dict[str, Any]]:
    """What the buckets of a CRUSH type received and sent, those that received most first.

    Args:
        level: The type, such as ``host`` or ``rack``; ``OSD`` for OSDs themselves.

    Returns:
        A row a bucket: its name, how many OSDs it has, and the sums of their bytes.
    """
    osds_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for osd in facts.osds:
        name = facts.answer.cluster.places.get(osd["osd"], {}).get(level, f"no {level}")
        osds_of[osd["name"] if level == "OSD" else name].append(osd)
    found = [
        {"name": name, "osds": len(of)} | {key: sum(osd[key] or 0 for osd in of) for key in _SUMMED}
        for name, of in osds_of.items()
    ]
    return sorted(found, key=lambda one: (-one["received_bytes"], one["name"]))


def places_table(found: list[dict[str, Any]], level: str) -> Table:
    """What the buckets of a CRUSH type received and sent, as `places` gives it."""
    return table_of(
        found,
        ("name", level, "text"),
        ("osds", "OSDs", "count"),
        ("received_bytes", "received", "bytes"),
        ("sent_bytes", "sent", "bytes"),
        ("start", "fill at the start", "fill", partial(share, name="used_start_bytes")),
        _FILLS[-1],
    )


def levels(facts: Facts) -> list[str]:
    """The CRUSH types above OSDs of which there are several buckets, but none for each OSD."""
    named: dict[str, set[str]] = {}
    for osd in facts.osds:
        for level, name in facts.answer.cluster.places.get(osd["osd"], {}).items():
            named.setdefault(level, set()).add(name)
    return [level for level, names in named.items() if 1 < len(names) < len(facts.osds)]


def stuck_table(facts: Facts) -> Table:
    """PGs that are not clean at the end: state, reason and OSDs."""
    names = facts.answer.cluster.pools
    return table_of(
        facts.stuck,
        ("pgid", "PG", "text"),
        ("pool", "pool", "text", lambda row: names.get(row["pool"], row["pool"])),
        ("state", "state", "text"),
        ("reason", "why", "text"),
        ("since_seconds", "since", "seconds"),
        ("osds", "OSDs", "text"),
    )


def stuck_summary(facts: Facts) -> Table:
    """PGs that are not clean at the end, counted by pool, state and reason, most first."""
    counts: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    names = facts.answer.cluster.pools
    for row in facts.stuck:
        pool = names.get(row["pool"], str(row["pool"]))
        counts[pool, row["state"], row["reason"] or ""].append(row["pgid"])
    ordered = sorted(counts.items(), key=lambda one: (-len(one[1]), one[0]))
    return table(
        ("groups", "PGs", "count", [len(ids) for _, ids in ordered]),
        ("pool", "pool", "text", [key[0] for key, _ in ordered]),
        ("state", "state", "text", [key[1] for key, _ in ordered]),
        ("reason", "why", "text", [key[2] for key, _ in ordered]),
        ("first", "such as", "text", [ids[0] for _, ids in ordered]),
    )


def waits_table(facts: Facts) -> Table:
    """What PGs waited for, by kind, with the worst place of each."""
    found = waits_by_kind(facts)
    return table(
        ("kind", "what", "text", [one[0] for one in found]),
        ("share", "of their time", "share", [one[1] for one in found]),
        ("name", "most at", "text", [one[2] for one in found]),
        ("share_there", "there", "share", [one[3] for one in found]),
        ("governed_by", "set by", "text", [GOVERNS.get(one[0]) for one in found]),
    )


def clients_table(facts: Facts) -> Table:
    """What clients of each pool get before the first change, at worst and at the end."""
    names = facts.answer.cluster.pools
    of = clients_by_pool(facts)

    def delays(seconds: Iterable[float | None]) -> list[str]:
        return [figure_words("p99_seconds", one) for one in seconds]

    def known(rows: list[dict[str, Any]], name: str) -> list[float]:
        return [row[name] for row in rows if row[name] is not None]

    pools = of.values()
    return table(
        ("pool", "pool", "text", [names.get(pool, str(pool)) for pool in of]),
        ("p99_worst", "p99 at worst", "text", delays(worst_delay(rows) for rows in pools)),
        ("p99_before", "before", "text", delays(rows[0]["p99_seconds"] for rows in pools)),
        ("p99_end", "at the end", "text", delays(rows[-1]["p99_seconds"] for rows in pools)),
        (
            "mean_worst",
            "mean at worst",
            "seconds",
            [max(known(rows, "mean_seconds"), default=None) for rows in pools],
        ),
        ("mean_before", "before", "seconds", [rows[0]["mean_seconds"] for rows in pools]),
        (
            "served_least",
            "served at worst",
            "share",
            [min(known(rows, "served_share"), default=None) for rows in pools],
        ),
        ("served_before", "before", "share", [rows[0]["served_share"] for rows in pools]),
    )


def history_table(facts: Facts) -> Table:
    """What happened to OSDs and the map, by time; what happens alike to many at a time is a row."""
    of: dict[tuple[float, int, str], list[str]] = {}
    for row in facts.rows("history"):
        alike = re.sub(r"osd\.\d+", "osd", row["what"])
        of.setdefault((row["time_seconds"], row["epoch"], alike), []).append(row["what"])
    texts = [
        one[0] if len(one) == 1 else f"{one[0]}, and {len(one) - 1:,} more" for one in of.values()
    ]
    return table(
        ("time_seconds", "after", "seconds", [key[0] for key in of]),
        ("what", "what", "text", texts),
        ("epoch", "epoch", "count", [key[1] for key in of]),
    )


def assumptions_table(of: Iterable[Assumption]) -> Table:
    """What an answer rests on, what we assumed first."""
    found = sorted(of, key=lambda one: one.origin != "assumed")
    return table(
        ("name", "what", "text", [one.name for one in found]),
        ("value", "value", "text", [one.value for one in found]),
        ("origin", "from", "text", [one.origin for one in found]),
        ("applies_to", "of", "text", [one.applies_to or "all" for one in found]),
        ("sentence", "why", "text", [one.sentence for one in found]),
    )


def steps_table(answer: WhatIf) -> Table:
    """The plan: when what is done."""
    return table(
        ("at_seconds", "at", "seconds", [step.at_seconds for step in answer.steps]),
        ("text", "what", "text", [step.text for step in answer.steps]),
        ("commands", "by", "text", [_by(step.commands) for step in answer.steps]),
    )


def _by(commands: Sequence[str]) -> str:
    if len(commands) > 1:
        return f"{len(commands):,} of the commands below"
    return commands[0] if commands else "none"
