"""How likely data is lost, by trajectories of the core."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from resilver import _core
from resilver.core_errors import core_errors
from resilver.errors import ConfigError, Interrupted, show
from resilver.simulate.sums import FEWEST, Sums

METHODS = ("auto", "plain", "importance", "splitting")
"""How an estimate is made, as an option says it."""

PLAIN: Mapping[str, Any] = {"kind": "plain"}

# Batches of pilots have numbers from here on, which no estimate reaches: what they drew to choose
# a method is not used again by what the method then estimates.
_PILOTS = 2**31
# What a pilot of one candidate may take, in events; thrice, four times as much where nothing was
# learnt.
_EVENTS = 100_000
_ROUNDS = 4


class DurabilityModel:
    """A storage system that fails and heals, of which batches of missions can be run.

    Args:
        system: The core's `DurabilityInput` as JSON.

    Raises:
        ConfigError: A value of it cannot be.
    """

    def __init__(self, system: str) -> None:
        with core_errors():
            self._core = _core.DurabilityModel(system)

    def repair_seconds(self) -> list[float]:
        """How long the repair of each device that holds something takes while it alone is lost."""
        return self._core.repair_seconds()

    def batch(
        self,
        method: Mapping[str, Any],
        seed: int,
        number: int,
        trajectories: int,
        progress: Callable[[int], bool] | None = None,
    ) -> Sums:
        """Run a batch of trajectories on all threads.

        Args:
            method: The core's `Method`: ``{"kind": "plain"}``, ``{"kind": "importance", "push":
                0.8, "from": 1}`` or ``{"kind": "splitting", "copies": 10, "from": 1}``.
            seed: The key of every draw.
            number: The number of the batch; batches of other numbers draw other things.
            trajectories: How many missions.
            progress: Told some ten times a second how many are done; answers whether to go on.

        Returns:
            Their sums: the same on any number of threads.

        Raises:
            ConfigError: A value of the method cannot be.
            Interrupted: `progress` answered False.
        """
        with core_errors():
            found = self._core.batch(json.dumps(dict(method)), seed, number, trajectories, progress)
        if found is None:
            raise Interrupted("the estimate was stopped before its end")
        return Sums.from_dict(json.loads(found))


@dataclass(frozen=True)
class Pilot:
    """A method that was chosen by trying.

    Attributes:
        method: The core's `Method`.
        trajectories: Missions that it was tried by.
        events: What these took.
        relative_error: What they gave; None where too little was seen.
    """

    method: Mapping[str, Any]
    trajectories: int
    events: int
    relative_error: float | None


def choose_method(
    model: DurabilityModel,
    method: str = "auto",
    seed: int = 1,
    progress: Callable[[int], bool] | None = None,
) -> Pilot:
    """Try a few ways to estimate a system's loss, and choose the one that takes the least.

    What it takes is counted in events of the core, so the choice follows from the seed alone.

    Args:
        method: One of `METHODS`: what may be chosen; ``auto`` for plain or importance sampling,
            and splitting where these see nothing.
        seed: The key of every draw. Those drawn here are not used by batches numbered below 2^31.
        progress: As of `DurabilityModel.batch`, of any one trial.

    Raises:
        ConfigError: There is no such method.
        Interrupted: `progress` answered False.
    """
    if method not in METHODS:
        remedy = f"write one of {', '.join(METHODS)}"
        raise ConfigError("no such method", remedy, key="method", value=show(method))
    trial = _Trial(model, seed, progress)
    for budget in (_EVENTS * 4**step for step in range(_ROUNDS)):
        tried = [trial.run(one, budget) for one in _candidates(method)]
        if method in ("auto", "splitting") and not any(map(_is_telling, tried)):
            splitting = ({"kind": "splitting", "copies": n, "from": 1} for n in (4, 16, 64))
            tried += [trial.run(one, budget) for one in splitting]
        telling = _trusted([one for one in tried if _is_telling(one)])
        if telling:
            best = min(telling, key=_price)
            break
    else:
        best = max(tried, key=lambda one: one[1].effective)
    if best[0]["kind"] == "importance":
        # How far to push matters less than from where on, and is tried where that is known.
        others = ({**best[0], "push": push} for push in (0.5, 0.9))
        nearby = [best, *(trial.run(one, budget) for one in others)]
        best = min(_trusted([one for one in nearby if _is_telling(one)]) or [best], key=_price)
    chosen, sums = best
    return Pilot(chosen, sums.trajectories, sums.events, sums.relative_error)


_Tried = tuple[Mapping[str, Any], Sums]


def _candidates(method: str) -> Iterator[Mapping[str, Any]]:
    if method in ("auto", "plain"):
        yield PLAIN
    if method in ("auto", "importance"):
        yield from [{"kind": "importance", "push": 0.8, "from": step} for step in (0, 1, 2)]


class _Trial:
    """Tries methods, each with draws of its own."""

    def __init__(
        self, model: DurabilityModel, seed: int, progress: Callable[[int], bool] | None
    ) -> None:
        self.model, self.seed, self.progress = model, seed, progress
        self.number = _PILOTS

    def run(self, method: Mapping[str, Any], events: int) -> _Tried:
        """So many trajectories of a method that they take about so many events."""
        few = self._batch(method, 4)
        count = 4 * events // max(few.events + 4, 1)
        return method, few if count <= 4 else self._batch(method, count)

    def _batch(self, method: Mapping[str, Any], count: int) -> Sums:
        self.number += 1
        return self.model.batch(method, self.seed, self.number, count, self.progress)


def _is_telling(tried: _Tried) -> bool:
    return tried[1].effective >= FEWEST


def _price(tried: _Tried) -> float:
    """Events for a relative error of 1: a trajectory in which nothing happens takes one, too."""
    sums = tried[1]
    mean = sums.loss / sums.trajectories
    squared = max(sums.loss_squared / sums.loss**2 - 1 / sums.trajectories, 0.0)
    return squared * (sums.events + sums.trajectories) if mean else math.inf


def _trusted(tried: list[_Tried]) -> list[_Tried]:
    """Those that do not say far less than another: what a way to estimate has not yet seen makes
    its value too small and its error with it.
    """

    def mean_and_error(one: _Tried) -> tuple[float, float]:
        sums = one[1]
        mean = sums.loss / sums.trajectories
        square = sums.loss_squared / sums.trajectories
        return mean, math.sqrt(max(square - mean**2, 0.0) / sums.trajectories)

    found = [mean_and_error(one) for one in tried]
    return [
        one
        for one, (mean, error) in zip(tried, found, strict=True)
        if all(mean + 3 * math.hypot(error, other) >= most for most, other in found)
    ]
