"""What must hold between how parts fail, how they heal, and the cluster that they are of."""

from __future__ import annotations

from collections.abc import Mapping

from resilver.errors import Problem, Problems, name_remedy, show
from resilver.failure_rates import long_words
from resilver.spec.cluster import Cluster
from resilver.spec.durability import DurabilityQuestion
from resilver.spec.failing import levels_of, part_names
from resilver.spec.failures import Failure
from resilver.spec.tree import plural


def durability_problems(cluster: Cluster, asked: DurabilityQuestion) -> list[Problem]:
    """What is wrong with how parts of a cluster fail and heal, with full keys."""
    levels = levels_of(cluster)
    problems = [
        problem.under(f"durability.failures.{index}")
        for index, failure in enumerate(asked.failures)
        for problem in _failure_problems(cluster, levels, failure)
    ]
    problems += _name_problems(levels, asked)
    passing = ["device", *(level for level in levels[1:] if part_names(cluster, level))]
    for level, _ in asked.repair.rates:
        if level not in passing:
            problems.append(_no_level(level, passing, "durability.repair"))
    return problems or list(_time_problems(levels, asked))


def _name_problems(levels: tuple[str, ...], asked: DurabilityQuestion) -> Problems:
    """Failures that are called alike, so that losses could not be told apart by their cause."""
    names: dict[str, int] = {}
    for index, failure in enumerate(asked.failures):
        name = failure.called(failure.level or levels[0])
        if names.setdefault(name, index) != index:
            rule = f"failures {names[name]} and {index} are both called {show(name)}"
            key = f"durability.failures.{index}.name"
            yield Problem(rule, "give one a name of its own", key)


def _failure_problems(cluster: Cluster, levels: tuple[str, ...], failure: Failure) -> Problems:
    level = failure.level or levels[0]
    if level not in levels:
        yield _no_level(level, list(levels), "level")
        return
    names = part_names(cluster, level)
    if not names:
        yield Problem(f"the cluster has no {plural(level)}", "", "level", show(level))
        return
    if failure.device_class is not None:
        yield from _class_problems(cluster, levels, failure)
    unknown = [name for name in failure.parts if name not in names]
    if unknown:
        yield _unknown(unknown[0], level, names, "parts")
    if failure.trace is not None:
        failed = dict.fromkeys(name for _, name in failure.trace.failures())
        if unknown := [name for name in failed if name not in names]:
            yield _unknown(unknown[0], level, names, "trace")
    if failure.weibull is not None:
        count = len(failure.parts) or len(set(names.values()))
        if (ages := len(failure.weibull.ages)) not in (1, count):
            rule = f"{ages} ages are given, and {count} {plural(level)} fail so"
            yield Problem(rule, "give one age for all, or one for each", "weibull.age")
    burst = failure.burst
    if burst is not None and burst.within is not None:
        above = [one for one in levels[levels.index(level) + 1 :] if part_names(cluster, one)]
        if burst.within not in above:
            yield _no_level(burst.within, above, "burst.within", f"above {level}")


def _class_problems(cluster: Cluster, levels: tuple[str, ...], failure: Failure) -> Problems:
    """A class that no device has, or of what is no device."""
    name, key = failure.device_class, "class"
    known = classes_of(cluster)
    if failure.level not in (None, levels[0]):
        rule = f"classes are of devices, and this is of {plural(failure.level or '')}"
        yield Problem(rule, "remove it, or name the parts", key, show(name))
    elif name not in known:
        remedy = name_remedy(name, known, "classes") if known else "remove it"
        yield Problem("no device has this class", remedy, key, show(name))


def classes_of(cluster: Cluster) -> list[str]:
    """The classes of a cluster's devices; none where they have none."""
    if cluster.ceph is not None:
        return sorted({*cluster.ceph.report.buckets.classes.values()})
    return [kind.device_class for kind in cluster.device_kinds if kind.device_class is not None]


def _time_problems(levels: tuple[str, ...], asked: DurabilityQuestion) -> Problems:
    """Repairs and outages that take longer than what they are of lasts."""
    waits = asked.detection.mean_seconds + asked.replacement.mean_seconds
    repair = waits + (asked.repair.times[0].mean_seconds if asked.repair.times else 0.0)
    for index, failure in enumerate(asked.failures):
        lives, key = failure.mean_seconds, f"durability.failures.{index}.{failure.law}"
        if lives is None or failure.burst is not None:
            continue
        words = long_words(lives)
        if failure.lasts is not None and failure.lasts.mean_seconds >= lives:
            rule = f"a part is away for {failure.lasts.label}, and fails every {words} on average"
            yield Problem(rule, "give a shorter outage, or rarer ones", key)
        elif failure.lasts is None and failure.level in (None, levels[0]) and repair >= lives:
            took = long_words(repair)
            rule = f"a device fails after {words} on average, and its repair takes {took}"
            yield Problem(rule, "give a shorter repair, or rarer failures", key)


def _no_level(level: str, known: list[str], key: str, where: str = "") -> Problem:
    rule = f"the cluster has no such level{' ' * bool(where)}{where}"
    remedy = name_remedy(level, known, "levels") if known else "remove it"
    return Problem(rule, remedy, key, show(level))


def _unknown(name: str, level: str, names: Mapping[str, object], key: str) -> Problem:
    first, last = next(iter(names)), next(reversed(list(names)))
    remedy = f"the names are {first}" + ("" if first == last else f" to {last}")
    return Problem(f"there is no such {level}", remedy, key, show(name))
