"""What-ifs performed: one plan, and several side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from resilver.errors import ConfigError, Interrupted, name_remedy, show
from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.request import request_of
from resilver.simulate.ceph import HealProgress, heal
from resilver.whatif.answer import WhatIf, host_level
from resilver.whatif.columns import TABLES, conform, since
from resilver.whatif.counterfactuals import compared, ending, is_cheap, relaxed_runs
from resilver.whatif.failing import risks_table
from resilver.whatif.kinds import BY_KEY
from resilver.whatif.options import Request
from resilver.whatif.pace import paced
from resilver.whatif.plan import Plan, joined, plan_of_options, read_plan
from resilver.whatif.request import Prepared, prepare
from resilver.whatif.several import PlansCompared

Kept = TypeVar("Kept")

Told = Callable[[int, int, HealProgress], bool]
"""Told how far it is: runs done, runs in all, and the state of one; answers whether to go on."""


def answer_of(
    report: ClusterReport, plan: Plan, request: Request, told: Told | None = None
) -> WhatIf:
    """What a plan does to a cluster.

    Args:
        report: The cluster, as its dumps say.
        request: What is asked beside.
        told: Told how far it is.

    Raises:
        ConfigError: Something is not written as it should be, or names nothing.
        PlanDoesNotFit: What the plan leaves cannot hold the pools.
        SimulationError: The run broke a conservation law.
        Interrupted: `told` answered False.
    """
    ready = prepare(report, plan, request)
    answer = _performed(_with_safe_fill(ready), told)
    wanted = is_cheap(answer) if request.counterfactuals is None else request.counterfactuals
    return _with_counterfactuals(ready, answer, told) if wanted and answer.moves else answer


def _with_safe_fill(ready: Prepared) -> Prepared:
    """A run that also says how full the cluster may be so that any host can fail and heal."""
    return replace(ready, input={**ready.input, "safe_level": host_level(ready.facts.places)})


def _with_counterfactuals(ready: Prepared, answer: WhatIf, told: Told | None) -> WhatIf:
    """An answer with what would make it end sooner: the run again with one thing relaxed."""
    relaxed, runs = zip(*relaxed_runs(ready, answer), strict=True)
    ends = run_all([partial(same, one) for one in runs], told, ending)
    found = compared(answer, list(zip(relaxed, ends, strict=True)))
    rows = pa.Table.from_pylist([asdict(one) for one in found], TABLES["counterfactuals"])
    return replace(answer, tables={**answer.tables, "counterfactuals": rows})


def _performed(ready: Prepared, told: Told | None, done: int = 0, total: int = 1) -> WhatIf:
    healed = heal(ready.text, None if told is None else lambda state: told(done, total, state))
    start = ready.input.get("counted_from_seconds", 0.0)
    tables = {name: since(start, conform(name, healed.tables.get(name))) for name in TABLES}
    horizon = ready.input["horizon_seconds"] - start
    tables["risks"] = risks_table(tables["lacking"], ready.facts, ready.failure_rates, horizon)
    tables["autoscaler"] = pa.Table.from_pylist(list(ready.autoscaler), TABLES["autoscaler"])
    times = tables["timeline"]["time_seconds"]
    return WhatIf(
        plan=ready.plan,
        steps=ready.steps,
        cluster=ready.facts,
        tables=tables,
        assumptions=ready.assumptions,
        notes=ready.notes,
        horizon_seconds=horizon,
        end_seconds=times[-1].as_py() if len(times) else 0.0,
        is_by_events=ready.input["events"],
        seed=ready.input["seed"],
        digest=healed.digest,
        effort=healed.effort,
    )


def compare_plans(
    report: ClusterReport, plans: Sequence[Plan], request: Request, told: Told | None = None
) -> PlansCompared:
    """What several plans do to one cluster; see `answer_of`.

    Two plans of one name are told apart by a number behind it.
    """
    ready = [prepare(report, plan, request) for plan in _told_apart(plans)]
    runs = [partial(same, _with_safe_fill(one)) for one in ready]
    return PlansCompared(tuple(run_all(runs, told, same)))


def same(one: Kept) -> Kept:
    """What is given: of a run that is ready, and of an answer that is kept whole."""
    return one


def _told_apart(plans: Sequence[Plan]) -> list[Plan]:
    names = [plan.name for plan in plans]
    made = []
    for rank, plan in enumerate(plans):
        before = names[:rank].count(plan.name)
        made.append(Plan(f"{plan.name} ({before + 1})", plan.changes) if before else plan)
    return made


def run_all(
    runs: Sequence[Callable[[], Prepared]], told: Told | None, keep: Callable[[WhatIf], Kept]
) -> list[Kept]:
    """Perform runs on all processors; the core works without holding the interpreter.

    Args:
        runs: What makes each run ready, when its turn comes.
        told: Told how far it is.
        keep: What is kept of each answer.

    Raises:
        Interrupted: `told` answered False.
    """
    lock, stopped, done = threading.Lock(), threading.Event(), [0]

    def one(make: Callable[[], Prepared]) -> Kept:
        def tell(_: int, __: int, state: HealProgress) -> bool:
            with lock:
                if told is not None and not told(done[0], len(runs), state):
                    stopped.set()
            return not stopped.is_set()

        if stopped.is_set():
            raise Interrupted("the runs were stopped before their end")
        found = keep(_performed(make(), tell))
        with lock:
            done[0] += 1
        return found

    with ThreadPoolExecutor(max_workers=max(1, min(len(runs), os.cpu_count() or 1))) as pool:
        waiting = [pool.submit(one, run) for run in runs]
        try:
            return [future.result() for future in waiting]
        except BaseException:
            stopped.set()
            for future in waiting:
                future.cancel()
            raise


Changes = Mapping[str, str | Iterable[str]]
"""Values of changes by the keys of `resilver.whatif.kinds`, each with ``@ 2 h`` or for now."""


def changes_of(changes: Changes | None) -> Plan:
    """The plan that changes by their keys are.

    Raises:
        ConfigError: A key is no kind of change.
    """
    for key in changes or ():
        if key not in BY_KEY:
            remedy = name_remedy(key, list(BY_KEY))
            raise ConfigError("it is no kind of change", remedy, value=show(key))
    given = {
        key: (value,) if isinstance(value, str) else tuple(value)
        for key, value in (changes or {}).items()
    }
    return plan_of_options(given)


def plans_of(files: Iterable[str | Path], changes: Plan) -> list[Plan]:
    """The plans of files, each with the same changes beside; these alone without files."""
    plans = [joined(read_plan(Path(file)), changes) for file in files]
    return plans or [changes]


def read_bundle(bundle: str | Path | ClusterReport) -> ClusterReport:
    """A cluster: its dumps read, if they are not yet.

    Raises:
        ConfigError: They cannot be read, or contradict each other.
    """
    return bundle if isinstance(bundle, ClusterReport) else read_cluster(Path(bundle))


def what_if(
    bundle: str | Path | ClusterReport,
    changes: Changes | None = None,
    *,
    plan: str | Path | None = None,
    since: str | Path | ClusterReport | None = None,
    told: Told | None = None,
    **options: Any,
) -> WhatIf:
    """What changes do to a real Ceph cluster, before they happen.

    Args:
        bundle: A `ceph report`, a folder or an archive of dumps, or a cluster that was read.
        changes: What happens, by kind: ``{"fail": "osd.12", "flag": ["noout @ 2 h"]}``; each at the
            start, or at the time behind it. None is the cluster as it is.
        plan: A plan file, whose changes come before these.
        since: Dumps of the same cluster a little earlier, such as a minute, in the same recovery:
            devices work at the pace that it had between the two.
        told: Told how far it is; answers whether to go on.
        options: What is asked beside, by the names of `resilver.whatif.options.Request`, such as
            ``network="25gbe"``, ``load=["rbd: 500 reads/s of 16 KiB"]``, ``horizon="60 d"``.

    Returns:
        The answer: its tables, what they rest on, and commands.

    Raises:
        ConfigError: The bundle cannot be used, or a change names nothing; `since` is no earlier
            state of the same recovery.
        PlanDoesNotFit: What the plan leaves cannot hold the pools, and it is not followed anyway.
        Interrupted: `told` answered False.
    """
    plans = plans_of([] if plan is None else [plan], changes_of(changes))
    report, request = read_bundle(bundle), request_of(Request, options)
    if since is not None:
        request = paced(report, read_bundle(since), request, told)
    return answer_of(report, plans[0], request, told)
