"""How devices detect that others have failed, where faults do not say when that is known."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from resilver.core_errors import check_detection
from resilver.errors import ConfigError, Problems, show
from resilver.spec.section import Count, Only, Positive, Section
from resilver.units import Bytes, BytesPerSecond, Seconds

_TIME_MAX = 30 * 86_400.0


class Detection(Section):
    """A protocol between all devices. Each of its messages crosses the fabric."""

    protocol: Literal["monitor", "all_to_all", "gossip", "swim"] = "monitor"
    """Who watches whom: each sends heartbeats to monitors, which inform all; each sends heartbeats
    to every other; each sends all the heartbeats that it knows of to some; or each probes one, and
    probes carry the news.
    """
    period: Positive[Seconds] = Field(default=Seconds(1), examples=["1 s"])
    """How often each device sends."""
    timeout: Annotated[
        Positive[Seconds] | None,
        Only("monitor", "all_to_all", default=Seconds(5.5), elsewhere=True),
        Only("gossip", default=Seconds(15), elsewhere=True),
        Only("swim", default=Seconds(0.2), elsewhere=True),
    ] = Field(default=None, examples=["5.5 s"])
    """The silence after which a device is declared failed; of ``swim``, how long a probe waits for
    its answer before others are asked to probe as well.
    """
    monitors: Annotated[Count | None, Only("monitor", default=3)] = Field(
        default=None, le=2**31 - 1, examples=[3]
    )
    """How many devices are monitors, spread evenly over all by number."""
    fanout: Annotated[Count | None, Only("gossip", "swim", default=3)] = Field(
        default=None, le=2**31 - 1, examples=[3]
    )
    """To how many devices gossip goes, or how many are asked to probe one that does not answer."""
    suspicion: Annotated[Seconds | None, Only("swim", default=Seconds(0))] = Field(
        default=None, examples=["10 s"]
    )
    """How long a device is suspected, and may object, before it is declared failed."""
    known_by: Literal["all", "first"] = "all"
    """Who has to know of each failure before anything is rebuilt: ``all`` surviving devices that
    ever detect it, or the ``first``.
    """
    warm_up: Seconds = Field(default=Seconds(30), examples=["1 h"])
    """How long load and false alarms are counted before a failure, once the devices have settled.
    """
    message: Positive[Bytes] = Field(default=Bytes(64), examples=["64 B"])
    """What a message takes on the wire."""
    entry: Bytes = Field(default=Bytes(8), examples=["8 B"])
    """What a message takes besides for each device that it has news of."""
    loss: float = Field(default=0.0, strict=True, ge=0, lt=1, examples=[0.01])
    """The share of messages that is lost, beside what the fabric drops."""
    background: Positive[BytesPerSecond] | None = Field(default=None, examples=["400 MB/s"])
    """Other traffic that each device sends, to devices chosen uniformly at random and at
    exponential gaps. Default: none.
    """
    background_message: Positive[Bytes] = Field(default=Bytes(2**20), examples=["1 MiB"])
    """The size of a message of other traffic."""

    kind_key: ClassVar[str] = "protocol"

    def _problems(self) -> Problems:
        for name in ("period", "timeout", "suspicion", "warm_up"):
            if (getattr(self, name) or 0) > _TIME_MAX:
                yield self.problem(name, "it is 30 days at the most", "write less")
                return
        self._ask(0)

    def _ask(self, devices: int) -> float:
        return check_detection(self.content(), devices)

    def messages(self, devices: int) -> float:
        """How many messages there are until a failure is known, about.

        Raises:
            ConfigError: It cannot be among so many devices.
        """
        if "monitors" in self.model_fields_set and (self.monitors or 0) > devices:
            rule = f"monitors are some of {devices} devices"
            raise ConfigError(rule, "write fewer", "monitors", show(self.monitors))
        return self._ask(devices)

    def content(self) -> dict[str, Any]:
        """What affects results, JSON-able, as the core reads it: SI units."""
        values: dict[str, dict[str, Any]] = {
            "monitor": {"monitors": self.monitors},
            "all_to_all": {},
            "gossip": {"fanout": self.fanout},
            "swim": {"fanout": self.fanout, "suspicion": self.suspicion},
        }
        background = {
            "bytes_per_second": self.background,
            "message": int(self.background_message),
        }
        return {
            "protocol": {self.protocol: values[self.protocol]},
            "period": float(self.period),
            "timeout": self.timeout,
            "warm_up": float(self.warm_up),
            "message": int(self.message),
            "entry": int(self.entry),
            "loss": self.loss,
            "background": None if self.background is None else background,
            "known_by": self.known_by,
        }
