"""Where a run's time goes, phase by phase."""

from __future__ import annotations

import time
from collections.abc import Callable

SIMULATED_PHASES = ("placing", "scanning", "rebuilding", "serving")
"""The phases of a simulation, whose times add up to its wall time."""

MOVING_PHASES = ("rebuilding", "serving")
"""Those in which simulated time goes on."""

STORING = "storing"
"""What comes after them: writing the run's tables."""


class PhaseClock:
    """Charges time to the phases that a simulation reports.

    A simulation reports after each step the phase that its next step belongs to. So the time since
    the previous report goes to the phase that the previous one named: what prepares the system
    counts as placing, and what makes the result of a finished rebuild counts as rebuilding. A run
    of traffic alone neither places nor scans: all of it counts as serving.

    Args:
        now: tells the time in seconds.

    Example:
        >>> moments = iter([0.0, 2.0, 5.0, 9.0])
        >>> clock = PhaseClock(lambda: next(moments))
        >>> for phase in ("scanning", "rebuilding"):
        ...     clock.enter(phase)
        >>> clock.stop()
        {'placing': 2.0, 'scanning': 3.0, 'rebuilding': 4.0, 'serving': 0.0}
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._seconds = dict.fromkeys(SIMULATED_PHASES, 0.0)
        self._phase = SIMULATED_PHASES[0]
        self._is_first = True
        self._since = now()

    def enter(self, phase: str) -> None:
        """Note what the simulation does from here on.

        Args:
            phase: one of `SIMULATED_PHASES`; anything else, such as "done", is the end of the
                phase before it.
        """
        moment = self._now()
        if self._is_first and phase == "serving":
            self._phase = phase
        self._is_first = False
        self._seconds[self._phase] += moment - self._since
        self._since = moment
        if phase in self._seconds:
            self._phase = phase

    def stop(self) -> dict[str, float]:
        """End the last phase.

        Returns:
            Seconds by phase.
        """
        self.enter("")
        return dict(self._seconds)
