"""Codes in plain Python: the field of 256 elements, ranks by elimination, and what survives.

Nothing here is shared with the core: products are shifts and sums of polynomials, and a set of lost
pieces is survived where the generator's other rows have full rank.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
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


def survived_sets(generator: Sequence[Sequence[int]], losses: int) -> set[tuple[int, ...]]:
    """The sets of so many lost pieces that are survived."""
    sets = combinations(range(len(generator)), losses)
    return {lost for lost in sets if is_survivable(generator, lost)}


Survives = Callable[[Sequence[int]], bool]


def survived_by_level(levels: Sequence[tuple[int, Survives]], lost: Iterable[int]) -> bool:
    """Whether codes over one another survive: each with its number of pieces, the top one first.

    Lost pieces are dealt to their groups; groups that do not survive are the lost pieces above.
    """
    gone = set(lost)
    for pieces, survives in reversed(levels):
        gone = dead_groups(pieces, survives, gone)
    return not gone


def dead_groups(pieces: int, survives: Survives, lost: Iterable[int]) -> set[int]:
    """The groups of so many devices each that do not survive what they lost."""
    by_group: dict[int, list[int]] = {}
    for one in lost:
        by_group.setdefault(one // pieces, []).append(one % pieces)
    return {group for group, places in by_group.items() if not survives(sorted(places))}


def survived_by_lines(lost: Iterable[tuple[int, int]], tolerances: tuple[int, int]) -> bool:
    """Whether a table of cells is made whole line by line.

    A column is made whole where it lacks at most the first tolerance, a row at most the second.
    """
    left = set(lost)
    while left:
        of_column, of_row = (Counter(cell[axis] for cell in left) for axis in (1, 0))
        made = {
            (row, column)
            for row, column in left
            if of_column[column] <= tolerances[0] or of_row[row] <= tolerances[1]
        }
        if not made:
            return False
        left -= made
    return True


def table_cells(data: tuple[int, int], all_: tuple[int, int]) -> list[tuple[int, int]]:
    """Row and column of each piece of a product: the data row by row, and then the others."""
    cells = [(row, column) for row in range(all_[0]) for column in range(all_[1])]
    return sorted(cells, key=lambda cell: (cell[0] >= data[0] or cell[1] >= data[1], cell))


def enclosures_lost(pieces: int, survives: Survives, across: int, rebuilding: int) -> Fraction:
    """The share of ways that lose some group: each lacks one piece, then an enclosure goes."""
    fatal = total = 0
    for gone in range(across):
        inside = {piece for piece in range(pieces) if piece % across == gone}
        for lacking in cartesian(range(pieces), repeat=rebuilding):
            total += 1
            fatal += any(not survives(sorted(inside | {piece})) for piece in lacking)
    return Fraction(fatal, total)
