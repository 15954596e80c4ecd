"""What trajectories came to, and what is known by it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa

from resilver.figure import Figure

FEWEST = 20
"""Of weights whose effective number is below this nothing is told: the error of their error is
above 1 / sqrt(2 x 20) = 16 %, and the largest weights may not have been seen."""

FEWEST_FOR_INTERVAL = 100
"""Of weights whose effective number is below this no interval is given: the relative error of their
count is above 1 / sqrt(100) = 10 %, and that they came to be so many may itself be chance."""

_TAIL = 0.025


@dataclass(frozen=True)
class Sums:
    """Sums over trajectories, each a whole mission; the core's `BatchSums`.

    Attributes:
        trajectories: How many.
        loss: Sum of each trajectory's estimate of the probability of loss.
        loss_squared: Sum of their squares.
        loss_cubed: Sum of their cubes.
        plain_loss: Missions that lost data as they came, whatever the method.
        bytes: Sum of each trajectory's estimate of the bytes lost.
        bytes_squared: Sum of their squares.
        loss_by_time: `loss` by the time of the first loss, in equal parts of the mission.
        loss_by_time_squared: Of what was lost until the end of each part, the sum of squares.
        loss_by_cause: `loss` by cause: the failures of the input, then latent errors.
        seen: Losses that were seen, whatever their weight.
        largest_weight: The largest weight of one.
        weights: Sum of their weights.
        weights_squared: Sum of the squares of these.
        system_seconds: Simulated time of whole systems, in seconds.
        failures: Failures that happened.
        events: All that happened.
        digest: A number that tells whether the same happened.
    """

    trajectories: int = 0
    loss: float = 0.0
    loss_squared: float = 0.0
    loss_cubed: float = 0.0
    plain_loss: float = 0.0
    bytes: float = 0.0
    bytes_squared: float = 0.0
    loss_by_time: tuple[float, ...] = ()
    loss_by_time_squared: tuple[float, ...] = ()
    loss_by_cause: tuple[float, ...] = ()
    seen: int = 0
    largest_weight: float = 0.0
    weights: float = 0.0
    weights_squared: float = 0.0
    system_seconds: float = 0.0
    failures: int = 0
    events: int = 0
    digest: int = 0

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Sums:
        """The sums of a dictionary that `to_dict` made.

        Raises:
            KeyError: It lacks a sum.
        """
        values: dict[str, Any] = {one.name: found[one.name] for one in fields(cls)}
        for name, value in values.items():
            if isinstance(value, list):
                values[name] = tuple(value)
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The sums as a JSON-able dictionary, without loss of digits."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items()}

    @classmethod
    def joined(cls, sums: Iterable[Sums]) -> Sums:
        """The sums of all, which depend in their last digits on the order."""
        whole = cls()
        for one in sums:
            whole = cls(**{key: _join(key, vars(whole)[key], v) for key, v in vars(one).items()})
        return whole

    @property
    def effective(self) -> float:
        """The effective number of trajectories that lost data: (sum)^2 / (sum of squares)."""
        return self.loss**2 / self.loss_squared if self.loss_squared else 0.0

    @property
    def relative_error(self) -> float | None:
        """The standard error of the loss probability over its value; None where it is not known."""
        figure = self.probability()
        return None if figure.value is None else figure.relative_error

    def probability(self) -> Figure:
        """The probability that data is lost within the mission.

        Its value is None where nothing was lost, where a few weights say most of it (an effective
        number below `FEWEST`), and where missions lost data as they came far more often than the
        weights say. Then the interval is that of the missions as they came. It has no interval
        where weights are few (an effective number below `FEWEST_FOR_INTERVAL`).
        """
        plain = self.loss == self.loss_squared
        is_known = plain or self.effective >= FEWEST
        if self.loss == 0 or not is_known or self._is_contradicted():
            high = _upper(self.plain_loss, self.trajectories)
            return Figure(None, 0.0, high, "simulated", None, self.trajectories, self.effective)
        found = self._figure(self.loss, self.loss_squared, plain, self.loss_cubed)
        return _without_weak_interval(replace(found, high=min(found.high, 1.0)), plain)

    def lost_bytes(self) -> Figure:
        """The bytes expected to be lost within the mission; not known where the probability is
        not, or where a few weights say most of it.
        """
        squares = self.bytes_squared
        effective = self.bytes**2 / squares if squares else 0.0
        known = self.probability().value is not None
        if not known or effective == 0 or (effective < FEWEST and self.loss != self.loss_squared):
            return Figure(None, 0.0, math.inf, "simulated", None, self.trajectories, effective)
        return _without_weak_interval(self._figure(self.bytes, squares, plain=False))

    def causes(self, names: Sequence[str]) -> dict[str, float]:
        """Of the losses, what share each cause has; empty where nothing was lost.

        Args:
            names: Those of the failures of the input, in their order; latent errors come last.
        """
        if self.loss == 0:
            return {}
        named = [*names, "latent errors"]
        shares: dict[str, float] = {}
        for name, weight in zip(named, self.loss_by_cause, strict=False):
            shares[name] = shares.get(name, 0.0) + weight / self.loss
        return shares

    def survival(self, mission_seconds: float) -> pa.Table:
        """The probability that nothing was lost until a time, with its 95 % band.

        Args:
            mission_seconds: How long the mission is.

        Returns:
            ``time_seconds``, ``survival``, ``low``, ``high``; from the beginning to the end. The
            band is null where the probability of the whole mission has no interval.
        """
        parts = len(self.loss_by_time)
        rows: list[tuple[float | None, ...]] = [(0.0, 1.0, 1.0, 1.0)]
        until = 0.0
        for part, (weight, square) in enumerate(
            zip(self.loss_by_time, self.loss_by_time_squared, strict=True)
        ):
            until += weight
            time = mission_seconds * (part + 1) / parts
            if until == 0:
                high = _upper(0.0, self.trajectories)
                rows.append((time, 1.0, 1 - high, 1.0))
                continue
            found = self._figure(until, square, plain=until == square)
            mean = until / self.trajectories
            rows.append((time, 1 - mean, max(1 - found.high, 0.0), 1 - found.low))
        names = ("time_seconds", "survival", "low", "high")
        if not self.probability().has_interval:
            rows = [(time, survival, None, None) for time, survival, *_ in rows]
        return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))

    def digits(self) -> str:
        """The digest in 16 hexadecimal digits."""
        return f"{self.digest:016x}"

    def _figure(
        self, total: float, squares: float, plain: bool, cubes: float | None = None
    ) -> Figure:
        """The mean over trajectories with its 95 % interval.

        Of losses that were counted the interval is Jeffreys' for a share. Weights are skewed: their
        mean seems small, and its error with it, where the largest were not drawn. Where their
        cubes are known the interval is Hall's, which is corrected for it ("On the removal of
        skewness by transformation", J. Royal Statistical Society B 54, 1992); else that of a Gamma
        distribution of the same mean and variance. From some hundred effective losses on all are
        nearly the same.
        """
        from scipy import special

        count = self.trajectories
        mean = total / count
        variance = max(squares / count - mean**2, 0.0)
        error = math.sqrt(variance / max(count - 1, 1)) / mean
        tails = (_TAIL, 1 - _TAIL)
        if plain:
            low, high = special.betaincinv(total + 0.5, count - total + 0.5, tails)
        elif error == 0.0:
            low = high = mean
        elif cubes is not None:
            third = cubes / count - 3 * mean * squares / count + 2 * mean**3
            skew = third / variance**1.5 / math.sqrt(count)
            normal = float(special.ndtri(tails[1]))
            low, high = (mean * (1 - error * _hall(z, skew)) for z in (normal, -normal))
            low = max(low, 0.0)
        else:
            shape = error**-2
            low, high = special.gammaincinv(shape + 0.5, tails) * (mean / shape)
        effective = total**2 / squares
        return Figure(mean, float(low), float(high), "simulated", error, count, effective)

    def _is_contradicted(self) -> bool:
        """Whether so many missions lost data as they came that the weights cannot be right: more
        than by chance once in 100,000 where the value is three standard errors above what it is.
        """
        from scipy import special

        if self.plain_loss < 1 or self.plain_loss == self.loss:
            return False
        mean = self.loss / self.trajectories
        error = math.sqrt(max(self.loss_squared / self.trajectories - mean**2, 0.0))
        expected = self.loss + 3 * error * math.sqrt(self.trajectories)
        return bool(special.gammainc(math.floor(self.plain_loss), expected) < 1e-5)


def _without_weak_interval(figure: Figure, is_counted: bool = False) -> Figure:
    """A figure without its interval where that rests on too few weights."""
    if is_counted or figure.effective >= FEWEST_FOR_INTERVAL:
        return figure
    return replace(figure, low=math.nan, high=math.nan)


def _hall(normal: float, skew: float) -> float:
    """Where a mean less the truth, over its error, has the quantile that a normal number has."""
    if abs(skew) < 1e-6:
        return normal
    return (math.cbrt(1 + skew * (normal - skew / 6)) - 1) * 3 / skew


def _upper(losses: float, count: int) -> float:
    """The upper end, one-sided 95 %, of a share: of none seen 3 / count."""
    from scipy import special

    return min(1.0, float(special.gammaincinv(losses + 1, 0.95)) / max(count, 1))


def _join(key: str, own: Any, other: Any) -> Any:
    if key == "largest_weight":
        return max(own, other)
    if key == "digest":
        return (own + other) % 2**64
    if isinstance(other, tuple):
        longest = max(len(own), len(other))
        both = ((*values, *([0.0] * (longest - len(values)))) for values in (own, other))
        return tuple(left + right for left, right in zip(*both, strict=True))
    return own + other
