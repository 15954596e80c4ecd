"""Codes in plain Python: the field of 256 elements, ranks by elimination, and what survives.

Nothing here is shared with the core: products are shifts and sums of polynomials, and a set of lost
pieces is survived where the generator's other rows have full rank.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product as cartesian

POLYNOMIAL = 0x11D


def product(left: int, right: int) -> int:
    """The product of two elements: of their polynomials, reduced."""
    total = 0
    while right:
        if right & 1:
            total ^= left
        left <<= 1
        if left & 0x100:
            left ^= POLYNOMIAL
        right >>= 1
    return total


PRODUCTS = [[product(left, right) for right in range(256)] for left in range(256)]
INVERSES = [0, *(PRODUCTS[element].index(1) for element in range(1, 256))]


def power(exponent: int) -> int:
    """The element x to a power."""
    element = 1
    for _ in range(exponent):
        element = product(element, 2)
    return element


def rank(rows: Sequence[Sequence[int]]) -> int:
    """The rank of a matrix, by elimination."""
    left = [list(row) for row in rows]
    found = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left[found:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(found, pivot)
        inverse = INVERSES[pivot[column]]
        for row in left[found + 1 :]:
            factor = PRODUCTS[row[column]][inverse]
            if factor:
                times = PRODUCTS[factor]
                for index, element in enumerate(pivot):
                    row[index] ^= times[element]
        found += 1
    return found


def is_survivable(generator: Sequence[Sequence[int]], lost: Sequence[int]) -> bool:
    """Whether the rows that are left determine the data."""
    left = [row for piece, row in enumerate(generator) if piece not in lost]
    return len(left) >= len(generator[0]) and rank(left) == len(generator[0])


Survives = Callable[[Sequence[int]], bool]


def dead_groups(pieces: int, survives: Survives, lost: Iterable[int]) -> set[int]:
    """The groups of so many devices each that do not survive what they lost."""
    by_group: dict[int, list[int]] = {}
    for one in lost:
        by_group.setdefault(one // pieces, []).append(one % pieces)
    return {group for group, places in by_group.items() if not survives(sorted(places))}


def enclosures_lost(pieces: int, survives: Survives, across: int, rebuilding: int) -> Fraction:
    """The share of ways that lose some group: each lacks one piece, then an enclosure goes."""
    fatal = total = 0
    for gone in range(across):
        inside = {piece for piece in range(pieces) if piece % across == gone}
        for lacking in cartesian(range(pieces), repeat=rebuilding):
            total += 1
            fatal += any(not survives(sorted(inside | {piece})) for piece in lacking)
    return Fraction(fatal, total)
