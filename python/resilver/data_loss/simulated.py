"""Answers by simulation: missions until the probability of loss is known well enough."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from resilver.data_loss.answer import Durability
from resilver.data_loss.batches import Plan, batch_size, simulate_batches
from resilver.data_loss.figures import times_of
from resilver.data_loss.question import Question
from resilver.data_loss.reports import Estimating, Told, telling
from resilver.data_loss.request import Where
from resilver.data_loss.scenario import Described
from resilver.data_loss.sensitivity import elasticities
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
