"""Streams: sustained reads and writes of whole stripes, and bursts of writes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from resilver.spec.section import Count, Positive, Section
from resilver.units import Bytes, BytesPerSecond, Seconds

WINDOW_MAX = 65_535
"""The most operations that one stream has under way: the core counts them in 16 bits."""


class Bursts(Section):
    """Volumes that are written all at once, again and again, such as checkpoints."""

    volume: Positive[Bytes] = Field(examples=["1 TiB"])
    """How much user data a burst writes."""
    every: Positive[Seconds] = Field(examples=["60 s"])
    """The time from the beginning of one burst to that of the next."""
    first: Seconds = Field(default=Seconds(0), examples=["0 s"])
    """When the first begins, from the start of the run."""
    drain: Positive[BytesPerSecond] | None = Field(default=None, examples=["1 GB/s"])
    """Over groups: user data a second of each server that is read again and leaves by the entries,
    such as to a file system behind a burst buffer. Default: what was written stays.
    """


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
