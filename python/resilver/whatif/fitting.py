"""Whether what a plan leaves can hold the pools: failure domains for their sets, and bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from resilver.errors import ResilverError
from resilver.importers.buckets import BucketTree
from resilver.units import format_bytes


class PlanDoesNotFit(ResilverError):
    """A plan that leaves a pool too few failure domains, or too few bytes."""


@dataclass(frozen=True)
class Need:
    """What a pool needs.

    Attributes:
        name: Its name.
        rule: The number of its CRUSH rule.
        size: Copies or pieces of each object.
        bytes: What all of them take.
    """

    name: str
    rule: int
    size: int
    bytes: int


@dataclass(frozen=True)
class Room:
    """What a rule can reach.

    Attributes:
        places: The most OSDs that a set may have.
        domain: The type of bucket of which a set takes one each; ``osd`` where there is none.
        osds: The OSDs it draws from.
    """

    places: int
    domain: str
    osds: frozenset[int]


def room_of(tree: BucketTree, rule: int, size: int, usable: Callable[[int], bool]) -> Room | None:
    """What a rule can reach among the OSDs that take data.

    Args:
        tree: The hierarchy.
        rule: The rule's number.
        size: How many OSDs a set is to have.
        usable: Whether an OSD takes data.

    Returns:
        None where a step of the rule is of a kind that is not judged.
    """
    places = 0
    osds: frozenset[int] = frozenset()
    domain = "osd"
    root, device_class = "", ""
    steps: list[tuple[int, str, bool]] = []
    for step in tree.rules[rule].steps:
        word = str(step["op"])
        if word == "take":
            root, _, device_class = str(step["item_name"]).partition("~")
            steps = []
        elif word.startswith(("choose_", "chooseleaf_")):
            count = int(step["num"])
            steps.append(
                (count if count > 0 else max(size + count, 0), str(step["type"]), "leaf" in word)
            )
            if steps[-1][1] != tree.types[0]:
                domain = steps[-1][1]
        elif word == "emit":
            if root not in tree.buckets:
                return None
            wanted = device_class

            def takes(osd: int, wanted: str = wanted) -> bool:
                device = tree.devices[osd]
                return device.weight > 0 and wanted in ("", device.device_class) and usable(osd)

            below = frozenset(osd for osd in tree.below(root) if takes(osd))
            osds |= below
            places += _reach(tree, root, steps, takes)
        elif not word.startswith(("set_", "opcode ")):
            return None
    return Room(min(places, size), domain, osds)


_Steps = Sequence[tuple[int, str, bool]]


def _reach(tree: BucketTree, root: str, steps: _Steps, takes: Callable[[int], bool]) -> int:
    """The most OSDs that steps find below a bucket."""
    if not steps:
        return 0
    (count, kind, is_leaf), rest = steps[0], steps[1:]
    if kind == tree.types[0]:
        return min(count, sum(map(takes, tree.below(root))))
    found = []
    for name in _buckets_below(tree, root, kind):
        if is_leaf:
            found.append(int(any(map(takes, tree.below(name)))))
        else:
            found.append(_reach(tree, name, rest, takes))
    return sum(sorted(found, reverse=True)[:count])


def _buckets_below(tree: BucketTree, root: str, kind: str) -> list[str]:
    found, waiting = [], [root]
    while waiting:
        for item in tree.buckets[waiting.pop()].items:
            if isinstance(item, str):
                if tree.buckets[item].kind == kind:
                    found.append(item)
                else:
                    waiting.append(item)
    return found


def misfit(
    before: Mapping[str, tuple[Room | None, Need]],
    after: Mapping[str, tuple[Room | None, Need]],
    capacities: Mapping[int, int],
    full: float,
    step: str,
) -> str:
    """How a step leaves a pool no room which it had: fewer failure domains than its sets need, or
    fewer bytes than pools have; empty where it does not.

    Args:
        before: What each pool's rule reached before the step, and what the pool needed.
        after: The same after it.
        capacities: The bytes of each OSD.
        full: The share of its bytes at which an OSD takes no more.
        step: What the step is, for the message.
    """
    problems = []
    by_osds: dict[frozenset[int], list[Need]] = {}
    for name, (new, need) in after.items():
        if new is None or before.get(name) == (new, need):
            continue
        if new.places < need.size:
            domains = "OSDs" if new.domain == "osd" else f"{new.domain}s"
            problems.append(
                f"pool '{name}' needs {need.size} {domains} that take data, and "
                f"{new.places or 'none'} would be left: {need.size - new.places} too few"
            )
        else:
            by_osds.setdefault(new.osds, [])
    for osds in by_osds:
        pools = [need for room, need in after.values() if room is not None and room.osds <= osds]
        wanted = sum(need.bytes for need in pools)
        held = int(sum(capacities.get(osd, 0) for osd in osds) * full)
        if wanted > held:
            names = ", ".join(f"'{need.name}'" for need in pools)
            problems.append(
                f"the data of {names} takes {format_bytes(wanted)}, and the {len(osds)} OSDs left "
                f"hold {format_bytes(held)} below {full:.0%} full: {format_bytes(wanted - held)} "
                "too much"
            )
    return f"{step}: this does not fit: " + "; ".join(problems) if problems else ""
