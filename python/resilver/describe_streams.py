"""Codes, lanes, streams and soft errors of a system in the core's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from resilver.errors import ConfigError, Problem, show
from resilver.spec import System
from resilver.spec.streams import WINDOW_MAX

ChooseFailed = Callable[[int, int, int, int], Sequence[int]]
"""(seed, fault, among, count) -> the numbers of those that are drawn, rising."""


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


def corrupted_groups(system: System, seed: int, choose: ChooseFailed) -> dict[int, list[int]]:
    """Which groups each fault with soft errors has rebuild.

    Args:
        system: The system, whose faults name groups or say how many.
        seed: The seed of the run, which decides where a fault says how many.
        choose: The core's draw.

    Returns:
        The numbers of the groups, rising, by the fault's place in the study file. Draws are made in
        the order of their times, among what no fault names and no earlier draw took.

    Raises:
        ConfigError: Fewer groups are left to draw from than a fault says.
    """
    faults = [
        (index, fault.corrupt)
        for index, fault in sorted(enumerate(system.faults), key=lambda item: item[1].at)
        if fault.corrupt is not None
    ]
    chosen = {index: list(one.groups) for index, one in faults if isinstance(one.groups, tuple)}
    taken = {number for numbers in chosen.values() for number in numbers}
    for index, corrupt in faults:
        if not isinstance(corrupt.groups, int):
            continue
        left = [number for number in range(len(system.stripe_groups)) if number not in taken]
        if corrupt.groups > len(left):
            rule = f"{len(left)} groups are left when this happens"
            key = f"faults.{index}.corrupt.groups"
            value = show(corrupt.groups)
            raise ConfigError(Problem(rule, "let fewer rebuild, or name them", key, value))
        chosen[index] = [left[at] for at in choose(seed, index, len(left), corrupt.groups)]
        taken.update(chosen[index])
    return chosen


def corrupt_json(system: System, groups: Mapping[int, Sequence[int]]) -> list[dict[str, Any]]:
    """The soft errors as the native module reads them.

    Args:
        system: The system.
        groups: What `corrupted_groups` says.

    Returns:
        A JSON-able dictionary a fault, times in seconds.
    """
    streams = system.streams
    described = []
    for index, numbers in sorted(groups.items()):
        fault = system.faults[index]
        corrupt = fault.corrupt
        if corrupt is None or streams is None:
            continue
        described.append(
            {
                "at_seconds": float(fault.at),
                "groups": list(numbers),
                "strips_per_server": corrupt.strips,
                "window": corrupt.window
                or min(streams.window * system.cluster.port_count, WINDOW_MAX),
                "code": None if corrupt.code is None else corrupt.code.label,
            }
        )
    return described
