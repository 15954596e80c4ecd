"""Ctrl-C as a request that is looked at, instead of an exception anywhere."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class InterruptWatch:
    """Notes SIGINT and SIGTERM while it is entered.

    An exception in the middle of bookkeeping could lose a finished run; a flag cannot. Outside the
    main thread, where Python delivers no signals, nothing is watched.
    """

    def __init__(self) -> None:
        self._count = 0
        self._previous: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether the user asked to stop."""
        return self._count > 0

    @property
    def insisted(self) -> bool:
        """Whether the user asked again, which means at once."""
        return self._count > 1

    def __enter__(self) -> InterruptWatch:
        """Begin to watch."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers that were there before."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
