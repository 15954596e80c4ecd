"""How far something is: one line on a terminal that is replaced, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Self

from rich.live import Live
from rich.text import Text

from resilver.cli.console import messages, say

_EVERY_SECONDS = 30.0
"""Between two lines where stderr is no terminal."""


class LiveLine:
    """A line on stderr while something is performed.

    Args:
        quiet: Show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._is_quiet = quiet
        self._live = None if quiet or not sys.stderr.isatty() else Live(
            console=messages(), transient=True, refresh_per_second=4
        )  # fmt: skip
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._begun

    def show(self, text: str) -> None:
        """Replace the line; without a terminal, print it if none was printed for a while."""
        if self._live is not None:
            self._live.update(Text(text))
        elif not self._is_quiet and time.monotonic() - self._said >= _EVERY_SECONDS:
            self._said = time.monotonic()
            say(text)
