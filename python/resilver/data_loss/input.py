"""How parts fail and heal, in the core's words, and what the answer then rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.data_loss.answer import Origin, Premise
from resilver.data_loss.question import Question
from resilver.data_loss.repair_times import RepairTimes
from resilver.errors import ConfigError, name_remedy, show
from resilver.spec.failures import Failure
from resilver.units import format_duration


@dataclass(frozen=True)
class Parts:
    """The parts that may fail, by level from the top; the last level is the devices.

    Attributes:
        levels: The names of the levels.
        numbers: Of each level the number of each part by its name.
        classes: The class of each device; empty where it has none.
        used: The devices that hold something.
    """

    levels: tuple[str, ...]
    numbers: tuple[Mapping[str, int], ...]
    classes: Sequence[str]
    used: npt.NDArray[np.int64]

    def level(self, name: str | None, key: str) -> int:
        """The number of a level; that of the devices for None.

        Raises:
            ConfigError: There is no such level.
        """
        if name is None or name == "device":
            return len(self.levels) - 1
        if name not in self.levels:
            remedy = name_remedy(name, self.levels, "levels")
            raise ConfigError("the system has no such level", remedy, key, show(name))
        return self.levels.index(name)


def failures_json(question: Question, parts: Parts) -> tuple[dict[str, Any], ...]:
    """What fails, in the core's words.

    Args:
        question: What is asked.
        parts: What may fail.

    Raises:
        ConfigError: A failure is of what the system does not have.
    """
    return tuple(
        _failure_json(failure, parts, f"durability.failures.{index}")
        for index, failure in enumerate(question.section.failures)
    )


def _failure_json(failure: Failure, parts: Parts, key: str) -> dict[str, Any]:
    level = parts.level(failure.level, f"{key}.level")
    numbers = parts.numbers[level]
    burst = failure.burst
    return {
        "name": failure.called(parts.levels[level]),
        "level": level,
        "parts": _parts_of(failure, parts, level, key),
        "law": failure.law_content(numbers),
        "effect": failure.effect_content(),
        "burst": None
        if burst is None
        else {
            "within": None
            if burst.within is None
            else parts.level(burst.within, f"{key}.burst.within"),
            "sizes": [list(one) for one in burst.sizes.weights],
            "spread_seconds": float(burst.spread),
        },
    }


def _parts_of(failure: Failure, parts: Parts, level: int, key: str) -> list[int]:
    """The parts that fail so; none for all of the level."""
    numbers = parts.numbers[level]
    if failure.parts:
        unknown = [name for name in failure.parts if name not in numbers]
        if unknown:
            remedy = name_remedy(unknown[0], list(numbers))
            rule = f"there is no such {parts.levels[level]}"
            raise ConfigError(rule, remedy, f"{key}.parts", show(unknown[0]))
        return [numbers[name] for name in failure.parts]
    if level < len(parts.levels) - 1 or failure.law in ("trace", "planned"):
        return []
    if failure.device_class is not None:
        found = [int(one) for one in parts.used if parts.classes[one] == failure.device_class]
        if not found:
            known = sorted({parts.classes[one] for one in parts.used} - {""})
            remedy = name_remedy(failure.device_class, known, "classes") if known else "remove it"
            rule = "no device that holds data has this class"
            raise ConfigError(rule, remedy, f"{key}.class", show(failure.device_class))
        return found
    if failure.weibull is not None and len(failure.weibull.ages) > 1:
        return []
    # What holds nothing may fail unseen; its repair would slow others only in the model.
    return [] if len(parts.used) == len(numbers) else parts.used.tolist()


def repair_json(question: Question, parts: Parts, times: RepairTimes | None) -> dict[str, Any]:
    """How it heals, in the core's words.

    Args:
        question: What is asked.
        parts: What may fail.
        times: What simulated rebuilds took; None where they are not asked for.

    Raises:
        ConfigError: A level whose bandwidth is given is not there.
    """
    section = question.section
    return {
        "detection": section.detection.content(),
        "replacement": section.replacement.content(),
        "speed": _speed_json(question, parts, times),
        "returns": section.returns,
        "most_lost_first": section.most_lost_first,
    }


def _speed_json(question: Question, parts: Parts, times: RepairTimes | None) -> dict[str, Any]:
    section = question.section
    repair = section.repair
    if times is not None:
        takes = [{"kind": "drawn", "seconds": list(one)} for one in times.by_lost]
        return {"kind": "by_lost", "takes": takes}
    if repair.kind == "shared":
        rates = dict(repair.rates)
        limits = [
            {"level": parts.level(name, f"repair.{name}"), "bytes_per_second": rate}
            for name, rate in rates.items()
            if name != "device"
        ]
        return {
            "kind": "shared",
            "device_bytes_per_second": rates["device"],
            "limits": limits,
            "onto_replacement": section.is_onto_replacement,
        }
    if len(repair.times) > 1:
        return {"kind": "by_lost", "takes": [one.content() for one in repair.times]}
    time = repair.times[0].content()
    if section.repairs == "serial" or section.crews is not None:
        return {"kind": "serial", "takes": time, "crews": section.crews}
    return {"kind": "parallel", "takes": time}


def premises_of(
    question: Question, device_level: str, times: RepairTimes | None = None
) -> list[Premise]:
    """What the answer rests on, as far as failures and repairs go.

    Args:
        question: What is asked.
        device_level: What the devices are called.
        times: What simulated rebuilds took.
    """
    section = question.section
    rows = [Premise("mission", section.mission.as_text(), question.origin("mission"))]
    for failure in section.failures:
        name = failure.called(failure.level or device_level)
        origin: Origin = "catalog" if failure.is_by_catalog else question.origin("failures")
        rows.append(Premise(name, failure.words, origin, failure.source))
    for key in ("detection", "replacement"):
        waits = getattr(section, key)
        if waits.mean_seconds or key in question.origins:
            origin = question.origin(key)
            label = format_duration(waits.mean_seconds) if origin == "dump" else waits.label
            rows.append(Premise(key, label, origin))
        elif key == "detection":
            rows.append(Premise(key, "at once", "default", "as if each loss were known at once"))
    if times is not None:
        rows.append(Premise("repair", times.words, "simulated", times.source))
    else:
        label = section.repair.label
        several = ", one at a time in each set" if section.repairs == "serial" else ""
        if section.crews is not None:
            several = f", at most {section.crews:,} at a time in all"
        rows.append(Premise("repair", label + several, question.origin("repair")))
    if section.unreadable:
        text = section.unreadable.as_text()
        rows.append(Premise("unreadable", text, question.origin("unreadable")))
    if section.has_latent_errors:
        text = section.latent_errors.as_text()
        rows.append(Premise("latent errors", text, question.origin("latent_errors")))
        every = "never" if section.scrub_every is None else section.scrub_every.as_text()
        rows.append(Premise("scrub", every, question.origin("scrub_every")))
    return rows
