"""Codes, lanes and streams of a system in the core's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.spec import System


def redundancy_json(system: System) -> dict[str, Any] | None:
    """The code as the native module reads it; None for copies that are pulled whole.

    Args:
        system: The system.
    """
    redundancy = system.redundancy
    if redundancy is None or redundancy.code is None:
        return None
    return {
        "code": redundancy.code.label,
        "strip_bytes": None if redundancy.strip is None else int(redundancy.strip),
        "coding_bytes_per_second": redundancy.coding_rate,
    }


def lanes_json(system: System) -> dict[str, Any] | None:
    """The lanes as the native module reads them; None where all classes share one queue.

    Args:
        system: The system.
    """
    lanes = system.lanes
    return None if lanes is None else lanes.content(bursts=system.has_bursts)


def streams_json(system: System, entries: Sequence[int]) -> dict[str, Any] | None:
    """The streams as the native module reads them; None without streams.

    Args:
        system: The system.
        entries: The endpoints where clients enter.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    traffic, streams = system.traffic, system.streams
    if traffic is None or streams is None:
        return None
    groups = system.stripe_groups
    over: dict[str, Any] = {"over": "placement"}
    if groups:
        over = {"over": "groups", "groups": [list(group) for group in groups]}
    bursts = streams.bursts
    return {
        **over,
        "entries": list(entries),
        "pairing": streams.entries,
        "window": streams.window,
        "rate_bytes_per_second": None if streams.rate is None else float(streams.rate),
        "read_share": traffic.read_share,
        "control_bytes": int(traffic.control_message),
        "bursts": None
        if bursts is None
        else {
            "first_seconds": float(bursts.first),
            "every_seconds": float(bursts.every),
            "bytes": int(bursts.volume),
        },
        "warm_up_seconds": traffic.warm_up_seconds,
        "duration_seconds": None if traffic.duration is None else float(traffic.duration),
    }
