"""How far something is: on a terminal replaced while it lasts, elsewhere a line now and then."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Self

from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from resilver.cli.console import messages, say
from resilver.cli.progress_view import ProgressView, step_line
from resilver.units import format_duration

if TYPE_CHECKING:
    from resilver.simulate.ceph import HealProgress
    from resilver.study import StudyProgress

SELDOM_SECONDS = 30.0
"""Between two lines of what takes long, where stderr is no terminal."""
# Numbers that change more often cannot be read.
_DRAWINGS_PER_SECOND = 4


class Display:
    """What is under way, on stderr: removed from a terminal at its end.

    Args:
        quiet: Show nothing, messages included.
        every: Seconds between two lines where stderr is no terminal; by default there are none.
    """

    def __init__(self, *, quiet: bool = False, every: float = math.inf) -> None:
        shown = messages()
        self._live = None if quiet or not shown.is_terminal else Live(
            console=shown, transient=True, refresh_per_second=_DRAWINGS_PER_SECOND
        )  # fmt: skip
        self._is_quiet, self._every = quiet, every
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def left(self, fraction: float) -> float | None:
        """How long the rest takes at the pace so far, in seconds; None at the start."""
        spent = time.monotonic() - self._begun
        return spent * (1.0 - fraction) / fraction if fraction > 0.0 else None

    def show(self, state: RenderableType) -> None:
        """Replace what is shown; without a terminal, print a text if none was for a while."""
        if self._live is not None:
            self._live.update(Text(state) if isinstance(state, str) else state)
        elif not self._is_quiet and time.monotonic() - self._said >= self._every:
            self._said = time.monotonic()
            say(str(state))

    def step(self, name: str, done: float, total: float) -> None:
        """Show that `name` is under way, after `done` of `total`."""
        self.show(step_line(name, done / total, self.left(done / total)))

    def say(self, text: str) -> None:
        """Tell something on the way."""
        if not self._is_quiet:
            say(text)


class HealDisplay(Display):
    """Shows how far a cluster's recovery is simulated, now and then where that takes long."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet, every=SELDOM_SECONDS)

    def __call__(self, done: int, total: int, state: HealProgress) -> bool:
        """Show the present state of one run, or how many of several are done; never give up."""
        left = f"{state.unclean_groups:,} of {state.groups:,} PGs to go"
        text = f"{left} after {format_duration(state.simulated_seconds)}"
        if total != 1:
            # Several are under way, each at another time of its own.
            of = f" of {total:,}" if total else ""
            text = f"{done:,}{of} runs done"
        self.show(text)
        return True


class StudyDisplay(Display):
    """Shows how far a study is: a line for it and a row for each run under way.

    Args:
        quiet: Show nothing.
        verbose: Print one line for each run that ends.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._is_verbose = verbose
        self.reused: int | None = None

    def __call__(self, progress: StudyProgress) -> None:
        """Show the present state."""
        counts = progress.counts
        self.reused = counts.reused
        self.show(ProgressView(progress))
        if self._is_verbose and progress.finished_label is not None:
            ended = counts.finished + counts.failed
            outcome = "done" if progress.message is None else f"failed: {progress.message}"
            say(f"{ended}/{counts.total} {progress.finished_label} {outcome}")
