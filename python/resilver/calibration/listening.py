"""Who is told how far a measurement is."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Who is told how far the measuring is."""

    def step(self, name: str, done: int, total: int) -> None:
        """`name` is under way, after `done` of `total`."""

    def say(self, text: str) -> None:
        """Something worth a line happened."""
