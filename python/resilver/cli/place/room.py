"""`--room`: how much more fits into the pools of a real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from resilver.answer import Answer, Section, Shown
from resilver.cli.crush.source import as_cluster, open_source
from resilver.cli.place.options import Asked
from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.quantities import DAY_SECONDS, daily, duration
from resilver.simulate import STATES, PoolRoom, Room, room
from resilver.simulate.pool_growth import growth_between
from resilver.tables import table_of
from resilver.words import listed, size_of

_SENTENCES = 3
_DAYS_LEAST, _DAYS_MAX = 10, 36_525


def room_answer(asked: Asked) -> Answer:
    """How much more fits into each pool before an OSD is nearfull, backfillfull and full.

    Raises:
        ConfigError: There is no such pool, or no dump states what OSDs hold.
    """
    source = as_cluster(open_source(asked.words[0], asked), "--room").reweighted(asked.weights)
    older = None if asked.grow_from is None else read_cluster(asked.grow_from)
    pools = [pool.id for pool in source.pools(asked.pool)]
    rooms = room(source.report, pools, asked.grow, older)
    largest = sorted(rooms.pools, key=lambda pool: -(pool.stored_bytes or 0))
    verdict = [
        *_growth_words(rooms, _growing(asked, source.report, older)),
        *(_sentence(pool, rooms) for pool in largest[:_SENTENCES]),
    ]
    verdict.append(
        "User data, before copies or coding. What fits into a pool is with the others as they are, "
        "over its up sets; data that is still to move is counted where it is now."
    )
    rows = [_row(pool) for pool in largest]
    has_quota = any(row["quota_left_bytes"] is not None for row in rows)
    columns = (
        ("name", "pool", "text"),
        ("stored_bytes", "stored", "bytes"),
        ("full_bytes", "until full", "bytes"),
        ("first_full", "first full", "text"),
        *[("quota_left_bytes", "until its quota", "bytes")] * has_quota,
        ("nearfull_bytes", "until nearfull", "bytes"),
        ("backfillfull_bytes", "until backfillfull", "bytes"),
        ("max_avail_bytes", "MAX AVAIL", "bytes"),
    )
    shown = Shown("room", "How much more fits until an OSD is full", table_of(rows, *columns))
    record = {"has_ratios": rooms.has_ratios, "pools": [_row(pool) for pool in rooms.pools]}
    record |= {
        "growth_bytes_per_second": dict(rooms.growth),
        "reached": {state: asdict(one) for state, one in rooms.reached.items()},
    }
    title = f"Room in {source.label}"
    return Answer(title, verdict, [Section("Room", (shown,))], record, notes=_notes(rooms))


def _growing(asked: Asked, report: ClusterReport, older: ClusterReport | None) -> str:
    """How fast pools grow, as it was asked or measured."""
    stated = ", ".join(asked.grow)
    if older is None:
        return stated
    seconds = (report.stamp_seconds or 0.0) - (older.stamp_seconds or 0.0)
    measured = {name: rate for name, rate in growth_between(older, report).items() if rate}
    pools = sorted(measured, key=lambda name: -abs(measured[name]))
    words = [f"{name} by {daily(measured[name])}" for name in pools[:_SENTENCES]]
    words += [f"{len(pools) - _SENTENCES} more"] * (len(pools) > _SENTENCES)
    shrinks = ", where shrinking counts as constant" * any(rate < 0 for rate in measured.values())
    but = f"; but {stated}" if stated else ""
    return f"as in the last {duration(seconds)}: {listed(words) or 'without growth'}{shrinks}{but}"


def _growth_words(rooms: Room, growing: str) -> Iterator[str]:
    """When the first OSD is nearfull, backfillfull and full with all pools growing."""
    if not growing:
        return
    states = [
        f"{state} ({_ratio(getattr(rooms.ratios, state))}) "
        + (f"after {_days(first.seconds)}" if first.seconds else "now")
        + f" (osd.{first.osd})"
        for state, first in rooms.reached.items()
    ]
    if states:
        yield f"Growing at a constant rate ({growing}), the first OSD is {listed(states)}."
    else:
        yield f"No OSD gains data at this growth ({growing})."


def _ratio(ratio: float) -> str:
    return f"{100 * ratio:.4g}%"


def _days(seconds: float) -> str:
    """A time until something happens, in whole days that have passed by then."""
    days = seconds / DAY_SECONDS
    if days < _DAYS_LEAST:
        return duration(seconds)
    return f"{int(days):,} days" if days < _DAYS_MAX else "more than 100 years"


def _sentence(pool: PoolRoom, rooms: Room) -> str:
    """What fits into a pool, and what Ceph says of it."""
    text, full, near = f"Pool {pool.pool.name}: ", pool.full, pool.nearfull
    if full is None or near is None:
        return f"{text}none of its PGs is on an OSD of known capacity."
    ratio = f"({_ratio(rooms.ratios.full)})"
    if not full.bytes:
        return f"{text}nothing more fits, as osd.{full.osd} is full {ratio}."
    text += f"{size_of(full.bytes)} more fits until osd.{full.osd} is full {ratio}, "
    if near.bytes:
        text += f"{size_of(near.bytes)} until the first OSD is nearfull"
    else:
        text += f"and osd.{near.osd} is nearfull already"
    text += f" ({_ratio(rooms.ratios.nearfull)})"
    if pool.quota_left_bytes is not None and pool.quota_left_bytes < full.bytes:
        text += f". Its quota lets in {size_of(pool.quota_left_bytes)}"
    if pool.max_avail_bytes is not None:
        text += f". Ceph's MAX AVAIL is {size_of(pool.max_avail_bytes)}"
    return f"{text}."


def _notes(rooms: Room) -> list[str]:
    if rooms.has_ratios:
        return []
    ratios = ", ".join(f"{state} {_ratio(getattr(rooms.ratios, state))}" for state in STATES)
    return [f"The dumps state no ratios; the defaults of a new cluster apply: {ratios}."]


def _row(pool: PoolRoom) -> dict[str, Any]:
    row: dict[str, Any] = {"pool": pool.pool.id, "name": pool.pool.name}
    row |= {"stored_bytes": pool.stored_bytes, "max_avail_bytes": pool.max_avail_bytes}
    row["quota_left_bytes"] = pool.quota_left_bytes
    for state, fits in pool.by_state.items():
        row[f"{state}_bytes"] = None if fits is None else fits.bytes
        row[f"{state}_osd"] = None if fits is None else fits.osd
    return row | {"first_full": None if pool.full is None else f"osd.{pool.full.osd}"}
