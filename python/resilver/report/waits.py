"""What the last device to finish waited for: one sentence a system, of what was measured.

It names no bottleneck: a rerun with one thing relaxed does (`resilver.counterfactuals`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from resilver.study.results import StudyTables
from resilver.study.system_runs import SystemRuns, systems
from resilver.units import format_duration
from resilver.words import percent

_DEVICES = ("reading", "writing")
_NETWORK = ("sending", "receiving", "link")
_IDLE = ("receive_memory", "pipelining", "round_trip")
# Below this share of what a part passed, others had a notable part of it.
_MOSTLY = 0.9


@dataclass(frozen=True)
class Wait:
    """What the device that made the last lost piece of a run waited for most.

    Args:
        row: That of the table `limits` which says so; `docs/tables.md` has its columns.
        busiest: What else was waited for and is the busiest, in words; empty where nothing was.
    """

    row: SimpleNamespace
    busiest: str

    @property
    def what(self) -> str:
        """The part in a few words, such as ``osd.87's disk``."""
        return _part(self.row)

    @property
    def sentence(self) -> str:
        """What was waited for, for how long, and how busy it was."""
        if self.row.kind in _IDLE:
            return self._idle()
        time, waited = format_duration(self.row.window_seconds), percent(self.row.waited_fraction)
        text = f"{self.row.destination}, the last to finish after {time}, waited {waited} of that "
        return f"{text}time for {self._evidence()}"

    def _evidence(self) -> str:
        """The part, how busy it is and for whom, and what else it has to do."""
        if self.row.kind in ("bandwidth", "software"):
            return self.what
        others = self.row.destinations or 1
        devices = f" for {others:,} {_noun(self.row.destination)}" if others > 1 else ""
        if self.row.kind == "loss":
            return f"lost messages{devices}, until they are asked for again"
        if self.row.kind == "send_memory":
            return f"{self.what}{devices}, while no disk and no port of theirs is busy all the time"
        text = self.what
        has_others = self.row.rebuild_fraction is not None and self.row.rebuild_fraction < _MOSTLY
        if has_others and self.row.lane_share is not None:
            text = f"the rebuild's lane at {text}"
        if self.row.busy_fraction is not None:
            average = " on average" if self.row.parts > 1 else ""
            text += f", {_busy(self.row.busy_fraction)} busy{average}"
        doing = {"reading": " reading", "sending": " sending", "receiving": " receiving"}
        text += (doing.get(self.row.kind, "") if self.row.parts == 1 else "") + devices
        if has_others and self.row.rebuild_fraction is not None:
            text += f", of which the rebuild has {percent(self.row.rebuild_fraction)}"
            if self.row.lane_share is not None:
                text += f" and is guaranteed {percent(self.row.lane_share)}"
        return text

    def _idle(self) -> str:
        """Why a rebuild takes its time where nothing is busy."""
        trip = format_duration(self.row.buffer_seconds or 0.0)
        text = (
            f"nothing is busy all the time: each buffer of {self.row.destination}, the last to "
            f"finish, waits for its round trip of {trip}"
        )
        under_way = f"{self.row.buffers:,.1f} under way at a time"
        if self.row.kind == "receive_memory":
            text += f", and recovery.receive_memory allows {under_way}"
        elif self.row.kind == "pipelining":
            text += ", and without pipelining there is one at a time"
        else:
            text += f", and it had no more to ask for, with {under_way} on average"
        return f"{text}; {self.busiest}" if self.busiest else text


def system_wait(results: StudyTables, point: SystemRuns) -> Wait | None:
    """What was waited for in the run of median rebuild time, or None where it does not say."""
    return waits_of(results, (point.median["run"],)).get(point.median["run"])


def wait_sentence(results: StudyTables, point: SystemRuns) -> str:
    """What the last device to finish waited for; empty where nothing was re-replicated."""
    if (found := system_wait(results, point)) is None:
        return ""
    of_runs = f" (seed {point.median['seed']}, the median run)" if len(point.rows) > 1 else ""
    text = found.sentence
    # The name of a part keeps its letters.
    text = f"N{text[1:]}" if text.startswith("nothing") else text
    return f"{text}{of_runs}."


def wait_records(results: StudyTables) -> list[dict[str, Any]]:
    """What was waited for in each system, for ``--json``.

    Returns:
        One dictionary a system that re-replicated anything: its swept values, and what was waited
        for in words; the table ``limits`` has the numbers.
    """
    found = [(point, system_wait(results, point)) for point in systems(results)]
    return [{**point.swept, **_record(one)} for point, one in found if one is not None]


def run_records(results: StudyTables, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs of ``--json``, each with what was waited for in words.

    Args:
        records: A dictionary a run, with its key ``run``.

    Returns:
        The same with ``waited_for`` and ``waited_sentence``, None where nothing was re-replicated.
    """
    waits = waits_of(results)
    return [{**record, **_record(waits.get(record["run"]))} for record in records]


def _record(one: Wait | None) -> dict[str, Any]:
    return {"waited_for": one and one.what, "waited_sentence": one and one.sentence}


def waits_of(results: StudyTables, wanted: Collection[str] = ()) -> dict[str, Wait]:
    """What was waited for in each run that says it, all or those of the keys wanted, by its key."""
    of_runs: dict[str, list[SimpleNamespace]] = {}
    for row in results.limits.to_pylist():
        if not wanted or row["run"] in wanted:
            of_runs.setdefault(row["run"], []).append(SimpleNamespace(**row))
    found: dict[str, Wait] = {}
    for run, rows in of_runs.items():
        served = [one for one in rows if one.busy_fraction is not None]
        busiest = max(served, key=lambda one: one.busy_fraction, default=None)
        words = _busiest(busiest) if busiest is not None else ""
        if most := next((row for row in rows if row.is_limit), None):
            found[run] = Wait(most, words)
    return found


def _busiest(row: SimpleNamespace) -> str:
    """The busiest part that was waited for, in words."""
    busy = _busy(row.busy_fraction)
    return f"the busiest part it waits for, {_part(row)}, is {busy} busy"


def _busy(share: float) -> str:
    # What rested for a moment did not rest for anyone who asks.
    return percent(round(share, 3)) if share >= 0.0005 else percent(share)


def _noun(device: str) -> str:
    """What devices such as this one are called, several of them."""
    level = device.partition(".")[0] if "." in device else ""
    return "OSDs" if level == "osd" else f"{level}s" if level else "devices"


def _part(row: SimpleNamespace) -> str:
    """A part in a few words."""
    kind, name, parts = row.kind, row.name, row.parts
    if kind == "bandwidth":
        return "recovery.bandwidth"
    if kind == "software":
        return "the limits of its software (recovery.software)"
    if kind in _IDLE:
        return "round trips"
    if kind == "loss":
        return "lost messages"
    if name is None:
        if kind in _NETWORK:
            return f"the network, at {parts:,} ports and links"
        memories = "send memories" if kind == "send_memory" else "disks"
        return f"the {memories} of {parts:,} sources" if kind != "writing" else "many disks"
    if row.level is not None:
        return str(name)
    if kind in _DEVICES:
        own = " own" if kind == "writing" and name == row.destination else ""
        return f"{name}'s{own} disk"
    words = {"sending": "port", "receiving": "port", "coding": "computation"}
    words["send_memory"] = "send memory"
    return f"the link {name}" if kind == "link" else f"{name}'s {words[kind]}"
