"""What calibrations share: options of measurements, and progress."""

from __future__ import annotations

from functools import partial
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from resilver.cli.console import messages, say
from resilver.request import option


def figure_output(text: str = "Draw measured against modelled bandwidth there") -> Any:
    """Where the chart of a calibration goes.

    Args:
        text: What is drawn.
    """
    text = f"{text} (.png, .svg or .pdf)."
    return option("--figure", metavar="FILE", text=text, is_output=True)


def table_output(text: str, metavar: str = "FILE.toml") -> Any:
    """Where the calibrated part goes.

    Args:
        text: What is written.
        metavar: The kind of file.
    """
    text = f"{text} Or the answer as a page (.html)."
    return option("--output", "-o", metavar=metavar, text=text, is_output=True)


measuring = partial(option, rich_help_panel="Measuring")
"""An option of a measurement."""


class Bar:
    """How far a series of measurements is: a bar on a terminal, nothing elsewhere.

    Args:
        quiet: Show nothing, messages included.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        """Begin to show."""
        console = messages()
        if console.is_terminal and not self._quiet:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=32, complete_style="cyan", finished_style="cyan"),
                TextColumn("{task.completed:.0f} of {task.total:.0f}"),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()

    def step(self, name: str, done: int, total: int) -> None:
        """Show that `name` is under way, after `done` of `total`."""
        if self._progress is None:
            return
        if self._task is None:
            self._task = self._progress.add_task(name, total=total)
        self._progress.update(self._task, description=name, completed=done)

    def say(self, text: str) -> None:
        """Tell something on the way."""
        if not self._quiet:
            say(text)
