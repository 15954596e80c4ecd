"""Codes in plain Python: the field of 256 elements, ranks by elimination, and what survives.

Nothing here is shared with the core: products are shifts and sums of polynomials, and a set of lost
pieces is survived where the generator's other rows have full rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

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


def survived_sets(generator: Sequence[Sequence[int]], losses: int) -> set[tuple[int, ...]]:
    """The sets of so many lost pieces that are survived."""
    sets = combinations(range(len(generator)), losses)
    return {lost for lost in sets if is_survivable(generator, lost)}
