"""How likely the sets of a placement lose data in a year, of devices that fail by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import replica_sets
from resilver.data_loss.input import Parts, failures_json, repair_json
from resilver.data_loss.question import Question, refuse_slow_repairs
from resilver.data_loss.repair_order import other_loss
from resilver.data_loss.request import ORDERS, DurabilityRequest, Where
from resilver.data_loss.scenario import Described, Level, StoredPool
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
