"""What the faults of a study may be of in its cluster, by name.

What links and switches a topology has only the core knows; it is asked before anything runs
(`resilver.study.validate_runs`), as it is for which parts are drawn.
"""

from __future__ import annotations

from resilver.errors import Problem, name_remedy, show
from resilver.importers.ceph import ClusterReport
from resilver.spec.cluster import Cluster
from resilver.spec.faults import NETWORK_LEVELS, UNTOLD_LEVELS, Broken, Failing, Fault
from resilver.spec.problems import unknown_key
from resilver.spec.tree import plural


def fault_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """What is wrong with what faults name, as far as the cluster's parts go."""
    problems: list[Problem] = []
    for index, fault in faults:
        broken = fault.broken
        if broken is None:
            continue
        key, targets = f"faults.{index}.{broken.key}", broken.targets
        if broken.level in NETWORK_LEVELS:
            if cluster.fabric.topology is None:
                rule = f"LogGP has no {plural(broken.level)} that could fail"
                remedy = 'use cluster.fabric.model = "switched" with a topology'
                problems.append(Problem(rule, remedy, key=key, value=show(targets)))
            continue
        names = part_names(cluster, broken.level)
        if not names:
            problems.append(_no_level(cluster, broken, key))
        elif carried := _carrier_problem(cluster, fault, broken):
            rule, remedy = carried
            problems.append(Problem(rule, remedy, key=key, value=show(targets)))
        elif isinstance(targets, int):
            # An OSD may go by two names.
            count = len(set(names.values()))
            if targets > count:
                rule, remedy = f"the cluster has {count}", "let fewer fail"
                problems.append(Problem(rule, remedy, key=key, value=show(targets)))
        else:
            unknown = [name for name in targets if name not in names]
            problems += [_unknown(cluster, broken.level, key, name, names) for name in unknown]
    return problems


def kind_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """Faults of what neither a study file nor the cluster has a word for."""
    problems = []
    tree = cluster.tree if cluster.parts else None
    levels = [plural(name) for name in tree.names] if tree is not None else []
    for index, fault in faults:
        broken = fault.broken
        kind = plural(broken.level) if broken is not None else ""
        if broken is None or kind in Failing.model_fields or kind in levels:
            continue
        others = [plural(level) for level in UNTOLD_LEVELS]
        known = [*levels, *others] if levels else list(Failing.model_fields)
        what, _, written = broken.key.partition(".")
        found = unknown_key(written, known, show(broken.targets))
        problems.append(found.under(f"faults.{index}.{what}"))
    return problems


def part_names(cluster: Cluster, level: str) -> dict[str, tuple[int, ...]]:
    """The names of a level of parts, each with the numbers of the devices in it.

    Args:
        level: Such as ``osd``, ``host`` or ``rack``, or ``disk`` for that of the devices.

    Returns:
        The names; none where the cluster has no such level.
    """
    if cluster.ceph is not None:
        return ceph_members(cluster.ceph.report, "osd" if level == "disk" else level)
    tree = cluster.tree
    if tree is None:
        return {}
    name = tree.device_level if level == "disk" else tree.level_of(plural(level))
    if name is None:
        return {}
    return {
        tree.name(name, number): tuple(tree.members(name, number))
        for number in range(tree.count(name) or 0)
    }


def ceph_members(report: ClusterReport, level: str) -> dict[str, tuple[int, ...]]:
    """The names of a level of a real cluster, each with the numbers of its OSDs.

    Args:
        level: ``osd``, ``host``, ``rack`` or ``row``.

    Returns:
        The names. An OSD goes by ``osd.N`` and by its name in the CRUSH map.
    """
    if level == "osd":
        return {name: (osd,) for name, osd in report.osd_ids.items()}
    known = {osd.id for osd in report.osds}
    buckets = report.buckets
    return {
        bucket.name: tuple(osd for osd in buckets.below(bucket.name) if osd in known)
        for bucket in buckets.of_kind(level)
    }


def each_part(cluster: Cluster, level: str) -> dict[str, tuple[int, ...]]:
    """The parts of a level that can fail one by one: each once, by its first name.

    Args:
        level: Such as ``osd``, ``host`` or ``rack``.

    Returns:
        The names with the numbers of the devices in them. Of a real cluster those that hold
        something: OSDs that are in, and buckets with OSDs. None where there is no such level.
    """
    report = cluster.ceph.report if cluster.ceph is not None else None
    if report is not None and level == "osd":
        return {osd.name: (osd.id,) for osd in report.osds if osd.in_cluster}
    found = part_names(cluster, level)
    # A bucket of a real map may be empty.
    return found if report is None else {name: inside for name, inside in found.items() if inside}


def levels_of(cluster: Cluster) -> tuple[str, ...]:
    """The levels that parts of a cluster may have, the widest last."""
    if cluster.ceph is not None:
        return ("osd", "host", "rack", "row")
    return tuple(reversed(cluster.tree.names)) if cluster.tree is not None else ()


def _carrier_problem(cluster: Cluster, fault: Fault, broken: Broken) -> tuple[str, str] | None:
    """What is wrong with a fault of what carries others, and what to do; None where nothing is."""
    tree = cluster.tree
    level = tree.carrier_of(plural(broken.level)) if tree is not None else None
    if level is None:
        return None
    if fault.health:
        if level in {part.level for part in cluster.parts if part.service is not None}:
            return None
        rule = f"{level} parts take no time, so none is slow; what they carry may be"
        return rule, "give the level a service, or make the devices slow"
    if fault.detection:
        return f"the system knows at once when {level} parts go", "leave out detection"
    if not broken.is_told:
        return f"the system knows when {level} parts go", "leave out told"
    return None


def _no_level(cluster: Cluster, broken: Broken, key: str) -> Problem:
    """The problem of a level that a cluster does not have."""
    kind, value = plural(broken.level), show(broken.targets)
    if cluster.ceph is not None:
        if broken.level in ("host", "rack", "row"):
            remedy = "use osds" if broken.level == "host" else "use osds or hosts"
            return Problem(f"the report's map has no {kind}", remedy, key=key, value=value)
        if broken.level in ("osd", "disk"):
            rule, remedy = "the report has no OSDs", "give the report of a cluster that has some"
            return Problem(rule, remedy, key=key, value=value)
        rule, remedy = "a real cluster's servers are its OSDs", "use osds, hosts, racks or rows"
        return Problem(rule, remedy, key=key, value=value)
    if cluster.parts and cluster.tree is not None:
        kinds = [plural(name) for name in cluster.tree.names]
        remedy = name_remedy(kind, kinds, "kinds")
        return Problem(f"the cluster has no {kind}", remedy, key=key, value=value)
    if kind in ("racks", "rows"):
        return Problem(f"the cluster has no {kind}", f"add cluster.{kind}", key=key)
    remedy = "use servers, racks or rows, or disks, links or switches"
    return Problem(f"a synthetic cluster has no {kind}", remedy, key=key, value=value)


def _unknown(
    cluster: Cluster, level: str, key: str, name: str, names: dict[str, tuple[int, ...]]
) -> Problem:
    """The problem of a name that no part of a level has."""
    if cluster.ceph is not None:
        what = "OSD" if level in ("osd", "disk") else level
        remedy = name_remedy(name, list(names))
        return Problem(f"the report has no such {what}", remedy, key=key, value=show(name))
    first, last = next(iter(names)), next(reversed(names))
    remedy = f"the names are {first}" + ("" if first == last else f" to {last}")
    rule = f"there is no such {first.rpartition('.')[0]}"
    return Problem(rule, remedy, key=key, value=show(name))
