"""How likely the sets of a placement lose data in a year, of devices that fail by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import replica_sets
from resilver.data_loss.answer import Durability, Premise
from resilver.data_loss.input import Parts, failures_json, repair_json
from resilver.data_loss.question import Question, refuse_slow_repairs
from resilver.data_loss.request import ORDERS, DurabilityRequest, Where
from resilver.data_loss.scenario import Described, Level, StoredPool, Told
from resilver.data_loss.simulated import simulated
from resilver.figure import Figure
from resilver.spec.durability import DurabilityQuestion


@dataclass(frozen=True)
class PlacedLoss:
    """How likely a placement loses data in a year.

    Attributes:
        loss: The probability by the order that was asked for.
        other: By the other order; None where it is not known.
    """

    loss: Figure
    other: float | None


def placed_question(afr: str, repair: str, order: str) -> Question:
    """What is asked of a placement.

    Args:
        afr: The share of devices that fails in a year.
        repair: Until all that a failed device held is repaired.
        order: One of `ORDERS`.

    Raises:
        ConfigError: A value cannot be.
    """
    keys = {"repair": repair, "failures": [{"afr": afr}], **ORDERS[order]}
    section = DurabilityQuestion.from_table(keys, Path.cwd())
    refuse_slow_repairs(section)
    return Question(section, {}, DurabilityRequest())


def placed_loss(
    sets: Any,
    question: Question,
    *,
    fatal: int,
    devices: int,
    set_bytes: npt.NDArray[np.float64] | None = None,
) -> PlacedLoss | None:
    """How likely some set loses data in a year, simulated as `resilver.durability` does.

    Args:
        sets: A row a set, of device numbers; -1 for a hole, which counts as lost.
        question: What is asked.
        fatal: How many lost members lose a set's data.
        devices: How many devices there are.
        set_bytes: Bytes of one member of each set; alike where they are not known.

    Returns:
        The probability; None where no set may lose anything more.
    """
    array = replica_sets(sets)
    holds = (array < 0).sum(axis=1) < fatal
    if set_bytes is not None:
        holds &= set_bytes > 0
    array = array[holds]
    if not array.size:
        return None
    sizes = np.ones(len(array)) if set_bytes is None else set_bytes[holds]
    if fatal == 1 and array.shape[1] > 1:
        # A set that survives nothing is as many as it has members.
        sizes = np.repeat(sizes, array.shape[1])[array.ravel() >= 0]
        array = array[array >= 0].reshape(-1, 1)
    width = array.shape[1]
    code = f"copies {width}" if fatal == width else f"rs {width - fatal + 1}+{fatal - 1}"
    used = np.unique(array[array >= 0])
    parts = Parts(("device",), ({},), [""] * devices, used)
    described = Described(
        name="placement",
        mission_seconds=question.mission_seconds,
        levels=(Level("device", np.zeros(devices, dtype=np.int64)),),
        pools=(StoredPool("sets", code, array, np.ceil(sizes).astype(np.int64)),),
        failures=tuple({**one, "parts": used.tolist()} for one in failures_json(question, parts)),
        repair=repair_json(question, parts, None),
    )
    where = Where()
    found = simulated(described, question, where, None)
    return PlacedLoss(found.loss_probability, other_loss(described, question, where, None))


WORDS: Mapping[str, str] = {
    "priority": "{0} by {0}, those with the fewest {1} left first",
    "group": "{0} by {0}, in any order",
    "device": "device by device, each back as a whole at the end of its repair",
}

OTHER_ERROR = 0.2
"""The relative standard error to which the loss by the other order is simulated."""


def order_of(repair: Mapping[str, Any]) -> str:
    """The order of a repair as the core reads it: a key of `WORDS`."""
    if repair["returns"] == "devices":
        return "device"
    return "priority" if repair["most_lost_first"] else "group"


def order_words(order: str, unit: str) -> str:
    """An order for people: of PGs of Ceph, or of groups.

    Args:
        order: A key of `WORDS`.
        unit: ``PG`` or ``group``.
    """
    return WORDS[order].format(unit, "copies or shards" if unit == "PG" else "pieces")


def with_order(
    answer: Durability, described: Described, question: Question, where: Where, told: Told | None
) -> Durability:
    """The answer with the repair order first in what it rests on, and what the other would give.

    Args:
        answer: The answer by the question's order.
        described: The system.
        question: What is asked of it.
        where: Where missions are simulated and kept.
        told: Told how far it is.

    Returns:
        The answer as it is where no device is in two sets: then both orders are one.
    """
    sets = np.concatenate([pool.sets[pool.sets >= 0] for pool in described.pools])
    if len(np.unique(sets)) == len(sets):
        return answer
    order = order_of(described.repair)
    other = "priority" if order == "device" else "device"
    loss = answer.loss_probability.value
    source = ""
    if loss and question.section.method != "exact":
        found = other_loss(described, question, where, told)
        words = order_words(other, described.unit).partition(",")[0]
        words += " by priority" if other == "priority" else ""
        source = f"{words}: {_compared(found, loss)}"
    origin = question.origin("returns")
    premise = Premise("repair order", order_words(order, described.unit), origin, source)
    return replace(answer, premises=(premise, *answer.premises))


def other_loss(
    described: Described, question: Question, where: Where, told: Told | None
) -> float | None:
    """The probability of a loss by the other order, known to `OTHER_ERROR`; None if it is not."""
    other = "priority" if order_of(described.repair) == "device" else "device"
    section = question.section
    error = max(OTHER_ERROR, section.relative_error)
    request = replace(question.request, sensitivity=False)
    found = simulated(
        replace(described, repair={**described.repair, **ORDERS[other]}),
        replace(
            question, section=section.model_copy(update={"relative_error": error}), request=request
        ),
        where,
        told,
    )
    return found.loss_probability.value


def _compared(other: float | None, loss: float) -> str:
    if other is None:
        return "not known, too few losses were simulated"
    ratio = other / loss
    if 1 / (1 + 3 * OTHER_ERROR) < ratio < 1 + 3 * OTHER_ERROR:
        return f"{other:.2g}, about the same"
    times = f"{ratio:.2g} times as" if ratio > 1 else f"{1 / ratio:.2g} times less"
    return f"{other:.2g}, {times} likely"
