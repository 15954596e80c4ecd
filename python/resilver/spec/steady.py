"""What clients as steady flows cannot mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resilver.errors import Problem, show
from resilver.spec.cluster import Cluster
from resilver.spec.faults import Fault
from resilver.spec.takeover import is_taken_over
from resilver.spec.traffic import Traffic
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
