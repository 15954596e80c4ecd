"""What breaks in a study, and when."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from resilver.errors import ConfigError
from resilver.report.source import ResultsLike, SystemRuns, with_swept
from resilver.units import Seconds

_KINDS = {"servers": "server", "osds": "OSD", "hosts": "host", "racks": "rack", "rows": "row"}


@dataclass(frozen=True)
class FaultMoment:
    """What breaks at one moment.

    Args:
        seconds: When, from the beginning of the run.
        lost: What, in words, in the order of the study.
    """

    seconds: float
    lost: tuple[str, ...]


def fault_moments(results: ResultsLike, point: SystemRuns) -> tuple[FaultMoment, ...]:
    """The faults of one system of a study, those of one moment together, in the order of time.

    Args:
        results: The study's results.
        point: The system, whose swept values count.
    """
    return moments_of(with_swept(results.study, point.swept))


def moments_of(study: dict[str, Any]) -> tuple[FaultMoment, ...]:
    """The faults of a resolved study, those of one moment together, in the order of time.

    Args:
        study: The study with swept values put in.
    """
    by_time: dict[float, list[str]] = {}
    faults = study.get("faults")
    for fault in faults if isinstance(faults, list) else []:
        if isinstance(fault, dict):
            by_time.setdefault(_seconds(fault.get("at")), []).extend(_lost(fault.get("fail")))
    return tuple(FaultMoment(at, tuple(lost)) for at, lost in sorted(by_time.items()) if lost)


def _seconds(value: object) -> float:
    """A moment that is resolved to seconds, still in words, or left out."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return float(Seconds.parse(value)) if value is not None else 0.0
    except ConfigError:
        return 0.0


def _lost(what: object) -> list[str]:
    """What one fault takes away."""
    lost: list[str] = []
    for kind, given in what.items() if isinstance(what, dict) else ():
        value = _targets(given)
        if isinstance(value, list | tuple):
            lost += [str(name) for name in value]
        elif isinstance(value, int):
            noun = _KINDS.get(str(kind), str(kind))
            lost.append(f"{value:,} {noun}{'' if value == 1 else 's'} at random")
    return lost


def _targets(value: object) -> object:
    """What fails, of one kind: a number, or names. A sweep over lists of names has them as TOML."""
    if not isinstance(value, str):
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return [value]
