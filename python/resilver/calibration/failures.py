"""How often components fail, and whether by their age, fitted to a list of their lives.

A life that ended otherwise than by a failure says that the component lasted at least so long
(censored); one that began when the component was not new says nothing of it before (truncated). The
likelihood of a life from age a to age t is h(t)^failed S(t) / S(a).

Sources: exponential law by the number of failures and the time on test, with the posterior of its
rate, Gamma(failures + 1/2) / time; Weibull law by maximum likelihood with profile-likelihood
intervals (Meeker and Escobar, Statistical Methods for Reliability Data, 1998, chapter 8); that its
shape is 1, by the likelihood ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from resilver.errors import ConfigError
from resilver.failure_rates import YEAR_SECONDS, posterior_rate
from resilver.importers.failures import FailureList, read_failures

FailureLaw = Literal["auto", "exponential", "weibull"]
"""Which law is asked for; ``auto`` for Weibull where a constant rate is refuted."""

REFUTED_BELOW = 0.05
"""A constant rate is refuted where data as far from it would be rarer than this."""

AGES_MAX = 6
"""The most intervals of age in which failures are counted."""

_SHAPES = (0.05, 50.0)
_SCALES = (1e-9, 1e9)
_GRID = 60
# Half of the 95 % quantile of a chi-squared variable of one degree of freedom.
_DROP = 1.9207294103470493

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """A figure of a fit, and its 95 % interval.

    Attributes:
        value: The figure.
        low: The lower end.
        high: The upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class WeibullFit:
    """A Weibull law by maximum likelihood.

    Attributes:
        shape: Its shape, which has no unit.
        scale_years: Its scale, in years.
        constant_p: How likely data as far from shape 1 are, were that the shape.
    """

    shape: Fitted
    scale_years: Fitted
    constant_p: float


@dataclass(frozen=True)
class AgeRow:
    """What happened at one interval of ages.

    Attributes:
        from_years: Its beginning.
        to_years: Its end.
        component_years: For how long components of this age were seen.
        failures: How many failed.
        constant: How many would, at the constant rate.
        weibull: How many would, by the Weibull law; None without one.
    """

    from_years: float
    to_years: float
    component_years: float
    failures: int
    constant: float
    weibull: float | None


@dataclass(frozen=True)
class FailureCalibration:
    """How often the components of a list fail.

    Attributes:
        label: The list's name.
        components: How many components it has.
        lives: How many lives.
        failures: How many of these ended with a failure.
        component_years: For how long all components together were seen, in years.
        per_year: Failures a year of a component at a constant rate.
        weibull: The Weibull law; None where no shape can be told.
        why_no_weibull: Why there is none; empty where there is one.
        ages: What happened by age; none without failures.
        law: The law that a study is to use; empty without failures.
    """

    label: str
    components: int
    lives: int
    failures: int
    component_years: float
    per_year: Fitted
    weibull: WeibullFit | None
    why_no_weibull: str
    ages: tuple[AgeRow, ...]
    law: Literal["", "exponential", "weibull"]

    @property
    def afr(self) -> Fitted:
        """The share that fails in a year at the constant rate."""
        rate = self.per_year
        ends = (rate.value, rate.low, rate.high)
        return Fitted(*(-math.expm1(-one) for one in ends))

    @property
    def counted_afr(self) -> float:
        """Failures over component-years, as drive reports print an AFR."""
        return self.failures / self.component_years

    def finding(self) -> str:
        """What the list says, in a sentence."""
        if not self.failures:
            return f"Nothing failed: the rate is below {self.per_year.high:.3g} a year (95 %)."
        if self.weibull is None:
            return f"The data do not show whether age matters: {self.why_no_weibull}."
        shape, p = self.weibull.shape, self.weibull.constant_p
        words = f"shape {shape.value:.3g} (95 %: {shape.low:.3g} to {shape.high:.3g}), "
        words += f"p = {p:.2g}" if p >= 1e-4 else "p below 0.0001"
        if p >= REFUTED_BELOW:
            return f"Nothing speaks against a constant rate: {words}."
        who = "The old fail more" if shape.value > 1 else "The young fail more"
        return f"{who} than at a constant rate: {words}."

    def to_toml(self) -> str:
        """The lines of a study that say so; empty without failures."""
        if not self.law:
            return ""
        failed = "1 failure" if self.failures == 1 else f"{self.failures:,} failures"
        lines = [
            "[[durability.failures]]",
            f"# {self.label}: {failed} in {self.component_years:,.4g} years of "
            f"{self.components:,} components.",
        ]
        if self.law == "weibull" and self.weibull is not None:
            shape, scale = self.weibull.shape, self.weibull.scale_years
            lines += [
                f"# 95 %: shape {shape.low:.3g} to {shape.high:.3g}, "
                f"scale {scale.low:.3g} to {scale.high:.3g} y; give age where they are not new.",
                f'weibull = {{ shape = {shape.value:.4g}, scale = "{scale.value:.4g} y" }}',
            ]
        else:
            percent = [100 * one for one in (self.afr.low, self.afr.high, self.afr.value)]
            lines += [
                f"# 95 %: {percent[0]:.3g} to {percent[1]:.3g} %. The AFR is the posterior mean; "
                f"failures over years are {100 * self.counted_afr:.4g} %.",
                f'afr = "{percent[2]:.4g} %"',
            ]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The fit as a JSON-able dictionary, times in years."""
        return {
            **asdict(self),
            "afr": asdict(self.afr),
            "counted_afr": self.counted_afr,
            "finding": self.finding(),
        }


def calibrate_failures(path: str | Path, law: FailureLaw = "auto") -> FailureCalibration:
    """Fit how often components fail to a list of their lives.

    Args:
        path: The list: CSV with the columns ``component``, ``start``, ``end``, ``failed`` and
            perhaps ``age``.
        law: Which law a study is to use.

    Returns:
        The fit.

    Raises:
        ConfigError: The list cannot be read, lives overlap or run backwards, or the law that was
            asked for cannot be told from it.
    """
    return fit_failures(read_failures(Path(path)), law)


def fit_failures(lives: FailureList, law: FailureLaw = "auto") -> FailureCalibration:
    """Fit how often components fail; see `calibrate_failures`."""
    seen = _Lives.of(lives)
    rate = _rate(seen)
    fit, why = _weibull(seen)
    if law == "weibull" and fit is None:
        remedy = "give more lives, or --law exponential"
        raise ConfigError(f"no Weibull law can be fitted: {why}", remedy, lives.label)
    chosen: Literal["", "exponential", "weibull"] = ""
    if seen.count:
        is_refuted = fit is not None and fit.constant_p < REFUTED_BELOW
        wants = law == "weibull" or (law == "auto" and is_refuted)
        chosen = "weibull" if wants else "exponential"
    return FailureCalibration(
        label=lives.label,
        components=len(set(lives.components)),
        lives=len(lives.components),
        failures=seen.count,
        component_years=seen.years,
        per_year=rate,
        weibull=fit,
        why_no_weibull=why,
        ages=_by_age(seen, rate.value, fit),
        law=chosen,
    )


@dataclass(frozen=True)
class _Lives:
    """Lives by age, in years: from which to which, and whether they ended with a failure."""

    start: _Floats
    end: _Floats
    failed: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, lives: FailureList) -> _Lives:
        start = np.asarray(lives.age_seconds) / YEAR_SECONDS
        lasted = np.asarray(lives.end_seconds) - np.asarray(lives.start_seconds)
        return cls(start, start + lasted / YEAR_SECONDS, np.asarray(lives.failed))

    @cached_property
    def count(self) -> int:
        return int(self.failed.sum())

    @cached_property
    def years(self) -> float:
        return math.fsum(self.end - self.start)

    def between(self, low: float, high: float) -> float:
        """For how long components were seen at these ages."""
        return float(np.sum(np.clip(self.end, low, high) - np.clip(self.start, low, high)))


def _rate(seen: _Lives) -> Fitted:
    """The constant rate; without failures 0 to the rate at which 95 % of such lists have some."""
    if not seen.count:
        return Fitted(0.0, 0.0, -math.log(0.05) / seen.years)
    return Fitted(*posterior_rate(seen.count, seen.years))


class _Likelihood:
    """The log-likelihood of Weibull laws."""

    def __init__(self, seen: _Lives) -> None:
        # In units of the oldest age, so that powers stay below 1.
        self.unit = float(seen.end.max())
        end, start = seen.end / self.unit, seen.start / self.unit
        self.log_end = np.log(end)
        self.log_start = np.log(start[start > 0])
        self.count = seen.count
        self.log_failed = math.fsum(self.log_end[seen.failed])

    def hazard(self, shape: float) -> float:
        """The cumulative hazard of all lives at a scale of 1: the sum of t^k - a^k."""
        ends, starts = np.exp(shape * self.log_end), np.exp(shape * self.log_start)
        return float(ends.sum() - starts.sum())

    def at(self, shape: float, log_scale: float) -> float:
        hazard = self.hazard(shape) * math.exp(-shape * log_scale)
        own = self.count * (math.log(shape) - shape * log_scale)
        return own + (shape - 1) * self.log_failed - hazard

    def best_scale(self, shape: float) -> float:
        """The logarithm of the likeliest scale at a shape."""
        return math.log(self.hazard(shape) / self.count) / shape

    def of_shape(self, shape: float) -> float:
        return self.at(shape, self.best_scale(shape))


def _weibull(seen: _Lives) -> tuple[WeibullFit | None, str]:
    """The Weibull law by maximum likelihood; none, and why."""
    from scipy.stats import chi2

    if seen.count < 2:
        return None, f"{seen.count or 'no'} failure{'s' * (not seen.count)}, and a shape needs two"
    likely = _Likelihood(seen)

    def of_log(one: float) -> float:
        return likely.of_shape(math.exp(one))

    # Lives that began old may make two peaks, so that it is searched on a grid first.
    grid = np.linspace(math.log(_SHAPES[0]), math.log(_SHAPES[1]), _GRID)
    at = int(np.argmax([of_log(float(one)) for one in grid]))
    log_shape, most = _peak(
        of_log, float(grid[max(at - 1, 0)]), float(grid[min(at + 1, _GRID - 1)])
    )
    shape = math.exp(log_shape)
    if not _SHAPES[0] * 1.01 < shape < _SHAPES[1] / 1.01:
        when = "at one age" if shape > 1 else "as soon as they were new"
        return None, f"all failures are {when}, as far as the list tells"
    log_scale = likely.best_scale(shape)

    def of_shape(one: float) -> float:
        return of_log(one) - most + _DROP

    shapes = [_crossing(of_shape, log_shape, way, _SHAPES) for way in (-1, 1)]
    # Where a scale is as likely as its interval asks, the shape is in its own interval.
    ends = min(shapes), max(shapes)

    def of_scale(one: float) -> float:
        return _peak(lambda log: likely.at(math.exp(log), one), *ends)[1] - most + _DROP

    scales = [_crossing(of_scale, log_scale, way, _SCALES) for way in (-1, 1)]
    ratio = 2 * max(most - likely.of_shape(1.0), 0.0)
    found = WeibullFit(
        shape=Fitted(*map(math.exp, (log_shape, *shapes))),
        scale_years=Fitted(*(likely.unit * math.exp(one) for one in (log_scale, *scales))),
        constant_p=float(chi2.sf(ratio, 1)),
    )
    return found, ""


def _peak(of: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where between two ends a function with one peak is largest, and how large."""
    from scipy.optimize import minimize_scalar

    ends, precision = (low, high), {"xatol": 1e-8}
    found = minimize_scalar(lambda one: -of(float(one)), bounds=ends, options=precision)
    return float(found.x), -float(found.fun)


def _crossing(
    of: Callable[[float], float], peak: float, way: int, ends: tuple[float, float]
) -> float:
    """Where a function that is above zero at its peak falls below it; the end where it does not."""
    from scipy.optimize import brentq

    end = math.log(ends[0] if way < 0 else ends[1])
    step = 0.05
    inside = peak
    while True:
        outside = peak + way * step
        if (outside - end) * way >= 0:
            return end
        if of(outside) < 0:
            return float(brentq(of, inside, outside, xtol=1e-8))
        inside, step = outside, 2 * step


def _by_age(seen: _Lives, rate: float, fit: WeibullFit | None) -> tuple[AgeRow, ...]:
    """What happened by age, in intervals with about equally many failures."""
    if not seen.count:
        return ()
    ages = np.sort(seen.end[seen.failed])
    parts = min(AGES_MAX, max(1, seen.count // 5))
    inner = np.quantile(ages, np.arange(1, parts) / parts) if parts > 1 else np.array([])
    edges = np.unique([float(seen.start.min()), *inner, float(seen.end.max())])
    rows = []
    for low, high in pairwise(edges):
        # A failure belongs to the interval at whose end it is.
        failures = int(np.sum((ages > low) & (ages <= high)))
        years = seen.between(float(low), float(high))
        expected = None if fit is None else _expected(seen, fit, float(low), float(high))
        rows.append(AgeRow(float(low), float(high), years, failures, rate * years, expected))
    return tuple(rows)


def _expected(seen: _Lives, fit: WeibullFit, low: float, high: float) -> float:
    """How many fail at these ages by a Weibull law, of those that were seen then."""
    shape, scale = fit.shape.value, fit.scale_years.value
    ends = np.clip(seen.end, low, high) / scale
    starts = np.clip(seen.start, low, high) / scale
    return float(np.sum(ends**shape - starts**shape))
