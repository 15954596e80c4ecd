"""How many devices' data a run makes anew, before it is run."""

from __future__ import annotations

from resilver.spec import System
from resilver.spec.failing import part_names
from resilver.spec.faults import Broken
from resilver.spec.tree import Side, Tree, plural


def failed_count(system: System) -> float:
    """About how many devices of all have their data made anew; a failure domain has an even share.

    On RAID sets these are no more than the spares of the part that members are dealt over: where
    an enclosure goes, its spares go with it, and its sets go on without their members.
    """
    tree, placement = system.cluster.tree, system.placement
    told = sorted(
        ((fault.at, broken) for fault in system.faults if (broken := fault.broken) is not None),
        key=lambda one: one[0],
    )
    breaking = [broken for _, broken in told if broken.is_told]
    if tree is not None and placement is not None and placement.algorithm == "sets":
        side = tree.side(placement.level or "")
        if side is not None:
            return _onto_spares(tree, side, breaking)
    return sum(_lost_with(system, broken) for broken in breaking)


def _lost_with(system: System, broken: Broken) -> float:
    """How many devices that hold data are gone with what breaks."""
    targets, tree = broken.targets, system.cluster.tree
    count = targets if isinstance(targets, int) else len(targets)
    if tree is None:
        return 0.0
    level = tree.level_of(plural(broken.level)) or tree.device_level
    if isinstance(targets, int) or not tree.lost_with_one(level):
        return float(count * tree.lost_with_one(level))
    # Of those that are named it is known whether they hold anything.
    only = system.placement.only_class if system.placement is not None else None
    holds = system.cluster.is_of_class(only)
    names = part_names(system.cluster, broken.level)
    held = sum(holds[number] for name in targets for number in names[name])
    return held * tree.devices / max(system.holder_count, 1)


def _onto_spares(tree: Tree, side: Side, breaking: list[Broken]) -> float:
    """How many devices of RAID sets are made anew on spares, one failure behind another."""
    hand = tree.devices // (side.scopes * side.hands)
    members = {one for number in range(side.count) for one in tree.members(side.name, number)}
    free = {
        first: [one for one in range(first, first + hand) if one not in members]
        for first in range(0, tree.devices, hand)
    }
    gone: set[int] = set()
    made = 0
    for broken in breaking:
        lost = [one for one in _devices_of(tree, broken) if one not in gone]
        gone.update(lost)
        for device in lost:
            spares = free[device - device % hand]
            if device in spares:
                spares.remove(device)
        for device in lost:
            spares = free[device - device % hand]
            if device in members and spares:
                spares.pop(0)
                made += 1
    return made * tree.devices / max(len(members), 1)


def _devices_of(tree: Tree, broken: Broken) -> list[int]:
    """The devices that go with what breaks; of a number of parts, such as stand evenly apart."""
    level = tree.level_of(plural(broken.level)) or tree.device_level
    if not tree.lost_with_one(level):
        return []
    count, targets = tree.count(level) or 1, broken.targets
    if isinstance(targets, int):
        numbers = [one * count // targets for one in range(min(targets, count))]
    else:
        numbers = [int(name.rpartition(".")[2]) for name in targets]
    return sorted({one for number in numbers for one in tree.members(level, number)})
