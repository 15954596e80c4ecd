"""The faults of a system in the core's words, and the names that it draws from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from resilver.spec import System
from resilver.spec.failing import part_names
from resilver.spec.faults import NETWORK_LEVELS
from resilver.spec.streams import WINDOW_MAX
from resilver.spec.tree import Side, Tree, plural


def faults_json(system: System, more_levels: Collection[str] = ()) -> dict[str, Any]:
    """The faults as the native module reads them: as the study has them, with what they may be of.

    Args:
        more_levels: Levels whose parts are named as well, for faults that are added later.

    Returns:
        A JSON-able dictionary, times in seconds.
    """
    streams, described = system.streams, []
    levels: list[str] = []
    for index, fault in enumerate(system.faults):
        content, broken = fault.content(), fault.broken
        if broken is not None and broken.level not in (*NETWORK_LEVELS, *levels):
            levels.append(broken.level)
        if fault.corrupt is not None and streams is not None:
            window = min(streams.window * system.cluster.port_count, WINDOW_MAX)
            content["corrupt"]["window"] = fault.corrupt.window or window
        key = "corrupt" if broken is None else broken.key
        described.append({**content, "key": f"faults.{index}.{key}"})
    levels += [level for level in more_levels if level not in (*NETWORK_LEVELS, *levels)]
    topology = system.cluster.fabric.topology
    graph = topology.graph if topology is not None else None
    is_named = bool(described or more_levels)
    return {
        "faults": described,
        "levels": [_level(system, level) for level in levels],
        "node_names": list(graph.names) if graph is not None and is_named else [],
        "devices": _devices(system),
    }


def failed_json(system: System, failed: Collection[int]) -> dict[str, Any]:
    """Devices that fail at time zero, by number, as the native module reads them.

    Args:
        failed: Their numbers.
    """
    fault = {"key": "failed", "at": 0.0, "part": {"device": list(failed)}, "told": True}
    faults = [fault] if failed else []
    return {"faults": faults, "levels": [], "node_names": [], "devices": _devices(system)}


def _devices(system: System) -> tuple[int, str]:
    """How many devices there are, and what several are called."""
    tree = system.cluster.tree
    if tree is not None:
        return tree.devices, plural(tree.device_level)
    return len(system.report.osds) if system.report is not None else 0, "OSDs"


def _level(system: System, level: str) -> dict[str, Any]:
    """The parts of a level, and whether they are machines or contain some."""
    tree = system.cluster.tree
    if tree is None:
        listed = _running(system, level)
        return _named(level, level not in ("osd", "disk"), {"listed": listed})
    if (side := tree.side(tree.level_of(plural(level)) or "")) is not None:
        return _named(level, False, _beside(tree, side))
    names = [one.name for one in tree.levels]
    name = tree.device_level if level == "disk" else tree.level_of(plural(level)) or ""
    has_ports = level != "disk" and names.index(name) <= names.index(tree.port_level)
    return _named(level, has_ports, {"even": (tree.count(name), name)})


def _running(system: System, level: str) -> list[tuple[str, tuple[int, ...]]]:
    """The parts of a real cluster that may fail: what runs, and what the study names."""
    report = system.report
    up = {osd.id for osd in report.osds if osd.up} if report is not None else set()
    targets = [fault.broken.targets for fault in system.faults if fault.broken is not None]
    named = {name for one in targets if not isinstance(one, int) for name in one}
    parts = part_names(system.cluster, level).items()
    return [(name, osds) for name, osds in parts if name in named or up.intersection(osds)]


def _named(level: str, has_ports: bool, parts: dict[str, Any]) -> dict[str, Any]:
    return {"level": level, "has_ports": has_ports, "parts": parts}


def _beside(tree: Tree, side: Side) -> dict[str, Any]:
    """The parts of a level beside the tree, each with the devices that it is made of.

    What carries others has no device in it; its parts are numbered among all that do.
    """
    names = [tree.name(side.name, one) for one in range(side.count)]
    if side.carries is None:
        members = [list(tree.members(side.name, one)) for one in range(side.count)]
        return {"listed": list(zip(names, members, strict=True))}
    carriers = [one for one in tree.sides if one.carries is not None]
    first = sum(one.count for one in carriers[: carriers.index(side)])
    return {"carriers": (first, names)}
