"""How far a study is that a page reports on before its end."""

from __future__ import annotations

from dataclasses import dataclass

from resilver.units import format_duration


@dataclass(frozen=True)
class Standing:
    """How far a study is.

    Args:
        finished: Runs that are finished, which the page shows.
        total: Runs of the study.
        failed: Runs that failed.
        moment: When this was so, in words.
        seconds_left: Time left, where it is known.
        reload_seconds: How often the page loads itself again; None once nothing more will come.
    """

    finished: int
    total: int
    failed: int
    moment: str
    seconds_left: float | None = None
    reload_seconds: int | None = None

    @property
    def words(self) -> str:
        """How far, how much failed, and how long it takes yet."""
        words = f"{self.finished:,} of {self.total:,} runs"
        words += " so far" if self.reload_seconds else "; the sweep has stopped"
        if self.failed:
            words += f", {self.failed:,} failed"
        if self.reload_seconds and self.seconds_left is not None:
            words += f", about {format_duration(max(1, round(self.seconds_left)))} left"
        return words

    @property
    def share(self) -> float:
        """The share of the runs that are finished."""
        return self.finished / self.total if self.total else 1.0

    @property
    def note(self) -> str:
        """When this was so, and what comes next."""
        if self.reload_seconds:
            more = "This page follows the sweep: it loads itself again as runs finish."
        else:
            more = "Do the rest by running the study again."
        return f"As of {self.moment}. {more}"
