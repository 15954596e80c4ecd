"""How far something is, as one line on a terminal that is written anew and then taken away."""

from __future__ import annotations

import sys
from typing import Self

from rich.live import Live
from rich.text import Text

from resilver.cli.console import messages


class LiveLine:
    """A line on stderr while something is performed; nothing where that is no terminal.

    Args:
        quiet: Show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._live = None if quiet or not sys.stderr.isatty() else Live(
            console=messages(), transient=True, refresh_per_second=4
        )  # fmt: skip

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, text: str) -> None:
        """Write the line anew."""
        if self._live is not None:
            self._live.update(Text(text))
