"""Chains of codes over one another: groups that are pieces of a code above them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from resilver.checked import number, whole
from resilver.data_loss.absorbing import STATES_MAX, Chain
from resilver.data_loss.chains import Repair, group_chain
from resilver.errors import ConfigError, show


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


State = TypeVar("State", bound=Hashable)


def explored_chain(
    start: State, moves: Callable[[State], Iterable[tuple[float, State | None]]]
) -> Chain:
    """The chain of all states that a start leads to.

    Args:
        moves: Of a state, where it goes and at what rate a second; None is loss.

    Raises:
        ConfigError: There are more than 2,000 states.

    >>> mirror = {0: [(2.0, 1)], 1: [(10.0, 0), (1.0, None)]}
    >>> explored_chain(0, mirror.__getitem__).mttdl_seconds()
    6.5
    """
    numbers, order = {start: 0}, [start]
    found: list[tuple[int, int, float]] = []
    for state in order:
        for rate, other in moves(state):
            if rate == 0.0:
                continue
            if other is not None and other not in numbers:
                numbers[other] = len(order)
                order.append(other)
                if len(order) > STATES_MAX:
                    rule = f"a chain has at most {STATES_MAX:,} states"
                    raise ConfigError(rule, "take fewer kinds, steps or lost pieces, or simulate")
            found.append((numbers[state], -1 if other is None else numbers[other], rate))
    rates = np.zeros((len(order), len(order) + 1))
    for state_number, other_number, rate in found:
        rates[state_number, other_number] += rate
    return Chain(rates)


@dataclass(frozen=True)
class Kind:
    """Pieces that fail and are repaired alike.

    Attributes:
        pieces: How many there are.
        failure_rate: Failures a second of each.
        repair_rate: 1 over the mean seconds of a repair, which is exponential; zero for none.
    """

    pieces: int
    failure_rate: float
    repair_rate: float = 0.0


def kinds_chain(
    kinds: Sequence[Kind],
    survives: int | Callable[[tuple[int, ...]], bool],
    *,
    repair: Literal["parallel", "serial"] = "parallel",
) -> Chain:
    """The chain of a group whose pieces are of several kinds, such as disks old and new.

    Args:
        survives: How many pieces may be lost, of whatever kind; or whether so many of each may.
        repair: All lost pieces at once, each at its own rate; or one at a time, any of them alike.

    Raises:
        ConfigError: A number is out of range, or there are more than 2,000 states.

    >>> kinds = [Kind(1, 1.0, 10.0), Kind(1, 2.0, 20.0)]
    >>> mean = kinds_chain(kinds, 1).mttdl_seconds()
    >>> round(mean, 12)  # (1/3 + 1/36 + 2/63) / (1 - 10/36 - 40/63)
    4.5
    """
    for kind in kinds:
        whole("pieces", kind.pieces, most=10**6)
        number("failure_rate", kind.failure_rate)
        number("repair_rate", kind.repair_rate)
    if repair not in ("parallel", "serial"):
        rule = 'repair is "parallel" or "serial"'
        raise ConfigError(rule, "write one of these", key="repair", value=show(repair))
    if callable(survives):
        is_survived = survives
    else:
        most = whole("survives", survives)

        def is_survived(lost: tuple[int, ...]) -> bool:
            return sum(lost) <= most

    def moves(lost: tuple[int, ...]) -> Iterable[tuple[float, tuple[int, ...] | None]]:
        under_way = sum(lost) if repair == "serial" else 1
        for place, kind in enumerate(kinds):
            if lost[place] < kind.pieces:
                more = (*lost[:place], lost[place] + 1, *lost[place + 1 :])
                fails = (kind.pieces - lost[place]) * kind.failure_rate
                yield fails, more if is_survived(more) else None
            if lost[place]:
                fewer = (*lost[:place], lost[place] - 1, *lost[place + 1 :])
                yield lost[place] * kind.repair_rate / under_way, fewer

    return explored_chain((0,) * len(kinds), moves)


def steps_chain(
    pieces: int,
    tolerance: int,
    *,
    failure_rate: float,
    repair_rate: float,
    steps: int,
    repair: Literal["parallel", "serial"] = "parallel",
) -> Chain:
    """The chain of a group whose repairs go in steps, each exponential: Erlang's times.

    A repair then takes its mean within some 1 / sqrt(steps) of it: one step is exponential, many
    are nearly of fixed time.

    Args:
        pieces: How many pieces there are, all alike.
        tolerance: How many may be lost without loss of data.
        failure_rate: Failures a second of each piece that is there.
        repair_rate: 1 over the mean seconds of a whole repair.
        steps: How many steps a repair has.
        repair: Every lost piece at once, or one after the other; a failure does not disturb the
            repairs under way.

    Raises:
        ConfigError: A number is out of range, or there are more than 2,000 states.

    >>> one, many = (steps_chain(3, 1, failure_rate=0.01, repair_rate=1.0, steps=n).mttdl_seconds()
    ...     for n in (1, 50))
    >>> round(one, 1), round(many, 1)  # e^-x is convex: a fixed window of this mean is worse
    (1750.0, 1733.7)
    """
    whole("pieces", pieces, least=1, most=10**6)
    whole("tolerance", tolerance, most=pieces - 1)
    whole("steps", steps, least=1, most=STATES_MAX)
    number("failure_rate", failure_rate)
    pace = steps * number("repair_rate", repair_rate)
    if repair not in ("parallel", "serial"):
        rule = 'repair is "parallel" or "serial"'
        raise ConfigError(rule, "write one of these", key="repair", value=show(repair))

    def parallel(lost: tuple[int, ...]) -> Iterable[tuple[float, tuple[int, ...] | None]]:
        # Lost pieces by the steps that their repair has behind it.
        missing = sum(lost)
        failed = (lost[0] + 1, *lost[1:])
        yield (pieces - missing) * failure_rate, failed if missing < tolerance else None
        for step, count in enumerate(lost):
            if count:
                after = list(lost)
                after[step] -= 1
                if step + 1 < steps:
                    after[step + 1] += 1
                yield count * pace, tuple(after)

    def serial(lost: tuple[int, ...]) -> Iterable[tuple[float, tuple[int, ...] | None]]:
        # How many are lost, and the steps behind the one that is repaired.
        missing, step = lost
        failed = (missing + 1, step)
        yield (pieces - missing) * failure_rate, failed if missing < tolerance else None
        if missing:
            yield pace, (missing, step + 1) if step + 1 < steps else (missing - 1, 0)

    whole_group: tuple[int, ...] = (0, 0) if repair == "serial" else (0,) * steps
    return explored_chain(whole_group, serial if repair == "serial" else parallel)
