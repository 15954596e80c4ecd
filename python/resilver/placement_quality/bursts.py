"""How likely failures that come at once lose data: of random devices, and of whole enclosures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from resilver.checked import whole
from resilver.errors import ConfigError, show
from resilver.placement_quality.loss_counts import Level, power, survived_by_level

FAILURES_MAX = 200
"""The most failures of a burst: counting so many among two million devices takes seconds."""

GROUPS_MAX = 1_000_000
"""The most groups that bursts fall on."""

PATTERNS_MAX = 1_000_000
"""The most ways to lose enclosures and pieces before them that are looked at each."""


@dataclass(frozen=True)
class BurstLoss:
    """What a burst of random failures loses.

    Attributes:
        failures: How many devices fail at once, any of them alike.
        devices: Of how many.
        data: The probability that data are lost.
        dead_groups: Of each level below the top, from top to bottom, the probability that some
            group of it is dead: that its own code does not survive.
    """

    failures: int
    devices: int
    data: float
    dead_groups: tuple[float, ...]


def burst_losses(levels: Sequence[Level], failures: int, *, groups: int = 1) -> list[BurstLoss]:
    """What bursts of random failures lose of groups of devices, by how many fail.

    Each group of the top level has the devices of one stripe, and loses data where its stripes do:
    so it is for RAID groups, and for groups of them under an upper code.

    Args:
        levels: The codes, the top one first: ``resilver.code_tree(text).levels``.
        failures: The most failures.
        groups: How many groups of the top level there are.

    Returns:
        For 1 to `failures`, exact probabilities, rounded once: the sets survived are the
        coefficient of x^f in the polynomial of a group (see
        `resilver.placement_quality.loss_counts`) to the power of the groups' number, and all sets
        C(devices, f).

    Raises:
        ConfigError: A number is out of range, or a code's sets are too many to count.

    >>> import resilver
    >>> levels = resilver.code_tree("rs 2+1 over rs 6+1").levels
    >>> two, _, four = burst_losses(levels, 4)[1:]
    >>> two.data, two.dead_groups  # 3 C(7, 2) of C(21, 2) kill a group
    (0.0, (0.3,))
    >>> round(four.data, 6)  # 3 C(7, 2)^2 of C(21, 4)
    0.221053
    """
    devices = whole("groups", groups, least=1, most=GROUPS_MAX)
    for code in levels:
        devices *= code.pieces
    failures = whole("failures", failures, least=1, most=min(FAILURES_MAX, devices))
    survived = survived_by_level(levels, failures)
    if survived is None:
        rule = "a code has more than ten million sets of so many lost pieces"
        remedy = "ask for fewer failures, or a code of fewer pieces"
        raise ConfigError(rule, remedy, key="failures", value=show(failures))
    chances = []
    for code, of_one in zip(levels, survived, strict=True):
        of_all = power(of_one, groups, failures)
        of_all += [0] * (failures + 1 - len(of_all))
        chances.append(
            [float(1 - Fraction(of_all[f], comb(devices, f))) for f in range(failures + 1)]
        )
        groups *= code.pieces
    return [
        BurstLoss(number, devices, chances[0][number], tuple(one[number] for one in chances[1:]))
        for number in range(1, failures + 1)
    ]


def enclosure_loss_probability(
    pieces: int,
    survives: Callable[[list[int]], bool],
    *,
    across: int,
    rebuilding: int,
    groups: int | None = None,
    lost: int = 1,
    enclosures: int = 1,
) -> float:
    """The probability that enclosures lost at once lose some group's data while others rebuild.

    Each group has its pieces dealt over the enclosures in turn: piece i is in enclosure i modulo
    `across`. Of the rebuilding groups each lacks pieces of its own, any alike, whichever the others
    lack; then enclosures are lost, any alike, with all that they hold.

    Args:
        pieces: Pieces of a group, each on a device of its own.
        survives: Whether a group survives the loss of some pieces, such as
            ``resilver.redundancy("rs 8+2").is_survivable``.
        across: Over how many enclosures a group is dealt.
        rebuilding: How many groups rebuild.
        groups: How many groups there are. Default: those that rebuild.
        lost: How many pieces each of them lacks.
        enclosures: How many enclosures are lost.

    Returns:
        The probability, exact: one less the mean, over the enclosures lost, of a whole group's
        survival (0 or 1) and of a rebuilding one's chance to the power of their number.

    Raises:
        ConfigError: A number is out of range, or the ways to lose are more than a million.

    >>> import resilver
    >>> survives = resilver.redundancy("rs 8+2").is_survivable
    >>> enclosure_loss_probability(10, survives, across=5, rebuilding=2)  # 1 - (1/5)^2
    0.96
    >>> enclosure_loss_probability(10, survives, across=10, rebuilding=2)
    0.0
    """
    pieces = whole("pieces", pieces, least=1, most=1 << 20)
    across = whole("across", across, least=1, most=pieces)
    enclosures = whole("enclosures", enclosures, least=1, most=across)
    lost = whole("lost", lost, most=pieces)
    groups = rebuilding if groups is None else groups
    groups = whole("groups", groups, most=GROUPS_MAX)
    rebuilding = whole("rebuilding", rebuilding, most=groups)
    patterns = comb(across, enclosures) * comb(pieces, lost)
    if patterns > PATTERNS_MAX:
        rule = f"there are {patterns:,} ways to lose these, more than {PATTERNS_MAX:,}"
        remedy = "take fewer enclosures or lost pieces"
        raise ConfigError(rule, remedy, key="across", value=show(across))
    safe = Fraction(0)
    for gone in combinations(range(across), enclosures):
        inside = {piece for piece in range(pieces) if piece % across in gone}
        if rebuilding < groups and not survives(sorted(inside)):
            continue
        before = combinations(range(pieces), lost) if rebuilding else ()
        saved = sum(survives(sorted(inside.union(own))) for own in before)
        safe += Fraction(saved, comb(pieces, lost)) ** rebuilding
    return float(1 - safe / comb(across, enclosures))
