"""The parts of a study's cluster as a page shows them, and what may happen to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resilver.explore.document import Change, Part
from resilver.simulate.network import node_names, topology_of
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
    _Kind("fail", "Fail", "It fails, and the system detects it.", "fails", {}),
    _Kind("cut", "Cut off", "It fails undetected.", "is cut off", {"told": False}),
    _Kind("slow", "Slow", "It works at a share of its speed.", "is slow", {"health": SHARES[0]}),
)


def parts_of(system: System) -> tuple[Part, ...]:
    """The parts of a system's cluster, each behind what contains it.

    Returns:
        The parts. What carries others and contains no devices, such as a controller, stands in
        what it is declared in.
    """
    tree = system.cluster.tree
    return () if tree is None else tuple(_of_tree(system, tree))


def _of_tree(system: System, tree: Tree) -> Iterator[Part]:
    kinds = system.cluster.device_kinds
    within = {part.level: part.within for part in system.cluster.parts}
    carriers = [side for side in tree.sides if side.carries is not None]
    count = 0

    def part(level: str, at: int, parent: int, **known: Any) -> Part:
        nonlocal count
        count += 1
        return Part(tree.name(level, at), level, parent, **known)

    def beside(level: str | None, number: int, parent: int) -> Iterator[Part]:
        for side in carriers:
            if within[side.name] == level:
                for one in range(number * side.each, (number + 1) * side.each):
                    yield part(side.name, one, parent)

    def below(depth: int, numbers: range, parent: int) -> Iterator[Part]:
        level = tree.levels[depth]
        for number in numbers:
            own = count
            if depth == len(tree.levels) - 1:
                of_class = kinds[tree.kind(number)].device_class or ""
                yield part(level.name, number, parent, number=number, device_class=of_class)
                continue
            yield part(level.name, number, parent)
            yield from beside(level.name, number, own)
            each = tree.levels[depth + 1].count // level.count
            yield from below(depth + 1, range(number * each, (number + 1) * each), own)

    yield from beside(None, 0, -1)
    yield from below(0, range(tree.levels[0].count), -1)


_NAMED = 4
"""The most parts that are named one by one."""
SWITCHES_MAX = 512
"""The most switches that a page shows."""


def switch_names(system: System, seed: int) -> list[str]:
    """The switches of a system's network by name, in their order; none where it has no topology.

    Args:
        seed: The seed of the run.

    Raises:
        ConfigError: The topology cannot be built.
    """
    topology = topology_of(system, seed)
    if topology is None:
        return []
    names = node_names(system, topology)
    return [names[node] for node in topology.switches]


def with_switches(
    parts: Sequence[Part], switches: Sequence[str], joined: Mapping[str, str]
) -> tuple[Part, ...]:
    """Parts, and behind them a network that holds switches, which hold nothing.

    Args:
        switches: The switches by name.
        joined: What each of them joins.
    """
    if not switches:
        return tuple(parts)
    own = len(parts)
    network = Part("network", "network", -1)
    made = (Part(name, "switch", own, about=joined[name]) for name in switches)
    return (*parts, network, *made)


def joined_by(
    system: System, seed: int, endpoints: Sequence[int], parts: Sequence[Part]
) -> dict[str, str]:
    """What each switch of a system's network joins, in words.

    Args:
        seed: The seed of the run.
        endpoints: The host of the network that each device is behind, by its number.
        parts: The parts, with the devices among them.
    """
    topology = topology_of(system, seed)
    if topology is None:
        return {}
    names, devices = node_names(system, topology), {one.number: one.name for one in parts}
    behind: dict[int, list[int]] = {node: [] for node in topology.switches}
    of_host: dict[int, list[int]] = {}
    for device, endpoint in enumerate(endpoints):
        of_host.setdefault(topology.hosts[endpoint], []).append(device)
    for node in behind:
        behind[node] += of_host.get(node, [])
    for first, second in zip(*topology.ends(), strict=True):
        for node, other in ((int(first), int(second)), (int(second), int(first))):
            # A node that passes packets on and holds a device is no host of another.
            if node in behind and other not in behind:
                behind[node] += of_host.get(other, [])
    found = {}
    for node, numbers in behind.items():
        rising = sorted(set(numbers))
        held = [devices[number] for number in rising]
        ends = ", ".join(held[:_NAMED]) + (" and others" if len(held) > _NAMED else "")
        if len(held) > 2 and rising[-1] - rising[0] + 1 == len(held):
            ends = f"{held[0]} to {held[-1]}"
        found[names[node]] = f"joins {len(held)}: {ends}" if held else "joins switches alone"
    return found


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
    system: System, is_allowed: Callable[[dict[str, Any]], bool], switches: Sequence[str] = ()
) -> tuple[Change, ...]:
    """What a reader of the page may let happen to parts.

    Args:
        is_allowed: Whether the study may have one more fault, given as its table.
        switches: The switches that the page shows.

    Returns:
        The changes. What the study refuses of a level is left out, as that its parts are gone
        beside clients as flows.
    """
    found = []
    levels = levels_that_fail(system)
    for kind in _KINDS:
        kinds = tuple(one for one in levels if is_allowed({"part": {one: 1}, **kind.values}))
        # Nobody is ever told of a switch: no data of its own could be rebuilt.
        if switches and kind.values:
            of_switches = {"part": {"switch": [switches[0]]}, **kind.values}
            kinds += ("switch",) if is_allowed(of_switches) else ()
        is_slow = "health" in kind.values
        fault = {
            "key": "$name",
            "at": "$at",
            "part": {"$kind": ["$name"]},
            "health": "$share" if is_slow else 0.0,
            "told": not kind.values,
            "until": None,
        }
        shares = SHARES if is_slow else ()
        if kinds:
            about = (kind.key, kind.label, kind.sentence, kinds)
            found.append(Change(*about, fault, kind.word, shares=shares))
    return tuple(found)


def lines_of(change: Change) -> list[list[str]]:
    """The keys of a change in a study file, with their values; words stand in them as templates."""
    lines = [["at", '"$at s"'], ["part.$kind", "[$name]"]]
    if change.shares:
        return [*lines, ["health", "$share"]]
    return lines if change.template["told"] else [*lines, ["told", "false"]]


def ending_of(changes: Sequence[Change]) -> dict[str, Any]:
    """One more change, that ends the last one of a part: in the core's input, and in a file."""
    return {
        "key": "repair",
        "label": "Bring back",
        "sentence": "What happened to it last ends, and all is as before.",
        "kinds": list(dict.fromkeys(kind for change in changes for kind in change.kinds)),
        "word": "is back",
        "template": None,
        "also": [],
        "shares": [],
        "input": ["until", "$at"],
        "line": ["until", '"$at s"'],
    }
