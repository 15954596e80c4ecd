"""Which rate matters most: the same missions with one rate or time higher, and lower."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from resilver.data_loss.batches import Plan, simulate_batches
from resilver.data_loss.exact import sensitivity_table
from resilver.data_loss.reports import Told, telling
from resilver.data_loss.request import Where
from resilver.data_loss.scenario import Described
from resilver.simulate.sums import Sums

_FACTOR = 1.5
_NORMAL = 1.96

# Of so many batches alike the spread is told.
_BATCHES = 16

Turn = tuple[str, tuple[str | int, ...], Callable[[dict[str, Any], float], None]]


def turns_of(system: dict[str, Any]) -> Iterator[Turn]:
    """The rates and times of a system: its name, its place, and what makes it so much larger.

    Args:
        system: The core's `DurabilityInput`.
    """
    for index, failure in enumerate(system["failures"]):
        law, name = failure["law"]["kind"], failure["name"]
        if law in ("exponential", "weibull"):
            yield f"rate of {name}", ("failures", index), _rate
        if failure["effect"]["kind"] == "away":
            yield f"duration of {name}", ("failures", index, "effect", "lasts"), _longer
    yield "repair time", ("repair", "speed"), _slower
    for key in ("detection", "replacement"):
        time = system["repair"][key]
        if time["kind"] != "fixed" or time["seconds"] > 0:
            yield f"time of {key}", ("repair", key), _longer
    latent = system["latent"] or {}
    for key, name in (
        ("errors_per_byte_read", "rate of unreadable sectors"),
        ("errors_per_byte_second", "rate of latent errors"),
        ("scrub_every_seconds", "scrub interval"),
    ):
        if latent.get(key):
            yield name, ("latent",), partial(_times, key)


def _times(key: str, latent: dict[str, Any], by: float) -> None:
    latent[key] *= by


def _rate(failure: dict[str, Any], by: float) -> None:
    law = failure["law"]
    if law["kind"] == "exponential":
        law["rate_per_second"] *= by
    else:
        # At any age the hazard of shape b goes with the scale to the power -b.
        law["scale_seconds"] *= by ** (-1.0 / law["shape"])


def _longer(time: dict[str, Any], by: float) -> None:
    for key in ("seconds", "mean_seconds", "scale_seconds", "least_seconds"):
        if isinstance(time.get(key), list):
            time[key] = [one * by for one in time[key]]
        elif key in time:
            time[key] *= by


def _slower(speed: dict[str, Any], by: float) -> None:
    takes = speed.get("takes")
    for time in takes if isinstance(takes, list) else [takes] if takes else []:
        _longer(time, by)
    if speed["kind"] == "shared":
        speed["device_bytes_per_second"] /= by
        for limit in speed["limits"]:
            limit["bytes_per_second"] /= by


def elasticities(
    described: Described, plan: Plan, batches: Sequence[Sums], where: Where, told: Told | None
) -> pa.Table:
    """By what share the loss probability changes for a share by which a rate or a time does.

    The same batches are simulated with the same draws, once with it 1.5 times as large and once
    as small, so that what is drawn changes the answer less than it would between others.

    Args:
        described: The system.
        plan: How it was simulated.
        batches: What it came to, which says how many batches are enough.
        where: Where it is performed and kept.
        told: Told how far it is.

    Returns:
        As of `Durability.sensitivity`, the strongest first. Where losses are not seen often enough
        for a rate, its elasticity is null.
    """
    system = json.loads(plan.text)
    turns = list(turns_of(system))
    each = -(-sum(one.trajectories for one in batches) // _BATCHES)
    rows: list[dict[str, object]] = []
    for number, (name, place, turn) in enumerate(turns):
        tell = telling(told, "estimating", f"{described.name}: {name}")
        found = []
        for side, by in enumerate((_FACTOR, 1 / _FACTOR)):
            if tell is not None:
                tell(2 * number + side, 2 * len(turns))
            changed = copy.deepcopy(system)
            part: Any = changed
            for key in place:
                part = part[key]
            turn(part, by)
            text = json.dumps(changed, separators=(",", ":"))
            # As many missions as were enough, and no stopping before.
            again = replace(plan, text=text, each=each, most=each * _BATCHES, relative_error=0.0)
            found.append(simulate_batches(again, where))
        rows.append({"factor": name, **_elasticity(*found)})
    return sensitivity_table(rows)


def _elasticity(more: Sequence[Sums], less: Sequence[Sums]) -> dict[str, float | None]:
    """d log p / d log factor with its 95 % interval."""
    whole = _slope(more, less)
    if whole is None:
        return {"elasticity": None, "low": None, "high": None}
    error = _error(more, less)
    return {"elasticity": whole, "low": whole - _NORMAL * error, "high": whole + _NORMAL * error}


def _slope(more: Sequence[Sums], less: Sequence[Sums]) -> float | None:
    upper, lower = Sums.joined(more).probability().value, Sums.joined(less).probability().value
    if not upper or not lower:
        return None
    return math.log(upper / lower) / (2 * math.log(_FACTOR))


def _error(more: Sequence[Sums], less: Sequence[Sums]) -> float:
    """The standard error: by leaving out each batch in turn, which sees what both sides share."""
    without = []
    for left_out in range(len(more)):
        sides = [
            sum(one.loss for at, one in enumerate(side) if at != left_out) for side in (more, less)
        ]
        if min(sides) <= 0:
            return math.inf
        without.append(math.log(sides[0] / sides[1]) / (2 * math.log(_FACTOR)))
    mean = math.fsum(without) / len(without)
    squares = math.fsum((one - mean) ** 2 for one in without)
    return math.sqrt(squares * (len(without) - 1) / len(without))
