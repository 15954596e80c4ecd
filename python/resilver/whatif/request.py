"""The whole input of the core, made of a cluster, a plan and a request."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resilver.errors import ConfigError, Problem, show
from resilver.importers.ceph import ClusterReport
from resilver.units import Bytes, Seconds, exact_bytes
from resilver.whatif.answer import Assumption, ClusterFacts, PlannedStep
from resilver.whatif.autoscaler import autoscaler_notes, autoscaler_rows, wishes
from resilver.whatif.cluster import Cluster, cluster_json, ratios_of, read_state
from resilver.whatif.configuration import Configuration, Ledger, read_setting, release_of
from resilver.whatif.failing import failure_rates
from resilver.whatif.filling import make_fuller
from resilver.whatif.options import Request
from resilver.whatif.plan import Plan, resolve

_LOAD_PART = re.compile(r"\s*([\d.]+)\s+(reads?|writes?)/s\s+of\s+(.+?)\s*")
_PER_SECOND_MAX = 1e9


@dataclass(frozen=True)
class Prepared:
    """A run that is ready: the core's input, and what is known of it.

    Attributes:
        input: The core's input, JSON-able.
        plan: The plan's name.
        steps: Its changes in words.
        facts: The cluster before them.
        assumptions: What the answer rests on.
        notes: What a reader must know of the dumps.
        failure_rates: Failures a second of an OSD of each device class.
        autoscaler: What the autoscaler would make of pools: the rows of the table of this name.
    """

    input: dict[str, Any]
    plan: str
    steps: tuple[PlannedStep, ...]
    facts: ClusterFacts
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...]
    failure_rates: Mapping[str, float]
    autoscaler: tuple[Mapping[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """The core's input as it gets it."""
        return json.dumps(self.input, separators=(",", ":"))


def prepare(
    report: ClusterReport, plan: Plan, request: Request, like: Prepared | None = None
) -> Prepared:
    """Make the core's input of a cluster and a plan.

    Args:
        report: The cluster, as its dumps say.
        plan: The changes.
        request: What is asked beside.
        like: The same cluster, as full, prepared before: what its groups hold is taken from there.

    Raises:
        ConfigError: Something is not written as it should be, or names nothing.
        PlanDoesNotFit: What the plan leaves cannot hold the pools, and it is not followed anyway.
    """
    first = Ledger()
    release = release_of(report, request.release, first)
    stated = tuple(read_setting(one.value, release) for one in plan.start_settings)
    configuration = Configuration(release, report.config or (), stated)
    cluster = read_state(report, request, configuration)
    make_fuller(cluster, request.fill, request.grow)
    start = cluster_json(cluster, None if like is None else like.input["groups"])
    load = _load(request.load, cluster)
    balancer, of_balancer = _balancer(report)
    first.note("balancer", *of_balancer, "")
    facts = _facts(cluster, release)
    cluster.notes += [*_of_empty_pools(cluster), *_of_quotas(cluster)]
    wished = wishes(cluster)
    steps, told = resolve(plan, cluster, anyway=request.anyway)
    wishes_after = wishes(cluster)
    cluster.notes += autoscaler_notes(wished, wishes_after, _flags_after(report, steps))
    horizon = _horizon(request.horizon, told)
    made = {
        **start,
        "balancer": balancer,
        "load": load,
        "plan": steps,
        "horizon_seconds": horizon,
        "events": request.events,
        "frames": request.frames,
        "seed": request.seed,
    }
    osds = len(report.osds)
    facts = replace(facts, **_whereabouts(cluster))
    classes = {facts.classes.get(osd, "") for osd in facts.places}
    rates = failure_rates(request.afr, classes, cluster.ledger)
    rows = [*first.assumptions(osds), *cluster.ledger.assumptions(osds)]
    wanted = tuple(autoscaler_rows(wished, wishes_after))
    notes = tuple(cluster.notes)
    return Prepared(made, plan.name, tuple(told), facts, tuple(rows), notes, rates, wanted)


def _horizon(text: str, steps: Sequence[PlannedStep]) -> float:
    try:
        seconds = float(Seconds.parse(text))
    except ConfigError as error:
        raise ConfigError(problem.under("--horizon") for problem in error.problems) from None
    last = max((step.at_seconds for step in steps), default=0.0)
    if seconds <= last:
        rule = "a run goes on beyond its last change" if last else "a run takes some time"
        raise ConfigError(rule, 'such as "30 d"', key="--horizon", value=show(text))
    return seconds


def _balancer(report: ClusterReport) -> tuple[bool, tuple[str, Any, str]]:
    """Whether the manager's balancer is on, and who says so."""
    state = report.balancer
    if state is None:
        sentence = "no dump says whether it is on; --balance ceph turns it on"
        return False, ("off", "assumed", sentence)
    if not state.active:
        return False, ("off", "dump", "")
    if state.mode.startswith("upmap"):
        return True, (f"on, mode {state.mode}", "dump", "")
    return False, ("off", "assumed", f"its mode {state.mode} is not modelled")


def _load(texts: Sequence[str], cluster: Cluster) -> list[dict[str, Any]]:
    """What clients ask of each pool, in the order of the pools; nothing where none is given."""
    if not texts:
        return []
    loads = {
        name: {"reads_per_second": 0.0, "read_bytes": 0, "writes_per_second": 0.0, "write_bytes": 0}
        for name in cluster.pools
    }
    for text in texts:
        name, sign, rest = text.rpartition(":")
        if not sign:
            raise ConfigError(_load_problem(text))
        load = loads[cluster.pool(name.strip()).info.name]
        for part in rest.split(","):
            match = _LOAD_PART.fullmatch(part)
            if match is None:
                raise ConfigError(_load_problem(text))
            word = match[2].rstrip("s")
            rate, size = _rate(match[1], text), Bytes.parse(match[3])
            load[f"{word}s_per_second"], load[f"{word}_bytes"] = rate, int(size)
    return list(loads.values())


def _rate(text: str, whole: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        raise ConfigError(_load_problem(whole)) from None
    if not 0 <= rate <= _PER_SECOND_MAX:
        raise ConfigError(_load_problem(whole))
    return rate


def _load_problem(text: str) -> Problem:
    rule = "a load names a pool, and how many reads or writes a second of which size"
    remedy = 'such as "rbd: 500 reads/s of 16 KiB, 200 writes/s of 4 KiB"'
    return Problem(rule, remedy, key="--load", value=show(text))


def _facts(cluster: Cluster, release: tuple[int, int, int]) -> ClusterFacts:
    """The cluster before its plan."""
    report, pools = cluster.report, cluster.pools.values()
    used = sum(one.used_bytes for one in report.usage)
    return ClusterFacts(
        label=report.label,
        release=".".join(map(str, release)),
        pools={pool.info.id: pool.info.name for pool in pools},
        groups=sum(pool.info.pg_num for pool in pools),
        objects=sum(load.objects for load in report.loads),
        stored_bytes=sum(pool.stored_bytes for pool in pools),
        used_bytes=used or sum(pool.need.bytes for pool in pools),
        capacity_bytes=sum(cluster.capacities.values()),
        ratios=ratios_of(cluster),
        **_whereabouts(cluster),
    )


def _of_empty_pools(cluster: Cluster) -> list[str]:
    """What is to be known of pools that hold nothing, where others do hold something."""
    filled = {load.pool for load in cluster.report.loads if load.objects}
    empty = [pool.info.name for pool in cluster.pools.values() if pool.info.id not in filled]
    if not empty or not filled:
        return []
    which = f"Pool {empty[0]} is" if len(empty) == 1 else f"Pools {', '.join(empty)} are"
    return [f"{which} empty: PGs there may lack OSDs, and never lack data."]


def _of_quotas(cluster: Cluster) -> Iterator[str]:
    """Which pools are at their quotas, where the monitors let clients write no more."""
    objects: Counter[int] = Counter()
    for load in cluster.report.loads:
        objects[load.pool] += load.objects
    for pool in cluster.pools.values():
        limits = pool.info.limits
        for quota, held, words in (
            (limits.quota_bytes, pool.stored_bytes, exact_bytes(limits.quota_bytes)),
            (limits.quota_objects, objects[pool.info.id], f"{limits.quota_objects:,} objects"),
        ):
            if quota and held >= quota:
                yield (
                    f"Pool '{pool.info.name}' is at its quota, {words}: Ceph lets its clients "
                    "write no more."
                )


def _flags_after(report: ClusterReport, steps: Sequence[Mapping[str, Any]]) -> set[str]:
    """The flags of the map after a plan."""
    flags = set(report.flags)
    for step in steps:
        if step["change"]["kind"] == "flags":
            flags = (flags | {*step["change"]["set"]}) - {*step["change"]["unset"]}
    return flags


def _whereabouts(cluster: Cluster) -> dict[str, Any]:
    """Where each OSD is, and its class."""
    kinds = cluster.kinds.items()
    return {
        "places": {number: kind.places for number, kind in kinds},
        "classes": {number: kind.device_class for number, kind in kinds if kind.device_class},
    }
