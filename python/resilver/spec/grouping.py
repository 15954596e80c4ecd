"""What must hold between groups or sets of devices, the cluster and the pieces of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.errors import Problem, name_remedy, show
from resilver.spec.tree import number_of

if TYPE_CHECKING:
    from resilver.spec.cluster import Cluster
    from resilver.spec.placement import Placement
    from resilver.spec.redundancy import Redundancy
    from resilver.spec.tree import Side, Tree


def group_problems(
    placement: Placement, servers: int, domains: int | None, pieces: int
) -> list[Problem]:
    """What is wrong with groups of servers in a cluster.

    Args:
        placement: The placement; others than in groups have no problem here.
        domains: How many failure domains they make, or None where there are none of that type.
        pieces: Pieces of an object: copies, or those of a code.
    """
    size = placement.group_size
    if placement.algorithm != "groups" or size is None:
        return []
    if servers % size:
        nearest = max(one for one in range(1, size) if servers % one == 0)
        rule = f"groups hold equally many, and {servers} servers do not divide by {size}"
        remedy = f"use a divisor of {servers}, such as {nearest}"
        return [Problem(rule, remedy, key="placement.group_size", value=show(size))]
    holders = size - (placement.spares or 0)
    if pieces > holders:
        rule = f"an object has {pieces} pieces, and {holders} members of a group hold data"
        remedy = f"use groups of at least {pieces + size - holders}, or fewer pieces"
        return [Problem(rule, remedy, key="placement.group_size", value=show(size))]
    width = servers // (domains or servers)
    spanned = min(
        (first + holders - 1) // width - first // width + 1 for first in range(0, servers, size)
    )
    if pieces > spanned:
        rule = (
            f"an object has {pieces} pieces in as many failure domains, "
            f"and the members of a group lie in {spanned}"
        )
        remedy = "use larger groups, or the level of the devices as the failure domain"
        return [Problem(rule, remedy, key="placement.failure_domain")]
    return []


def set_problems(
    cluster: Cluster, placement: Placement, redundancy: Redundancy | None
) -> list[Problem]:
    """What is wrong with sets that hold data.

    Args:
        placement: The placement; others than on sets have no problem here.
        redundancy: How many pieces an object has, where that is valid.
    """
    if placement.algorithm != "sets" or placement.level is None:
        return []
    tree = cluster.tree
    known = [side.name for side in tree.sides if side.size] if tree is not None else []
    side = tree.side(placement.level) if tree is not None else None
    if tree is None or side is None or not side.size:
        rule = "no level of this name is made of devices"
        remedy = name_remedy(placement.level, known, "levels that are")
        if not known:
            remedy = "declare one in cluster.parts, with of and size"
        return [Problem(rule, remedy, key="placement.level", value=show(placement.level))]
    if redundancy is not None and redundancy.pieces != side.size:
        code = redundancy.code
        rule = f"an object has {redundancy.pieces} pieces, and a {side.name} {side.size} members"
        value = show(redundancy.replicas if code is None else code.label)
        remedy = f"let an object have {side.size} pieces, or use sets of {redundancy.pieces}"
        return [Problem(rule, remedy, key=redundancy.key, value=value)]
    return _within_problems(tree, side, placement.within or ())


def _within_problems(tree: Tree, side: Side, within: tuple[str, ...]) -> list[Problem]:
    """What is wrong with the parts whose sets are used."""
    # A part that holds some hands of a scope would make spares of the others' members.
    levels = [one.name for one in tree.levels if side.scopes % one.count == 0]
    problems = []
    for name in within:
        level = name.rpartition(".")[0]
        rule = ""
        if level in tree.names and level not in levels:
            whole = f"those of {', '.join(levels)} hold" if levels else "no part holds"
            rule, remedy = f"{whole} whole sets, and this part does not", "name parts that do"
        elif number_of(name, level, tree.count(level) or 0) is None:
            rule = "there is no such part"
            remedy = "such as " + ", ".join(tree.name(one, 0) for one in levels)
        elif within.count(name) > 1:
            rule, remedy = "this part is named twice", "name each once"
        if rule:
            problems.append(Problem(rule, remedy, key="placement.within", value=show(name)))
    return problems


def sets_of(tree: Tree, placement: Placement) -> list[int]:
    """The numbers of the sets that a placement uses; none where it is not on sets."""
    side = tree.side(placement.level or "")
    if side is None or not side.size:
        return []
    if placement.within is None:
        return list(range(side.count))
    scopes: set[int] = set()
    for name in placement.within:
        level = name.rpartition(".")[0]
        count = tree.count(level) or 0
        part = number_of(name, level, count)
        if part is not None:
            scopes |= {one for one in range(side.scopes) if one * count // side.scopes == part}
    return [number for number in range(side.count) if number // side.each in scopes]
