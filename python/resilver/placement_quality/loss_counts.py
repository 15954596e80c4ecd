"""Failures that groups and codes over one another survive, counted exactly by polynomials.

The coefficient of x^f is how many sets of f failed devices are survived. Groups fail apart from
each other, so the polynomial of several is the product of theirs. A code over groups survives where
the groups that are dead are lost pieces that it survives: with S(x) of a group's survived sets,
D(x) of the others and s_l sets of l pieces that the code above survives, S' is the sum of
s_l D^l S^(n - l).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, Protocol


class Level(Protocol):
    """What is counted of one level's code: `resilver.simulate.Code` has it."""

    @property
    def pieces(self) -> int:
        """All pieces."""

    @property
    def fault_tolerance(self) -> int:
        """How many may be lost wherever they are."""

    def survivable(self, losses: int) -> Any:
        """How many sets of so many lost pieces are `survivable`, or None there."""


def product(left: Sequence[int], right: Sequence[int], degree: int) -> list[int]:
    """The product of two polynomials of whole numbers from 0.

    Args:
        left: Coefficients, the constant first.
        right: The same of the other.
        degree: Above it nothing is kept.

    Returns:
        Coefficients, at most degree + 1.

    >>> product([1, 2], [1, 2], 2)
    [1, 4, 4]
    """
    left, right = left[: degree + 1], right[: degree + 1]
    # Side by side in one number each, the coefficients are multiplied by Python's own product; no
    # coefficient of it is more than both sums' product, so none runs over into the next.
    width = (sum(left) * sum(right)).bit_length() // 8 + 1
    packed = (b"".join(one.to_bytes(width, "little") for one in terms) for terms in (left, right))
    one, other = (int.from_bytes(terms, "little") for terms in packed)
    count = len(left) + len(right) - 1
    found = (one * other).to_bytes(width * (count + 1), "little")
    places = range(0, width * min(count, degree + 1), width)
    return [int.from_bytes(found[place : place + width], "little") for place in places]


def power(base: Sequence[int], exponent: int, degree: int) -> list[int]:
    """A polynomial of whole numbers to a power from 0; the rest as in `product`."""
    result, square = [1], list(base)
    while exponent:
        if exponent & 1:
            result = product(result, square, degree)
        exponent >>= 1
        square = product(square, square, degree) if exponent else square
    return result


def survived_by_level(levels: Sequence[Level], degree: int) -> list[list[int]] | None:
    """The sets of failures that a group of each level survives, with all below it.

    Args:
        levels: The codes, the top one first.
        degree: The most failures.

    Returns:
        Of each level the counts by number of failures, from 0; None where a code's sets are too
        many to look at each.
    """
    found: list[list[int]] = []
    # Below all levels stands a device: of its two sets of failures the empty one is survived.
    size, below, least = 1, [1], 1
    for code in reversed(levels):
        # A group is dead with `least` failures at the fewest, so more groups than these never are.
        most = min(code.pieces, degree // least)
        counts = [code.survivable(losses).survivable for losses in range(most + 1)]
        if None in counts:
            return None
        while counts[-1] == 0:
            counts.pop()
        below = _over(counts, code.pieces, below, size, degree)
        size *= code.pieces
        least *= code.fault_tolerance + 1
        found.insert(0, below)
    return found


def _over(
    counts: Sequence[int], pieces: int, below: Sequence[int], size: int, degree: int
) -> list[int]:
    """What a code survives whose pieces are groups of so many devices that survive `below`."""
    padded = [*below, *[0] * (size + 1 - len(below))]
    dead = [comb(size, failures) - padded[failures] for failures in range(min(size, degree) + 1)]
    # S^(n - l) for each l, from the least power up to the n-th.
    powers = [power(below, pieces - len(counts) + 1, degree)]
    for _ in counts[1:]:
        powers.insert(0, product(powers[0], below, degree))
    total, died = [0] * (degree + 1), [1]
    for count, alive in zip(counts, powers, strict=True):
        for failures, ways in enumerate(product(died, alive, degree)):
            total[failures] += count * ways
        died = product(died, dead, degree)
    return total[: pieces * size + 1]
