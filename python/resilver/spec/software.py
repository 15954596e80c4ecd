"""What the software of a storage system lets a rebuild do: pieces at a time, times, rates."""

from __future__ import annotations

from pydantic import Field

from resilver.errors import Problems
from resilver.spec.section import Count, Positive, Section
from resilver.units import Bytes, BytesPerSecond, Seconds

_COUNT_MAX = 2**31 - 1
_TIME_MAX = 30 * 86_400


class Software(Section):
    """Limits that the software sets itself, beside what devices, network and memory allow.

    A driver takes its pieces in their order. A piece begins once all that limits it allows it, and
    is under way until it is written. A server is what shares a network port, with all its devices.
    """

    per_driver: Count | None = Field(default=None, le=_COUNT_MAX, examples=[1])
    """The most pieces that a server drives at a time; who drives, ``driver`` says."""
    per_source: Count | None = Field(default=None, le=_COUNT_MAX, examples=[2])
    """The most pieces that a server is read for at a time. A piece is made of survivors that are
    free where there are enough.
    """
    per_target: Count | None = Field(default=None, le=_COUNT_MAX, examples=[1])
    """The most pieces that come to a server at a time."""
    in_all: Count | None = Field(default=None, le=_COUNT_MAX, examples=[1])
    """The most pieces of the whole system at a time: 1 is one queue, one piece after another."""
    time_per_buffer: Seconds = Field(default=Seconds(0), examples=["2 ms"])
    """What a buffer takes beside its data: the round trip of a batch through the software. Where
    ``pipelining`` is off, the next waits for it.
    """
    time_per_piece: Seconds = Field(default=Seconds(0), examples=["20 ms"])
    """What a piece takes beside its data: round trips, metadata, an entry in a log. It is spent
    before the last buffer is written, and those under way at a time do not wait for each other.
    """
    pause: Seconds = Field(default=Seconds(0), examples=["100 ms"])
    """How long a driver begins no piece after each that it completes."""
    scan_per_piece: Seconds = Field(default=Seconds(0), examples=["1 ms"])
    """How long a driver scans for each of its pieces before it begins the first; of what fails
    later nothing is scanned for.
    """
    check_rate: Positive[BytesPerSecond] | None = Field(default=None, examples=["400 MB/s"])
    """How fast a driver checks what it gathers: checksums, a comparison. Default: it takes no time.
    """
    rate_in_all: Positive[BytesPerSecond] | None = Field(default=None, examples=["1 GB/s"])
    """The most that is read in the whole system a second; ``bandwidth`` is each driver's.
    Default: no limit.
    """
    burst: Bytes = Field(default=Bytes(0), examples=["64 MiB"])
    """How much more may be asked for at once, of ``bandwidth`` and ``rate_in_all``, after a time in
    which less was.
    """

    def _problems(self) -> Problems:
        for name in ("time_per_buffer", "time_per_piece", "pause", "scan_per_piece"):
            if getattr(self, name) > _TIME_MAX:
                yield self.problem(name, "it is 30 days at the most", "write less")
