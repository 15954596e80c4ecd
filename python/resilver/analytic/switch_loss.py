"""What first-level switches take away when they fail, counted exactly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import comb

from resilver.errors import ConfigError, show
from resilver.spec.attachment import Attachment


def bandwidth_lost(attachment: Attachment, switches: Collection[int], group: int) -> Fraction:
    """The part of a group's ports that hang at switches that failed.

    Args:
        attachment: How the groups hang at the first-level switches.
        switches: The failed ones, by number.
        group: The group, by number.

    Returns:
        Ports lost over all ports of the group.

    Source: Gonsiorowski et al. (2017), section 6.1: 50 % of a local group, 4 % (2 of 48
    ports) of a distributed one.

    >>> bandwidth_lost(Attachment("local", 24, 24, 2, 24), {0}, group=0)
    Fraction(1, 2)
    >>> bandwidth_lost(Attachment("distributed", 24, 24, 2, 24), {0}, group=0)
    Fraction(1, 24)
    """
    failed = frozenset(switches)
    ports = [at for server in attachment.group(group) for at in attachment.switches(server)]
    return Fraction(sum(at in failed for at in ports), len(ports))


def servers_lost(attachment: Attachment, switches: Collection[int], group: int) -> list[int]:
    """The servers of a group that no port of theirs reaches any more.

    Args:
        attachment: How the groups hang at the first-level switches.
        switches: The failed ones, by number.
        group: The group, by number.

    Returns:
        The servers whose switches have all failed, ascending.

    >>> servers_lost(Attachment("distributed", 24, 24, 2, 24), {2, 3, 5}, group=1)
    [26, 27]
    """
    failed = frozenset(switches)
    members = attachment.group(group)
    return [server for server in members if failed.issuperset(attachment.switches(server))]


def data_loss_probability(attachment: Attachment, switches: int, tolerance: int) -> Fraction:
    """The chance that data is out of reach when this many first-level switches fail at random.

    A server is lost when all switches of its set are, and data is when a group has lost more
    servers than the code tolerates: of many stripes declustered over a group some have pieces on
    all of these. Sets of failed switches are counted by how many sets of P they hold whole: with j
    of S sets whole, the other s - jP failed switches are chosen with no set whole among the rest,
    which the polynomial ((1 + z)^P - z^P)^(S - j) counts; for P = 2 these are
    C(S - j, s - 2j) 2^(s - 2j) ways.

    Args:
        attachment: How the groups hang at the first-level switches; every place is taken.
        switches: How many switches fail, every set of them as likely.
        tolerance: How many lost servers of a group every stripe survives.

    Returns:
        The probability, exactly.

    Raises:
        ConfigError: There are not so many switches, or local groups fill no whole sets of switches,
            nor divide one.

    Source: counted here; Gonsiorowski et al. (2017), section 6.1, says that a local group may be
    lost with 2 switches and a distributed one withstands 3.

    >>> local = Attachment("local", 24, 24, 2, 24)
    >>> data_loss_probability(local, switches=2, tolerance=3)  # 12 pairs of 276
    Fraction(1, 23)
    >>> distributed = Attachment("distributed", 24, 24, 2, 24)
    >>> data_loss_probability(distributed, switches=3, tolerance=3)
    Fraction(0, 1)
    >>> data_loss_probability(distributed, switches=4, tolerance=3)  # 66 pairs of pairs of 10,626
    Fraction(1, 161)
    """
    sets, ports = attachment.sets, attachment.ports
    if not 0 <= switches <= sets * ports:
        rule = f"of {sets * ports} first-level switches from none to all fail"
        raise ConfigError(rule, "ask for fewer", key="switches", value=show(switches))
    without_whole = [comb(ports, failed) for failed in range(ports)]
    fatal = 0
    for whole in range(min(sets, switches // ports) + 1):
        rest = _coefficient([without_whole] * (sets - whole), switches - whole * ports)
        survived = _survived_choices(attachment, whole, tolerance)
        fatal += (comb(sets, whole) - survived) * rest
    return Fraction(fatal, comb(sets * ports, switches))


def _survived_choices(attachment: Attachment, whole: int, tolerance: int) -> int:
    """In how many choices of `whole` lost sets no group loses more than `tolerance` servers."""
    sets, size, slots = attachment.sets, attachment.group_size, attachment.slots
    if attachment.kind == "distributed":
        # Every group has as many servers at each set.
        return comb(sets, whole) if whole * (size // sets) <= tolerance else 0
    if slots % size == 0 or size % slots == 0:
        # A group fills one set or several that no other group is at, or shares one with others.
        each, beside = min(size, slots), max(1, size // slots)
    else:
        rule = f"local groups fill whole sets of {slots} servers, or divide one"
        remedy = f"use groups of a multiple or a divisor of {slots} servers"
        raise ConfigError(rule, remedy, key="group_size", value=str(size))
    survivable = min(beside, tolerance // each)
    block = [comb(beside, lost) for lost in range(survivable + 1)]
    free = [comb(sets % beside, lost) for lost in range(sets % beside + 1)]
    return _coefficient([block] * (sets // beside) + [free], whole)


def _coefficient(factors: Sequence[Sequence[int]], power: int) -> int:
    """The coefficient of z^power in the product of polynomials, lowest coefficients first."""
    product = [1]
    for factor in factors:
        longer = [0] * min(len(product) + len(factor) - 1, power + 1)
        for i, left in enumerate(product):
            for j, right in enumerate(factor[: len(longer) - i]):
                longer[i + j] += left * right
        product = longer
    return product[power] if power < len(product) else 0


def stripes_lost(
    group_size: int, pieces: int, servers_lost: int, fatal: Sequence[Fraction]
) -> Fraction:
    """The expected part of a group's stripes that is lost with some of its servers.

    Each stripe is on servers drawn at random of the group, so how many of its pieces are lost is
    hypergeometric.

    Args:
        group_size: Servers of the group.
        pieces: Servers that a stripe is on.
        servers_lost: How many servers of the group are lost.
        fatal: The part of sets of i lost pieces that is not survived, for i = 0, 1, ...; the last
            holds for all beyond.

    Returns:
        The part, exactly.

    >>> rs = [Fraction(0)] * 4 + [Fraction(1)]  # Reed-Solomon 8+3 survives three losses
    >>> stripes_lost(24, 11, 4, rs)  # C(11, 4) / C(24, 4) = 330 / 10,626
    Fraction(5, 161)
    """
    total = comb(group_size, servers_lost)
    lost = Fraction(0)
    for hit in range(min(pieces, servers_lost) + 1):
        ways = comb(pieces, hit) * comb(group_size - pieces, servers_lost - hit)
        lost += ways * fatal[min(hit, len(fatal) - 1)]
    return lost / total
