"""How far a study is that a page reports on before its end."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

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

    def html(self) -> str:
        """The line below the title."""
        words = f"{self.finished:,} of {self.total:,} runs"
        words += " so far" if self.reload_seconds else "; the sweep has stopped"
        if self.failed:
            words += f", {self.failed:,} failed"
        if self.reload_seconds and self.seconds_left is not None:
            words += f", about {format_duration(max(1, round(self.seconds_left)))} left"
        share = self.finished / self.total if self.total else 1.0
        note = f"As of {self.moment}."
        if self.reload_seconds:
            note += " This page follows the sweep: it loads itself again as runs finish."
        else:
            note += " Do the rest by running the study again."
        return (
            f'<div class="standing" role="status"><p><strong>{escape(words)}</strong></p>'
            f'<progress max="1" value="{share:.4f}" aria-label="Runs finished"></progress>'
            f'<p class="note">{escape(note)}</p></div>'
        )
