"""What the faults of a study may take away from its cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection

from resilver.errors import Problem, name_remedy, show
from resilver.importers.ceph import ClusterReport
from resilver.spec.cluster import Cluster
from resilver.spec.faults import SILENT_KINDS, Failing, Fault
from resilver.spec.section import unknown_key
from resilver.spec.tree import plural, singular

_CEPH_KINDS = ("osds", "hosts", "racks", "rows")


def fault_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """What is wrong with those faults of a synthetic cluster that start a rebuild.

    Args:
        cluster: The cluster.
        faults: The faults, with their places in the study file.

    Returns:
        The problems, with full keys.
    """
    faults = [(index, fault) for index, fault in faults if fault.starts_rebuild]
    tree = cluster.tree
    if tree is None:
        return []
    servers = tree.devices
    problems: list[Problem] = []
    named: set[int] = set()
    drawn = 0
    for index, fault in faults:
        kind, targets = fault.failing.kind, fault.failing.targets
        key = f"faults.{index}.fail.{kind}"
        level = tree.level_of(kind)
        if level is None:
            problems.append(_no_level(cluster, kind, key, targets))
            continue
        count, members = tree.count(level) or 1, tree.lost_with_one(level)
        if isinstance(targets, int):
            if targets > count:
                problems.append(Problem(f"the cluster has {count}", key=key, value=show(targets)))
            drawn += targets * members
            continue
        for name in targets:
            number = number_of(name, level, count)
            if number is None:
                problems.append(unknown_member(key, name, level, count))
            elif members:
                named.update(tree.members(level, number))
    if problems:
        return problems
    # What carries others has no device in it, and is drawn apart.
    inside = [(index, fault) for index, fault in faults if not tree.carrier_of(fault.failing.kind)]

    def members_of(kind: str, name: str) -> Collection[int]:
        return tree.members(tree.level_of(kind) or "", int(name.rpartition(".")[2]))

    def whole(kind: str) -> int:
        level = tree.level_of(kind) or ""
        size, count = tree.size(level), tree.count(level) or 0
        if tree.side(level) is None:
            return count - len({number // size for number in named})
        return sum(named.isdisjoint(tree.members(level, number)) for number in range(count))

    def touched(other: str, kind: str) -> int:
        above, below = tree.level_of(other) or "", tree.level_of(kind) or ""
        if tree.side(above) is None and tree.side(below) is None:
            return max(1, tree.size(above) // tree.size(below))
        return min(tree.size(above), tree.count(below) or 1)

    return (
        _twice(inside, members_of)
        or _all_failed(drawn + len(named), servers, plural(tree.device_level))
        or _too_few_left(inside, whole, touched)
    )


def _no_level(cluster: Cluster, kind: str, key: str, targets: int | tuple[str, ...]) -> Problem:
    """The problem of a kind that is no level of a synthetic cluster."""
    if cluster.parts and cluster.tree is not None:
        kinds = [plural(name) for name in cluster.tree.names]
        remedy = name_remedy(kind, kinds, "kinds")
        return Problem(f"the cluster has no {kind}", remedy, key=key, value=show(targets))
    if kind in ("racks", "rows"):
        return Problem(f"the cluster has no {kind}", f"add cluster.{kind}", key=key)
    remedy = "use servers, racks or rows, or disks, links or switches"
    return Problem(f"a synthetic cluster has no {kind}", remedy, key=key, value=show(targets))


def kind_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """Faults of what neither a study file nor the cluster has a word for.

    Args:
        cluster: The cluster.
        faults: The faults, with their places in the study file.

    Returns:
        The problems, with full keys.
    """
    problems = []
    tree = cluster.tree if cluster.parts else None
    levels = [plural(name) for name in tree.names] if tree is not None else []
    for index, fault in faults:
        what, given = ("part", fault.part) if fault.part is not None else ("fail", fault.fail)
        if given is None or given.kind in Failing.model_fields or given.kind in levels:
            continue
        known = [*levels, *SILENT_KINDS] if levels else list(Failing.model_fields)
        found = unknown_key(given.key, known, show(given.targets))
        problems.append(found.under(f"faults.{index}.{what}"))
    return problems


def number_of(name: str, prefix: str, count: int) -> int | None:
    """The number in a name such as ``server.3``, if there is such a member.

    Args:
        name: The name.
        prefix: What stands before the number, such as ``server``.
        count: How many members there are.
    """
    head, _, digits = name.rpartition(".")
    if head != prefix or not digits.isdecimal() or len(digits) > 9 or str(int(digits)) != digits:
        return None
    return int(digits) if int(digits) < count else None


def unknown_member(key: str, name: str, prefix: str, count: int) -> Problem:
    """The problem of a name that no member has; arguments as in `number_of`, and the key."""
    names = f"{prefix}.0" if count == 1 else f"{prefix}.0 to {prefix}.{count - 1}"
    return Problem(
        f"there is no such {prefix}", f"the names are {names}", key=key, value=show(name)
    )


def ceph_fault_problems(report: ClusterReport, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """What is wrong with those faults of a real cluster that start a rebuild.

    Args:
        report: The cluster.
        faults: The faults, with their places in the study file.

    Returns:
        The problems, with full keys.
    """
    faults = [(index, fault) for index, fault in faults if fault.starts_rebuild]
    problems: list[Problem] = []
    named: set[int] = set()
    drawn = 0
    for index, fault in faults:
        kind, targets = fault.failing.kind, fault.failing.targets
        key = f"faults.{index}.fail.{kind}"
        if kind not in _CEPH_KINDS:
            rule, remedy = "a real cluster's servers are its OSDs", "use osds, hosts, racks or rows"
            problems.append(Problem(rule, remedy, key=key, value=show(targets)))
            continue
        members = ceph_members(report, kind)
        if not members:
            remedy = "use osds" if kind == "hosts" else "use osds or hosts"
            problems.append(Problem(f"the report's map has no {kind}", remedy, key=key))
        elif isinstance(targets, int):
            # osd_ids has two names for an OSD whose name in the map is not osd.N.
            distinct = {devices for devices in members.values()}
            if targets > len(distinct):
                rule = f"the cluster has {len(distinct)}"
                problems.append(Problem(rule, key=key, value=show(targets)))
            drawn += sum(sorted(map(len, distinct), reverse=True)[:targets])
        else:
            for name in targets:
                if name in members:
                    named.update(members[name])
                    continue
                rule = f"the report has no such {kind[:-1]}"
                remedy = name_remedy(name, list(members))
                problems.append(Problem(rule, remedy, key=key, value=show(name)))
    if problems:
        return problems

    def whole(kind: str) -> int:
        return sum(
            named.isdisjoint(devices) for devices in set(ceph_members(report, kind).values())
        )

    def touched(other: str, kind: str) -> int:
        components = [set(devices) for devices in set(ceph_members(report, kind).values())]
        others = set(ceph_members(report, other).values())
        return max(sum(not one.isdisjoint(devices) for one in components) for devices in others)

    return (
        _twice(faults, lambda kind, name: ceph_members(report, kind)[name])
        or _all_failed(drawn + len(named), len(report.osds), "OSDs")
        or _too_few_left(faults, whole, touched)
    )


def ceph_members(report: ClusterReport, kind: str) -> dict[str, tuple[int, ...]]:
    """The names of a kind of failure in a real cluster, each with the numbers of its OSDs.

    Args:
        report: The cluster.
        kind: ``osds``, ``hosts``, ``racks`` or ``rows``.

    Returns:
        The names. An OSD goes by ``osd.N`` and by its name in the CRUSH map.
    """
    if kind == "osds":
        return {name: (osd,) for name, osd in report.osd_ids.items()}
    known = {osd.id for osd in report.osds}
    buckets = report.buckets
    return {
        bucket.name: tuple(osd for osd in buckets.devices_under(bucket) if osd in known)
        for bucket in buckets.of_kind(singular(kind))
    }


def _all_failed(failed: int, servers: int, what: str) -> list[Problem]:
    if failed < servers:
        return []
    rule = f"{failed} of {servers} {what} fail, and a rebuild needs one that does not"
    return [Problem(rule, "let fewer fail", key="faults")]


def _twice(
    faults: list[tuple[int, Fault]], members_of: Callable[[str, str], Collection[int]]
) -> list[Problem]:
    """Names of what other faults have taken away altogether by then."""
    problems: list[Problem] = []
    failed: set[int] = set()
    # Faults at one time are taken in the order in which they are written.
    for index, fault in sorted(faults, key=lambda numbered: numbered[1].at):
        kind, targets = fault.failing.kind, fault.failing.targets
        for name in () if isinstance(targets, int) else targets:
            devices = members_of(kind, name)
            if devices and failed.issuperset(devices):
                rule = f"it has failed by then: other faults name all that is in {show(name)}"
                key = f"faults.{index}.fail.{kind}"
                problems.append(Problem(rule, "name each once", key=key, value=show(name)))
            failed.update(devices)
    return problems


def _too_few_left(
    faults: list[tuple[int, Fault]],
    whole: Callable[[str], int],
    touched: Callable[[str, str], int],
) -> list[Problem]:
    """Draws for which too few components may be left that no other fault has touched.

    Args:
        faults: The faults, with their places in the study file.
        whole: How many components of a kind no fault names, in whole or in part.
        touched: The most components of the second kind that one of the first shares devices with.
    """
    drawn: list[tuple[str, int]] = []
    for index, fault in sorted(faults, key=lambda numbered: numbered[1].at):
        kind, targets = fault.failing.kind, fault.failing.targets
        if not isinstance(targets, int):
            continue
        left = whole(kind) - sum(count * touched(other, kind) for other, count in drawn)
        if targets > left:
            rule = f"the faults before it may leave {max(left, 0)} {kind} of which nothing failed"
            key = f"faults.{index}.fail.{kind}"
            return [Problem(rule, "let fewer fail, or name them", key=key, value=show(targets))]
        drawn.append((kind, targets))
    return []
