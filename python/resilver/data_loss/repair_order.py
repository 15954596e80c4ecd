"""The order in which data is repaired: PG by PG by priority, or device by device; and its worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from resilver.data_loss.answer import Durability, Premise
from resilver.data_loss.question import Question
from resilver.data_loss.reports import Told
from resilver.data_loss.request import ORDERS, Where
from resilver.data_loss.scenario import Described
from resilver.data_loss.simulated import simulated

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
