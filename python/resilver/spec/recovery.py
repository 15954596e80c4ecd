"""How the system heals: who drives a rebuild, in which buffers, with how much memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from resilver.catalog import load
from resilver.errors import ConfigError, Problems, show
from resilver.spec.section import Count, Flag, Only, Positive, Section
from resilver.spec.software import Software
from resilver.units import Bytes, BytesPerSecond, Seconds, exact_bytes

_Size = Positive[Bytes]


class Recovery(Section):
    """How lost pieces come back."""

    like: str | None = Field(default=None, examples=["hdfs 3.3"])
    """A policy of the catalog: real software with its limits, each from a source. What is written
    beside it, here or below ``software``, holds in its place.
    """
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

    software: Software | None = Field(default=None, examples=[{"per_source": 2}])
    """What the software allows beside memory. Default: all that hardware does, so that a rebuild
    takes at least what is computed.
    """

    kind_key: ClassVar[str] = "driver"

    @model_validator(mode="before")
    @classmethod
    def _put_policy(cls, data: Any) -> Any:
        """The values of a policy, but where others are given."""
        if not isinstance(data, Mapping) or not isinstance(name := data.get("like"), str):
            return data
        policy = dict(policy_of(name).recovery)
        software, own = policy.get("software", {}), data.get("software")
        if isinstance(own, Mapping | Software):
            given = own.given() if isinstance(own, Software) else dict(own)
            policy["software"] = software | given
        elif "software" in data and own is not None:
            policy["software"] = own
        return policy | {key: value for key, value in data.items() if key != "software"}

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able."""
        content = self.model_dump(mode="json", exclude={"like"})
        # Left out where it limits nothing, so that runs without it keep their keys.
        if self.software in (None, Software()):
            del content["software"]
        return content

    def _problems(self) -> Problems:
        for name in ("receive_memory", "send_memory"):
            if getattr(self, name) < self.pipeline_buffer:
                rule = f"a {exact_bytes(self.pipeline_buffer)} pipeline buffer does not fit"
                yield self.problem(name, rule, f"raise {name} or lower recovery.pipeline_buffer")


@dataclass(frozen=True)
class Policy:
    """A policy of the catalog.

    Attributes:
        description: What it is of, in a sentence.
        source: Where its values are from.
        recovery: What it says of a recovery, as a study would.
        settings: Of each key, the setting or the line of code that it stands for.
    """

    description: str
    source: str
    recovery: dict[str, Any]
    settings: dict[str, str]


def policy_of(name: str) -> Policy:
    """A policy of the catalog, by its name.

    Args:
        name: Such as ``hdfs 3.3``.

    Raises:
        ConfigError: The catalog has none of this name.
    """
    try:
        entry = load("policies", name.strip().replace(" ", "-"))
    except ConfigError as error:
        (problem,) = error.problems
        raise ConfigError(problem.rule, problem.remedy, "like", show(name)) from None
    content = entry.content
    return Policy(entry.description, entry.source, content["recovery"], content["settings"])
