"""How far a study is, and how it can end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from resilver.errors import SimulationError
from resilver.study.phases import MOVING_PHASES


class RunState(NamedTuple):
    """How far one run is: what a worker tells, small enough to be told ten times a second.

    Attributes:
        phase: "starting", "placing", "scanning", "rebuilding", "serving", "done" or "storing";
            a run is serving where it has clients and nothing to rebuild.
        fraction: how much of that phase is done, 0 to 1.
        events: events executed.
        simulated_seconds: simulated time.
        rebuilt_pieces: lost copies or pieces that are rebuilt.
        pieces_to_rebuild: lost copies or pieces that are to be rebuilt; zero before the scan's end.
        requests_completed: requests that clients have had answered.
        memory_bytes: the most memory that its process has had so far; 0 where nobody asked.
    """

    phase: str
    fraction: float = 0.0
    events: int = 0
    simulated_seconds: float = 0.0
    rebuilt_pieces: int = 0
    pieces_to_rebuild: int = 0
    requests_completed: int = 0
    memory_bytes: int = 0

    @classmethod
    def of(cls, state: Any) -> RunState:
        """The state that a simulation reports.

        Args:
            state: a `resilver.simulate.Progress`, or anything with its attributes.

        Returns:
            The same as a plain tuple, which any process can read.
        """
        return cls(*(getattr(state, name) for name in cls._fields if name != "memory_bytes"))

    @property
    def moves(self) -> bool:
        """Whether simulated time goes on: the phase is the rebuild, or serving clients."""
        return self.phase in MOVING_PHASES


@dataclass
class Counts:
    """How many runs of a study are in which state.

    Attributes:
        total: different runs of the study.
        reused: found finished in the folder.
        done: finished by this call.
        failed: failed in this call.
    """

    total: int
    reused: int = 0
    done: int = 0
    failed: int = 0

    @property
    def finished(self) -> int:
        """Runs that are in the folder."""
        return self.reused + self.done


@dataclass(frozen=True)
class RunProgress:
    """One run under way.

    Attributes:
        state: how far it is.
        fraction: how much of the whole run is done, 0 to 1, as far as its phases can be foreseen.
        elapsed_seconds: time since it was first seen under way.
        events_per_second: events executed a second, lately; None before simulated time moves.
        seconds_left: time left if it goes on as lately; None while that cannot be told.
    """

    state: RunState
    fraction: float
    elapsed_seconds: float
    events_per_second: float | None = None
    seconds_left: float | None = None


class Incomplete(SimulationError):
    """Some runs of the study did not finish; the others are kept.

    Attributes:
        failures: run, seed, swept values, message and `again` of every run that failed, where
            `again` says whether the same run may succeed when it is done again.
        finished: the number of runs that are in the folder.
        total: the number of runs of the study.
    """

    def __init__(self, message: str, failures: Sequence[Mapping[str, Any]], counts: Counts) -> None:
        super().__init__(message)
        self.failures = list(failures)
        self.finished = counts.finished
        self.total = counts.total

    @property
    def resumable(self) -> bool:
        """Whether calling again may complete the study."""
        return any(failure["again"] for failure in self.failures)

    @property
    def bad_input(self) -> bool:
        """Whether every failure is one of the study's input."""
        return all(failure.get("bad_input", False) for failure in self.failures)


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is.

    Attributes:
        counts: runs by state.
        under_way: each run being performed, by its label.
        fraction: how much of the study's work is done, 0 to 1, parts of runs under way included.
        fraction_reused: how much of it was found finished in the folder.
        elapsed_seconds: time since the first run began.
        finished_label: label of the run that has just finished or failed, if one has.
        message: why that run failed, if it did.
        runs_per_second: runs finished a second, lately; None while too few have.
        events_per_second: events executed a second by all runs under way, lately; None while
            simulated time moves in none.
        seconds_left: time left if the rest goes as the work lately done; None while too little is.
    """

    counts: Counts
    under_way: Mapping[str, RunProgress]
    fraction: float
    fraction_reused: float
    elapsed_seconds: float
    finished_label: str | None = None
    message: str | None = None
    runs_per_second: float | None = None
    events_per_second: float | None = None
    seconds_left: float | None = None
