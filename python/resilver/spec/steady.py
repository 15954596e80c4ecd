"""What clients as steady flows cannot mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resilver.errors import Problem, show
from resilver.spec.cluster import Cluster
from resilver.spec.faults import Fault
from resilver.spec.traffic import Traffic
from resilver.spec.tree import plural
from resilver.units import exact_rate

_EVENTS = 'engine = "events"'


def steady_problems(cluster: Cluster, sections: Mapping[str, Any]) -> list[Problem]:
    """What is wrong between clients that are flows and the rest of a study.

    Flows have constant rates between faults. What is rebuilt, lost or scheduled request by request
    has no such rate.
    """
    traffic: Traffic | None = sections.get("traffic")
    pools = sections.get("pools") or ()
    engines = [pool.traffic.engine for pool in pools if pool.traffic is not None]
    if len(set(engines)) > 1:
        rule = "the clients of all pools are flows, or none of them"
        index = next(index for index, pool in enumerate(pools) if pool.traffic is not None)
        key = f"pools.{index}.traffic.engine"
        return [Problem(rule, "give each the same", key=key, value=show(engines[0]))]
    if traffic is None or traffic.engine != "flows":
        return []
    problems = []
    is_stored = sections.get("population") is not None
    if traffic.streams is not None and not is_stored:
        rule = "flows stream over what is stored, and nothing is"
        problems.append(Problem(rule, f"add [population], or use {_EVENTS}", key="traffic.streams"))
    if sections.get("lanes") is not None:
        rule = "lanes schedule request by request, and flows know none"
        problems.append(Problem(rule, f"remove [lanes], or use {_EVENTS}", key="lanes"))
    redundancy = sections.get("redundancy")
    if redundancy is not None and redundancy.coding_rate is not None:
        rule, value = "flows know no time of coding", show(exact_rate(redundancy.coding_rate))
        remedy = f"remove it, or use {_EVENTS}"
        problems.append(Problem(rule, remedy, key="redundancy.coding", value=value))
    for index, fault in enumerate(sections.get("faults") or ()):
        problems += _fault_problems(cluster, index, fault)
    return problems


def _fault_problems(cluster: Cluster, index: int, fault: Fault) -> list[Problem]:
    broken = fault.broken
    if broken is None:
        rule = "strips are rebuilt in place one by one, and flows know no rebuild"
        remedy = f"remove this fault, or use {_EVENTS}"
        return [Problem(rule, remedy, key=f"faults.{index}.corrupt")]
    if broken.health or is_taken_over(cluster, fault):
        return []
    rule = "what fails is rebuilt, or asked in vain, request by request, and flows know neither"
    remedy = f"give it a health above 0, which makes it slow, or use {_EVENTS}"
    return [Problem(rule, remedy, key=f"faults.{index}.{broken.key}", value=show(broken.targets))]


def is_taken_over(cluster: Cluster, fault: Fault) -> bool:
    """Whether a fault takes parts away whose partners do their work, so that nothing is rebuilt."""
    tree = cluster.tree
    broken = fault.broken
    if tree is None or broken is None or not broken.is_told:
        return False
    side = tree.side(tree.level_of(plural(broken.level)) or "")
    return side is not None and side.has_partners


def carrier_problems(cluster: Cluster, faults: list[tuple[int, Fault]]) -> list[Problem]:
    """What is wrong with faults of parts whose partners take over, where nothing is stored."""
    taken_over = [one for one in faults if is_taken_over(cluster, one[1])]
    named: dict[str, int] = {}
    for index, fault in taken_over:
        broken = fault.broken
        if broken is None:
            continue
        targets = broken.targets
        key, rule = f"faults.{index}.{broken.key}", "nothing is stored that could be rebuilt"
        if isinstance(targets, int):
            if targets > 1 or len(taken_over) > 1:
                remedy = "let one fail, or name them, or add [population]"
                rule = f"both of a pair may be drawn, and {rule}"
                return [Problem(rule, remedy, key=key, value=show(targets))]
            continue
        for name in targets:
            level, _, number = name.rpartition(".")
            if f"{level}.{int(number) ^ 1}" in named:
                rule = f"its partner fails too, and {rule}"
                return [Problem(rule, "let one of them fail", key=key, value=show(name))]
            named[name] = index
    return []
