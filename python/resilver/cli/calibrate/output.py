"""What both calibrations share: files that are written, and progress."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from resilver.cli.console import messages, say
from resilver.errors import ConfigError, Problem


def write_output(path: Path, text: str) -> None:
    """Write a result.

    Args:
        path: The file, replaced if it is there.
        text: Its text.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        rule = f"the file cannot be written: {error.strerror or error}"
        raise ConfigError(Problem(rule, "choose another place", place=str(path))) from error


def check_writable(*paths: Path | None) -> None:
    """Refuse places that cannot be written, before anything is measured for them.

    Args:
        paths: Files to be written; None among them is passed over.

    Raises:
        ConfigError: With every place that is a folder, or whose folder is missing or closed.
    """
    problems = []
    for path in paths:
        if path is None:
            continue
        rule = ""
        if path.is_dir():
            rule = "this is a folder, not a file"
        elif not path.parent.is_dir():
            rule = f"there is no folder {path.parent}"
        elif not os.access(path if path.exists() else path.parent, os.W_OK):
            rule = "it cannot be written"
        if rule:
            problems.append(Problem(rule, "choose another place", place=str(path)))
    if problems:
        raise ConfigError(problems)


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
