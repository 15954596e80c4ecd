"""Progress on the terminal: runs done, rate and time left, and each run under way."""

from __future__ import annotations

import datetime
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from resilver.cli.console import messages, say
from resilver.study import StudyProgress, run_fraction


class StudyDisplay:
    """Shows how far a study is, as far as stderr and the user's wishes allow.

    On a terminal: a bar for the study and one for each run under way, removed at the end.
    Elsewhere: nothing, or one line a run if the user asked for it.

    Args:
        quiet: show nothing.
        verbose: print one line for each run that ends.
        console: where to print, by default stderr.
    """

    def __init__(
        self, *, quiet: bool = False, verbose: bool = False, console: Console | None = None
    ) -> None:
        self._console = console or messages()
        self._quiet = quiet
        self._verbose = verbose
        self._bars: Progress | None = None
        self._total: TaskID | None = None
        self._rows: dict[str, TaskID] = {}
        self.reused: int | None = None

    def __enter__(self) -> StudyDisplay:
        """Begin to show."""
        if self._console.is_terminal and not self._quiet:
            self._bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=32, complete_style="cyan", finished_style="cyan"),
                TextColumn("{task.fields[state]}"),
                _Rate(),
                console=self._console,
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bars."""
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, progress: StudyProgress) -> None:
        """Show the present state.

        Args:
            progress: how far the study is.
        """
        self.reused = progress.counts.reused
        if self._bars is not None:
            self._draw(self._bars, progress)
        if self._verbose and progress.finished_label is not None:
            say(self._line(progress))

    def _line(self, progress: StudyProgress) -> str:
        counts = progress.counts
        ended = counts.reused + counts.done + counts.failed
        outcome = "done" if progress.message is None else f"failed: {progress.message}"
        return f"{ended}/{counts.total} {progress.finished_label} {outcome}"

    def _draw(self, bars: Progress, progress: StudyProgress) -> None:
        counts = progress.counts
        if self._total is None:
            self._total = bars.add_task("[bold]runs[/bold]", total=1.0, state="", left="")
        ended = counts.reused + counts.done + counts.failed
        bars.update(
            self._total,
            completed=progress.fraction,
            state=f"{ended} of {counts.total}",
            left=_rate_and_time_left(progress),
        )
        for name in set(self._rows) - set(progress.under_way):
            bars.remove_task(self._rows.pop(name))
        for name, (phase, fraction) in progress.under_way.items():
            if name not in self._rows:
                self._rows[name] = bars.add_task(_shortened(name), total=1.0, state="", left="")
            done = run_fraction(phase, fraction)
            bars.update(self._rows[name], completed=done, state=phase)


class _Rate(ProgressColumn):
    """The text that a task carries in its `left` field."""

    def render(self, task: Task) -> Text:
        """Draw the column.

        Args:
            task: the task of the row.

        Returns:
            Its text.
        """
        fields: dict[str, Any] = task.fields
        return Text(str(fields.get("left", "")), style="dim")


def _rate_and_time_left(progress: StudyProgress) -> str:
    left = progress.seconds_left
    if left is None:
        return ""
    words = [f"{datetime.timedelta(seconds=round(left))} left"]
    if progress.counts.done:
        rate = progress.counts.done / progress.elapsed_seconds
        words.insert(0, f"{rate:.2g} runs/s" if rate >= 0.1 else f"{rate * 60:.2g} runs/min")
    return ", ".join(words)


def _shortened(label: str) -> str:
    """A run's label in the width of a column; the seed at its end is what tells runs apart."""
    return label if len(label) <= 36 else "..." + label[-33:]
