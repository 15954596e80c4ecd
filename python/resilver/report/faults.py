"""What breaks in a study, and when."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from resilver.errors import ConfigError
from resilver.report.source import ResultsLike, SystemRuns, with_swept
from resilver.report.words import percent, plural
from resilver.spec.tree import singular
from resilver.units import Seconds, format_duration


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
    if isinstance(faults, str):
        for lost, at, _ in _in_words(faults):
            by_time.setdefault(at, []).append(lost)
    for fault in faults if isinstance(faults, list) else []:
        if isinstance(fault, dict):
            at = seconds_of(fault.get("at"))
            # What is slow is lost to nobody.
            gone = {} if fault.get("health") else fault.get("fail") or fault.get("part")
            by_time.setdefault(at, []).extend(_lost(gone))
    return tuple(FaultMoment(at, tuple(lost)) for at, lost in sorted(by_time.items()) if lost)


def soft_errors(study: dict[str, Any]) -> list[str]:
    """What is rebuilt in place because of soft errors, a clause a fault.

    Args:
        study: The study with swept values put in.
    """
    clauses = []
    faults = study.get("faults")
    for fault in faults if isinstance(faults, list) else []:
        corrupt = fault.get("corrupt") if isinstance(fault, dict) else None
        if not isinstance(corrupt, dict):
            continue
        groups = _targets(corrupt.get("groups"))
        if isinstance(groups, list):
            count = len(groups)
            where = f"{'group' if count == 1 else 'groups'} {', '.join(map(str, groups))}"
        else:
            count = int(str(groups))
            where = plural(count, "group")
        clause = f"{where} {'rebuilds' if count == 1 else 'rebuild'} strips in place"
        if corrupt.get("code"):
            clause += f" ({corrupt['code']})"
        if at := seconds_of(fault.get("at")):
            clause += f" from {format_duration(at)} on"
        clauses.append(clause)
    return clauses


def slow_parts(study: dict[str, Any]) -> list[str]:
    """What is slow for a while, a clause a fault.

    Args:
        study: The study with swept values put in.
    """
    clauses = []
    faults = study.get("faults")
    for fault in faults if isinstance(faults, list) else []:
        if not isinstance(fault, dict) or not fault.get("part") or not fault.get("health"):
            continue
        names = _lost(fault["part"])
        is_one = len(names) == 1 and (names[0].startswith("1 ") or not names[0][0].isdecimal())
        works = "works" if is_one else "work"
        clause = f"{', '.join(names)} {works} at {percent(fault.get('health') or 0)} of the speed"
        if at := seconds_of(fault.get("at")):
            clause += f" from {format_duration(at)} on"
        if until := seconds_of(fault.get("until")):
            clause += f" until {format_duration(until)}"
        clauses.append(clause)
    return clauses


def repair_moments(study: dict[str, Any]) -> tuple[float, ...]:
    """When something that broke is repaired, in the order of time.

    Args:
        study: The study with swept values put in.
    """
    faults = study.get("faults")
    if isinstance(faults, str):
        return tuple(sorted({at + after for _, at, after in _in_words(faults) if after}))
    moments = set()
    for fault in faults if isinstance(faults, list) else []:
        if isinstance(fault, dict) and fault.get("repair_after") is not None:
            moments.add(seconds_of(fault.get("at")) + seconds_of(fault["repair_after"]))
        elif isinstance(fault, dict) and fault.get("until") is not None and not fault.get("health"):
            moments.add(seconds_of(fault["until"]))
    return tuple(sorted(moments))


def _in_words(faults: str) -> list[tuple[str, float, float]]:
    """Faults as a sweep over the whole of them has them: what is lost, when, and for how long.

    >>> _in_words("8 links + 1 switch at 10 min for 30 s")
    [('8 links', 0.0, 0.0), ('1 switch', 600.0, 30.0)]
    >>> _in_words("none")
    []
    """
    if faults == "none":
        return []
    found = []
    for words in faults.split(" + "):
        rest, _, after = words.partition(" for ")
        lost, _, at = rest.partition(" at ")
        found.append((lost, seconds_of(at or None), seconds_of(after or None)))
    return found


def seconds_of(value: object) -> float:
    """A time that is resolved to seconds, still in words, or left out, which is 0.

    Args:
        value: What the resolved study holds.
    """
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
        elif isinstance(value, int) and value:
            noun = "OSD" if kind in ("osd", "osds") else singular(str(kind))
            lost.append(f"{plural(value, noun)} at random")
    return lost


def _targets(value: object) -> object:
    """What fails, of one kind: a number, or names. A sweep over lists of names has them as TOML."""
    if not isinstance(value, str):
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return [value]


def fault_marks_text(fault_seconds: tuple[float, ...]) -> str:
    """What the dashed lines of a chart over time are; empty for one fault at the beginning.

    Args:
        fault_seconds: When something breaks.
    """
    if not any(fault_seconds):
        return ""
    moments = [format_duration(seconds) for seconds in fault_seconds[:6]]
    more = f" and {len(fault_seconds) - 6:,} more moments" if len(fault_seconds) > 6 else ""
    which = (
        "A dashed line marks the fault" if len(fault_seconds) == 1 else "Dashed lines mark faults"
    )
    return f"{which}, at {', '.join(moments)}{more}."
