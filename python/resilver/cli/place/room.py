"""`--room`: how much more fits into the pools of a real cluster."""

from __future__ import annotations

from typing import Any

from resilver.answer import Answer, Section, Shown
from resilver.cli.crush.source import as_cluster, open_source
from resilver.cli.place.options import Asked
from resilver.simulate import Fits, PoolRoom, Room, room
from resilver.tables import table_of
from resilver.words import size_of

_SENTENCES = 3
_STATES = ("nearfull", "backfillfull", "full")


def room_answer(asked: Asked) -> Answer:
    """What fits into each pool until an OSD is nearfull, backfillfull and full.

    Raises:
        ConfigError: There is no such pool, or no dump states what OSDs hold.
    """
    source = as_cluster(open_source(asked.words[0], asked), "--room").reweighted(asked.weights)
    found = room(source.report, [pool.id for pool in source.pools(asked.pool)])
    largest = sorted(found.pools, key=lambda one: -(one.stored_bytes or 0))
    verdict = [_sentence(one, found) for one in largest[:_SENTENCES]]
    verdict.append(
        "User data, before copies or coding; each pool grows alone, its new data spreads over its "
        "up sets, and OSDs hold what they hold now."
    )
    columns: tuple[Any, ...] = (
        ("pool", "pool", "text", lambda one: one.pool.name),
        ("stored_bytes", "stored", "bytes"),
        ("full_bytes", "until full", "bytes", _bytes_of("full")),
        ("first_osd", "first full", "text", lambda one: one.full and f"osd.{one.full.osd}"),
        *((f"{one}_bytes", f"until {one}", "bytes", _bytes_of(one)) for one in _STATES[:2]),
        ("max_avail_bytes", "MAX AVAIL", "bytes"),
    )
    shown = Shown("room", "What more fits until an OSD is full", table_of(largest, *columns))
    record = {"has_ratios": found.has_ratios, "pools": [_record(one) for one in found.pools]}
    title = f"Room in {source.label}"
    return Answer(title, verdict, [Section("Room", (shown,))], record, notes=_notes(found))


def _bytes_of(state: str) -> Any:
    def bytes_of(one: PoolRoom) -> int | None:
        fits: Fits | None = getattr(one, state)
        return None if fits is None else fits.bytes

    return bytes_of


def _sentence(one: PoolRoom, found: Room) -> str:
    """What fits into one pool, and what Ceph says of it."""
    text = f"Pool {one.pool.name}: "
    if one.full is None or one.nearfull is None:
        return f"{text}none of its PGs is on an OSD whose capacity is known."
    share = f"({found.ratios.full:.0%})"
    if not one.full.bytes:
        return f"{text}nothing more fits: osd.{one.full.osd} is full {share}."
    text += f"{size_of(one.full.bytes)} more fit until osd.{one.full.osd} is full {share}"
    near = f"(nearfull, {found.ratios.nearfull:.0%})"
    if one.nearfull.bytes:
        text += f", {size_of(one.nearfull.bytes)} until the first warning {near}"
    else:
        text += f"; osd.{one.nearfull.osd} is above the first warning already {near}"
    if one.max_avail_bytes is not None:
        text += f". Ceph's MAX AVAIL is {size_of(one.max_avail_bytes)}"
    return f"{text}."


def _notes(found: Room) -> list[str]:
    if found.has_ratios:
        return []
    shares = ", ".join(f"{state} {getattr(found.ratios, state):.0%}" for state in _STATES)
    return [f"The dumps state no ratios; those of a new cluster are taken: {shares}."]


def _record(one: PoolRoom) -> dict[str, Any]:
    record: dict[str, Any] = {"pool": one.pool.id, "name": one.pool.name}
    record |= {"stored_bytes": one.stored_bytes, "max_avail_bytes": one.max_avail_bytes}
    for state in _STATES:
        fits: Fits | None = getattr(one, state)
        record[f"{state}_bytes"] = None if fits is None else fits.bytes
        record[f"{state}_osd"] = None if fits is None else fits.osd
    return record
