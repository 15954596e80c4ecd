"""The parts of a study's cluster as a page shows them, and what may happen to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from resilver.importers.ceph import ClusterReport
from resilver.spec import System
from resilver.spec.failing import levels_of, part_names
from resilver.spec.tree import Tree

SHARES = (0.1, 0.2, 0.3, 0.5, 0.75)
"""Of its speed, at what a slow part works."""


@dataclass(frozen=True)
class _Kind:
    """What may happen to a part, and what a fault says then beside its part."""

    key: str
    label: str
    sentence: str
    word: str
    values: dict[str, Any]


_KINDS = (
    _Kind("fail", "Fail", "It is gone, and the system is told.", "fails", {}),
    _Kind("cut", "Cut off", "It is gone, and nobody is told.", "is cut off", {"told": False}),
    _Kind("slow", "Slow", "It works at a share of its speed.", "is slow", {"health": SHARES[0]}),
)


def parts_of(system: System) -> list[dict[str, Any]]:
    """The parts of a system's cluster, each behind what contains it.

    Args:
        system: The system.

    Returns:
        A dictionary a part, as the document of a page has it. What carries others and contains no
        devices, such as a controller, stands in what it is declared in.
    """
    if system.report is not None:
        return _of_report(system.report)
    tree = system.cluster.tree
    return [] if tree is None else list(_of_tree(system, tree))


def _part(name: str, kind: str, parent: int, **known: Any) -> dict[str, Any]:
    unknown = {"number": None, "device_class": "", "capacity": None, "used": None, "up": True}
    return {"name": name, "kind": kind, "parent": parent, **unknown, **known}


def _of_tree(system: System, tree: Tree) -> Iterator[dict[str, Any]]:
    kinds = system.cluster.device_kinds
    carriers = [side for side in tree.sides if side.carries is not None]
    count = 0

    def below(depth: int, numbers: range, parent: int) -> Iterator[dict[str, Any]]:
        nonlocal count
        level = tree.levels[depth]
        is_device = depth == len(tree.levels) - 1
        for number in numbers:
            own = count
            count += 1
            known: dict[str, Any] = {}
            if is_device:
                of_kind = kinds[tree.kind(number)].device_class
                known = {"number": number, "device_class": of_kind or ""}
            yield _part(tree.name(level.name, number), level.name, parent, **known)
            for side in carriers if not is_device else ():
                if side.scopes == level.count:
                    for one in range(number * side.each, (number + 1) * side.each):
                        count += 1
                        yield _part(tree.name(side.name, one), side.name, own)
            if not is_device:
                each = tree.levels[depth + 1].count // level.count
                inside = range(number * each, (number + 1) * each)
                yield from below(depth + 1, inside, own)

    yield from below(0, range(tree.levels[0].count), -1)


def _of_report(report: ClusterReport) -> list[dict[str, Any]]:
    """The buckets of a real cluster with its OSDs; an OSD in no bucket stands at the top."""
    buckets = report.buckets
    by_id = {bucket.id: bucket for bucket in buckets.buckets}
    held = {item for bucket in buckets.buckets for item in bucket.items}
    classes, sizes = dict(buckets.device_classes), report.capacities
    used = {one.osd: one.used_bytes for one in report.usage}
    osds = {osd.id: osd for osd in report.osds}
    parts: list[dict[str, Any]] = []
    seen: set[int] = set()

    roots = [bucket.id for bucket in buckets.buckets if bucket.id not in held]
    waiting = [(item, -1) for item in (*reversed(osds), *reversed(roots))]
    while waiting:
        item, parent = waiting.pop()
        if item in seen or (item >= 0 and item not in osds) or (item < 0 and item not in by_id):
            continue
        seen.add(item)
        if item >= 0:
            osd = osds[item]
            known = {"number": item, "device_class": classes.get(item, ""), "up": osd.up}
            sized = {"capacity": sizes.get(item), "used": used.get(item)}
            parts.append(_part(osd.name, "osd", parent, **known, **sized))
            continue
        own = len(parts)
        parts.append(_part(by_id[item].name, by_id[item].kind, parent))
        waiting += [(one, own) for one in reversed(by_id[item].items)]
    return parts


def unit_of(system: System) -> str:
    """The level of the devices."""
    tree = system.cluster.tree
    return tree.device_level if tree is not None else "osd"


def levels_that_fail(system: System) -> list[str]:
    """The levels whose parts a page may fail: those of the tree, and what carries others."""
    tree = system.cluster.tree
    made = set() if tree is None else {one.name for one in tree.sides if one.carries is None}
    return [
        level
        for level in levels_of(system.cluster)
        if level not in made and part_names(system.cluster, level)
    ]


def changes_of(
    system: System, is_allowed: Callable[[dict[str, Any]], bool]
) -> list[dict[str, Any]]:
    """What a reader of the page may let happen to parts.

    Args:
        system: The system.
        is_allowed: Whether the study may have one more fault, given as its table.

    Returns:
        A dictionary a change, as the document of a page has it. What the study refuses of a level
        is left out, as that its parts are gone beside clients as flows.
    """
    found = []
    levels = levels_that_fail(system)
    for kind in _KINDS:
        kinds = [level for level in levels if is_allowed({"part": {level: 1}, **kind.values})]
        if kinds:
            is_slow = "health" in kind.values
            fault = {
                "key": "$name",
                "at": "$at",
                "part": {"$kind": ["$name"]},
                "health": "$share" if is_slow else 0.0,
                "told": not kind.values,
                "until": None,
            }
            found.append(
                {
                    "key": kind.key,
                    "label": kind.label,
                    "sentence": kind.sentence,
                    "kinds": kinds,
                    "template": fault,
                    "word": kind.word,
                    "also": [],
                    "shares": list(SHARES) if is_slow else [],
                }
            )
    return found


def lines_of(change: dict[str, Any]) -> list[list[str]]:
    """The keys of a change in a study file, with their values; words stand in them as templates."""
    fault = change["template"]
    lines = [["at", '"$at s"'], ["part.$kind", "[$name]"]]
    if change["shares"]:
        return [*lines, ["health", "$share"]]
    return lines if fault["told"] else [*lines, ["told", "false"]]


def ending_of(changes: list[dict[str, Any]]) -> dict[str, Any]:
    """What lets the last change of a part end: in the core's input, and in a study file."""
    return {
        "key": "repair",
        "label": "Bring back",
        "sentence": "What happened to it last ends, and all is as before.",
        "kinds": list(dict.fromkeys(kind for change in changes for kind in change["kinds"])),
        "word": "is back",
        "input": ["until", "$at"],
        "line": ["until", '"$at s"'],
    }
