"""What of the core's answer a page of a study shows: figures, charts, and colours of its map.

The tables are those that the core itself tells (`crates/system/src/tables`): its metrics are a
table of one row, and the rows of ``servers`` are the devices by number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from resilver.explore.document import (
    FRAMES,
    WHO_MOVES,
    WINDOW,
    Film,
    Lines,
    Map,
    Series,
    Shown,
    Waiting,
)
from resilver.report.headline import CLIENTS
from resilver.spec import System

_Better = Literal["less", "more", ""]

_UNITS = {"s": "seconds", "B/s": "bytes_per_second", "B": "bytes", "share": "share"}

_RATE, _EACH = "bytes_per_second", "duration_seconds"

_REBUILD: tuple[tuple[str, str, str, _Better], ...] = (
    ("rebuild_seconds", "Fully redundant after", "seconds", "less"),
    ("rebuild_p50_seconds", "Half of the bytes after", "seconds", "less"),
    ("rebuilt_bytes", "Data rebuilt", "bytes", ""),
    ("network_bytes", "Sent over the network", "bytes", ""),
    ("unrecoverable_objects", "Objects lost", "count", "less"),
    ("unrecoverable_bytes", "Data lost", "bytes", "less"),
    ("undersized_replicas", "Pieces without a target", "count", "less"),
    ("unreachable_objects", "Objects out of the network's reach", "count", "less"),
)
"""What a rebuild comes to: column, label, unit, and what of it is better."""

WAITS = {
    "reading": "reading at sources' disks",
    "writing": "writing at the targets' disks",
    "sending": "ports that send",
    "receiving": "ports that receive",
    "link": "links of the network",
    "coding": "computing of codes",
    "send_memory": "memory of sources (recovery.send_memory)",
    "loss": "lost messages",
    "bandwidth": "the throttle (recovery.bandwidth)",
    "software": "the software's limits (recovery.software)",
    "receive_memory": "round trips of what recovery.receive_memory holds",
    "pipelining": "round trips, without pipelining",
    "round_trip": "round trips",
}
"""What the last device may wait for, by the kinds of the core's table ``limits``."""

_CLIENTS_SHOWN = (
    "during_throughput_bytes_per_second",
    "before_throughput_bytes_per_second",
    "during_before_throughput_ratio",
    "throughput_bytes_per_second",
    "during_p99_read_delay_seconds",
    "during_p99_write_delay_seconds",
    "mean_delay_seconds",
    "requests_completed",
    "requests_lost",
    "requests_retried",
    "requests_hanging",
    "mean_burst_delay_seconds",
    "rebuild_bytes_per_second",
    "backlog_bytes",
)
_MORE_IS_BETTER = ("rebuild_bytes_per_second",)
_LESS_IS_BETTER = ("p99", "burst_delay", "lost", "hanging", "backlog")
"""What is of a stretch of time that another scenario has longer is neither better nor worse."""


_FRAMES_LEAST = 16
_CELLS_MAX = 2**17
"""Devices by moments that a film has, about: a page keeps the films of many answers."""

_FILM = Film(
    "film",
    "device",
    WHO_MOVES,
    "since_seconds",
    "time_seconds",
    "waits_for",
    "waiting_buffers",
    Waiting("buffer", "what others have yet to send", "its own disk"),
)
"""Who reads, who writes and who waits for whom to rebuild."""


def has_rebuild(system: System) -> bool:
    """Whether what is lost of a system is made anew."""
    return not system.is_traffic_only


def has_clients(system: System) -> bool:
    """Whether clients ask for anything."""
    return any(pool.traffic is not None for pool in (system, *system.of_pools))


def frames_of(system: System, devices: int) -> int:
    """The most moments of the film of so many devices; 0 where no rebuild is followed by events."""
    by_flows = any(
        pool.traffic is not None and pool.traffic.engine == "flows"
        for pool in (system, *system.of_pools)
    )
    if by_flows or not has_rebuild(system):
        return 0
    return max(_FRAMES_LEAST, min(FRAMES, _CELLS_MAX // max(1, devices)))


def figures_of(system: System, *, clients: bool) -> tuple[Shown, ...]:
    """The figures of a run, weightiest first; with `clients`, theirs where there are any."""
    found = []
    if has_rebuild(system):
        found = [_figure("metrics", *one) for one in _REBUILD]
        risk = _figure(
            "timeline", "at_risk_objects", "Objects one loss from lost", "count", "less", "most"
        )
        until = replace(
            _figure("timeline", "at_risk_objects", "The last of them until", "seconds", "less"),
            key="at_risk_seconds", how="until", over="start_seconds",
        )  # fmt: skip
        waits = replace(_figure("limits", "kind", "The last waits for", "", ""), words=WAITS)
        found[1:1] = [risk, until, waits]
    if clients:
        labels = {name: (label, unit) for name, label, unit in CLIENTS}
        for name in _CLIENTS_SHOWN:
            label, unit = labels.get(name, ("Left undone", "B"))
            better: _Better = (
                "more" if any(word in name for word in _MORE_IS_BETTER)
                else "less" if any(word in name for word in _LESS_IS_BETTER)
                else ""
            )  # fmt: skip
            told = ("metrics", name, label, _UNITS.get(unit, "count"), better)
            # Without clients, or without a time before, there is none.
            found.append(_figure(*told, how="highest"))
    return tuple(found)


def harm_of(system: System) -> tuple[str, ...]:
    """The figures by which failures are ranked, the first first."""
    if has_rebuild(system):
        return ("unrecoverable_bytes", "rebuild_seconds", "at_risk_objects")
    return ("throughput_bytes_per_second", "requests_lost")


def _figure(
    table: str, column: str, label: str, unit: str, better: _Better, how: str = "first"
) -> Shown:
    return Shown(column, label, unit, table, column, how, better=better)


def charts_of(system: System, *, clients: bool) -> tuple[Lines, ...]:
    """What of a run is drawn over time."""
    found = []
    if has_rebuild(system):
        missing = {"degraded_objects": "lack a piece", "at_risk_objects": "and are at risk"}
        under_way = {"in_flight_bytes": "under way"}
        rebuilt = {"rebuilt_bytes": "rebuilt"}
        found = [
            _chart("missing", "Objects that lack a piece", "timeline", "count", missing),
            _chart("rebuilt", "Data rebuilt", "timeline", _RATE, rebuilt, _EACH),
            _chart("under_way", "Asked for, not yet written", "timeline", "bytes", under_way),
        ]
    if clients:
        goodput = {"read_bytes": "read", "write_bytes": "written"}
        delays = {"mean_delay_seconds": "mean"}
        found += [
            _chart("clients", "What clients get", "traffic", _RATE, goodput, _EACH),
            _chart("delays", "How long requests take", "traffic", "seconds", delays),
        ]
    return tuple(found)


def _chart(
    key: str, title: str, table: str, unit: str, series: dict[str, str], over: str = ""
) -> Lines:
    lines = tuple(Series(column, label, over=over) for column, label in series.items())
    return Lines(key, title, table, unit, lines, time="start_seconds")


def map_of(system: System) -> Map:
    """By what the map of parts may be coloured; rows of its table are devices by number."""
    measures = [
        Series("device_busy_seconds", "Busy", "share", WINDOW),
        Series("device_bytes_read", "Read", "bytes"),
        Series("device_bytes_written", "Written", "bytes"),
    ]
    if has_rebuild(system):
        measures = [
            Series("rebuilt_bytes", "Rebuilt here", "bytes"),
            Series("sent_bytes", "Sent to others", "bytes"),
            Series("finish_seconds", "Last piece here after", "seconds"),
            *measures,
        ]
    if has_clients(system):
        measures += [
            Series("requests_completed", "Requests completed", "count"),
            Series("requests_lost", "Requests lost", "count"),
        ]
    films = (_FILM,) if frames_of(system, 1) else ()
    return Map("servers", "", tuple(measures), films, failed="failed")
