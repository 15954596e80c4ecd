"""Groups at the pace of their slowest member: order statistics of disks, in closed form.

A full stripe is done when its last strip is, so that a group moves as many strips at the rate of
its slowest member as its code has data. The expected extremes are in H. A. David, H. N. Nagaraja,
"Order Statistics" (2003). Disks are slow with a chance f, and then have a share s of the speed;
either kind spreads by a normal distribution.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

_REACH = 12.0
_POINTS = 48_001
"""Steps of a thousandth of a standard deviation and less: the trapezoid is then right to 1e-9."""

Floats = npt.NDArray[np.float64]


def expected_slowest(count: int) -> float:
    """The expected least of so many draws of a standard normal distribution.

    >>> round(expected_slowest(10), 5)
    -1.53875
    """
    # The least is the most with its sign turned, as the distribution is symmetric.
    return -_expected_most(lambda x: _normal(x) ** count)


def expected_fastest_group(groups: int, members: int) -> float:
    """The expected most of so many groups' slowest members, of standard normal speeds.

    >>> round(expected_fastest_group(56, 10), 3)
    -0.353
    """
    return _expected_most(lambda x: (1.0 - _normal(-x) ** members) ** groups)


def spread_most(within: float, of: str, groups: int, members: int, units: int = 1) -> float:
    """The largest spread of disks at which the expected extremes keep the envelope.

    Args:
        within: The envelope, such as 0.05.
        of: "fastest": the slowest group of a unit within this of its fastest; "average": the
            slowest of all within this of the mean group.
        groups: All groups.
        members: The members of a group.
        units: Over how many units the groups are spread evenly.

    Returns:
        The standard deviation of a disk's speed, as a share of its mean. With 1 + z sigma for the
        expected extremes, the slowest is (1 - within) of the reference at sigma = within / ((1 -
        within) z_reference - z_slowest).

    >>> round(spread_most(0.05, "fastest", 2016, 10, 36), 4)
    0.0183
    >>> round(spread_most(0.05, "average", 2016, 10), 4)
    0.0195
    """
    if of == "fastest":
        each = groups // units
        reference, slowest = expected_fastest_group(each, members), expected_slowest(each * members)
    else:
        reference, slowest = expected_slowest(members), expected_slowest(groups * members)
    distance = (1.0 - within) * reference - slowest
    return within / distance if distance > 0.0 else math.inf


def clean_groups(groups: int, members: int, slow: int) -> float:
    """How many groups have no slow disk, where so many of all disks are.

    Returns:
        C(N - slow, members) / C(N, members) of the groups, with N all disks.

    >>> round(clean_groups(2016, 10, 1500), 1)
    930.3
    """
    disks = groups * members
    if slow > disks - members:
        return 0.0
    share = 1.0
    for number in range(members):
        share *= (disks - slow - number) / (disks - number)
    return groups * share


def expected_replaced(disks: int, slow: float) -> float:
    """How many disks are replaced until none is slow, where new ones are of the same lot.

    Returns:
        disks x slow / (1 - slow): each slow disk, and each slow one that took its place.

    >>> round(expected_replaced(20_160, 1_500 / 21_660))
    1500
    """
    return disks * slow / (1.0 - slow)


def expected_group(members: int, spread: float, slow: float, factor: float) -> float:
    """The expected speed of a group's slowest member, as a share of a disk's.

    Args:
        members: The members of a group.
        spread: The standard deviation of a disk's speed.
        slow: The chance that a disk is slow.
        factor: The share of its speed that it then has.

    Returns:
        The integral over speeds x of P(a disk is faster than x)^members.
    """
    top = 1.0 + _REACH * spread
    x = np.linspace(0.0, top, _POINTS)
    if spread:
        faster = (1.0 - slow) * _normal((1.0 - x) / spread)
        faster += slow * _normal((1.0 - x / factor) / spread)
    else:
        faster = (1.0 - slow) * (x < 1.0) + slow * (x < factor)
    return float(np.trapezoid(faster**members, x))


def _normal(x: Any) -> Any:
    from scipy.special import ndtr

    return ndtr(x)


def _expected_most(cumulative: Any) -> float:
    """The mean of a distribution by its cumulative function: of 1 - F above 0, less F below."""
    x = np.linspace(0.0, _REACH, _POINTS)
    return float(np.trapezoid(1.0 - cumulative(x), x) - np.trapezoid(cumulative(-x), x))
