"""How likely it is that parts lost at once lose data of sets that are being rebuilt."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

from resilver import _core
from resilver.core_errors import core_errors
from resilver.core_input import levels
from resilver.errors import ConfigError, name_remedy, show
from resilver.spec import Cluster


def set_loss_probability(
    cluster: Cluster, sets: str, lost: str, *, rebuilding: int, survives: int
) -> float:
    """The probability that the loss of one part kills a set while others are rebuilt.

    Some sets, any alike, have lost a member each, any alike; then one part of a level is lost, any
    alike, with all devices in it.

    Args:
        cluster: The cluster, of parts.
        sets: The level of the sets, which is made of devices.
        lost: The level of the part that is lost, such as ``enclosure``.
        rebuilding: How many sets are being rebuilt.
        survives: How many losses of its members each set survives.

    Returns:
        The probability that some set lacks more members than it survives, exact: one less the mean
        over the parts of the chance that all sets survive. Of a set of s members, a of them in the
        part, a lost one is among those with the chance a / s, and the set then lacks a, else a + 1.

    Raises:
        ConfigError: There is no such level, or a number is out of range.

    >>> parts = [{"level": "enclosure", "count": 5}, {"level": "disk-drive", "in": "enclosure",
    ...     "count": 8}, {"level": "raid", "of": "disk-drive", "size": 10, "across": "enclosure"}]
    >>> set_loss_probability(Cluster(parts=parts), "raid", "enclosure", rebuilding=2, survives=2)
    0.96
    """
    tree = cluster.tree
    side = tree.side(sets) if tree is not None else None
    if tree is None or not cluster.parts or side is None or not side.size:
        known = [one.name for one in tree.sides if one.size] if tree is not None else []
        rule = "no level of this name is made of devices"
        raise ConfigError(rule, name_remedy(sets, known), key="sets", value=show(sets))
    if lost not in tree.names:
        rule = "the cluster has no such level"
        raise ConfigError(rule, name_remedy(lost, tree.names), key="lost", value=show(lost))
    for key, value, most in (
        ("rebuilding", rebuilding, side.count),
        ("survives", survives, side.size),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise ConfigError(f"this is from 0 to {most}", key=key, value=show(value))
    with core_errors():
        rows = _core.ClusterParts(json.dumps(levels(cluster))).members_within(sets, lost)
    safe = sum(_safe_choices(row, side.size, rebuilding, survives) for row in rows)
    return float(
        1 - Fraction(safe, len(rows) * comb(side.count, rebuilding) * side.size**rebuilding)
    )


def _safe_choices(inside: list[int], size: int, rebuilding: int, survives: int) -> int:
    """In how many ways sets can have lost a member each, so that all survive the part's loss.

    It is a coefficient of the product over sets of w + c x, where w is 1 if the whole set survives
    the loss of its members inside, and c in how many ways it does with another lost before.
    """
    ways = [1] + [0] * rebuilding
    for inner in inside:
        whole = int(inner <= survives)
        saved = inner * whole + (size - inner) * int(inner + 1 <= survives)
        for count in range(rebuilding, 0, -1):
            ways[count] = ways[count] * whole + ways[count - 1] * saved
        ways[0] *= whole
    return ways[rebuilding]
