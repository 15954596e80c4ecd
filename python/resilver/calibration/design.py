"""Which tests of a disk tell most of its service-time table: a D-optimal choice.

The table says that a request takes an overhead and its bytes, and at random a seek that depends on
its size. These figures are the parameters: two a direction, and a seek at each of several sizes, or
at all of them where there are tests enough, with straight lines over the logarithm of sizes between
(as `resilver.spec.disk_fit` fits them). Rates are measured with an error of so many per cent,
so that a test's row is what its service time changes with each parameter, over that time. The
choice makes the determinant of the information matrix as large as it can by exchanging tests.

Source: V. V. Fedorov, "Theory of Optimal Experiments" (1972), section 3; P. Carns et al. (2016) for
the table. The times that rows are divided by are near those of a disk of 7,200 turns a minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError
from resilver.importers.fio import MODES

Floats = npt.NDArray[np.float64]

_OVERHEAD_SECONDS, _SEEK_SECONDS, _BYTES_PER_SECOND = 2e-4, 8e-3, 2e8
_TESTS_A_PARAMETER = 1.25
_KNOTS_LEAST = 2
_GAIN_LEAST = 1e-9
_ROUNDS_MOST = 1000
_RIDGE = 1e-9


@dataclass(frozen=True)
class Cell:
    """One pattern at one size.

    Attributes:
        mode: ``read``, ``write``, ``randread`` or ``randwrite``.
        request_bytes: The size.
    """

    mode: str
    request_bytes: int


def least_tests() -> int:
    """The fewest tests that any such choice is of.

    >>> least_tests()
    10
    """
    return int(np.ceil(2 * (2 + _KNOTS_LEAST) * _TESTS_A_PARAMETER))


def choose(cells: Sequence[Cell], tests: int) -> list[int]:
    """How often to test each cell.

    Args:
        cells: The patterns and sizes that could be tested.
        tests: How many tests there are to be in all; no cell is tested once more than another
            before all are tested.

    Returns:
        A number for each cell; those that the choice leaves out have 0.

    Raises:
        ConfigError: These are too few tests for the table.
    """
    if tests < least_tests():
        rule = f"{tests} tests are too few for a disk's table: it takes {least_tests()} or more"
        raise ConfigError(rule, "plan a longer time", key="--budget")
    rows = _rows(cells, tests)
    most = -(-tests // len(cells))
    counts = np.full(len(cells), most - 1)
    left = tests - int(counts.sum())
    # The tests to spare go where they tell most, spread at first.
    for cell in np.linspace(0, len(cells) - 1, left).round().astype(int):
        counts[cell] += 1
    return [int(one) for one in _exchanged(rows, counts, most)]


def _exchanged(rows: Floats, counts: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Exchange one test for another as long as the determinant grows (Fedorov)."""
    for _ in range(_ROUNDS_MOST):
        information = rows.T @ (rows * counts[:, None]) + _RIDGE * np.eye(rows.shape[1])
        spread = rows @ np.linalg.solve(information, rows.T)
        variance = np.diag(spread)
        # The determinant grows by the factor 1 + gain when a test at i moves to j.
        gain = (
            variance[None, :]
            - variance[:, None]
            - variance[:, None] * variance[None, :]
            + spread * spread
        )
        gain[counts < most, :] = -np.inf
        gain[:, counts == most] = -np.inf
        source, target = np.unravel_index(int(gain.argmax()), gain.shape)
        if not gain[source, target] > _GAIN_LEAST:
            break
        counts[source] -= 1
        counts[target] += 1
    return counts


def _rows(cells: Sequence[Cell], tests: int) -> Floats:
    """What each cell's service time changes with each parameter, relative to that time."""
    sizes = sorted({cell.request_bytes for cell in cells})
    wanted = int(tests / _TESTS_A_PARAMETER) // 2 - 2
    knots = np.linspace(0, len(sizes) - 1, min(max(wanted, _KNOTS_LEAST), len(sizes)))
    places = np.unique(knots.round())
    each = 2 + len(places)
    rows = np.zeros((len(cells), 2 * each))
    for row, cell in zip(rows, cells, strict=True):
        assert cell.mode in MODES
        first = each if cell.mode.endswith("write") else 0
        row[first], row[first + 1] = 1.0, cell.request_bytes / 2**20
        seconds = _OVERHEAD_SECONDS + cell.request_bytes / _BYTES_PER_SECOND
        if cell.mode.startswith("rand"):
            seconds += _SEEK_SECONDS
            at = float(sizes.index(cell.request_bytes))
            row[first + 2 : first + each] = [
                np.interp(at, places, np.eye(len(places))[knot]) for knot in range(len(places))
            ]
        row /= seconds
    made: Floats = rows / np.abs(rows).max(axis=0)
    return made
