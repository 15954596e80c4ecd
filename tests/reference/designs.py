"""Block designs in plain Python, each by its textbook definition (docs/models/layouts.md)."""

from itertools import combinations, product
from math import comb

BLOCKS_MAX = 2**21
FIELD_MAX = 2**13

Block = list[int]


def prime_power(number: int) -> tuple[int, int] | None:
    """The prime and the exponent of which a number is a power."""
    for prime in range(2, number + 1):
        if number % prime == 0:
            exponent = 0
            while number % prime == 0:
                number, exponent = number // prime, exponent + 1
            return (prime, exponent) if number == 1 else None
    return None


class Field:
    """Polynomials over the integers modulo a prime, as numbers whose digits are coefficients."""

    def __init__(self, elements: int) -> None:
        power = prime_power(elements)
        self.prime, self.degree = power
        self.elements = elements
        # The first reduction is taken under which the variable generates all units.
        for reduced in range(1, self.elements):
            powers = [1]
            while (following := self.times_variable(powers[-1], reduced)) not in (0, 1):
                if len(powers) == self.elements:
                    break
                powers.append(following)
            if following == 1 and len(powers) == self.elements - 1:
                self.powers, self.logarithm = powers, {p: i for i, p in enumerate(powers)}
                return
        raise AssertionError("a finite field has a generator")

    def digits(self, element: int) -> list[int]:
        """The coefficients, the lowest first."""
        return [element // self.prime**place % self.prime for place in range(self.degree)]

    def number(self, digits: list[int]) -> int:
        """The element of these coefficients."""
        return sum(digit * self.prime**place for place, digit in enumerate(digits))

    def add(self, a: int, b: int) -> int:
        """The sum: coefficient by coefficient."""
        pairs = zip(self.digits(a), self.digits(b), strict=True)
        return self.number([(x + y) % self.prime for x, y in pairs])

    def times_variable(self, element: int, reduced: int) -> int:
        """An element times the variable, whose highest power is `reduced`."""
        *low, top = self.digits(element)
        shifted = self.number([0, *low])
        for _ in range(top):
            shifted = self.add(shifted, reduced)
        return shifted

    def multiply(self, a: int, b: int) -> int:
        """The product, by logarithms."""
        if 0 in (a, b):
            return 0
        return self.powers[(self.logarithm[a] + self.logarithm[b]) % (self.elements - 1)]


def translates(points: int, width: int, *, build: bool) -> tuple[int, list[Block]]:
    """A subgroup, its multiples with different differences, and all translates of those."""
    units = points - 1
    has_zero = units % width != 0 and units % (width - 1) == 0
    others = width - has_zero
    is_subgroup = units % others == 0
    step = units // others if is_subgroup else 1
    multipliers = step if is_subgroup else units
    is_odd = points % 2 == 1
    if is_odd and not (is_subgroup and others % 2 == 0):
        multipliers //= 2
    if not build:
        return multipliers * points, []
    field = Field(points)
    blocks = []
    for multiplier in range(multipliers):
        base = [0] * has_zero
        base += [field.powers[(multiplier + turn * step) % units] for turn in range(others)]
        blocks += [[field.add(one, shift) for one in base] for shift in range(points)]
    return len(blocks), blocks


def affine_lines(points: int, width: int) -> list[Block]:
    """Lines over the subfield of `width` elements, by direction and first point."""
    field = Field(points)
    step = (points - 1) // (width - 1)
    blocks: list[Block] = []
    for direction in range(step):
        multiples = [0] + [
            field.powers[(direction + turn * step) % (points - 1)] for turn in range(width - 1)
        ]
        covered: set[int] = set()
        for point in range(points):
            if point not in covered:
                blocks.append([field.add(point, multiple) for multiple in multiples])
                covered.update(blocks[-1])
    return blocks


def projective_plane(order: int) -> list[Block]:
    """The points on each line of the plane over the integers modulo a prime."""
    points = [(0, 0, 1)] + [(0, 1, z) for z in range(order)]
    points += [(1, y, z) for y, z in product(range(order), repeat=2)]

    def is_on(point: tuple[int, int, int], line: tuple[int, int, int]) -> bool:
        return sum(a * b for a, b in zip(point, line, strict=True)) % order == 0

    return [
        [number for number, point in enumerate(points) if is_on(point, line)] for line in points
    ]


def bose_triples(points: int) -> list[Block]:
    """Bose's Steiner triple system on three levels."""
    m = points // 3
    half = (m + 1) // 2
    blocks: list[Block] = []
    for x in range(m):
        blocks.append([x, x + m, x + 2 * m])
        for y in range(x + 1, m):
            middle = (x + y) * half % m
            blocks += [[x + m * i, y + m * i, middle + m * ((i + 1) % 3)] for i in range(3)]
    return blocks


def balanced_design(points: int, width: int) -> list[Block]:
    """The known design with the fewest blocks, or a cyclic one where all are too large."""
    counts: list[tuple[int, int]] = [(comb(points, width), 0)]
    power, base = prime_power(points), prime_power(width)
    if power is not None and width > 1 and points <= FIELD_MAX:
        counts.append((translates(points, width, build=False)[0], 1))
        if base is not None and base[0] == power[0] and power[1] % base[1] == 0:
            counts.append((points * (points - 1) // (width * (width - 1)), 2))
    order = width - 1
    is_prime = prime_power(order) is not None and prime_power(order) == (order, 1)
    if is_prime and order * order + order + 1 == points:
        counts.append((points, 3))
    if width == 3 and points % 6 == 3:
        counts.append((points * (points - 1) // 6, 4))
    count, kind = min(counts, key=lambda one: one[0])
    if count > BLOCKS_MAX:
        wanted = -(-4 * (points - 1) // max(width * (width - 1), 1))
        return cyclic_design(points, width, max(1, min(wanted, BLOCKS_MAX // points)))
    if kind == 0:
        return [list(block) for block in combinations(range(points), width)]
    if kind == 1:
        return translates(points, width, build=True)[1]
    if kind == 2:
        return affine_lines(points, width)
    return projective_plane(order) if kind == 3 else bose_triples(points)


def cyclic_design(points: int, width: int, bases: int) -> list[Block]:
    """Translates of blocks chosen point by point for the rarest differences."""
    counts = [0] * points
    blocks: list[Block] = []

    def squares_with(base: Block, candidate: int) -> int:
        """How much more the squares of the counts add up to, counting one of each +-d pair."""
        trial, more = dict[int, int](), 0
        for point in base:
            there, back = (candidate - point) % points, (point - candidate) % points
            more += 2 * (counts[there] + trial.get(there, 0)) + 1
            trial[there] = trial.get(there, 0) + 1
            trial[back] = trial.get(back, 0) + 1
        return more

    for _ in range(bases):
        base = [0]
        while len(base) < width:
            others = [candidate for candidate in range(1, points) if candidate not in base]
            best = min(others, key=lambda candidate: (squares_with(base, candidate), candidate))
            for point in base:
                counts[(best - point) % points] += 1
                counts[(point - best) % points] += 1
            base.append(best)
        blocks += [[(point + shift) % points for point in base] for shift in range(points)]
    return blocks


def transversal(size: int, width: int) -> list[Block]:
    """Tuples in which any two places take all pairs of numbers equally often, where known."""
    if size == 1 or width == 1:
        return [[number] * width for number in range(size)]
    if prime_power(size) is not None and width <= size:
        field = Field(size)
        return [
            [field.add(start, field.multiply(slope, place)) for place in range(width)]
            for slope in range(size)
            for start in range(size)
        ]
    if size**width <= 2**16:
        return [list(reversed(one)) for one in product(range(size), repeat=width)]
    return [
        [(start + slope * (place % size)) % size for place in range(width)]
        for slope in range(size)
        for start in range(size)
    ]
