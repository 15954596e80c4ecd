"""Rates and times left, measured over the last moments of a study under way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from resilver.study.progress import Counts, RunProgress, RunState, StudyProgress

# Workers take about a second to start; an estimate made from that would mislead.
_SECONDS_BEFORE_ESTIMATE = 2.0

# Long enough that a rate does not flicker with the core's steps, short enough to follow a change.
_SECONDS_OF_RATE = 5.0

# Samples of a window: a rate over it is good to a few percent, and a look costs microseconds.
_SAMPLES = 50


@dataclass(frozen=True)
class Expected:
    """What a run is expected to cost.

    Attributes:
        seconds: its time, or a weight against other runs of its study.
        placing_share: which share of the time placing the groups takes, 0 to 1; 0 without groups.
        rebuilding_share: which share of the time the rebuilding takes, or serving clients where
            nothing is rebuilt; scanning takes the rest.
    """

    seconds: float = 1.0
    placing_share: float = 0.0
    rebuilding_share: float = 0.5


class Window:
    """A quantity that grows, and its rate over the last moments.

    Args:
        seconds: the length of the window.

    Example:
        >>> window = Window(10.0)
        >>> for moment in (0.0, 5.0, 10.0, 20.0):
        ...     window.add(moment, 3.0 * moment)
        >>> window.rate()
        3.0
    """

    def __init__(self, seconds: float) -> None:
        self._length = seconds
        self._samples: list[tuple[float, float]] = []

    def add(self, moment: float, value: float) -> None:
        """Note a value.

        Args:
            moment: when, in seconds; never before an earlier one.
            value: how much it is then.
        """
        samples = self._samples
        # The newest sample moves along until it is far enough from the one before it.
        if len(samples) > 1 and samples[-1][0] - samples[-2][0] < self._length / _SAMPLES:
            samples[-1] = (moment, value)
        else:
            samples.append((moment, value))
        # The oldest one kept is the last from before the window, so that the window is covered.
        while len(samples) > 2 and samples[1][0] <= moment - self._length:
            del samples[0]

    def lengthen(self, seconds: float) -> None:
        """Make the window longer.

        Args:
            seconds: its least length from here on.
        """
        self._length = max(self._length, seconds)

    def rate(self) -> float | None:
        """Growth a second over the window; None before the second moment."""
        if len(self._samples) < 2:
            return None
        (begin, low), (end, high) = self._samples[0], self._samples[-1]
        return (high - low) / (end - begin) if end > begin else None


def run_fraction(state: RunState, expected: Expected) -> float:
    """How much of a run is done.

    Args:
        state: how far the run is.
        expected: what it is expected to cost.

    Returns:
        0 to 1. It guides displays only.

    Example:
        >>> run_fraction(RunState("rebuilding", 0.5), Expected(rebuilding_share=0.6))
        0.7
    """
    before = 1.0 - expected.rebuilding_share
    spans = {
        "placing": (0.0, expected.placing_share),
        "scanning": (expected.placing_share, before),
        "rebuilding": (before, 1.0),
        "serving": (before, 1.0),
        "done": (1.0, 1.0),
        "storing": (1.0, 1.0),
    }
    begin, end = spans.get(state.phase, (0.0, 0.0))
    return begin + (end - begin) * min(max(state.fraction, 0.0), 1.0)


class _RunMeter:
    """One run under way."""

    def __init__(self, moment: float, expected: Expected) -> None:
        self._begun = moment
        self._expected = expected
        self._phase = ""
        self._events = Window(_SECONDS_OF_RATE)
        self._done = Window(_SECONDS_OF_RATE)
        self.fraction = 0.0

    def look(self, moment: float, state: RunState) -> RunProgress:
        # A run that a worker died on begins again on another.
        fraction = run_fraction(state, self._expected)
        if state.phase != self._phase:
            self._phase = state.phase
            self._events = Window(_SECONDS_OF_RATE)
            self._done = Window(_SECONDS_OF_RATE)
        self._events.add(moment, state.events)
        self._done.add(moment, state.fraction)
        self.fraction = fraction
        elapsed = moment - self._begun
        rate = self._events.rate() if state.moves else None
        return RunProgress(state, fraction, elapsed, rate, self._left(state, elapsed))

    def _left(self, state: RunState, elapsed: float) -> float | None:
        if elapsed < _SECONDS_BEFORE_ESTIMATE:
            return None
        if state.moves:
            rate = self._done.rate()
            return (1.0 - state.fraction) / rate if rate else None
        # What comes after this phase is only foreseen, so the whole run's course must do.
        if 0.0 < self.fraction < 1.0:
            return elapsed * (1.0 - self.fraction) / self.fraction
        return None


class Meter:
    """How far a study is: its work, weighed by what each run is expected to cost, and its rates.

    Args:
        expected: what each run is expected to cost, by its key.
        labels: a run in a few words, by its key.
        moment: the present moment in seconds, by a clock that never goes back.
    """

    def __init__(
        self, expected: Mapping[str, Expected], labels: Mapping[str, str], moment: float
    ) -> None:
        self._expected = expected
        self._labels = labels
        self._total = sum(item.seconds for item in expected.values())
        self._ended = 0.0
        self._reused = 0.0
        self._fraction = 0.0
        self._begun = moment
        self._runs: dict[str, _RunMeter] = {}
        self._work = Window(2 * _SECONDS_OF_RATE)
        self._finished = Window(2 * _SECONDS_OF_RATE)

    def found(self, keys: Iterable[str]) -> None:
        """Count runs that were found finished."""
        self._ended = sum(self._expected[key].seconds for key in keys)
        self._reused = self._fraction = self._share(self._ended)

    def end(self, key: str) -> None:
        """Count a run that has ended."""
        self._ended += self._expected[key].seconds
        self._runs.pop(key, None)

    def look(
        self,
        moment: float,
        counts: Counts,
        under_way: Mapping[str, RunState],
        finished_label: str | None = None,
        message: str | None = None,
    ) -> StudyProgress:
        """How far the study is.

        Args:
            moment: the present moment, by the clock of `moment` at the beginning.
            counts: runs by state.
            under_way: how far each run is that is being performed, by its key.
            finished_label: the run that has just ended, if one has.
            message: why it failed, if it did.

        Returns:
            The progress; its fraction never falls.
        """
        for key in set(self._runs) - set(under_way):
            del self._runs[key]
        shown = {}
        for key, state in under_way.items():
            if key not in self._runs:
                self._runs[key] = _RunMeter(moment, self._expected[key])
            shown[key] = self._runs[key].look(moment, state)
        parts = sum(self._expected[key].seconds * run.fraction for key, run in shown.items())
        # A run that begins again on another worker must not turn the bar back.
        self._fraction = max(self._fraction, self._share(self._ended + parts))
        elapsed = moment - self._begun
        # A window of half the time so far forgets how slowly the first runs began, and yet holds
        # many runs, so that the time left does not jump with each.
        for window in (self._work, self._finished):
            window.lengthen(elapsed / 2)
        self._work.add(moment, self._fraction)
        self._finished.add(moment, counts.done)
        rates = [run.events_per_second for run in shown.values()]
        known = [rate for rate in rates if rate is not None]
        return StudyProgress(
            counts,
            {self._labels[key]: run for key, run in shown.items()},
            self._fraction,
            self._reused,
            elapsed,
            finished_label,
            message,
            (self._finished.rate() or None) if counts.done else None,
            sum(known) if known else None,
            self._seconds_left(elapsed),
        )

    def _share(self, seconds: float) -> float:
        return min(1.0, seconds / self._total) if self._total else 1.0

    def _seconds_left(self, elapsed: float) -> float | None:
        if elapsed < _SECONDS_BEFORE_ESTIMATE:
            return None
        rate = self._work.rate()
        if rate:
            return (1.0 - self._fraction) / rate
        # One long run may not have moved within the window.
        here = self._fraction - self._reused
        return elapsed * (1.0 - self._fraction) / here if here > 0.0 else None
