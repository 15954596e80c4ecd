"""What is wrong with faults that nobody is told of: disks, links and switches.

How many links and switches a topology has, and what they are called, only the core knows; it is
asked before anything runs (`resilver.simulate.validate`).
"""

from __future__ import annotations

import math

from resilver.errors import Problem, name_remedy, show
from resilver.spec.cluster import Cluster
from resilver.spec.failing import number_of, unknown_member
from resilver.spec.faults import Fault


def silent_fault_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """What is wrong with the faults that start no rebuild.

    Args:
        cluster: The cluster.
        faults: The faults, with their places in the study file.

    Returns:
        The problems, with full keys.
    """
    problems: list[Problem] = []
    silent = [(index, fault) for index, fault in faults if fault.is_silent]
    for index, fault in silent:
        key = f"faults.{index}.fail.{fault.failing.kind}"
        if fault.failing.kind == "disks":
            problems += _disk_problems(cluster, fault, key)
        elif cluster.fabric.topology is None:
            rule = f"LogGP has no {fault.failing.kind} that could fail"
            remedy = 'use cluster.fabric.model = "switched" with a topology'
            problems.append(Problem(rule, remedy, key=key, value=show(fault.failing.targets)))
    return problems or [*_too_many_disks(cluster, silent), *_twice(silent)]


def _disk_problems(cluster: Cluster, fault: Fault, key: str) -> list[Problem]:
    targets = fault.failing.targets
    if isinstance(targets, int):
        if targets <= cluster.server_count:
            return []
        rule = f"the cluster has {cluster.server_count}"
        return [Problem(rule, "let fewer fail", key=key, value=show(targets))]
    if cluster.ceph is not None:
        known = cluster.ceph.report.osd_ids
        return [
            Problem(
                "the report has no such OSD",
                name_remedy(name, list(known)),
                key=key,
                value=show(name),
            )
            for name in targets
            if name not in known
        ]
    count = cluster.server_count
    level = cluster.tree.device_level if cluster.tree is not None else "server"
    return [
        unknown_member(key, name, level, count)
        for name in targets
        if number_of(name, level, count) is None
    ]


def _too_many_disks(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """More disks drawn than there are, beside those that are named."""
    disks = [(index, fault) for index, fault in faults if fault.failing.kind == "disks"]
    named = {
        name
        for _, fault in disks
        if isinstance(fault.failing.targets, tuple)
        for name in _of(fault)
    }
    left = cluster.server_count - len(named)
    for index, fault in disks:
        if isinstance(fault.failing.targets, int):
            if fault.failing.targets > left:
                rule = f"the other faults may leave {max(left, 0)} disks to draw from"
                key, value = f"faults.{index}.fail.disks", show(fault.failing.targets)
                return [Problem(rule, "let fewer fail, or name them", key=key, value=value)]
            left -= fault.failing.targets
    return []


def _twice(faults: list[tuple[int, Fault]]) -> list[Problem]:
    """Names of what has failed by then and is not repaired."""
    problems: list[Problem] = []
    until: dict[tuple[str, str], float] = {}
    # Faults at one time are taken in the order in which they are written.
    for index, fault in sorted(faults, key=lambda numbered: numbered[1].at):
        for name in _of(fault):
            failed = (fault.failing.kind, name)
            if until.get(failed, -1.0) > fault.at:
                rule = f"{show(name)} has failed by then, and is not repaired"
                key = f"faults.{index}.fail.{fault.failing.kind}"
                remedy = "name it once, or let repair_after end the fault before it"
                problems.append(Problem(rule, remedy, key=key, value=show(name)))
            after = math.inf if fault.repair_after is None else float(fault.repair_after)
            until[failed] = float(fault.at) + after
    return problems


def _of(fault: Fault) -> tuple[str, ...]:
    targets = fault.failing.targets
    return () if isinstance(targets, int) else targets
