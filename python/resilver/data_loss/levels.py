"""Chains of codes over one another: groups that are pieces of a code above them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from resilver.checked import number, whole
from resilver.data_loss.absorbing import Chain
from resilver.data_loss.chains import Repair, group_chain
from resilver.data_loss.kinds import explored_chain
from resilver.errors import ConfigError


@dataclass(frozen=True)
class LevelCode:
    """The code of one level, and how fast it makes pieces anew.

    Attributes:
        pieces: How many pieces it has: groups of the level below, devices at the lowest.
        tolerance: How many of them may be lost wherever they are.
        repair_rate: 1 over the mean seconds of the repair of one, which is exponential: below the
            top, of a whole dead group, from the others.
        repair: As of `resilver.data_loss.chains.group_chain`.
    """

    pieces: int
    tolerance: int
    repair_rate: float
    repair: Repair = "parallel"


def levels_chain(levels: Sequence[LevelCode], *, failure_rate: float) -> Chain:
    """The chain of the top level, whose pieces fail at the rate at which groups below die.

    A group is taken to die at a constant rate, 1 over its mean time to death from whole. That is
    near where groups live far longer than their repairs take; `joint_chain` leaves nothing out.

    Args:
        levels: The levels, the top one first.
        failure_rate: Failures a second of each device.

    Raises:
        ConfigError: There is no level, or a number is out of range.

    >>> hour = 3600.0
    >>> raid = LevelCode(10, 2, repair_rate=1 / (24 * hour))
    >>> above = LevelCode(20, 3, repair_rate=1 / (200 * hour))
    >>> chain = levels_chain([above, raid], failure_rate=1e-6 / hour)
    >>> f"{chain.mttdl_seconds() / hour:.3e} h"
    '3.493e+39 h'
    """
    if not levels:
        rule = "there is one level or more"
        raise ConfigError(rule, "give codes, the top one first", key="levels")
    rate = number("failure_rate", failure_rate)
    for level in reversed(levels):
        chain = group_chain(
            level.pieces,
            level.tolerance,
            failure_rate=rate,
            repair_rate=level.repair_rate,
            repair=level.repair,
        )
        # A group that never dies has an infinite mean, and the level above never loses one.
        rate = 1.0 / chain.mttdl_seconds()
    return chain


def joint_chain(above: LevelCode, below: LevelCode, *, failure_rate: float) -> Chain:
    """The chain of two levels at once: how many groups lack how many devices, and how many died.

    Args:
        above: The upper code; its repair rate is that of a whole dead group, whose devices are all
            new and whole when it is back.
        below: The lower one, of whose groups the upper has as pieces.
        failure_rate: Failures a second of each device of a group that is alive.

    Returns:
        The chain, exact: groups are alike, so only their numbers count.

    Raises:
        ConfigError: A number is out of range, or there are more than 2,000 states.

    >>> pairs = LevelCode(2, 1, repair_rate=10.0)
    >>> exact = joint_chain(LevelCode(2, 1, 5.0), pairs, failure_rate=0.1).mttdl_seconds()
    >>> near = levels_chain([LevelCode(2, 1, 5.0), pairs], failure_rate=0.1).mttdl_seconds()
    >>> 0.99 < near / exact < 1.01
    True
    """
    lower = group_chain(
        below.pieces,
        below.tolerance,
        failure_rate=failure_rate,
        repair_rate=below.repair_rate,
        repair=below.repair,
    ).rates
    upper = group_chain(
        above.pieces, above.tolerance, failure_rate=0.0, repair_rate=above.repair_rate,
        repair=above.repair,
    ).rates  # fmt: skip
    alive = len(lower)
    whole("pieces", above.pieces, least=1, most=10_000)

    def moves(groups: tuple[int, ...]) -> Iterable[tuple[float, tuple[int, ...] | None]]:
        # Numbers of groups that lack 0, 1, ... devices, and of dead ones at the end.
        dead = groups[-1]
        for state in range(alive):
            if not groups[state]:
                continue
            for other in range(alive + 1):
                rate = groups[state] * float(lower[state, other])
                if other == alive and dead == above.tolerance:
                    yield rate, None
                else:
                    yield rate, _moved(groups, state, other)
        if dead:
            yield float(upper[dead, dead - 1]), _moved(groups, alive, 0)

    return explored_chain((above.pieces, *[0] * alive), moves)


def _moved(groups: tuple[int, ...], state: int, other: int) -> tuple[int, ...]:
    after = list(groups)
    after[state] -= 1
    after[other] += 1
    return tuple(after)
