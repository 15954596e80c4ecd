"""How the system heals: who drives a rebuild, in which buffers, with how much memory."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from resilver.errors import Problems
from resilver.spec.section import Count, Flag, Only, Positive, Section
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes

_Size = Positive[Bytes]


class Recovery(Section):
    """How lost pieces come back."""

    driver: Literal["destination", "source", "manager"] = "destination"
    """Who drives the rebuild of a piece: has its parts gathered, makes it of them, and has it
    written. The device that it comes to pulls it (``destination``); the first device that it is
    made of pushes it (``source``); or managers take one piece after another from one queue, and
    send each to where it is to be (``manager``).
    """
    managers: Annotated[Count | None, Only("manager", default=1)] = Field(
        default=None, examples=[4]
    )
    """How many devices are managers, spread evenly over the cluster; all data passes them."""
    pipeline_buffer: _Size = Field(default=Bytes(16 * 2**20), examples=["16 MiB"])
    """How much one request asks for."""
    pipelining: Flag = Field(default=True, examples=[True])
    """Whether a driver has several buffers outstanding, up to `receive_memory`; otherwise one."""
    receive_memory: _Size = Field(default=Bytes(2**30), examples=["1 GiB"])
    """The most that a driver has requested or read itself, and that is not yet written."""
    send_memory: _Size = Field(default=Bytes(2**30), examples=["1 GiB"])
    """The most a source is reading or sending; further requests wait in order."""
    source: Literal["primary", "random", "least_loaded"] = "primary"
    """Which survivor is asked: the first, any at random, or the one with the least still to send.
    """
    order: Literal["population", "smallest", "largest", "risk"] = "population"
    """In which order a driver takes its objects: as the population has them, the smallest or
    the largest first, or those with the fewest copies left first (``risk``).
    """
    bandwidth: Positive[BytesPerSecond] | None = Field(default=None, examples=["100 MiB/s"])
    """The most a rebuilding device reads a second, several times what it rebuilds of a code; None
    where only memory holds it back. Default: no limit.
    """
    control_message: _Size = Field(default=Bytes(64), examples=["64 B"])
    """The size of a request, and of the acknowledgement of a pushed buffer, on the wire."""
    retry_after: Seconds = Field(default=Seconds(1), examples=["1 s"])
    """How long a driver waits before it asks again for a buffer whose request or data a fabric
    lost, or sends it again.
    """
    attempts: Count = Field(default=10, le=2**31 - 1, examples=[10])
    """After how many losses of one buffer its object is given up as unreachable."""

    kind_key: ClassVar[str] = "driver"

    def _problems(self) -> Problems:
        for name in ("receive_memory", "send_memory"):
            if getattr(self, name) < self.pipeline_buffer:
                rule = f"a {exact_bytes(self.pipeline_buffer)} pipeline buffer does not fit"
                yield self.problem(name, rule, f"raise {name} or lower recovery.pipeline_buffer")
