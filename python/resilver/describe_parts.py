"""The parts of a cluster in the core's words: levels, what requests pass, and what goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resilver.describe_slow import SlowParts
from resilver.describe_streams import ChooseFailed
from resilver.errors import ConfigError, Problem, show
from resilver.spec import Cluster, System
from resilver.spec.tree import Tree


def levels(cluster: Cluster) -> list[dict[str, Any]]:
    """The levels of a cluster's parts, as declared.

    Args:
        cluster: A cluster of parts.

    Returns:
        A JSON-able dictionary a declaration. The network ports are those of one level.
    """
    tree = cluster.tree
    return [
        {
            "level": part.level,
            "in": part.within,
            "count": part.count or 0,
            "class": part.device_class,
            "ports": tree.ports if tree is not None and part.level == tree.port_level else 0,
            "service": None if part.service is None else part.service.described(),
            "carries": part.carries,
            "partner": bool(part.partner),
            "of": None
            if part.of is None
            else {
                "level": part.of,
                "size": part.size,
                "across": part.across,
                "spares": part.spares or 0,
            },
        }
        for part in cluster.parts
    ]


def passing(
    system: System, gone: Mapping[str, float], slow: Sequence[SlowParts]
) -> dict[str, Any] | None:
    """What requests pass between devices and ports, and what becomes of it.

    Args:
        system: The system.
        gone: The names of the parts that go without a device in them, and when.
        slow: What is slow for a while.

    Returns:
        A JSON-able dictionary; None where nothing on the way takes time.
    """
    cluster = system.cluster
    timed = {part.level for part in cluster.parts if part.service is not None}
    if not timed:
        return None
    return {
        "levels": levels(cluster),
        "gone": list(gone.items()),
        "slow": [
            {
                "part": name,
                "at_seconds": parts.at_seconds,
                "until_seconds": parts.until_seconds,
                "health": parts.health,
            }
            for parts in slow
            for name in parts.names
            if name.rpartition(".")[0] in timed
        ],
    }


def gone_parts(system: System, seed: int, choose: ChooseFailed) -> dict[str, float]:
    """When each part goes that carries others and has no device in it.

    Args:
        system: The system, whose faults name parts or say how many.
        seed: The seed of the run, which decides where a fault says how many.
        choose: The core's draw.

    Returns:
        The times in seconds by the parts' names. Draws are made in the order of their times, among
        the parts of the level that no fault names and no draw before took.

    Raises:
        ConfigError: Fewer are left to draw from than a fault says.
    """
    tree = system.cluster.tree
    found: list[tuple[float, int, str, int | tuple[str, ...]]] = []
    for index, fault in enumerate(system.faults):
        level = tree.carrier_of(fault.failing.kind) if tree and fault.starts_rebuild else None
        if level is not None:
            found.append((float(fault.at), index, level, fault.failing.targets))
    gone: dict[str, float] = {}
    for at, _, _, targets in sorted(found, key=lambda one: one[:2]):
        for name in () if isinstance(targets, int) else targets:
            gone.setdefault(name, at)
    for at, index, level, targets in sorted(found, key=lambda one: one[:2]):
        if tree is None or not isinstance(targets, int):
            continue
        names = [tree.name(level, number) for number in range(tree.count(level) or 0)]
        left = [name for name in names if name not in gone]
        if targets > len(left):
            rule = f"{len(left)} of them are left when this fault happens"
            key = f"faults.{index}.fail.{level}"
            raise ConfigError(Problem(rule, "let fewer fail", key=key, value=show(targets)))
        gone |= dict.fromkeys((left[one] for one in choose(seed, index, len(left), targets)), at)
    return gone


def cut_off(tree: Tree, gone: Mapping[str, float]) -> dict[int, float]:
    """When each device is out of reach because all that carried it are gone.

    Args:
        tree: The tree of the cluster.
        gone: When carriers go, by their names.

    Returns:
        The times in seconds by the devices' numbers.
    """
    lost: dict[int, float] = {}
    for name, at in gone.items():
        level, _, number = name.rpartition(".")
        side = tree.side(level)
        if side is None:
            continue
        last: float | None = at
        if side.has_partners:
            # Neighbours are partners: the first and the second, the third and the fourth.
            partner = gone.get(tree.name(level, int(number) ^ 1))
            last = None if partner is None else max(at, partner)
        if last is not None:
            for device in tree.members(level, int(number)):
                lost[device] = min(lost.get(device, last), last)
    return lost
