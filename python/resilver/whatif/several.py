"""Several answers side by side: plans, the failures of each part in turn, and tried settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from resilver.record import record
from resilver.whatif.answer import Assumption, ClusterFacts, Outcome, WhatIf
from resilver.whatif.figures import HARM


@dataclass(frozen=True)
class PlansCompared:
    """What several plans do to one cluster.

    Attributes:
        answers: An answer a plan, in the order in which they were given.
    """

    answers: tuple[WhatIf, ...]

    @property
    def holds(self) -> bool:
        """Whether every plan ends with a whole cluster."""
        return all(one.holds for one in self.answers)

    def to_dict(self) -> dict[str, Any]:
        """The answers as a JSON-able dictionary."""
        return {"holds": self.holds, "plans": [one.to_dict() for one in self.answers]}


@dataclass(frozen=True)
class Harm:
    """What the failure of one part does.

    Attributes:
        name: The part: ``osd.12``, or a bucket's name.
        osds: The OSDs that fail with it.
        outcome: What comes of it.
        reason: Why most of the PGs are stuck that are; empty where none is.
    """

    name: str
    osds: tuple[int, ...]
    outcome: Outcome
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The part as a JSON-able dictionary."""
        return {"name": self.name, "osds": list(self.osds), **asdict(self.outcome)}


@dataclass(frozen=True)
class Ranking:
    """The parts of a level by the harm that the failure of each does, the worst first.

    Attributes:
        level: The CRUSH type whose parts failed in turn; ``osd`` for single OSDs.
        cluster: The cluster before.
        harms: A part each: first those that lose data, then by stuck and inactive groups, then by
            how long data is at risk and degraded, then by the fullest OSD.
        assumptions: What the answers rest on.
        notes: What a reader must know of the dumps.
        horizon_seconds: How long after the failure each run ends, whole or not.
        at_seconds: When each part fails, from the start of the changes; times of what comes of it
            count from then.
        is_settled: Whether that is when the changes have settled.
        today: The same without the changes, each part failing at the start, likewise by harm; empty
            where there are no changes.
    """

    level: str
    cluster: ClusterFacts
    harms: tuple[Harm, ...]
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...]
    horizon_seconds: float
    at_seconds: float = 0.0
    is_settled: bool = False
    today: tuple[Harm, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the cluster becomes healthy again whichever part fails."""
        return all(one.outcome.holds for one in self.harms)

    def to_dict(self) -> dict[str, Any]:
        """The ranking as a JSON-able dictionary."""
        names = ("level", "holds", "horizon_seconds", "at_seconds", "is_settled", "today")
        found = record(self, *names, "cluster", "assumptions", "notes")
        return {**found, "parts": [one.to_dict() for one in self.harms]}


def noun_of(level: str) -> str:
    """What a part of a level is called in a sentence."""
    return "OSD" if level == "osd" else level


def harm_order(harm: Harm) -> tuple[Any, ...]:
    """What sorts harms, the worst first; equal ones by name."""
    found = [getattr(harm.outcome, key) for key in HARM]
    return (*(-math.inf if one is None else -one for one in found), harm.name)


FLAG_SECONDS = 60.0
"""How long after a part is back its flags are unset: its OSDs boot meanwhile."""


@dataclass(frozen=True)
class Work:
    """What is done to each part of a level in turn.

    Attributes:
        level: The CRUSH type of the parts; ``osd`` for single OSDs.
        down_seconds: How long a part is down.
        flags: The cluster flags that are set meanwhile.
    """

    level: str
    down_seconds: float
    flags: tuple[str, ...]

    @property
    def noun(self) -> str:
        """What a part is called in a sentence."""
        return noun_of(self.level)

    @property
    def least_seconds(self) -> float:
        """How long a turn takes at least: until the part is back, and its flags are unset."""
        return self.down_seconds + FLAG_SECONDS * bool(self.flags)


@dataclass(frozen=True)
class Maintenance:
    """What rolling maintenance does to a cluster that is healthy before it.

    Attributes:
        work: What is done to each part, with the flags that are not set already.
        cluster: The cluster before.
        turns: The parts, those with the greatest impact first; times count from their stop.
        before: What comes of the cluster without maintenance, from the first stop on.
        preparing: The lines that make the changes beside.
        first: The first part of the map.
        commands: The lines that do its turn.
        assumptions: What the answers rest on.
        notes: What a reader must know of the dumps.
        starts_seconds: When the first part is stopped: once no data moves any more.
        horizon_seconds: How long after its stop each turn is simulated.
        unwritten: The pools that hold data, and into which no client writes are stated: nothing
            changes there while a part is down.
        is_long: Whether a part is down for so long that the monitors mark its OSDs out.
    """

    work: Work
    cluster: ClusterFacts
    turns: tuple[Harm, ...]
    before: Outcome
    preparing: tuple[str, ...]
    first: str
    commands: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...]
    starts_seconds: float
    horizon_seconds: float
    unwritten: tuple[str, ...]
    is_long: bool

    def turn_seconds(self, turn: Harm) -> float | None:
        """How long a turn takes: until the cluster is healthy; None beyond the horizon."""
        healthy = turn.outcome.whole_seconds
        if healthy is None or not turn.outcome.holds:
            return None
        return max(healthy, self.work.least_seconds)

    @property
    def total_seconds(self) -> float | None:
        """How long all turns take, each after the one before; None where one has no end."""
        lengths = [self.turn_seconds(turn) for turn in self.turns]
        return None if None in lengths else math.fsum(length or 0.0 for length in lengths)

    @property
    def unsafe(self) -> list[str]:
        """The parts that cannot be stopped without PGs becoming inactive, the worst first."""
        return [turn.name for turn in self.turns if turn.outcome.inactive_seconds != 0.0]

    @property
    def moved_bytes(self) -> int:
        """Bytes that are backfilled in all turns: data that changes its place."""
        return sum(turn.outcome.moved_bytes for turn in self.turns)

    @property
    def loss_chance(self) -> float:
        """How likely further failures lose data in any of the turns."""
        chances = [turn.outcome.loss_chance or 0.0 for turn in self.turns]
        return abs(math.expm1(math.fsum(math.log1p(-min(one, 1 - 1e-16)) for one in chances)))

    @property
    def holds(self) -> bool:
        """Whether no PG is inactive in any turn, and the cluster is healthy after each."""
        return self.total_seconds is not None and not self.unsafe

    def to_dict(self) -> dict[str, Any]:
        """The answer as a JSON-able dictionary."""
        return {
            **asdict(self.work),
            **record(self, "holds", "total_seconds", "loss_chance", "starts_seconds", "unwritten"),
            **record(self, "horizon_seconds", "before", "cluster", "assumptions", "notes"),
            "turns": [
                {"turn_seconds": self.turn_seconds(turn), **turn.to_dict()} for turn in self.turns
            ],
            "commands": [*self.preparing, *self.commands],
        }


@dataclass(frozen=True)
class FillTrial:
    """A fill at which parts failed.

    Attributes:
        share: How full all OSDs are together.
        ranking: The parts by harm; None where no part could fail.
        reason: Why none could: the changes do not settle, or do not fit; else empty.
    """

    share: float
    ranking: Ranking | None
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether the cluster becomes healthy again whichever part fails."""
        return self.ranking is not None and self.ranking.holds

    @property
    def worst(self) -> Harm | None:
        """The part whose failure does most harm; None where no part could fail."""
        return None if self.ranking is None else self.ranking.harms[0]

    def to_dict(self) -> dict[str, Any]:
        """The trial as a JSON-able dictionary."""
        worst, nothing = self.worst, dict.fromkeys(one.name for one in fields(Outcome))
        return {
            "share": self.share,
            "heals": self.holds,
            "reason": self.reason or None,
            "worst": None if worst is None else worst.name,
            **(nothing if worst is None else asdict(worst.outcome)),
        }


@dataclass(frozen=True)
class FillSearch:
    """How full a cluster may be so that it heals from the failure of any part of a level.

    Attributes:
        aim: The aim, as it was stated.
        level: The CRUSH type whose parts failed.
        present_share: How full all OSDs are together now.
        most_share: How full they are when the first OSD holds all it can.
        trials: What was tried, by rising fill; above the highest fill at which each part heals,
            with those alone that showed that one does not.
    """

    aim: str
    level: str
    present_share: float
    most_share: float
    trials: tuple[FillTrial, ...]

    @property
    def best_share(self) -> float | None:
        """The highest fill that was tried at which any part heals; None for none."""
        return max((one.share for one in self.trials if one.holds), default=None)

    @property
    def ranking(self) -> Ranking | None:
        """The parts by harm at that fill; at the lowest that was tried where there is none."""
        best = [one for one in self.trials if one.share == self.best_share]
        return (best or list(self.trials))[0].ranking

    @property
    def holds(self) -> bool:
        """Whether there is such a fill."""
        return self.best_share is not None

    def to_dict(self) -> dict[str, Any]:
        """The search as a JSON-able dictionary."""
        shares = ("best_share", "present_share", "most_share")
        return record(self, "aim", "holds", *shares, "trials", "ranking")


@dataclass(frozen=True)
class Trial:
    """One set of settings that was tried.

    Attributes:
        settings: The settings and their values.
        outcome: What comes of the plan with them.
        meets: Whether the aim is met.
        measure: The figure that the aim is about; None where it never comes about.
        in_force: Whether these are the settings in force.
    """

    settings: Mapping[str, str]
    outcome: Outcome
    meets: bool
    measure: float | None
    in_force: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The trial as a JSON-able dictionary."""
        return {**record(self, "settings", "meets", "measure", "in_force"), **asdict(self.outcome)}


@dataclass(frozen=True)
class Search:
    """Settings that were tried for an aim.

    Attributes:
        aim: The aim, as it was stated.
        names: The settings that were searched.
        trials: What was tried, the settings in force among it; those that meet the aim first, the
            cheapest of them first.
        best: The one to use; None where none meets the aim.
        commands: The lines that set it; none where it is in force.
        answer: The whole answer with it; with what comes nearest where none meets the aim.
        left_out: Which settings were not tried and why, in sentences.
    """

    aim: str
    names: tuple[str, ...]
    trials: tuple[Trial, ...]
    best: Trial | None
    commands: tuple[str, ...]
    answer: WhatIf
    left_out: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether some settings meet the aim."""
        return self.best is not None

    @property
    def is_met_already(self) -> bool:
        """Whether the settings in force meet the aim."""
        return self.best is not None and self.best.in_force

    def to_dict(self) -> dict[str, Any]:
        """The search as a JSON-able dictionary."""
        names = ("aim", "holds", "is_met_already", "left_out", "best", "commands", "trials")
        return {**record(self, *names, "answer"), "settings": list(self.names)}
