"""What limits a rebuild: one sentence a system, of what its last device waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resilver.report.source import ResultsLike, SystemRuns, systems
from resilver.report.words import percent
from resilver.units import format_duration

_DEVICES = ("reading", "writing")
_NETWORK = ("sending", "receiving", "link")
_IDLE = ("receive_memory", "pipelining", "round_trip")
# Below this share of what a part passed, others had a notable part of it.
_MOSTLY = 0.9


@dataclass(frozen=True)
class Limit:
    """What limited one run's rebuild.

    Args:
        run: The run's key.
        kind: What it is: a value of the column ``kind`` of the table ``limits``.
        name: The part's name; None of several, and of what is the last device's own.
        level: The part's level where it is one between devices and ports, else None.
        parts: How many parts it is.
        destination: The device that made the last lost piece.
        window_seconds: From the beginning of the work to that piece.
        busy: Which share of that time the part was busy; None of what serves nobody.
        waited: Which share of what the device waited for, or of the time that it held back.
        buffer_seconds: How long a buffer was there, or in all.
        buffers: How many of the device's buffers were there at a time.
        destinations: How many devices waited most for it.
        rebuild: Which share of what it passed was the rebuild's, where that is known.
        lane: The share that the rebuild's lane has there, where there are lanes.
        busiest: What else was waited for and is the busiest, in words; empty where nothing was.
    """

    run: str
    kind: str
    name: str | None
    level: str | None
    parts: int
    destination: str
    window_seconds: float
    busy: float | None
    waited: float
    buffer_seconds: float | None
    buffers: float
    destinations: int | None
    rebuild: float | None
    lane: float | None
    busiest: str

    @property
    def what(self) -> str:
        """The part in a few words, such as ``osd.87's disk``."""
        return _part(self.kind, self.name, self.level, self.parts, self.destination)

    @property
    def sentence(self) -> str:
        """What limits the rebuild, with the evidence."""
        if self.kind in _IDLE:
            return self._idle()
        time = format_duration(self.window_seconds)
        last = f"{self.destination}, the last to finish after {time},"
        if self.kind == "bandwidth":
            held = f"it held {self.destination}, the last to finish, back"
            return f"limited by recovery.bandwidth: {held} for {percent(self.waited)} of {time}"
        return f"limited by {self._evidence()}: {percent(self.waited)} of what {last} waited for"

    def _evidence(self) -> str:
        """The part, how busy it is and for whom, and what else it has to do."""
        others = self.destinations or 1
        devices = f" for {others:,} {_noun(self.destination)}" if others > 1 else ""
        if self.kind == "loss":
            return f"lost messages{devices}, until they are asked for again"
        if self.kind == "send_memory":
            return f"{self.what}{devices}, while no disk and no port of theirs is busy all the time"
        text = self.what
        has_others = self.rebuild is not None and self.rebuild < _MOSTLY
        if has_others and self.lane is not None:
            text = f"the rebuild's lane at {text}"
        if self.busy is not None:
            text += f", {_busy(self.busy)} busy{' on average' if self.parts > 1 else ''}"
        doing = {"reading": " reading", "sending": " sending", "receiving": " receiving"}
        text += (doing.get(self.kind, "") if self.parts == 1 else "") + devices
        if has_others and self.rebuild is not None:
            text += f", of which the rebuild has {percent(self.rebuild)}"
            if self.lane is not None:
                text += f" and is guaranteed {percent(self.lane)}"
        return text

    def _idle(self) -> str:
        """Why a rebuild takes its time where nothing is busy."""
        trip = format_duration(self.buffer_seconds or 0.0)
        text = (
            f"nothing is busy all the time: each buffer of {self.destination}, the last to finish, "
            f"waits for its round trip of {trip}"
        )
        under_way = f"{self.buffers:,.1f} under way at a time"
        if self.kind == "receive_memory":
            text += f", and recovery.receive_memory allows {under_way}"
        elif self.kind == "pipelining":
            text += ", and without pipelining there is one at a time"
        else:
            text += f", and it had no more to ask for, with {under_way} on average"
        return f"{text}; {self.busiest}" if self.busiest else text


@dataclass(frozen=True)
class SystemLimit:
    """What limits a system, over its runs.

    Args:
        limit: That of the run that stands for them: of those with the most frequent limit, the run
            of median rebuild time, or else the first.
        runs: How many runs have a limit.
        alike: How many of them have one of this kind.
        same: How many of them have this very part.
    """

    limit: Limit
    runs: int
    alike: int
    same: int

    @property
    def sentence(self) -> str:
        """What limits the system, and in how many of its runs."""
        text = self.limit.sentence
        if self.same < self.runs:
            of = f"in {self.same:,} of {self.runs:,} runs"
            if self.alike > self.same:
                of += f", and in {self.alike - self.same:,} by another of its kind"
            text += f" ({of})"
        return f"{text[0].upper()}{text[1:]}."


def system_limit(results: ResultsLike, point: SystemRuns) -> SystemLimit | None:
    """What limits a system, or None where nothing was made anew or the results do not say.

    Args:
        results: The study's results.
        point: The system.
    """
    wanted = {row["run"] for row in point.rows}
    of_runs: dict[str, list[dict[str, Any]]] = {}
    for row in results.limits.to_pylist():
        if row["run"] in wanted:
            of_runs.setdefault(row["run"], []).append(row)
    found = [_limit(rows) for rows in of_runs.values()]
    limits = [one for one in found if one is not None]
    if not limits:
        return None
    parts = Counter((one.kind, one.name, one.parts) for one in limits)
    kinds = Counter(one.kind for one in limits)
    kind = max(kinds, key=lambda one: kinds[one])
    of_kind = {part: count for part, count in parts.items() if part[0] == kind}
    part = max(of_kind, key=lambda one: of_kind[one])
    same = [one for one in limits if (one.kind, one.name, one.parts) == part]
    median = [one for one in same if one.run == point.median["run"]]
    return SystemLimit((median or same)[0], len(limits), kinds[kind], parts[part])


def limit_sentence(results: ResultsLike, point: SystemRuns) -> str:
    """What limits a system in one sentence; empty where nothing was made anew.

    Args:
        results: The study's results.
        point: The system.
    """
    found = system_limit(results, point)
    return found.sentence if found is not None else ""


def limit_records(results: ResultsLike) -> list[dict[str, Any]]:
    """What limits each system, for ``--json``.

    Args:
        results: The study's results.

    Returns:
        One dictionary a system that made anything anew: its swept values, and in words what limits
        it; the table ``limits`` has the numbers.
    """
    found = [(point, system_limit(results, point)) for point in systems(results)]
    return [
        {**point.swept, "limit": one.limit.what, "limit_sentence": one.sentence}
        for point, one in found
        if one is not None
    ]


def run_records(results: ResultsLike, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs of ``--json``, each with what limited it in words.

    Args:
        results: The study's results.
        records: A dictionary a run, with its key ``run``.

    Returns:
        The same with ``limit`` and ``limit_sentence``, None where nothing was made anew.
    """
    of_runs: dict[str, list[dict[str, Any]]] = {}
    for row in results.limits.to_pylist():
        of_runs.setdefault(row["run"], []).append(row)
    limits = {run: _limit(rows) for run, rows in of_runs.items()}
    made = []
    for record in records:
        one = limits.get(record["run"])
        words = (one.what, one.sentence) if one is not None else (None, None)
        made.append({**record, "limit": words[0], "limit_sentence": words[1]})
    return made


def _limit(rows: list[dict[str, Any]]) -> Limit | None:
    """The limit among the rows of a run."""
    row = next((one for one in rows if one["is_limit"]), None)
    if row is None:
        return None
    served = [one for one in rows if one["busy_fraction"] is not None]
    busiest = max(served, key=lambda one: one["busy_fraction"], default=None)
    return Limit(
        run=row["run"],
        kind=row["kind"],
        name=row["name"],
        level=row["level"],
        parts=row["parts"],
        destination=row["destination"],
        window_seconds=row["window_seconds"],
        busy=row["busy_fraction"],
        waited=row["waited_fraction"],
        buffer_seconds=row["buffer_seconds"],
        buffers=row["buffers"],
        destinations=row["destinations"],
        rebuild=row["rebuild_fraction"],
        lane=row["lane_share"],
        busiest=_busiest(busiest) if busiest is not None else "",
    )


def _busiest(row: Mapping[str, Any]) -> str:
    """The busiest part that was waited for, in words."""
    what = _part(row["kind"], row["name"], row["level"], row["parts"], row["destination"])
    return f"the busiest part it waits for, {what}, is {_busy(row['busy_fraction'])} busy"


def _busy(share: float) -> str:
    # What rested for a moment did not rest for anyone who asks.
    return percent(round(share, 3)) if share >= 0.0005 else percent(share)


def _noun(device: str) -> str:
    """What devices such as this one are called, several of them."""
    level = device.partition(".")[0] if "." in device else ""
    return "OSDs" if level == "osd" else f"{level}s" if level else "devices"


def _part(kind: str, name: str | None, level: str | None, parts: int, destination: str) -> str:
    """A part in a few words."""
    if kind == "bandwidth":
        return "recovery.bandwidth"
    if kind in _IDLE:
        return "round trips"
    if kind == "loss":
        return "lost messages"
    if name is None:
        if kind in _NETWORK:
            return f"the network, at {parts:,} ports and links"
        memories = "send memories" if kind == "send_memory" else "disks"
        return f"the {memories} of {parts:,} sources" if kind != "writing" else "many disks"
    if level is not None:
        return name
    if kind in _DEVICES:
        own = " own" if kind == "writing" and name == destination else ""
        return f"{name}'s{own} disk"
    words = {"sending": "port", "receiving": "port", "coding": "computation"}
    words["send_memory"] = "send memory"
    return f"the link {name}" if kind == "link" else f"{name}'s {words[kind]}"
