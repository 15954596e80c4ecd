"""Chains that end in loss, by arithmetic that rounds nothing or keeps hundreds of digits."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

Rates = Sequence[Sequence[float]]


def mean_time(rates: Rates) -> Fraction:
    """The mean time to loss, by Gauss's elimination in rational numbers.

    Args:
        rates: As of `resilver.data_loss.absorbing.Chain`, read as the fractions that they are.
    """
    states = len(rates)
    system: list[list[Fraction]] = []
    for state, row in enumerate(rates):
        exact = [
            Fraction(0) if other == state else Fraction(rate) for other, rate in enumerate(row)
        ]
        line = [-rate for rate in exact[:states]]
        line[state] = sum(exact, Fraction(0))
        system.append([*line, Fraction(1)])
    for pivot in range(states):
        best = next(row for row in range(pivot, states) if system[row][pivot])
        system[pivot], system[best] = system[best], system[pivot]
        for row in range(states):
            if row != pivot and system[row][pivot]:
                factor = system[row][pivot] / system[pivot][pivot]
                system[row] = [
                    one - factor * other
                    for one, other in zip(system[row], system[pivot], strict=True)
                ]
    return system[0][-1] / system[0][0]


def loss_probability(rates: Rates, seconds: float, start: int = 0, digits: int = 700) -> Decimal:
    """The probability of loss in a time, by the exponential of the generator in so many digits."""
    states = len(rates)
    with localcontext() as context:
        context.prec = digits
        generator = [[Decimal(0)] * (states + 1) for _ in range(states + 1)]
        for state, row in enumerate(rates):
            for other, rate in enumerate(row):
                if other != state:
                    generator[state][other] = Decimal(float(rate)) * Decimal(seconds)
            generator[state][state] = -sum(generator[state], Decimal(0))
        halvings = 3
        while max(-generator[one][one] for one in range(states)) > Decimal(2) ** (halvings - 3):
            halvings += 1
        small = [[one / 2**halvings for one in row] for row in generator]
        term = [[Decimal(int(i == j)) for j in range(states + 1)] for i in range(states + 1)]
        whole = term
        number = 0
        while any(abs(one) > Decimal(10) ** -digits for row in term for one in row):
            number += 1
            term = [[one / number for one in row] for row in _times(term, small)]
            whole = [
                [one + other for one, other in zip(*rows, strict=True)]
                for rows in zip(whole, term, strict=True)
            ]
        for _ in range(halvings):
            whole = _times(whole, whole)
        return whole[start][states]


def _times(left: list[list[Decimal]], right: list[list[Decimal]]) -> list[list[Decimal]]:
    size = range(len(right))
    return [[sum((row[k] * right[k][j] for k in size), Decimal(0)) for j in size] for row in left]
