"""The chain of a whole layout: by how many devices are lost, and how many such losses are fatal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from resilver.data_loss.absorbing import Chain
from resilver.data_loss.bursts import joined_sets
from resilver.data_loss.chains import code_chain, group_chain
from resilver.data_loss.correlated import crowd_loss
from resilver.data_loss.exact import REMEDY, not_of_a_chain, repair_mean
from resilver.data_loss.question import Question
from resilver.data_loss.scenario import Described
from resilver.errors import Problem, show
from resilver.figure import Figure
from resilver.simulate import code_tree

_BEYOND = 4
"""So many more losses than every code survives are told apart; each is rarer by far than the one
before where repair is faster than failure. One more counts as fatal."""


@dataclass(frozen=True)
class LayoutChain:
    """A layout as a chain by how many of its devices are lost.

    Attributes:
        devices: How many devices there are.
        fatal: Of 0, 1, 2, ... lost devices, the share that loses data.
        failure_rate: Failures a second of a device.
        repair_seconds: The mean time of a repair, with what comes before it.
        lost_bytes: The bytes expected to be lost within the mission.
    """

    devices: int
    fatal: tuple[float, ...]
    failure_rate: float
    repair_seconds: float
    lost_bytes: Figure

    def chain(self, *, rate: float = 1.0, repair: float = 1.0) -> Chain:
        """The chain, with a rate and a time that are so many times as large."""
        return group_chain(
            self.devices,
            len(self.fatal) - 1,
            failure_rate=self.failure_rate * rate,
            repair_rate=1.0 / (self.repair_seconds * repair),
            fatal=self.fatal,
        )


def chain_of_layout(question: Question, described: Described) -> LayoutChain | Problem:
    """The chain of a system whose groups share devices, or why there is none.

    The share of j lost devices that loses data is counted over the sets that placement made, or
    drawn; that each set of devices which lost nothing is as likely as any other is what it takes
    for granted. What a given group loses is the chain of that group alone.

    Args:
        question: What is asked.
    """
    section = question.section
    problem = not_of_a_chain(question)
    if problem is not None:
        return problem
    if section.unreadable or section.latent_errors:
        return Problem("a chain of a layout has no errors of sectors", REMEDY, "unreadable")
    if section.repairs == "serial":
        rule = "the bytes lost to repairs one after the other have no chain"
        return Problem(rule, REMEDY, "repairs", show("serial"))
    rate = section.failures[0].rate_per_second
    assert rate is not None
    repair = 1.0 / repair_mean(question)
    mission = question.mission_seconds
    lost = math.fsum(
        pool.user_bytes
        * code_chain(code_tree(pool.code), failure_rate=rate, repair_rate=repair).loss_probability(
            mission
        )
        for pool in described.pools
    )
    return LayoutChain(
        devices=described.devices,
        fatal=_fatal(described, question.request.seed),
        failure_rate=rate,
        repair_seconds=1.0 / repair,
        lost_bytes=Figure.exact(lost, "approximate"),
    )


def _fatal(described: Described, seed: int) -> tuple[float, ...]:
    """Of 0, 1, 2, ... lost devices, the share that loses data; as far as one is below 1."""
    used = described.used
    sets, survives = joined_sets(described)
    sets = np.where(sets >= 0, np.searchsorted(used, sets), -1)
    tolerance = min(code_tree(pool.code).fault_tolerance for pool in described.pools)
    shares = [0.0] * (tolerance + 1)
    for lost in range(tolerance + 1, min(tolerance + 1 + _BEYOND, len(used))):
        found = crowd_loss(sets, lost, survives, devices=len(used), seed=seed).probability
        if found >= 1.0:
            break
        # A sample may say a little less of one more loss than of those before it.
        shares.append(max(found, shares[-1]))
    return tuple(shares)
