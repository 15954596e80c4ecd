"""What both calibrations share: the files they write, and progress."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from resilver.cli.console import messages, say
from resilver.cli.saving import check_writable
from resilver.errors import ConfigError
from resilver.request import option
from resilver.units import Bytes

FIGURE = option(
    "--figure",
    metavar="FILE",
    text="Draw measured against modelled bandwidth there (.png, .svg or .pdf).",
)
"""The option of what is measured beside what is modelled."""

measuring = partial(option, rich_help_panel="Measuring")
"""An option of a measurement."""


def check_places(figure: Path | None, *others: Path | None) -> None:
    """Refuse places that cannot be written, before anything is measured for them.

    Args:
        figure: Where the picture is to go, or None.
        others: Where other files are to go; None among them is passed over.

    Raises:
        ConfigError: A place cannot be written, or the picture's format is not drawn.
    """
    check_writable(*others, figure)
    if figure is not None:
        from resilver.charts.vega import check_format

        check_format(figure, "--figure")


def option_bytes(option: str, text: str) -> Bytes:
    """The size that an option gives.

    Args:
        option: Its name, for the message.
        text: The size with its unit.

    Raises:
        ConfigError: It is not one.
    """
    try:
        return Bytes.parse(text)
    except ConfigError as error:
        raise ConfigError(problem.under(option) for problem in error.problems) from None


def tell_written(notes: Sequence[str], output: Path | None, use: str, figure: Path | None) -> None:
    """Say what a calibration noted and wrote.

    Args:
        notes: What was not as the model has it.
        output: Where the calibrated part went, or None.
        use: How a study uses that file.
        figure: Where the picture went, or None.
    """
    for note in notes:
        say(f"note: {note}")
    if output is not None:
        say(f"wrote {output}; use {use}")
    if figure is not None:
        say(f"wrote {figure}")


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
