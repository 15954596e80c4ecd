"""Streams: sustained reads and writes of whole stripes, and bursts of writes."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from resilver.errors import ConfigError, Problem, show
from resilver.spec.section import Count, Section
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes

WINDOW_MAX = 65_535
"""The most operations that one stream has under way: the core counts them in 16 bits."""


class Bursts(Section):
    """Volumes that are written all at once, again and again, such as checkpoints."""

    volume: Bytes = Field(examples=["1 TiB"])
    """How much user data a burst writes."""
    every: Seconds = Field(examples=["60 s"])
    """The time from the beginning of one burst to that of the next."""
    first: Seconds = Field(default=Seconds(0), examples=["0 s"])
    """When the first begins, from the start of the run."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = []
        if self.volume == 0:
            rule, value = "the size must be above zero", show(exact_bytes(0))
            problems.append(Problem(rule, 'such as "1 TiB"', key="volume", value=value))
        if self.every <= 0:
            rule = "the time must be above zero"
            problems.append(Problem(rule, 'such as "60 s"', key="every", value=show("0 s")))
        if problems:
            raise ConfigError(problems)
        return self

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: in bytes and seconds."""
        return {
            "volume": int(self.volume),
            "every": float(self.every),
            "first": float(self.first),
        }


class Streams(Section):
    """Reads and writes of whole stripes, each window kept full or issued at a rate."""

    window: Count = Field(default=16, le=WINDOW_MAX, examples=[16])
    """How many operations are under way at a time: of each server and side over groups, of each
    entry over the objects that are placed.
    """
    rate: BytesPerSecond | None = Field(default=None, examples=["2 GB/s"])
    """User data a second of each server, or of each entry. Default: as fast as they go. Zero leaves
    bursts and rebuilds alone.
    """
    bursts: Bursts | None = None
    """Volumes that are written all at once besides."""
    entries: Literal["paired", "random"] = "paired"
    """Over groups: whether a server's port always talks to the same entry (``paired``) or to any
    (``random``).
    """

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able: in bytes and seconds."""
        return {
            "window": self.window,
            "rate": None if self.rate is None else float(self.rate),
            "bursts": self.bursts.content() if self.bursts is not None else None,
            "entries": self.entries,
        }
