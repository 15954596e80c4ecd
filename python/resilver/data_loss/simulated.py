"""Answers by simulation: missions until the probability of loss is known well enough."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import pyarrow as pa

from resilver.data_loss.answer import Durability
from resilver.data_loss.batches import Plan, batch_size, simulate_batches
from resilver.data_loss.exact import sensitivity_table
from resilver.data_loss.figures import times_of
from resilver.data_loss.question import Question
from resilver.data_loss.request import Where
from resilver.data_loss.scenario import Described, Estimating, Told, telling
from resilver.figure import Figure
from resilver.simulate import version
from resilver.simulate.durability import DurabilityModel, Pilot, choose_method
from resilver.simulate.sums import Sums
from resilver.study.files import replace_text

# What comes by a list or a plan alone cannot be made likelier, and differs by its repairs alone.
_LISTED = Pilot({"kind": "plain"}, trajectories=1, events=1_000, relative_error=None)
_LISTED_MAX = 100_000


def simulated(
    described: Described, question: Question, where: Where, told: Told | None
) -> Durability:
    """The answer of a system that is simulated.

    Args:
        question: What is asked of it.
        where: Where missions are simulated and kept.
        told: Told how far it is.

    Raises:
        ConfigError: The system cannot be, or a worker cannot be had.
        Interrupted: `told` answered False; finished batches are kept in the folder.
    """
    plan = _plan(described, question, where, told)
    batches = simulate_batches(plan, where, telling(told, "estimating", described.name))
    sums = Sums.joined(batches)
    mission = question.mission_seconds
    loss = sums.probability()
    lost = sums.lost_bytes()
    stored = described.user_bytes
    of_object = times_of(lost, 1.0 / stored) if stored else None
    names = [str(one["name"]) for one in described.failures]
    answer = described.answer(
        loss,
        sums.survival(mission),
        mttdl_seconds=_mttdl(described, loss, mission),
        expected_lost_bytes=lost if described.has_volume else None,
        object_loss_probability=of_object,
        causes={name: share for name, share in sums.causes(names).items() if share},
        notes=(*described.notes, *_notes(sums, loss, plan)),
        digest=sums.digits(),
    )
    if not question.request.sensitivity or loss.value is None:
        return answer
    return replace(answer, sensitivity=elasticities(described, plan, batches, where, told))


def _plan(described: Described, question: Question, where: Where, told: Told | None) -> Plan:
    """How missions are simulated: by what a pilot says, which a folder keeps."""
    section, seed = question.section, question.request.seed
    text = described.to_json()
    is_listed = all(one["law"]["kind"] in ("trace", "planned") for one in described.failures)
    path = None
    if where.folder is not None:
        said = json.dumps([text, section.method, seed, version])
        where.folder.mkdir(parents=True, exist_ok=True)
        path = where.folder / f"pilot-{sha256(said.encode()).hexdigest()[:16]}.json"
    kept = _read(path)
    if kept is None:
        pilot = _LISTED if is_listed else _pilot(text, section.method, seed, described.name, told)
        kept = {
            "method": dict(pilot.method),
            "events": pilot.events,
            "trajectories": pilot.trajectories,
        }
        if path is not None:
            replace_text(path, json.dumps(kept))
    most = min(int(section.trajectories), _LISTED_MAX if is_listed else 2**62)
    each = batch_size(
        int(kept["events"]), int(kept["trajectories"]), most, described.sets_of_a_device
    )
    return Plan(text, kept["method"], seed, each, most, float(section.relative_error))


def _read(path: Any) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (AttributeError, OSError, ValueError):
        return None
    return found if {"method", "events", "trajectories"} <= found.keys() else None


def _pilot(text: str, method: str, seed: int, name: str, told: Told | None) -> Pilot:
    # Where an exact answer is asked for and there is none, nobody comes here.
    def goes_on(done: int) -> bool:
        return told is None or told(Estimating("estimating", name, 0, 0))

    return choose_method(DurabilityModel(text), method, seed, goes_on)


def _mttdl(described: Described, loss: Figure, mission: float) -> Figure | None:
    """The mean time to a loss at the mission's rate of losses; None of what ages or is listed."""
    laws: list[Mapping[str, Any]] = [one["law"] for one in described.failures]
    if any(law["kind"] != "exponential" for law in laws) or loss.value is None:
        return None

    def mean(p: float) -> float:
        return math.inf if p <= 0 else 0.0 if p >= 1 else -mission / math.log1p(-p)

    return replace(loss, value=mean(loss.value), low=mean(loss.high), high=mean(loss.low))


def _notes(sums: Sums, loss: Figure, plan: Plan) -> Iterator[str]:
    missions = f"{sums.trajectories:,} missions"
    if loss.value is None and not sums.seen:
        yield "More trajectories, or the method importance or splitting, may see losses."
    elif loss.value is None:
        yield (
            f"Too few of {missions} dominate the estimate, so no probability is given; more "
            "trajectories or another method give one."
        )
    elif loss.relative_error is not None and loss.relative_error > plan.relative_error:
        yield (
            f"After {missions} the standard error is {loss.relative_error:.0%} of the value, above "
            f"the {plan.relative_error:.0%} asked for; more trajectories make it smaller."
        )


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
