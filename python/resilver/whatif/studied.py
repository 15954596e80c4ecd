"""A study whose cluster is a real Ceph cluster: healed by placement groups, as a what-if is."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, replace

from resilver.columns import TABLE_NAMES, table_of
from resilver.errors import ConfigError, Problem, name_remedy, show
from resilver.importers.ceph import ClusterReport
from resilver.simulate.ceph import HealProgress
from resilver.simulate.devices import named_faults
from resilver.simulate.progress import Progress
from resilver.simulate.result import RunResult
from resilver.spec import System
from resilver.spec.ceph_run import CephRun
from resilver.spec.failing import part_names
from resilver.whatif.answer import WhatIf
from resilver.whatif.declared import SETTINGS
from resilver.whatif.kinds import BY_KEY, KINDS
from resilver.whatif.options import Request
from resilver.whatif.perform import answer_of, changes_of
from resilver.whatif.plan import Plan, Wanted
from resilver.whatif.request import Prepared, prepare

_KEYS = {
    **{kind.option: f"changes.{kind.key}" for kind in KINDS},
    "--device": "devices",
    "--set-option": "settings",
    **{
        f"--{key}": key
        for key in ("release", "network", "pace", "fill", "grow", "load", "afr", "horizon")
    },
}
"""The key of ``[ceph]`` that says what an option of `resilver what-if` does."""


def healed(
    system: System, seed: int, progress: Callable[[Progress], bool] | None = None
) -> RunResult:
    """Run a real cluster of a study.

    Args:
        seed: The seed of what is drawn: which parts fail, where the study says how many.
        progress: Told several times a second how far the run is; answers whether to go on.

    Returns:
        What `resilver what-if` answers to the same question, in the tables of a run.

    Raises:
        ConfigError: Something is not written as it should be, or names nothing.
        PlanDoesNotFit: What the changes leave cannot hold the pools.
        SimulationError: The run broke a conservation law.
        Interrupted: `progress` answered False.
    """

    def told(done: int, total: int, state: HealProgress) -> bool:
        # The first run is the answer's own; the others are those with one thing relaxed.
        found = Progress("rebuilding", (done + state.fraction) / total)
        return progress is None or progress(found)

    with _keys_of_the_study():
        answer = answer_of(_report(system), _plan(system, seed), _request(system, seed), told)
    return _result(system, seed, answer)


def made_ready(system: System, seed: int) -> Prepared:
    """A run of a real cluster that has not begun: all that is asked of it is read.

    Args:
        seed: The seed of what is drawn.

    Raises:
        ConfigError: Something is not written as it should be, or names nothing.
        PlanDoesNotFit: What the changes leave cannot hold the pools.
    """
    with _keys_of_the_study():
        return prepare(_report(system), _plan(system, seed), _request(system, seed))


@contextlib.contextmanager
def _keys_of_the_study() -> Iterator[None]:
    """Have errors name the study's keys where they would name options of the command."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(_of_study(problem) for problem in error.problems) from None


def _of_study(problem: Problem) -> Problem:
    """A problem with the study's keys in place of the command's options."""

    def key_of(option: str) -> str:
        return f"ceph.{_KEYS[option]}" if option in _KEYS else option

    option, _, rest = problem.key.partition(" ")
    key = f"ceph.settings.{option}" if option in SETTINGS else f"{key_of(option)} {rest}".strip()
    remedy = re.sub("--[a-z-]+", lambda found: key_of(found[0]), problem.remedy)
    return replace(problem, key=key, remedy=remedy)


def _report(system: System) -> ClusterReport:
    if system.report is None:
        raise ConfigError("it is no real cluster", "add cluster.ceph", key="cluster")
    return system.report


def _request(system: System, seed: int) -> Request:
    """What the study says beside its plan."""
    run = system.ceph or CephRun()
    keys = {one.name for one in fields(Request)} & set(CephRun.model_fields)
    return Request(**{key: getattr(run, key) for key in keys}, seed=seed)


def _plan(system: System, seed: int) -> Plan:
    """The settings, the changes and the faults of a study, as a what-if has them."""
    run = system.ceph or CephRun()
    if "map" in run.changes:
        rule, remedy = "a study keeps no other CRUSH map", "use `resilver what-if --map`"
        raise ConfigError(rule, remedy, "ceph.changes.map", show(run.changes["map"]))
    stated = [_setting(name, value) for name, value in run.settings.items()]
    for key in run.changes:
        if key not in BY_KEY:
            rule, remedy = "it is no kind of change", name_remedy(key, list(BY_KEY))
            raise ConfigError(rule, remedy, key=f"ceph.changes.{key}")
    changes = changes_of(run.changes)
    faults = list(_faults(system, seed))
    words = [f"{BY_KEY[one.key].option[2:]} {one.value}" for one in (*changes.changes, *faults)]
    return Plan("; ".join(words) or "as it is", (*stated, *changes.changes, *faults))


def _setting(name: str, value: bool | float | str) -> Wanted:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return Wanted("set_option", f"{name}={text}", 0.0, f"ceph.settings.{name}")


def _faults(system: System, seed: int) -> Iterator[Wanted]:
    """The faults as changes: parts that fail, or are slow, and what is as before later."""
    for index, (fault, names) in enumerate(
        zip(system.faults, named_faults(system, seed), strict=True)
    ):
        broken = fault.broken
        if broken is None:
            continue
        members = part_names(system.cluster, broken.level)
        place = f"faults.{index}.{broken.key}"
        what = ",".join(_target(broken.level, name, members[name]) for name in names)
        at, until = float(fault.at), broken.until
        if broken.health:
            yield Wanted("slow", f"{what}={broken.health!r}", at, place)
        else:
            yield Wanted("fail", what, at, place)
        if until is not None and broken.health:
            yield Wanted("slow", f"{what}=1", float(until), place)
        elif until is not None:
            yield Wanted("start", what, float(until), place)


def _target(level: str, name: str, osds: tuple[int, ...]) -> str:
    """A part as a change names it: by its OSDs where its own name has a sign of changes in it."""
    is_plain = level not in ("osd", "disk") and not set(name) & set(",=")
    return f"{level}={name}" if is_plain else ",".join(f"osd.{osd}" for osd in osds)


def _result(system: System, seed: int, answer: WhatIf) -> RunResult:
    """An answer in the tables of a run."""
    found, facts, osds = answer.outcome, answer.cluster, answer.tables["osds"]
    failed = _failed(system, seed)
    begins = min((float(fault.at) for fault in system.faults), default=0.0)

    def since(seconds: float | None) -> float | None:
        return None if seconds is None else max(seconds - begins, 0.0)

    healthy = since(found.whole_seconds)
    metrics: dict[str, int | float | str | None] = {
        "digest": answer.digest,
        "simulated_seconds": answer.end_seconds,
        "servers": len(facts.places),
        "failed_servers": ",".join(f"osd.{osd}" for osd in sorted(failed)),
        "population_objects": facts.objects,
        "population_bytes": facts.stored_bytes,
        "rebuilt_bytes": found.recovered_bytes,
        "remapped_bytes": found.moved_bytes,
        "rebuild_seconds": healthy,
        "last_redundant_seconds": since(found.degraded_seconds),
        "aggregate_bytes_per_second": found.recovered_bytes / healthy if healthy else None,
        "placement_groups": facts.groups,
        "placement_groups_affected": len(set(answer.tables["lacking"]["pgid"].to_pylist())),
    }
    servers = {
        "server": osds["osd"],
        "name": osds["name"],
        "host": osds["host"],
        "failed": [osd in failed for osd in osds["osd"].to_pylist()],
        "sent_bytes": osds["sent_bytes"],
        "device_busy_seconds": osds["busy_seconds"],
    }
    stored = answer.tables["pools"]
    pools = {
        "pool": stored["name"],
        "rebuilt_bytes": stored["recovered_bytes"],
        "rebuild_seconds": [since(one) for one in stored["whole_seconds"].to_pylist()],
    }
    tables = {name: table_of(name, None) for name in TABLE_NAMES[1:]}
    tables["servers"] = table_of("servers", servers, osds.num_rows)
    tables["pools"] = table_of("pools", pools, stored.num_rows)
    tables["answers"] = table_of("answers", answer.to_rows())
    return RunResult(metrics, tables)


def _failed(system: System, seed: int) -> set[int]:
    """The OSDs that faults take."""
    taken: set[int] = set()
    for fault, names in zip(system.faults, named_faults(system, seed), strict=True):
        if fault.broken is not None and not fault.broken.health:
            members = part_names(system.cluster, fault.broken.level)
            taken.update(osd for name in names for osd in members[name])
    return taken
