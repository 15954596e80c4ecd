"""What is asked of one system: its request, else its study's section, else defaults."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from resilver.data_loss.answer import Origin
from resilver.data_loss.request import ORDERS, DurabilityRequest
from resilver.errors import ConfigError, Problem, show
from resilver.request import value_of
from resilver.spec.durability import DurabilityQuestion
from resilver.spec.failures import Failure
from resilver.units import format_duration

REPAIR_DEFAULT = "1 d"
"""The repair of a code alone, of which nothing can be simulated, where nothing is said."""

FAILURES_DEFAULT = "backblaze-2025"
"""The entry of the catalog by which devices fail where nothing is said."""


@dataclass(frozen=True)
class Question:
    """What is asked of one system, and who says what of it.

    Attributes:
        section: How it fails and heals, and for how long data has to last.
        origins: Of each key of the section who says it; what is not in it is a default.
        request: The rest.
    """

    section: DurabilityQuestion
    origins: Mapping[str, Origin]
    request: DurabilityRequest

    def origin(self, key: str) -> Origin:
        """Who says a key of the section."""
        return self.origins.get(key, "default")

    @property
    def mission_seconds(self) -> float:
        """How long data has to last."""
        return float(self.section.mission)


def question_of(
    request: DurabilityRequest, own: DurabilityQuestion | None, *, repair: str = "simulate"
) -> Question:
    """What is asked of a system: the options, else its study's section, else defaults.

    Args:
        own: The study's section, if there is one.
        repair: The repair where nothing is said of it.

    Raises:
        ConfigError: A value cannot be.
    """
    table = dict(own.given()) if own is not None else {}
    origins: dict[str, Origin] = dict.fromkeys(table, "study")
    stated = {key: value for key in _KEYS if (value := getattr(request, key)) not in ("", None)}
    if "relative_error" in stated:
        stated["relative_error"] = value_of(request, "relative_error")
    if "repair" in stated:
        stated["repair"] = _repair(str(stated["repair"]))
    stated |= ORDERS.get(request.repair_order, {})
    devices = _device_failures(request)
    if devices:
        kept = [one for one in table.get("failures", ()) if not _is_of_devices(one)]
        stated["failures"] = [*devices, *kept]
    table |= stated
    origins |= dict.fromkeys(stated, "stated")
    table.setdefault("repair", repair)
    if not table.get("failures"):
        table["failures"] = [{"like": FAILURES_DEFAULT}]
        origins["failures"] = "catalog"
    try:
        section = DurabilityQuestion.from_table(table, Path.cwd())
    except ConfigError as error:
        known = [f"failures.{index}" for index in range(len(devices))]
        raise ConfigError(_as_option(problem, known) for problem in error.problems) from None
    return Question(section, origins, request)


def refuse_slow_repairs(section: DurabilityQuestion) -> None:
    """Refuse repairs that take as long as what they repair lasts.

    Raises:
        ConfigError: They do; in the study's own section it was refused as it was read.
    """
    waits = section.detection.mean_seconds + section.replacement.mean_seconds
    repair = waits + (section.repair.times[0].mean_seconds if section.repair.times else 0.0)
    for failure in section.failures:
        lives = failure.mean_seconds
        if lives is None or not _is_of_devices(failure) or repair < lives:
            continue
        rule = f"a device fails after {format_duration(lives)} on average, and is not whole by then"
        remedy = "give a shorter repair, or rarer failures"
        raise ConfigError(rule, remedy, "repair", show(section.repair.label))


def _as_option(problem: Problem, stated: list[str]) -> Problem:
    """A problem of failures that options stated, by the name of the option."""
    place, _, law = problem.key.rpartition(".")
    if place not in stated:
        return problem
    return replace(problem, key="drive" if law == "like" else law)


_KEYS = [
    field.name
    for field in fields(DurabilityRequest)
    if field.name in DurabilityQuestion.model_fields
]


def _repair(text: str) -> Any:
    """The value of ``durability.repair`` that a text means."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return tomllib.loads(f"repair = {text}")["repair"]
        except tomllib.TOMLDecodeError:
            remedy = 'write "10 h", "50 MiB/s" or { exponential = "10 h" }'
            problem = Problem("this is no value of TOML", remedy, "repair", show(text))
            raise ConfigError(problem) from None
    return {"device": text} if text.rstrip().endswith("/s") else text


def _device_failures(request: DurabilityRequest) -> list[dict[str, str]]:
    """The failures of devices that the options state."""
    made = []
    for law, texts in (
        ("afr", request.afr),
        ("mttf", (request.mttf,) if request.mttf else ()),
        ("like", request.drive),
    ):
        for text in texts:
            name, sign, value = text.partition("=")
            made.append({"class": name.strip(), law: value.strip()} if sign else {law: text})
    return made


def _is_of_devices(failure: Failure) -> bool:
    """Whether a study's failure is of devices that are lost, which an option replaces."""
    return failure.level is None and failure.lasts is None and failure.burst is None
