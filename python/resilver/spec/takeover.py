"""Faults of parts that carry others and whose partners take over, so that no data is lost."""

from __future__ import annotations

from resilver.errors import Problem, show
from resilver.spec.cluster import Cluster
from resilver.spec.faults import Fault
from resilver.spec.tree import plural


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
