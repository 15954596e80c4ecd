"""Max-min fair rates of steady flows, by the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver import _core
from resilver.core_errors import core_errors
from resilver.errors import ConfigError


@dataclass(frozen=True, eq=False)
class FairRates:
    """Max-min fair rates, and what binds them.

    Args:
        rates: The rate of each flow, shape (flows,); where a flow is counted, of each of its kind.
        binding: The number of the full resource that keeps each flow from more, shape (flows,); -1
            where the flow has all that its cap lets it ask for.
        used: What each resource gives to all flows, shape (resources,), in its capacity's unit.
        distinct: How many flows differ; those that are equal were solved as one.
    """

    rates: npt.NDArray[np.float64]
    binding: npt.NDArray[np.int64]
    used: npt.NDArray[np.float64]
    distinct: int


def fair_rates(
    capacities: npt.ArrayLike,
    starts: npt.ArrayLike,
    resources: npt.ArrayLike,
    costs: npt.ArrayLike | None = None,
    *,
    weights: npt.ArrayLike | None = None,
    caps: npt.ArrayLike | None = None,
    counts: npt.ArrayLike | None = None,
) -> FairRates:
    """The max-min fair rates of flows over shared resources.

    All flows rise together, each by its weight, until a resource has nothing left or a flow has all
    that it asks for; what that binds stays there, and the others rise on (progressive filling:
    Bertsekas and Gallager, *Data Networks*, section 6.5.2). Where costs are seconds per byte, a
    capacity of 1 is a device or a link that works all the time, and rates are bytes per second.

    >>> from resilver import fair_rates
    >>> # Two flows share a link of 10; the second goes on over a link of 4.
    >>> found = fair_rates([10.0, 4.0], starts=[0, 1, 3], resources=[0, 0, 1])
    >>> found.rates.tolist(), found.binding.tolist()
    ([6.0, 4.0], [0, 1])

    Args:
        capacities: What each resource gives, shape (resources,); finite, from 0 on.
        starts: Where the way of each flow begins in ``resources``, and where the last one ends,
            shape (flows + 1,).
        resources: The resources of all ways, one flow behind another, by number from 0.
        costs: What one unit of a flow's rate takes of each of them, shape of ``resources``; above
            0. All 1 where they are not given.
        weights: The share of each flow beside others, shape (flows,); above 0. All 1 where not
            given.
        caps: The rate that each flow asks for at the most, shape (flows,); infinite where not
            given.
        counts: How many such flows there are, shape (flows,); all 1 where not given.

    Returns:
        Rates, what binds each flow, and what resources give.

    Raises:
        ConfigError: When lengths do not agree, a number means nothing, or a flow has neither a
            resource nor a cap.
    """
    begins = _whole("starts", starts, np.int64)
    if begins.ndim != 1 or not begins.size or begins[0] != 0 or np.any(np.diff(begins) < 0):
        rule = "it begins with 0 and never falls: the place in resources at which each way begins"
        raise ConfigError(rule, "end it with the length of resources", key="starts")
    flows, incidences = begins.size - 1, int(begins[-1])
    numbers = _whole("resources", resources, np.uint32)
    _check_length("resources", numbers, incidences, "starts ends with it")
    by_flow = (flows, "starts says so many flows")
    taken = _numbers("costs", 1.0, costs, incidences, "starts ends with it")
    shares, most = (
        _numbers("weights", 1.0, weights, *by_flow),
        _numbers("caps", np.inf, caps, *by_flow),
    )
    many = np.ones(flows, np.uint64) if counts is None else _whole("counts", counts, np.uint64)
    _check_length("counts", many, *by_flow)
    gives = np.ascontiguousarray(capacities, dtype=np.float64)
    if gives.ndim != 1:
        raise ConfigError("it is one row of numbers", "give one each", key="capacities")
    with core_errors():
        found = _core.fair_rates(gives, begins, numbers, taken, shares, most, many)
    return FairRates(*found)


def _check_length(name: str, array: npt.NDArray[Any], length: int, why: str) -> None:
    if array.shape != (length,):
        rule = f"it has the shape {array.shape}, not ({length},): {why}"
        raise ConfigError(rule, f"give {length} numbers in one row", key=name)


def _numbers(
    name: str, default: float, given: npt.ArrayLike | None, length: int, why: str
) -> npt.NDArray[np.float64]:
    """One number each; `default` where none are given."""
    if given is None:
        return np.full(length, default)
    array = np.ascontiguousarray(given, dtype=np.float64)
    _check_length(name, array, length, why)
    return array


def _whole(name: str, given: npt.ArrayLike, kind: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """Whole numbers of a kind that holds them all."""
    array = np.asarray(given)
    if not array.size:
        return array.astype(kind)
    limits = np.iinfo(kind)
    if array.dtype.kind not in "iu":
        rule = f"it holds numbers of type {array.dtype}, which are not whole"
        raise ConfigError(rule, "give whole numbers", key=name)
    least, most = int(array.min()), int(array.max())
    if least < 0 or most > limits.max:
        rule = f"it holds {least if least < 0 else most}, which is not from 0 to {limits.max}"
        raise ConfigError(rule, "give numbers in this range", key=name)
    return np.ascontiguousarray(array, dtype=kind)
