"""What of a what-if is relaxed, one thing at a time, to see what would make it end sooner."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from resilver.counterfactuals import FACTOR, Counterfactual, best_first
from resilver.quantities import duration
from resilver.units import format_rate
from resilver.whatif.answer import WhatIf
from resilver.whatif.declared import SETTINGS
from resilver.whatif.mclock import profile_shares
from resilver.whatif.osd_settings import OVERRIDE
from resilver.whatif.releases import COSTS_FIXED, Release
from resilver.whatif.request import Prepared

EFFORT_MAX = 3_000_000
"""A run by flows of up to so many steps is made again by default with each thing relaxed.

The core takes 20 to 110 ns for a step, so up to 0.33 s for the run, beside 1.1 s of the command;
six to ten runs on two processors then take less than twice the time of the answer without them.
"""

_PROFILE = "high_recovery_ops"
_PARTS = ("osds", "osd_settings", "settings", "network", "plan", "ratios")
_TWICE, _HALF = FACTOR, 1 / FACTOR
_DEVICES, _TWICE_AS_FAST = "devices", "twice as fast"
_SLOTS = ("osd_max_backfills", "osd_recovery_max_active")

_Factors = Mapping[str, Any]
"""By which number each key of the core's input is multiplied, or what stands in its place."""


@dataclass(frozen=True)
class _Relaxation:
    relaxed: str
    setting: str
    factors: _Factors
    words: tuple[str, str] = ("", "")


_ALWAYS = (
    _Relaxation(
        _DEVICES,
        "--device",
        {
            "read_bytes_per_second": _TWICE,
            "write_bytes_per_second": _TWICE,
            "read_seconds": _HALF,
            "write_seconds": _HALF,
        },
    ),
    _Relaxation("network of a host", "--network", {"host_bytes_per_second": _TWICE}),
    _Relaxation(
        "threads of an OSD",
        "osd_op_num_threads_per_shard",
        {"osd_op_num_threads_per_shard": _TWICE},
    ),
    _Relaxation("sleep of recovery", "osd_recovery_sleep", {"osd_recovery_sleep": _HALF}),
)


def is_cheap(answer: WhatIf) -> bool:
    """Whether a run is so small that it is made again without being asked for."""
    return answer.effort <= EFFORT_MAX and not answer.is_by_events


def relaxed_runs(ready: Prepared, answer: WhatIf) -> Iterator[tuple[_Relaxation, Prepared]]:
    """What can be relaxed of a run, and the run so.

    Args:
        ready: The run as it is.
        answer: Its answer.
    """
    made = {key: ready.input[key] for key in _PARTS}
    major, minor, patch = map(int, ready.facts.release.split("."))
    release = (major, minor, patch)
    of_settings = _of_settings(ready, release)
    for one in (*_ALWAYS, *of_settings, *_of_monitors(ready, answer, release)):
        names = [name for name in re.split(r"[, ]+", one.setting) if name in SETTINGS]
        if not all(SETTINGS[name].span.holds(release) for name in names):
            continue
        other = _relaxed(made, one.factors)
        if other != made:
            words = one.words if one.words[0] else _words(made, other, next(iter(one.factors)))
            words = (words[0], _TWICE_AS_FAST) if one.relaxed == _DEVICES else words
            yield replace(one, words=words), replace(ready, input={**ready.input, **other})


def _of_settings(ready: Prepared, release: Release) -> Iterator[_Relaxation]:
    """Slots, and what mClock or WPQ gives to recovery."""
    queues = {one["queue"]["kind"] for one in ready.input["osd_settings"]}
    names = ", ".join(_SLOTS) + (f" with {OVERRIDE}" if "mclock" in queues else "")
    yield _Relaxation("backfill and recovery slots", names, dict.fromkeys(_SLOTS, _TWICE))
    if "mclock" in queues:
        limits = ["max_capacity_iops"]
        limits += ["max_sequential_bandwidth"] * (release >= COSTS_FIXED)
        names = ", ".join(f"osd_mclock_{limit}" for limit in limits)
        yield _Relaxation("mClock's capacity", names, dict.fromkeys(limits, _TWICE))
        profiles = {one.value for one in ready.assumptions if one.name == "osd_mclock_profile"}
        shares = {"shares": profile_shares(_PROFILE, release)}
        words = (", ".join(sorted(profiles)), _PROFILE)
        yield _Relaxation("mClock profile", "osd_mclock_profile", shares, words)
    if ready.input["load"]:
        name = "osd_recovery_op_priority"
        yield _Relaxation("priority of recovery", name, {name: _TWICE})


def _of_monitors(ready: Prepared, answer: WhatIf, release: Release) -> Iterator[_Relaxation]:
    """Times and shares that a run goes by only where something fails, changes or is full."""
    history = answer.tables["history"]["what"].to_pylist()
    for verb, name, what in (
        ("down", "osd_heartbeat_grace", "detection"),
        ("out", "mon_osd_down_out_interval", "time until marked out"),
    ):
        if any(text.startswith("the monitors mark") and text.endswith(verb) for text in history):
            yield _Relaxation(what, name, {name: _HALF})
    if "retry interval" in answer.tables["limits"]["kind"].to_pylist():
        names = ("osd_backfill_retry_interval", "osd_recovery_retry_interval")
        yield _Relaxation("time between tries", ", ".join(names), dict.fromkeys(names, _HALF))
    kinds = {step["change"]["kind"] for step in ready.input["plan"]}
    if ready.input["balancer"] or kinds & {"pg_num", "balance"}:
        name = "target_max_misplaced_ratio"
        yield _Relaxation("data misplaced at a time", name, {name: _TWICE})
    if ready.input["balancer"] or "balance" in kinds:
        factors = {"balancer_sleep_interval": _HALF}
        yield _Relaxation("balancer", "mgr/balancer/sleep_interval", factors)
    if answer.outcome.toofull_groups:
        full = ready.input["ratios"]["full"]
        # Before Luminous it was a setting of OSDs.
        is_setting = SETTINGS["osd_backfill_full_ratio"].span.holds(release)
        name = "osd_backfill_full_ratio" if is_setting else "set-backfillfull-ratio"
        yield _Relaxation("space for backfill", name, {"backfillfull": _To(full)})


@dataclass(frozen=True)
class _To:
    """A value that stands in the place of another."""

    value: float


def _relaxed(value: Any, factors: _Factors) -> Any:
    """A part of the core's input with the keys that are relaxed, wherever they stand in it."""
    if isinstance(value, list):
        return [_relaxed(one, factors) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _relaxed(one, factors) if key not in factors else _changed(one, factors[key])
        for key, one in value.items()
    }


def _changed(value: Any, by: Any) -> Any:
    if isinstance(by, _To):
        return by.value
    if isinstance(by, dict):
        return by
    return type(value)(value * by)


def _words(before: Any, after: Any, key: str) -> tuple[str, str]:
    """The values that a key has before and after."""
    name = {"balancer_sleep_interval": "mgr/balancer/sleep_interval"}.get(key, key)

    def said(value: float) -> str:
        if name in SETTINGS and SETTINGS[name].kind != "seconds":
            return SETTINGS[name].words_of(value)
        if key.endswith(("bytes_per_second", "bandwidth")):
            return format_rate(value)
        return duration(value) if name in SETTINGS else f"{value:g}"

    texts = []
    for made in (before, after):
        values = sorted(set(_values(made, key)))
        ends = values if len(values) == 1 else [values[0], values[-1]]
        texts.append(" to ".join(map(said, ends)))
    return texts[0], texts[1]


def _values(value: Any, key: str) -> Iterator[float]:
    if isinstance(value, list):
        for one in value:
            yield from _values(one, key)
    elif isinstance(value, dict):
        if key in value:
            yield value[key]
        for one in value.values():
            yield from _values(one, key)


@dataclass(frozen=True)
class Ending:
    """How a run ends.

    Attributes:
        seconds: When every PG is clean, or the last thing happens that can; None where the run
            ends first.
        stuck_groups: PGs that are not clean then.
    """

    seconds: float | None
    stuck_groups: int


def ending(answer: WhatIf) -> Ending:
    """How the run of an answer ends."""
    found = answer.outcome
    if found.whole_seconds is not None or answer.end_seconds >= answer.horizon_seconds:
        return Ending(found.whole_seconds, found.stuck_groups)
    return Ending(answer.end_seconds, found.stuck_groups)


def compared(answer: WhatIf, runs: list[tuple[_Relaxation, Ending]]) -> list[Counterfactual]:
    """What each thing relaxed comes to beside the run as it is, the best first.

    Args:
        answer: The answer as it is.
        runs: What was relaxed, and how the run ends then.
    """
    before = ending(answer)
    begins = min((step.at_seconds for step in answer.steps), default=0.0)
    # A run that does not end in its time takes at least that.
    until = answer.horizon_seconds if before.seconds is None else before.seconds
    found = []
    for one, after in runs:
        sooner = None
        if after.seconds is not None and until > begins:
            sooner = (until - after.seconds) / (until - begins)
        freed = before.stuck_groups - after.stuck_groups if before.seconds is not None else 0
        found.append(
            Counterfactual(
                one.relaxed, one.setting, *one.words, after.seconds, sooner,
                after.stuck_groups, freed,
            )
        )  # fmt: skip
    return best_first(found)
