"""Studies and real clusters: what asks them, checked and not yet performed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from resilver.data_loss.answer import Durability, Premise
from resilver.data_loss.bursts import system_bursts
from resilver.data_loss.cluster import Osds, cluster_pools
from resilver.data_loss.exact import (
    GroupChain,
    chain_of_system,
    elasticities,
    found_by,
    not_of_a_chain,
    slopes,
    survival_of,
)
from resilver.data_loss.figures import times_of
from resilver.data_loss.input import Parts, failures_json, premises_of, repair_json
from resilver.data_loss.layout_chain import LayoutChain, chain_of_layout
from resilver.data_loss.placed import with_order
from resilver.data_loss.question import Question, question_of, refuse_slow_repairs
from resilver.data_loss.repair_times import healing_times, marking_out_seconds, rebuild_times
from resilver.data_loss.request import DurabilityRequest, Where
from resilver.data_loss.scenario import INDEPENDENT, Described, StoredPool, Told, telling
from resilver.data_loss.simulated import simulated
from resilver.data_loss.study_input import is_by_device, levels_of, pools_of, refuse_scattered
from resilver.errors import ConfigError, Problem, raise_all
from resilver.figure import Figure
from resilver.importers.ceph import ClusterReport
from resilver.simulate import code_tree
from resilver.simulate.durability import DurabilityModel
from resilver.spec import Study, System
from resilver.spec.drawn_times import DrawnTime
from resilver.spec.durability import DurabilityQuestion
from resilver.spec.durability_checks import durability_problems
from resilver.spec.failures import Failure
from resilver.spec.section import written
from resilver.units import format_duration

Subject = Callable[[Where, "Told | None"], Durability]


def study_subjects(study: Study, request: DurabilityRequest) -> list[Subject]:
    """What asks each point of a study, by the study's first seed.

    Raises:
        ConfigError: A value cannot be.
    """
    seed = study.study.seeds[0]
    return [
        _study_subject(_name_of(study, point.swept), point.system, seed, request)
        for point in study.points
    ]


def refuse_study(study: Study) -> None:
    """Refuse what `study_subjects` or the placement of the first objects refuses.

    Raises:
        ConfigError: Durability has no answer for the study.
    """
    study_subjects(study, DurabilityRequest())
    for system in {id(point.system): point.system for point in study.points}.values():
        if system.report is None:
            refuse_scattered(system, study.study.seeds[0])


def _name_of(study: Study, swept: Mapping[str, Any]) -> str:
    """What a point of a study is called: by what is swept, else by the study's title."""
    # The sweep holds quantities in SI units; the section knows how a file writes them.
    system = next(point.system for point in study.points if point.swept == swept)
    name = ", ".join(
        f"{key} = {written(_stated(system, key, value))}" for key, value in swept.items()
    )
    return name or study.study.title or "study"


def _stated(system: System, key: str, value: object) -> object:
    """The value of a key of a system's sections; where the key leads elsewhere, as it was swept."""
    found: Any = system
    for name in key.split("."):
        found = getattr(found, name, None)
    return value if found is None else found


def _study_subject(name: str, system: System, seed: int, request: DurabilityRequest) -> Subject:
    _refuse_codes_options(request)
    if system.report is not None:
        return cluster_subject(system.report, request, system.durability, name)
    question = question_of(request, system.durability)
    if is_by_device(system, question) and question.origin("returns") == "default":
        question = replace(
            question, section=question.section.model_copy(update={"returns": "devices"})
        )
    raise_all(durability_problems(system.cluster, question.section))
    _refuse_no_chain(question)

    def perform(where: Where, told: Told | None) -> Durability:
        levels = levels_of(system)
        pools = pools_of(system, seed)
        tree = system.cluster.tree
        assert tree is not None
        kinds = system.cluster.device_kinds
        parts = Parts(
            levels=tuple(level.name for level in levels),
            numbers=tuple(
                {tree.name(level.name, one): one for one in range(len(level.parents))}
                for level in levels
            ),
            classes=[kinds[tree.kind(one)].device_class or "" for one in range(tree.devices)],
            used=_used(pools),
        )
        failures = failures_json(question, parts)
        times = None
        if question.section.repair.kind == "simulate":
            tell = telling(told, "repairs", name)
            times = rebuild_times(system, seed, parts.used, _tolerance(pools), where, tell)
        described = Described(
            name=name,
            mission_seconds=question.mission_seconds,
            levels=levels,
            pools=pools,
            failures=failures,
            repair=repair_json(question, parts, times),
            latent=question.section.latent_content(),
            premises=(*premises_of(question, levels[-1].name, times), _sets_premise(pools)),
        )
        return _answered(described, question, where, told)

    return perform


def cluster_subject(
    report: ClusterReport,
    request: DurabilityRequest,
    own: DurabilityQuestion | None,
    name: str = "",
) -> Subject:
    """What asks a real cluster.

    Args:
        own: What the study that names it asks, if one does.
        name: What it is called; else by its file.

    Raises:
        ConfigError: A value cannot be.
    """
    _refuse_codes_options(request)
    osds = Osds(report)
    question = _noticed_by_ceph(question_of(request, own), report)
    if request.hosts != "never" and (request.hosts or own is None or not own.failures):
        question = _with_hosts(question, osds)
    refuse_slow_repairs(question.section)
    _refuse_no_chain(question)

    def perform(where: Where, told: Told | None) -> Durability:
        pools, notes = cluster_pools(report, osds)
        numbers = tuple(
            {one: number for number, one in enumerate(names)} for names in osds.part_names
        )
        levels = tuple(level.name for level in osds.levels)
        parts = Parts(levels, numbers, osds.classes, _used(pools))
        failures = failures_json(question, parts)
        times = None
        if question.section.repair.kind == "simulate":
            tell = telling(told, "repairs", name or report.label)
            used = osds.ids[parts.used]
            times = healing_times(report, used, _tolerance(pools), request.seed, tell)
        described = Described(
            name=name or report.label,
            mission_seconds=question.mission_seconds,
            levels=osds.levels,
            pools=pools,
            failures=failures,
            repair=repair_json(question, parts, times),
            latent=question.section.latent_content(),
            premises=(*premises_of(question, levels[-1], times), _sets_premise(pools, "dump")),
            notes=tuple(notes),
            unit="PG",
        )
        return _answered(described, question, where, told)

    return perform


def _refuse_no_chain(question: Question) -> None:
    """Refuse an exact answer that no placement has."""
    if question.section.method == "exact" and (problem := not_of_a_chain(question)):
        raise ConfigError(problem)


_OF_LEVELS = {"host": ("simedc/node", "simedc/node-outage"), "rack": ("simedc/rack-outage",)}
"""By what entries of the catalog parts of a cluster fail."""


def _with_hosts(question: Question, osds: Osds) -> Question:
    """The question with hosts and racks that fail too, where the cluster has such levels."""
    failures = tuple(
        Failure.from_table({"level": level.name, "like": like}, Path.cwd())
        for level in osds.levels[:-1]
        for like in _OF_LEVELS.get(level.name, ())
    )
    section = question.section
    changed = section.model_copy(update={"failures": (*section.failures, *failures)})
    return replace(question, section=changed)


def _noticed_by_ceph(question: Question, report: ClusterReport) -> Question:
    """The question with repairs that begin when Ceph marks OSDs out, unless it says when."""
    if "detection" in question.origins:
        return question
    detection = DrawnTime("fixed", (marking_out_seconds(report),))
    section = question.section.model_copy(update={"detection": detection})
    return replace(question, section=section, origins={**question.origins, "detection": "dump"})


def _answered(
    described: Described, question: Question, where: Where, told: Told | None
) -> Durability:
    """The answer: of a chain where it is the system, else simulated; and what bursts lose."""
    lowest = len(described.levels) - 1
    if all(one["level"] == lowest and not one["burst"] for one in described.failures):
        described = replace(described, notes=(*described.notes, INDEPENDENT))
    if question.section.repair.kind == "shared":
        described = _with_repair_time(described, question)
    answer = _without_bursts(described, question, where, told)
    answer = with_order(answer, described, question, where, told)
    request = question.request
    if not request.bursts:
        return answer
    return replace(answer, bursts=system_bursts(described, request.bursts, request.seed))


def _with_repair_time(described: Described, question: Question) -> Described:
    """The system with the time that a device's repair takes by the rates that were given."""
    seconds = sorted(DurabilityModel(described.to_json()).repair_seconds())
    least, most = format_duration(seconds[0]), format_duration(seconds[-1])
    value = format_duration(seconds[len(seconds) // 2])
    value += f" ({least} to {most})" if least != most else ""
    source = "by the rates of repair, while it alone is lost; the median, least and most of devices"
    premise = Premise("repair of one device", value, question.origin("repair"), source)
    place = [one.name for one in described.premises].index("repair") + 1
    premises = (*described.premises[:place], premise, *described.premises[place:])
    return replace(described, premises=premises)


def _without_bursts(
    described: Described, question: Question, where: Where, told: Told | None
) -> Durability:
    method = question.section.method
    if method in ("auto", "exact"):
        group = chain_of_system(question, described)
        if isinstance(group, GroupChain) and (method == "exact" or group.method == "exact"):
            return _by_chain(described, question, group)
        if method == "exact":
            layout = chain_of_layout(question, described)
            if isinstance(layout, Problem):
                raise ConfigError(layout)
            return _by_layout(described, question, layout)
    return simulated(described, question, where, told)


def _by_chain(described: Described, question: Question, group: GroupChain) -> Durability:
    mission = question.mission_seconds
    what = str(described.failures[0]["name"])
    found = found_by(group, mission)
    means = (_BY_MEANS,) if group.method == "approximate" else ()
    return described.answer(
        found.loss,
        found.survival,
        causes={what: 1.0},
        mttdl_seconds=found.mttdl,
        expected_lost_bytes=times_of(found.group_loss, described.user_bytes),
        object_loss_probability=found.group_loss,
        sensitivity=elasticities(group, mission, what) if question.request.sensitivity else None,
        notes=(*described.notes, *means),
    )


def _by_layout(described: Described, question: Question, layout: LayoutChain) -> Durability:
    mission = question.mission_seconds
    chain = layout.chain()
    loss = Figure.exact(chain.loss_probability(mission), "approximate")
    note = (
        "The share of lost devices that loses data is counted over the sets; that any of those "
        "which lost nothing is as likely as another is taken for granted."
    )
    return described.answer(
        loss,
        survival_of(chain, mission),
        causes={described.failures[0]["name"]: 1.0},
        mttdl_seconds=Figure.exact(chain.mttdl_seconds(), "approximate"),
        expected_lost_bytes=layout.lost_bytes,
        object_loss_probability=times_of(layout.lost_bytes, 1.0 / described.user_bytes),
        sensitivity=slopes(
            lambda **factors: layout.chain(**factors).loss_probability(mission),
            {f"rate of {described.failures[0]['name']}": "rate", "repair time": "repair"},
        )
        if question.request.sensitivity
        else None,
        notes=(*described.notes, note, _BY_MEANS),
    )


_BY_MEANS = (
    "The time until a loss is made good is taken as exponential with its mean; leave out "
    'method = "exact" to have it simulated as it is.'
)


def _used(pools: tuple[StoredPool, ...]) -> np.ndarray:
    return np.unique(np.concatenate([pool.sets[pool.sets >= 0] for pool in pools]))


def _tolerance(pools: tuple[StoredPool, ...]) -> int:
    return max(code_tree(pool.code).fault_tolerance for pool in pools)


def _sets_premise(pools: tuple[StoredPool, ...], origin: str = "study") -> Premise:
    groups = sum(len(pool.sets) for pool in pools)
    source = "the acting sets of the dumps" if origin == "dump" else "as its placement makes them"
    return Premise("sets of devices", f"{groups:,}", origin, source)  # type: ignore[arg-type]


def _refuse_codes_options(request: DurabilityRequest) -> None:
    """Refuse what says of a code alone what a study or a cluster says itself."""
    stated = {"device": request.device, "stored": request.stored, "groups": request.groups}
    for key, value in stated.items():
        if value not in ("", None):
            rule = "a study or a cluster says this itself, and here it is of codes alone"
            raise ConfigError(rule, "leave it out", key, f'"{value}"')
