"""How much slower a file system is the fuller it is, from runs of one benchmark, if they show it.

Rates spread by factors and not by differences, so that their logarithms are fitted: by levels that
fall with the fill (isotonic regression), of which neighbours that do not differ clearly are merged
(M. Schell, B. Singh, "The reduced monotonic regression method", JASA 92, 1997). A curve is given
only where the rank correlation of rate with fill, given what else was told of the runs, is below
zero beyond its interval of 95 % (D. Bonett, T. Wright, "Sample size requirements for estimating
Pearson, Kendall and Spearman correlations", Psychometrika 65, 2000).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError
from resilver.importers.fill_rates import FillRates, read_fill_rates
from resilver.record import record

Floats = npt.NDArray[np.float64]

RUNS_MIN = 12
"""Fewer runs say nothing."""
RESAMPLED = 400
"""How often runs are drawn again, for the intervals of levels."""
_STREAM = 0x66696C6C
_Z = 1.959964
# What two neighbouring levels must differ by, in standard errors: they were cut where they differ
# the most.
_APART = 2.576
_LEVEL_RUNS_MIN = 5
_POINTS_MAX = 20


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation of rates with something.

    Attributes:
        name: With what.
        value: From -1 to 1.
        low, high: Its interval of 95 %.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Level:
    """A range of fills at which rates are alike.

    Attributes:
        fill_low, fill_high: The least and the most fill of its runs.
        runs: How many there are.
        share: Its typical rate over that of the emptiest level.
        low, high: The interval of 95 % of that share.
    """

    fill_low: float
    fill_high: float
    runs: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class FillCalibration:
    """What runs say of rates by fill.

    Attributes:
        data: The runs.
        correlation: Of rate with fill.
        given: The same given all columns beside; None without.
        beside: Of rate with each of these.
        levels: From the emptiest to the fullest; one where nothing is shown.
        hidden_loss: The most that rates may fall over the fills measured, by the interval of 95 %
            of Theil and Sen's slope, in which a steady fall would still not show.
    """

    data: FillRates
    correlation: Correlation
    given: Correlation | None
    beside: tuple[Correlation, ...]
    levels: tuple[Level, ...] = field(repr=False)
    hidden_loss: float

    @property
    def is_shown(self) -> bool:
        """Whether the runs show that rates fall with the fill."""
        judged = self.given or self.correlation
        return judged.high < 0.0 and self.correlation.high < 0.0 and len(self.levels) > 1

    @property
    def rate_at_fill(self) -> tuple[tuple[float, float], ...]:
        """Pairs of a fill and the share of the rate there, as ``[capacity]`` takes them."""
        if not self.is_shown:
            return ()
        pairs = [
            (round(fill, 4), round(level.share, 4))
            for level in self.levels
            for fill in (level.fill_low, level.fill_high)
        ]
        return tuple(dict(pairs).items())

    def to_toml(self) -> str:
        """The curve, where one is shown, as ``rate_at_fill = { file = ... }`` reads it."""
        pairs = ", ".join(f"[{fill:g}, {share:g}]" for fill, share in self.rate_at_fill)
        ranges = "\n".join(
            f"# {100 * one.fill_low:.3g} to {100 * one.fill_high:.3g} % full: {one.share:.3g} "
            f"({one.low:.3g} to {one.high:.3g}) by {one.runs:,} runs"
            for one in self.levels
        )
        found = self.given or self.correlation
        return (
            f"# Rate by fill of {len(self.data.fills):,} runs; rank correlation {found.value:+.2f} "
            f"({found.low:+.2f} to {found.high:+.2f}).\n{ranges}\nrate_at_fill = [{pairs}]\n"
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {
            "runs": len(self.data.fills),
            "left_out": self.data.left_out,
            "fill_low": float(self.data.fills.min()),
            "fill_high": float(self.data.fills.max()),
            **record(self, "correlation", "given", "beside", "levels", "hidden_loss"),
            **record(self, "rate_at_fill"),
            "shown": self.is_shown,
        }


def calibrate_fill(
    file: str | Path, *, fill: str = "fill", rate: str = "rate", beside: Sequence[str] = ()
) -> FillCalibration:
    """How much slower a file system is the fuller it is, by runs of one benchmark.

    Args:
        file: A CSV of runs, see `resilver.importers.fill_rates.read_fill_rates`.
        fill: Its column of fills.
        rate: Its column of rates.
        beside: Columns of what may explain rates as well.

    Returns:
        Rank correlations, and levels of rates by fill.

    Raises:
        ConfigError: The file cannot be read, there are too few runs, or all are at one fill.
    """
    return fit_fill(read_fill_rates(Path(file).expanduser(), fill, rate, beside))


def fit_fill(data: FillRates, resampled: int = RESAMPLED) -> FillCalibration:
    """What runs of one benchmark say of rates by fill.

    Args:
        resampled: How often runs are drawn again, for the intervals of levels.

    Raises:
        ConfigError: There are too few runs, or all at one fill.

    >>> fills = np.linspace(0.3, 0.9, 60)
    >>> rates = np.where(fills < 0.7, 100.0, 60.0) * np.tile([0.95, 1.0, 1.05], 20)
    >>> found = fit_fill(FillRates("runs.csv", fills, rates, {}))
    >>> found.is_shown, [round(level.share, 2) for level in found.levels]
    (True, [1.0, 0.6])
    """
    from scipy.stats import theilslopes

    fills, logs = data.fills, np.log(data.rates)
    runs, span = len(fills), float(np.ptp(fills))
    if runs < RUNS_MIN or not span:
        what = f"there are {runs}" if runs < RUNS_MIN else "all of them are at one fill"
        rule = f"a curve needs {RUNS_MIN} runs or more at several fills, and {what}"
        raise ConfigError(rule, "measure at more fills", place=data.place)
    columns = tuple(data.beside.values())
    low = float(theilslopes(logs, fills)[2])
    levels = _levels(fills, logs)
    return FillCalibration(
        data,
        _correlation("fill", fills, logs),
        _correlation("fill", fills, logs, columns) if columns else None,
        tuple(_correlation(name, values, logs) for name, values in data.beside.items()),
        _with_intervals(fills, logs, levels, resampled),
        max(0.0, 1.0 - math.exp(low * span)),
    )


def _correlation(
    name: str, values: Floats, logs: Floats, given: tuple[Floats, ...] = ()
) -> Correlation:
    """Spearman's rank correlation, of what others leave unexplained where some are given."""
    from scipy.stats import rankdata

    ranks = [np.asarray(rankdata(one), dtype=np.float64) for one in (values, logs, *given)]
    around = np.column_stack([np.ones(len(logs)), *ranks[2:]])
    left = [one - around @ np.linalg.lstsq(around, one, rcond=None)[0] for one in ranks[:2]]
    norms = [float(np.linalg.norm(one)) for one in left]
    found = float(left[0] @ left[1]) / (norms[0] * norms[1]) if all(norms) else 0.0
    found = min(1.0, max(-1.0, found))
    reach = _Z * math.sqrt((1.0 + found**2 / 2.0) / (len(logs) - 3 - len(given)))
    middle = math.atanh(min(0.999999, max(-0.999999, found)))
    return Correlation(name, found, math.tanh(middle - reach), math.tanh(middle + reach))


@dataclass(frozen=True)
class _Block:
    """Neighbouring runs: how many, sums of their logarithms and of the squares, and their ends."""

    runs: int
    total: float
    squares: float
    low: float
    high: float

    @property
    def mean(self) -> float:
        return self.total / self.runs

    def with_next(self, other: _Block) -> _Block:
        return _Block(
            self.runs + other.runs,
            self.total + other.total,
            self.squares + other.squares,
            self.low,
            other.high,
        )


def _levels(fills: Floats, logs: Floats) -> list[_Block]:
    """Falling levels, of which neighbours differ clearly."""
    order = np.argsort(fills, kind="stable")
    fill, log = fills[order], logs[order]
    edges = np.flatnonzero(np.diff(fill, prepend=np.nan))
    runs = np.diff(np.append(edges, len(fill)))
    sums, squares = np.add.reduceat(log, edges), np.add.reduceat(log**2, edges)
    blocks: list[_Block] = []
    for at, edge in enumerate(edges):
        one = float(fill[edge])
        blocks.append(_Block(int(runs[at]), float(sums[at]), float(squares[at]), one, one))
        # Neighbours that rise with the fill are one level (pool adjacent violators).
        while len(blocks) > 1 and blocks[-2].mean <= blocks[-1].mean:
            blocks[-2:] = [blocks[-2].with_next(blocks[-1])]
    return _reduced(blocks, len(fill))


def _reduced(blocks: list[_Block], runs: int) -> list[_Block]:
    """The levels without those that do not differ clearly from a neighbour."""
    while len(blocks) > 1:
        within = sum(one.squares - one.total * one.mean for one in blocks)
        spread = math.sqrt(max(within, 0.0) / max(runs - len(blocks), 1))
        apart = [
            (one.mean - two.mean) / math.sqrt(1.0 / one.runs + 1.0 / two.runs)
            for one, two in pairwise(blocks)
        ]
        # A few runs are no level, however far they are off.
        few = [
            at
            for at, (one, two) in enumerate(pairwise(blocks))
            if min(one.runs, two.runs) < _LEVEL_RUNS_MIN
        ]
        least = min(few or range(len(apart)), key=apart.__getitem__)
        if not few and apart[least] > _APART * spread and len(blocks) <= _POINTS_MAX:
            break
        blocks[least : least + 2] = [blocks[least].with_next(blocks[least + 1])]
    return blocks


def _with_intervals(
    fills: Floats, logs: Floats, blocks: list[_Block], resampled: int
) -> tuple[Level, ...]:
    """Levels with the interval of each share, by runs drawn again from those that there are."""
    stream = np.random.Generator(np.random.Philox(key=[1, _STREAM]))
    middles = [(one.low + one.high) / 2.0 for one in blocks]
    shares = np.empty((resampled, len(blocks)))
    for row in shares:
        drawn = stream.integers(0, len(fills), len(fills))
        again = _levels(fills[drawn], logs[drawn])
        ends, means = [one.high for one in again], [one.mean for one in again]
        at = np.minimum(np.searchsorted(ends, middles), len(again) - 1)
        row[:] = np.exp(np.array(means)[at] - means[int(at[0])])
    low, high = np.percentile(shares, [2.5, 97.5], axis=0)
    return tuple(
        Level(
            one.low,
            one.high,
            one.runs,
            math.exp(one.mean - blocks[0].mean),
            float(low[at]),
            float(high[at]),
        )
        for at, one in enumerate(blocks)
    )
