"""Progress on the terminal while a study is performed."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.live import Live

from resilver.cli.console import messages, say
from resilver.cli.progress_view import ProgressView
from resilver.study import StudyProgress

# Numbers that change more often cannot be read.
_DRAWINGS_PER_SECOND = 4


class StudyDisplay:
    """Shows how far a study is, as far as stderr and the user's wishes allow.

    On a terminal: a line for the study and a row for each run under way, removed at the end.
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
        self._live: Live | None = None
        self.reused: int | None = None

    def __enter__(self) -> StudyDisplay:
        """Begin to show."""
        if self._console.is_terminal and not self._quiet:
            self._live = Live(
                console=self._console, transient=True, refresh_per_second=_DRAWINGS_PER_SECOND
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what is shown."""
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: StudyProgress) -> None:
        """Show the present state.

        Args:
            progress: how far the study is.
        """
        self.reused = progress.counts.reused
        if self._live is not None:
            self._live.update(ProgressView(progress))
        if self._verbose and progress.finished_label is not None:
            say(self._line(progress))

    def _line(self, progress: StudyProgress) -> str:
        counts = progress.counts
        ended = counts.finished + counts.failed
        outcome = "done" if progress.message is None else f"failed: {progress.message}"
        return f"{ended}/{counts.total} {progress.finished_label} {outcome}"
