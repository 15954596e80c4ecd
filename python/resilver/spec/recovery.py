"""How the system heals: each new home pulls what it lost from a surviving holder, in buffers."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from resilver.errors import ConfigError, Problem, show
from resilver.spec.section import Section
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes


class Recovery(Section):
    """The pull protocol.

    Args:
        pipeline_buffer: How much one request pulls.
        pipelining: Whether a destination has several buffers outstanding, up to `receive_memory`;
            otherwise one.
        receive_memory: The most a destination has requested and not yet written.
        send_memory: The most a source is reading or sending; further requests wait in order.
        source: Which survivor is asked: the first, any at random, or the one with the least still
            to send.
        order: In which order a destination pulls its objects: as the population has them, the
            smallest or the largest first, or those with the fewest copies left first (``risk``).
        bandwidth: The most a server asks for a second; None where only memory holds it back.
        control_message: The size of a pull request on the wire.
        retry_after: How long a destination waits before it asks again for a buffer whose request
            or data a fabric lost.
        attempts: After how many losses of one buffer its object is given up as unreachable.
    """

    pipeline_buffer: Bytes = Field(
        default=Bytes(16 * 2**20), description="How much one request pulls.", examples=["16 MiB"]
    )
    pipelining: bool = Field(
        default=True,
        strict=True,
        description="False: a destination has one buffer outstanding.",
        examples=[True],
    )
    receive_memory: Bytes = Field(
        default=Bytes(2**30),
        description="The most a destination has requested and not yet written.",
        examples=["1 GiB"],
    )
    send_memory: Bytes = Field(
        default=Bytes(2**30),
        description="The most a source is reading or sending.",
        examples=["1 GiB"],
    )
    source: Literal["primary", "random", "least_loaded"] = Field(
        default="primary", description="Which survivor is asked for the data."
    )
    order: Literal["population", "smallest", "largest", "risk"] = Field(
        default="population",
        description="Which object a server pulls first; risk: the one with the fewest copies left.",
    )
    bandwidth: BytesPerSecond | None = Field(
        default=None,
        description="The most a server asks for a second. Default: no limit.",
        examples=["100 MiB/s"],
    )
    control_message: Bytes = Field(
        default=Bytes(64), description="The size of a pull request.", examples=["64 B"]
    )
    retry_after: Seconds = Field(
        default=Seconds(1),
        description="How long to wait before a lost buffer is asked for again.",
        examples=["1 s"],
    )
    attempts: int = Field(
        default=10,
        strict=True,
        ge=1,
        le=2**31 - 1,
        description="After how many losses of one buffer its object is given up.",
        examples=[10],
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        problems = [
            Problem(
                "the size must be above zero",
                key=name,
                value=show(exact_bytes(getattr(self, name))),
            )
            for name in ("pipeline_buffer", "receive_memory", "send_memory", "control_message")
            if getattr(self, name) == 0
        ]
        for name in ("receive_memory", "send_memory"):
            memory = getattr(self, name)
            if 0 < memory < self.pipeline_buffer:
                problems.append(
                    Problem(
                        f"a {exact_bytes(self.pipeline_buffer)} pipeline buffer does not fit",
                        f"raise {name} or lower recovery.pipeline_buffer",
                        key=name,
                        value=show(exact_bytes(memory)),
                    )
                )
        if self.bandwidth is not None and not 0 < self.bandwidth < math.inf:
            rule = "the rate must be above zero and finite"
            remedy = 'write such as "100 MiB/s", or leave it out for no limit'
            problems.append(
                Problem(rule, remedy, key="bandwidth", value=show(f"{self.bandwidth:g} B/s"))
            )
        if problems:
            raise ConfigError(problems)
        return self
