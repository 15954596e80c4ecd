"""How far a study is, and how it can end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resilver.errors import SimulationError

# Where each phase of a run begins and ends as a share of its time. It guides the progress bar only.
_PHASES = {
    "placing": (0.0, 0.1),
    "scanning": (0.1, 0.4),
    "rebuilding": (0.4, 1.0),
    "done": (1.0, 1.0),
    "storing": (1.0, 1.0),
}

# Workers take about a second to start; an estimate made from that would mislead.
_SECONDS_BEFORE_ESTIMATE = 2.0


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


class Work:
    """How much work a study's runs are: a large system's run weighs more than a small one's.

    Args:
        weights: the expected cost of each run by its key, in any unit.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._total = sum(weights.values())
        self._ended = 0.0
        self.reused = 0.0

    def found(self, keys: Iterable[str]) -> None:
        """Count runs that were found finished.

        Args:
            keys: their keys.
        """
        self._ended = sum(self._weights[key] for key in keys)
        self.reused = self.fraction({})

    def end(self, key: str) -> None:
        """Count a run that has ended.

        Args:
            key: its key.
        """
        self._ended += self._weights[key]

    def fraction(self, under_way: Mapping[str, tuple[str, float]]) -> float:
        """How much of the work is done.

        Args:
            under_way: phase and fraction of the runs being performed, by key.

        Returns:
            0 to 1.
        """
        if not self._total:
            return 1.0
        parts = sum(self._weights[key] * run_fraction(*state) for key, state in under_way.items())
        return min(1.0, (self._ended + parts) / self._total)


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
        self.finished = counts.reused + counts.done
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
        under_way: phase and fraction, 0 to 1, of each run being performed, by its label.
        fraction: how much of the study's work is done, 0 to 1, parts of runs under way included.
        fraction_reused: how much of it was found finished in the folder.
        elapsed_seconds: time since the first run began.
        finished_label: label of the run that has just finished or failed, if one has.
        message: why that run failed, if it did.
    """

    counts: Counts
    under_way: Mapping[str, tuple[str, float]]
    fraction: float
    fraction_reused: float
    elapsed_seconds: float
    finished_label: str | None = None
    message: str | None = None

    @property
    def seconds_left(self) -> float | None:
        """Time left if the rest goes as what this call has done; None while too little is done."""
        here = self.fraction - self.fraction_reused
        if here <= 0.0 or self.elapsed_seconds < _SECONDS_BEFORE_ESTIMATE:
            return None
        return self.elapsed_seconds * (1.0 - self.fraction) / here


def run_fraction(phase: str, fraction: float) -> float:
    """How much of a run is done.

    Args:
        phase: the phase it is in.
        fraction: how much of that phase is done, 0 to 1.

    Returns:
        0 to 1, by the share of a run's time that each phase usually takes.
    """
    begin, end = _PHASES.get(phase, (0.0, 0.0))
    return begin + (end - begin) * min(max(fraction, 0.0), 1.0)
