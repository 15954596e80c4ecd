"""Codes, lanes and streams of a system in the core's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resilver.spec import Streams, System
from resilver.spec.jobs import Job
from resilver.units import BytesPerSecond


def redundancy_json(system: System) -> dict[str, Any] | None:
    """The code as the native module reads it; None for copies that are pulled whole."""
    redundancy = system.redundancy
    if redundancy is None or redundancy.code is None:
        return None
    return {
        "code": redundancy.code.label,
        "strip": redundancy.strip,
        "coding": redundancy.coding_rate,
    }


def lanes_json(system: System) -> dict[str, Any] | None:
    """The lanes as the native module reads them; None where all classes share one queue."""
    lanes = system.lanes
    if lanes is None:
        return None
    order = {"priority": list(lanes.priority)} if lanes.order == "priority" else lanes.order
    shares = list(lanes.shares_with(bursts=system.has_bursts))
    return {"lanes": {"shares": shares, "order": order}, "devices": lanes.devices}


def streams_json(system: System, entries: Sequence[int]) -> dict[str, Any] | None:
    """The streams as the native module reads them; None without streams.

    Args:
        entries: The endpoints where clients enter.

    Returns:
        A JSON-able dictionary, sizes in bytes and times in seconds.
    """
    traffic = system.traffic
    if traffic is None or not traffic.is_striped:
        return None
    # Jobs are bursts beside streams that ask for nothing.
    streams = system.streams or Streams(rate=BytesPerSecond(0))
    groups = system.stripe_groups
    return {
        "over": {"groups": [list(group) for group in groups]} if groups else "placement",
        "entries": list(entries),
        "pairing": streams.entries,
        "window": streams.window,
        "rate": streams.rate,
        "read_share": traffic.read_share,
        "control": traffic.control_message,
        "bursts": streams.model_dump(mode="json")["bursts"],
        "jobs": [_job(job, entries) for job in traffic.jobs],
        "is_flow": traffic.engine == "flows",
        "warm_up": traffic.warm_up_seconds,
        "duration": traffic.duration,
    }


def _job(job: Job, entries: Sequence[int]) -> dict[str, Any]:
    signature = job.signature
    return {
        "entries": [entries[place] for place in job.places(len(entries))],
        "first": job.first_seconds,
        "period": signature.period,
        "length": signature.length,
        "volume": signature.volume,
        "read_share": signature.reads,
        "window": job.window,
    }
