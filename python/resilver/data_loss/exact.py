"""Answers by Markov chains: a code alone, and systems of groups on devices of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from resilver.data_loss.absorbing import Chain, any_loss
from resilver.data_loss.chains import code_chain, misread_chance
from resilver.data_loss.question import Question
from resilver.data_loss.scenario import Described
from resilver.data_loss.sets import sets_chain
from resilver.errors import Problem, show
from resilver.figure import Figure, Method
from resilver.simulate import CodeTree, code_tree

TIMES = 24
"""How many times of the mission a survival curve has."""

_SETS_PIECES_MAX = 13
"""The most pieces of a code of which every set of lost ones is looked at: a tenth of a second."""

_STEP = 0.01


@dataclass(frozen=True)
class GroupChain:
    """The chain of one of several like groups, each on devices of its own.

    Attributes:
        groups: How many groups there are.
        failure_rate: Failures a second of a device.
        repair_seconds: The mean time of a repair, with what comes before it.
        is_serial: Whether repairs of one group go one after the other.
        unreadable: The chance that a repair with none to spare meets what it cannot read.
        method: Whether the chain is the system, or leaves something out.
    """

    code: CodeTree
    groups: int
    failure_rate: float
    repair_seconds: float
    is_serial: bool = False
    unreadable: float = 0.0
    method: Method = "exact"

    def chain(self, *, rate: float = 1.0, repair: float = 1.0, unreadable: float = 1.0) -> Chain:
        """The chain, with rates and times that are so many times as large."""
        fails, mends = self.failure_rate * rate, 1.0 / (self.repair_seconds * repair)
        order: Literal["serial", "parallel"] = "serial" if self.is_serial else "parallel"
        if self.is_by_sets:
            one = self.code.levels[0]
            return sets_chain(
                one.pieces, one.is_survivable, failure_rate=fails, repair_rate=mends, repair=order
            )
        return code_chain(
            self.code,
            failure_rate=fails,
            repair_rate=mends,
            repair=order,
            unreadable=min(1.0, self.unreadable * unreadable),
        )

    @property
    def is_by_sets(self) -> bool:
        """Whether the chain tells apart which pieces are lost, not only how many."""
        is_small = self.code.pieces <= _SETS_PIECES_MAX and len(self.code.levels) == 1
        return is_small and not self.unreadable and not is_counted(self.code)


def is_counted(code: CodeTree) -> bool:
    """Whether the number of lost pieces alone says if they are survived."""
    lowest = code.levels[-1]
    return len(code.levels) == 1 and lowest.fault_tolerance == lowest.parity


@dataclass(frozen=True)
class Found:
    """What a chain says.

    Attributes:
        loss: The probability that any group loses data within the mission.
        group_loss: That a given one does.
        mttdl: The mean time to the first loss, in seconds.
        survival: As of `Durability.survival`.
    """

    loss: Figure
    group_loss: Figure
    mttdl: Figure
    survival: pa.Table


def found_by(group: GroupChain, mission_seconds: float) -> Found:
    """What the chain of a group says of a mission of all groups."""
    chain = group.chain()
    alone = chain.loss_probability(mission_seconds)
    # From all whole, the time to a group's loss is exponential but for the first few repairs, so
    # that the rates of all groups add up where losses are rare.
    return Found(
        Figure.exact(any_loss(alone, group.groups), group.method),
        Figure.exact(alone, group.method),
        Figure.exact(chain.mttdl_seconds() / group.groups, group.method),
        survival_of(chain, mission_seconds, group.groups),
    )


def survival_of(chain: Chain, mission_seconds: float, groups: int = 1) -> pa.Table:
    """The probability that none of several groups was lost, at times of the mission.

    Args:
        mission_seconds: How long the mission is.
        groups: How many there are, on devices of their own.

    Returns:
        As of `Durability.survival`.
    """
    times = np.linspace(0.0, mission_seconds, TIMES + 1)
    lost = [any_loss(chain.loss_probability(float(time)), groups) for time in times]
    survival = [1.0 - loss for loss in lost]
    columns = {
        **dict.fromkeys(("survival", "low", "high"), survival),
        **dict.fromkeys(("loss_probability", "loss_low", "loss_high"), lost),
    }
    return pa.table({"time_seconds": times, **columns})


def elasticities(group: GroupChain, mission_seconds: float, what: str) -> pa.Table:
    """By what share the loss probability changes for a share by which a rate does.

    Args:
        mission_seconds: How long data has to last.
        what: What fails.

    Returns:
        As `slopes`.
    """

    def loss(**factors: float) -> float:
        chain = group.chain(**factors)
        return any_loss(chain.loss_probability(mission_seconds), group.groups)

    factors = {f"rate of {what}": "rate", "repair time": "repair"}
    if group.unreadable:
        factors["rate of unreadable sectors"] = "unreadable"
    return slopes(loss, factors)


def slopes(loss: Callable[..., float], factors: Mapping[str, str]) -> pa.Table:
    """d log p / d log factor of each factor, by central differences of 1 %.

    Args:
        loss: The loss probability with factors by their keywords.
        factors: What each is called, and its keyword.

    Returns:
        As of `Durability.sensitivity`, the strongest first.
    """
    rows: list[dict[str, object]] = []
    for name, key in factors.items():
        value = _slope(lambda factor, key=key: loss(**{key: factor}))  # type: ignore[misc]
        rows.append({"factor": name, "elasticity": value, "low": value, "high": value})
    return sensitivity_table(rows)


def sensitivity_table(rows: list[dict[str, object]]) -> pa.Table:
    """Rows of `Durability.sensitivity`, the strongest first."""
    ordered = sorted(rows, key=_strength)
    schema = pa.schema(
        [("factor", pa.string())] + [(key, pa.float64()) for key in ("elasticity", "low", "high")]
    )
    return pa.Table.from_pylist(ordered, schema)


def _strength(row: dict[str, object]) -> tuple[float, str]:
    value = row["elasticity"]
    # What is not known comes last.
    return -abs(value) if isinstance(value, float) else math.inf, str(row["factor"])


def _slope(loss: Callable[[float], float]) -> float:
    more, less = loss(1 + _STEP), loss(1 - _STEP)
    if more <= 0 or less <= 0:
        return 0.0
    return (math.log(more) - math.log(less)) / (math.log1p(_STEP) - math.log1p(-_STEP))


def chain_of_system(question: Question, described: Described) -> GroupChain | Problem:
    """The chain of a system's groups, or why there is none that is exact.

    Args:
        question: What is asked.
    """
    problem = not_of_a_chain(question) or _not_apart(described)
    if problem is not None:
        return problem
    pool = described.pools[0]
    return chain_of(code_tree(pool.code), len(pool.sets), question, float(pool.piece_bytes.mean()))


def chain_of(code: CodeTree, groups: int, question: Question, device_bytes: float) -> GroupChain:
    """The chain of like groups on devices of their own.

    Args:
        groups: How many groups there are.
        question: What is asked, of which a chain exists (`not_of_a_chain`).
        device_bytes: What a device holds of its group.
    """
    section = question.section
    rate = section.failures[0].rate_per_second
    assert rate is not None
    chain = GroupChain(
        code=code,
        groups=groups,
        failure_rate=rate,
        repair_seconds=repair_mean(question),
        is_serial=section.repairs == "serial",
        unreadable=unreadable_chance(question, code.data * device_bytes),
    )
    is_exact = is_one_law(question) and (is_counted(code) or chain.is_by_sets)
    return replace(chain, method="exact" if is_exact else "approximate")


REMEDY = 'leave out method = "exact", and it is simulated'


def repair_mean(question: Question) -> float:
    """The mean time from a loss until it is made good, in seconds."""
    section = question.section
    return (
        section.detection.mean_seconds
        + section.replacement.mean_seconds
        + section.repair.times[0].mean_seconds
    )


def unreadable_chance(question: Question, read_bytes: float) -> float:
    """The chance that a repair which reads so much, with none to spare, meets an error."""
    section = question.section
    every = section.scrub_every
    return misread_chance(
        read_bytes,
        per_byte_read=float(section.unreadable),
        per_byte_second=float(section.latent_errors),
        scrub_seconds=None if every is None else float(every),
        mission_seconds=question.mission_seconds,
    )


def is_one_law(question: Question) -> bool:
    """Whether the time until a loss is made good is exponential."""
    section = question.section
    waits = section.detection.mean_seconds + section.replacement.mean_seconds
    return not waits and section.repair.times[0].kind == "exponential"


def not_of_a_chain(question: Question) -> Problem | None:
    """Why failures or repairs are none of a chain's; None where they are.

    Args:
        question: What is asked.
    """
    section = question.section
    if len(section.failures) != 1:
        rule = "a chain has one way to fail, and here are several"
        remedy = 'leave out method = "exact"; of a cluster, hosts = "never" leaves one'
        return Problem(rule, remedy, "durability.failures")
    if section.crews is not None:
        return Problem("sets wait for a repair crew", REMEDY, "crews", show(section.crews))
    failure = section.failures[0]
    key = "durability.failures.0"
    if failure.level is not None or failure.parts or failure.device_class is not None:
        return Problem("a chain's devices fail all alike", REMEDY, key)
    if failure.lasts is not None or failure.burst is not None:
        return Problem("a chain's devices are lost one by one", REMEDY, key)
    if failure.rate_per_second is None:
        return Problem("a chain's devices fail at a constant rate", REMEDY, f"{key}.{failure.law}")
    if section.repair.kind != "times" or len(section.repair.times) != 1:
        rule = "a chain's repair takes one time, which is given"
        return Problem(rule, REMEDY, "repair", show(section.repair.label))
    if section.returns != "devices":
        rule = "a chain's device is whole at the end of its repair, and not group after group"
        return Problem(rule, 'say returns = "devices", or have it simulated', "returns")
    return None


def _not_apart(described: Described) -> Problem | None:
    """Why groups are not each on devices of their own."""
    if len(described.pools) != 1:
        return Problem("a chain has one pool, and here are several", REMEDY, "pools")
    sets = described.pools[0].sets
    if (sets < 0).any() or len(np.unique(sets)) != sets.size:
        rule = "a chain's groups have devices of their own, and here they share some"
        return Problem(rule, REMEDY, "placement")
    return None
