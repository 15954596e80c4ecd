"""Runs of a job whose pattern is known, under noise as file systems have it.

Noise is an exponential floor and others' bursts: Poisson in time, Pareto in size with the shape
1.5, exponential in length. How much of it is the floor, how many bursts there are and how long they
are is drawn with each case. A job's own bursts come 1 % of the period early or late, and their
sizes spread by 5 % (one standard deviation each).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from resilver.importers.series import Series

Floats = npt.NDArray[np.float64]
Kind = Literal["periodic", "noise", "random", "common"]


@dataclass(frozen=True)
class Planted:
    """Runs, and what is in them: seconds and bytes."""

    runs: list[Series]
    period: float
    first: float
    length: float
    volume: float


def planted(
    seed: tuple[int, ...],
    *,
    noise: float,
    runs: int = 8,
    kind: Kind = "periodic",
    seconds: float = 3600.0,
    step: float = 2.0,
) -> Planted:
    """Draw a case.

    Args:
        seed: Draws it.
        noise: The bytes of noise by those of the job's bursts.
        runs: How many there are.
        kind: Whether bursts repeat, there are none, or they come at random: at times of their own
            in each run, or at the same in all.
        seconds: How long a run is.
        step: How long a sample is.
    """
    rng = np.random.default_rng(seed)
    count = round(seconds / step)
    period = float(np.exp(rng.uniform(np.log(120.0), np.log(600.0))))
    length = max(float(rng.uniform(0.04, 0.2) * period), 3.0 * step)
    first = float(rng.uniform(0.0, 0.5 * period))
    volume = float(rng.uniform(20e9, 100e9)) * length
    number = np.arange(int((seconds - first) // period) + 1)
    at_random = rng.uniform(0.0, seconds - length, len(number))
    floor_share, every = rng.uniform(0.2, 0.8), np.exp(rng.uniform(np.log(30.0), np.log(360.0)))
    mean_length = np.exp(rng.uniform(np.log(5.0), np.log(60.0)))
    made = []
    for run in range(runs):
        begins = first + number * period + rng.normal(0.0, 0.01 * period, len(number))
        if kind == "random":
            begins = rng.uniform(0.0, seconds - length, len(number))
        elif kind == "common":
            begins = at_random + rng.uniform(0.0, step)
        sizes = volume * np.clip(rng.normal(1.0, 0.05, len(number)), 0.5, 1.5)
        own = sum(map(lambda at, size: box(count, step, at, length, size), begins, sizes))
        values = np.zeros(count) if kind == "noise" else np.asarray(own)
        floor = rng.exponential(1.0, count)
        others = np.zeros(count)
        for _ in range(max(1, rng.poisson(seconds / every))):
            lasts = rng.exponential(mean_length) + step
            begin = rng.uniform(0.0, seconds - lasts) if lasts < seconds else 0.0
            others += box(count, step, begin, lasts, rng.pareto(1.5) + 1.0)
        drawn = floor_share * floor / floor.sum() + (1.0 - floor_share) * others / others.sum()
        values = values + noise * volume * len(number) * drawn
        times = step * np.arange(count, dtype=np.float64)
        made.append(Series(times, values, f"run {run}"))
    return Planted(made, period, first, length, volume)


def box(count: int, step: float, begin: float, length: float, size: float) -> Floats:
    """Bytes of each sample of a burst of an even rate."""
    edges = np.arange(count + 1) * step
    share = np.clip((edges - begin) / length, 0.0, 1.0)
    return np.asarray(size * np.diff(share), dtype=np.float64)
