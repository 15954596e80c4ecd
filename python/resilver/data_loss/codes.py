"""Codes alone: one group after the other on devices of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from resilver import catalog
from resilver.data_loss.answer import Durability, Premise
from resilver.data_loss.bursts import code_bursts
from resilver.data_loss.exact import (
    Found,
    GroupChain,
    chain_of,
    elasticities,
    found_by,
    is_counted,
    is_one_law,
    not_of_a_chain,
)
from resilver.data_loss.figures import annual_of, times_of
from resilver.data_loss.input import Parts, failures_json, premises_of, repair_json
from resilver.data_loss.question import REPAIR_DEFAULT, Question, question_of, refuse_slow_repairs
from resilver.data_loss.request import DurabilityRequest, Where
from resilver.data_loss.scenario import INDEPENDENT, Described, Level, StoredPool, Told
from resilver.data_loss.simulated import simulated
from resilver.errors import ConfigError, Problem, show, under
from resilver.simulate import CodeTree, code_tree
from resilver.spec.drawn_times import DrawnTime, RepairSpeed
from resilver.units import Bytes, exact_rate, format_bytes

_SIMULATED_MAX = 10_000_000


def code_subject(
    text: str, request: DurabilityRequest
) -> Callable[[Where, Told | None], Durability]:
    """What asks a code alone, checked and not yet performed.

    Raises:
        ConfigError: The text is no code, or a value cannot be.
    """
    code = code_tree(text)
    request = replace(request, groups=groups_of(request, code))
    question = question_of_code(request)
    method = question.section.method
    group = _group_of(code, question)
    if isinstance(group, Problem) and method == "exact":
        raise ConfigError(group)
    if isinstance(group, Problem) or method not in ("auto", "exact"):
        described = described_code(text, question)
        is_decimal = sizes_are_decimal(request)
        return lambda where, told: replace(
            simulated(described, question, where, told), is_decimal=is_decimal
        )
    return lambda _, __: _answer(group, question)


def _answer(group: GroupChain, question: Question) -> Durability:
    code, request = group.code, question.request
    found = found_by(group, question.mission_seconds)
    by_sectors, lost = _by_sectors(group, question, found)
    stored = stored_bytes(request, code)
    return Durability(
        name=code.name,
        code=code.name,
        overhead=code.pieces / code.data,
        devices=group.groups * code.pieces,
        groups=group.groups,
        user_bytes=stored,
        mission_seconds=question.mission_seconds,
        loss_probability=found.loss,
        annual=annual_of(found.loss, question.mission_seconds),
        mttdl_seconds=found.mttdl,
        expected_lost_bytes=None if stored is None else times_of(found.group_loss, lost),
        object_loss_probability=found.group_loss,
        causes={
            question.section.failures[0].called("device"): 1.0 - by_sectors,
            **({"unreadable sectors": by_sectors} if by_sectors else {}),
        },
        survival=found.survival,
        bursts=code_bursts(code, group.groups, request.bursts) if request.bursts else None,
        sensitivity=elasticities(group, question.mission_seconds, "device failures")
        if request.sensitivity
        else None,
        premises=premises_of_code(question, code),
        notes=tuple(_notes(group, question)),
        is_decimal=sizes_are_decimal(request),
    )


def _by_sectors(group: GroupChain, question: Question, found: Found) -> tuple[float, float]:
    """The share of losses that unreadable sectors make, and the bytes of a loss in the mean.

    A device too many takes what its group holds, of all that is stored; a sector takes what it is
    part of (`error_size`), and a repair meets more than one where it reads much.
    """
    stored = stored_bytes(question.request, group.code) or 0.0
    loss = found.group_loss.value
    if not group.unreadable or not loss:
        return 0.0, stored
    by_devices = found_by(replace(group, unreadable=0.0), question.mission_seconds)
    share = max(0.0, 1.0 - (by_devices.group_loss.value or 0.0) / loss)
    met = math.inf if group.unreadable == 1.0 else -math.log1p(-group.unreadable)
    of_sectors = float(question.section.error_size) * met / group.unreadable * group.groups
    return share, (1.0 - share) * stored + share * min(stored, of_sectors)


def _notes(group: GroupChain, question: Question) -> Iterator[str]:
    if not is_one_law(question):
        yield (
            "Times from a failure to the end of its repair are taken as exponential with their "
            "mean. The law hardly matters for parallel repairs; for serial ones it does."
        )
    if not is_counted(group.code) and not group.is_by_sets:
        yield (
            "All loss patterns of the same size are treated alike: a good approximation where "
            "repair is much faster than failure."
        )
    if group.groups > 1:
        yield "Each group is on devices of its own."
    if group.unreadable:
        yield (
            f"A repair with no redundancy left meets an unreadable sector with a probability of "
            f"{group.unreadable:.3g}, which counts as a loss of "
            f"{format_bytes(question.section.error_size)} a sector."
        )
    yield INDEPENDENT


def _group_of(code: CodeTree, question: Question) -> GroupChain | Problem:
    """The chain of a code's group, or why it has none."""
    problem = not_of_a_chain(question)
    if problem is not None:
        return problem
    section, request = question.section, question.request
    device = device_bytes(request)
    if device is None and (section.unreadable or section.latent_errors):
        rule = "how many errors a repair meets depends on what a device holds"
        raise ConfigError(rule, 'say so, such as device = "20 TB"', "device")
    return chain_of(
        code, groups_of(request, code), question, 0.0 if device is None else float(device)
    )


def question_of_code(request: DurabilityRequest) -> Question:
    """What is asked of a code alone: a time that is given is the mean of an exponential law.

    Raises:
        ConfigError: A value cannot be, or is of more than a code.
    """
    question = question_of(request, None, repair=REPAIR_DEFAULT)
    section = question.section
    if section.repair.kind == "simulate":
        rule = "a code alone has no rebuild that could be simulated"
        remedy = 'say how long one takes, such as "10 h", or ask a study'
        raise ConfigError(rule, remedy, "repair", show("simulate"))
    for index, failure in enumerate(section.failures):
        if failure.level is not None or failure.device_class is not None:
            rule = "a code alone has devices of one kind"
            remedy = "leave the class out, or ask a study or a cluster"
            value = show(failure.device_class or failure.level)
            raise ConfigError(rule, remedy, f"failures.{index}", value)
    repair = _exponential(section.repair, device_bytes(request))
    # A device's repair is that of its group's piece, which is back at the end.
    changed = section.model_copy(update={"repair": repair, "returns": "devices"})
    refuse_slow_repairs(changed)
    return Question(changed, question.origins, request)


def _exponential(repair: RepairSpeed, device: int | None) -> RepairSpeed:
    """The repair of a device as one exponential time, or the law that was given."""
    if repair.kind == "shared":
        rate = dict(repair.rates)["device"]
        if device is None:
            rule = "how long a device's repair takes depends on what it holds"
            remedy = 'say so, such as device = "20 TB", or give a time'
            raise ConfigError(rule, remedy, "repair", show(exact_rate(rate)))
        return RepairSpeed("times", (DrawnTime("exponential", (device / rate,)),))
    times = tuple(
        DrawnTime("exponential", one.seconds) if one.kind == "fixed" else one
        for one in repair.times
    )
    return RepairSpeed("times", times)


def device_bytes(request: DurabilityRequest) -> int | None:
    """What a device holds, if it is said."""
    if not request.device:
        return None
    size = _bytes(request.device, "device")
    if not size:
        rule = "a device holds something"
        raise ConfigError(rule, 'such as "20 TB"', "device", show(request.device))
    return size


def sizes_are_decimal(request: DurabilityRequest) -> bool:
    """Whether the sizes that are stated are decimal: TB, not TiB."""
    stated = request.stored or request.device
    return bool(stated) and not stated.rstrip().endswith("iB")


def stored_bytes(request: DurabilityRequest, code: CodeTree) -> float | None:
    """User bytes in all, if they are said or follow."""
    if request.stored:
        return float(_bytes(request.stored, "stored"))
    device = device_bytes(request)
    return None if device is None else float(device) * code.data * groups_of(request, code)


def groups_of(request: DurabilityRequest, code: CodeTree) -> int:
    """How many groups there are: as many as what is stored needs, where nothing else is said.

    Raises:
        ConfigError: What is stored does not say it, or does not fit.
    """
    if not request.stored:
        return request.groups or 1
    device, stored = device_bytes(request), _bytes(request.stored, "stored")
    if device is None:
        if request.groups is None:
            rule = "how many groups hold this depends on what a device holds"
            remedy = 'state it, such as device = "20 TB", or groups, such as 100'
            raise ConfigError(rule, remedy, "stored", show(request.stored))
        return request.groups
    needed = max(1, -(-stored // (device * code.data)))
    if request.groups is not None and request.groups < needed:
        rule = (
            f"{request.stored} of {code.name} fill {needed:,} groups of devices of {request.device}"
        )
        remedy = "give more groups, or leave them out"
        raise ConfigError(rule, remedy, "groups", show(request.groups))
    return request.groups or needed


def _bytes(text: str, key: str) -> int:
    with under(key):
        return int(Bytes.parse(text))


def described_code(text: str, question: Question) -> Described:
    """A code alone as a system.

    Args:
        question: What is asked.

    Raises:
        ConfigError: There are more groups than are simulated.
    """
    code = code_tree(text)
    request = question.request
    groups = groups_of(request, code)
    if groups * code.pieces > _SIMULATED_MAX:
        rule = f"{groups:,} groups have more than {_SIMULATED_MAX:,} devices"
        raise ConfigError(rule, "ask for fewer, whose losses add up", "groups", show(groups))
    sets = np.arange(groups * code.pieces, dtype=np.int64).reshape(groups, -1)
    stored = stored_bytes(request, code)
    size = 1 if stored is None else max(1, round(stored / (groups * code.data)))
    numbers = {f"device.{one}": one for one in range(sets.size)}
    parts = Parts(("device",), (numbers,), [""] * sets.size, np.arange(sets.size))
    return Described(
        name=code.name,
        mission_seconds=question.mission_seconds,
        levels=(Level("device", np.zeros(sets.size, dtype=np.int64)),),
        pools=(StoredPool("group", code.name, sets, np.full(len(sets), size, dtype=np.int64)),),
        failures=failures_json(question, parts),
        repair=repair_json(question, parts, None),
        latent=question.section.latent_content(),
        premises=premises_of_code(question, code),
        has_volume=stored is not None,
    )


def premises_of_code(question: Question, code: CodeTree) -> tuple[Premise, ...]:
    """What the answer of a code alone rests on."""
    rows = premises_of(question, "device")
    request = question.request
    if request.device:
        rows.append(Premise("a device holds", request.device, "stated"))
    if request.stored:
        rows.append(Premise("stored", request.stored, "stated"))
        if not request.device:
            held = _bytes(request.stored, "stored") / (groups_of(request, code) * code.data)
            name, largest = _largest_disk()
            source = f"{held / largest:.2g} x the largest disk of the catalog, {name}"
            rows.append(Premise("a device holds", f"{held / 1e12:,.4g} TB", "assumed", source))
    return tuple(rows)


def _largest_disk() -> tuple[str, int]:
    """The disk of the catalog that holds most, and what that is."""
    held = {
        name: Bytes.parse(content["capacity"])
        for name in catalog.list("devices")
        if "capacity" in (content := catalog.load("devices", name).data_sheet)
    }
    name = max(held, key=held.__getitem__)
    return name, int(held[name])
