"""What is wrong with faults that make parts slow."""

from __future__ import annotations

from resilver.errors import Problem, name_remedy, show
from resilver.spec.cluster import Cluster
from resilver.spec.failing import ceph_members, number_of, unknown_member
from resilver.spec.faults import Fault


def slow_fault_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """What is wrong with the faults that make parts slow.

    Args:
        cluster: The cluster.
        faults: The faults, with their places in the study file.

    Returns:
        The problems, with full keys.
    """
    problems: list[Problem] = []
    for index, fault in faults:
        if fault.part is None:
            continue
        kind, targets = fault.part.kind, fault.part.targets
        key = f"faults.{index}.part.{kind}"
        names = part_names(cluster, kind)
        if not names:
            rule = f"the cluster has no {kind}"
            problems.append(Problem(rule, "name a level that it has", key=key, value=show(targets)))
        elif (level := _timeless_carrier(cluster, kind)) is not None:
            rule = f"{level} parts take no time, so none is slow; what they carry may be"
            remedy = "give the level a service, or make the devices slow"
            problems.append(Problem(rule, remedy, key=key, value=show(targets)))
        elif isinstance(targets, int):
            count = len(set(names.values())) if cluster.ceph is not None else len(names)
            if targets > count:
                rule = f"the cluster has {count}"
                problems.append(Problem(rule, "let fewer be slow", key=key, value=show(targets)))
        else:
            problems += [
                _unknown(cluster, kind, key, name, names) for name in targets if name not in names
            ]
    return problems


def part_names(cluster: Cluster, kind: str) -> dict[str, tuple[int, ...]]:
    """The names of a kind of parts, each with the numbers of the devices in it.

    Args:
        cluster: The cluster.
        kind: Such as ``osds``, ``hosts`` or ``racks``.

    Returns:
        The names; none where the cluster has no such kind.
    """
    if cluster.ceph is not None:
        return ceph_members(cluster.ceph.report, kind)
    tree = cluster.tree
    level = tree.level_of(kind) if tree is not None else None
    if tree is None or level is None:
        return {}
    return {
        tree.name(level, number): tuple(tree.members(level, number))
        for number in range(tree.count(level) or 0)
    }


def _timeless_carrier(cluster: Cluster, kind: str) -> str | None:
    """The level that faults call so, if its parts carry others and take no time."""
    level = cluster.tree.carrier_of(kind) if cluster.tree is not None else None
    timed = {part.level for part in cluster.parts if part.service is not None}
    return None if level in timed else level


def _unknown(
    cluster: Cluster, kind: str, key: str, name: str, names: dict[str, tuple[int, ...]]
) -> Problem:
    level = cluster.tree.level_of(kind) if cluster.tree is not None else None
    if level is not None and number_of(name, level, len(names)) is None:
        return unknown_member(key, name, level, len(names))
    rule = f"the report has no such part among its {kind}"
    return Problem(rule, name_remedy(name, list(names)), key=key, value=show(name))
