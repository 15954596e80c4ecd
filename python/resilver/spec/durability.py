"""How long data has to last, what fails meanwhile, and how fast it heals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from resilver.errors import Problem, Problems
from resilver.failure_rates import ErrorsPerByte, ErrorsPerByteSecond, LongSeconds
from resilver.spec.drawn_times import AnyRepair, AnyTime, DrawnTime, RepairSpeed
from resilver.spec.failures import Failure
from resilver.spec.section import Count, Flag, Positive, Section
from resilver.units import Bytes

DurabilityMethod = Literal["auto", "exact", "plain", "importance", "splitting"]
"""How the probability of loss is found."""


class DurabilityQuestion(Section):
    """What ``resilver durability`` asks of the system; no run of a study depends on it.

    >>> disks = {"like": "simedc/disk"}
    >>> asked = DurabilityQuestion(mission="10 y", failures=[{"afr": "1.36 %"}, disks])
    >>> asked.mission.as_text(), [one.law for one in asked.failures]
    ('10 y', ['afr', 'weibull'])
    """

    mission: Positive[LongSeconds] = Field(default=LongSeconds(31_557_600), examples=["10 y"])
    """How long data has to last."""
    relative_error: Annotated[float, Field(strict=True, gt=0, lt=1)] = 0.05
    """The standard error over the estimate at which a simulation of losses ends."""
    trajectories: Count = 10_000_000
    """The most trajectories that are simulated, whatever the error is then."""
    method: DurabilityMethod = "auto"
    """``exact`` for chains; ``plain`` simulation; with rare failures made likelier (``importance``)
    or histories near a loss multiplied (``splitting``); or what suits the system (``auto``).
    """
    failures: tuple[Failure, ...] = ()
    """What fails; at least one way in which data is lost."""
    detection: AnyTime = Field(default=DrawnTime("fixed", (0.0,)), examples=["15 min"])
    """From a loss until it is known and its repair may begin. Default: 0 s."""
    replacement: AnyTime = Field(default=DrawnTime("fixed", (0.0,)), examples=["2 d"])
    """From then until there is something to repair to. Default: 0 s, as where space is spare."""
    repair: AnyRepair = RepairSpeed("simulate")
    """How long the repair of a lost device takes: as rebuilds of this study are simulated to take
    (``"simulate"``), a time or a law, a list of them by how many are repaired at once, or the
    bandwidth that is shared, of devices and of other levels. Default: ``"simulate"``.
    """
    repairs: Literal["parallel", "serial"] = "parallel"
    """Whether repairs of given times run beside each other, or one after the other: each device
    waits for those before it that share a group with it, so every RAID set has a repair of its own.
    """
    crews: Count | None = Field(default=None, examples=[2])
    """Of repairs of given times: how many run at once in the whole system. Default: no limit."""
    repair_to: Literal["spread", "replacement"] | None = Field(default=None, examples=["spread"])
    """Of shared bandwidth: whether what a device held is made anew all over the others, or on one
    replacement. Default: ``spread`` where nothing is waited for to be replaced.
    """
    returns: Literal["groups", "devices"] = "groups"
    """What comes back at once: group after group evenly over a repair, or all of a device at its
    end. Default: devices, where objects are placed one by one, in RAID sets, and where a
    replacement is waited for; else groups.
    """
    most_lost_first: Flag = True
    """Whether groups that lack more pieces are repaired first."""
    scrub_every: Positive[LongSeconds] | None = Field(default=None, examples=["14 d"])
    """How often every byte is read and mended. Default: never."""
    unreadable: ErrorsPerByte = Field(default=ErrorsPerByte(0), examples=["1e-15 /bit"])
    """Errors that a repair meets by itself as it reads, as data sheets of disks state them."""
    latent_errors: ErrorsPerByteSecond = Field(
        default=ErrorsPerByteSecond(0), examples=["0.1 /TB/y"]
    )
    """Errors that come up on stored bytes, and stay until they are scrubbed or read."""
    error_size: Positive[Bytes] = Field(default=Bytes(4096), examples=["4 KiB"])
    """What one such error takes."""

    def _problems(self) -> Problems:
        if not self.failures:
            remedy = 'add [[durability.failures]] with afr = "1.36 %", or like = "backblaze-2025"'
            yield Problem("nothing fails, so nothing is lost", remedy, key="failures")
        elif all(one.lasts is not None and not one.lost_share for one in self.failures):
            rule, remedy = "all that fails comes back, so nothing is lost", "add what does not"
            yield Problem(rule, remedy, key="failures")
        if self.scrub_every is not None and not self.has_latent_errors:
            rule = "scrubbing finds errors that come up on stored bytes, and none do"
            yield self.problem("scrub_every", rule, 'give latent_errors, such as "0.1 /TB/y"')
        yield from self._queue_problems()
        if self.repair_to is not None and self.repair.kind != "shared":
            rule = "it is of repairs that share bandwidth"
            remedy = 'give repair = { device = "50 MiB/s" }, or remove it'
            yield self.problem("repair_to", rule, remedy)

    def _queue_problems(self) -> Problems:
        """What is wrong with how repairs wait for each other."""
        if self.repairs == "parallel" and self.crews is None:
            return
        key = "repairs" if self.repairs == "serial" else "crews"
        if key == "repairs" and self.crews is not None:
            rule = "one repair at a time a set, and crews for all sets, exclude each other"
            yield self.problem("crews", rule, "keep one of the two")
        elif self.repair.kind != "times":
            rule = "it is of repairs whose times are given"
            yield self.problem(key, rule, 'give repair = "10 h"')
        elif len(self.repair.times) > 1:
            rule = "times by how many are repaired at once are of parallel repairs"
            yield self.problem(key, rule, "give one time")

    @property
    def has_latent_errors(self) -> bool:
        """Whether errors come up on stored bytes."""
        return self.latent_errors > 0

    @property
    def is_onto_replacement(self) -> bool:
        """Whether what a device held is made anew on one replacement."""
        if self.repair_to is None:
            return self.replacement.mean_seconds > 0
        return self.repair_to == "replacement"

    def latent_content(self) -> dict[str, Any] | None:
        """Sectors that cannot be read, as the core reads them; None where there are none."""
        if not self.has_latent_errors and not self.unreadable:
            return None
        every = self.scrub_every
        return {
            "errors_per_byte_read": float(self.unreadable),
            "errors_per_byte_second": float(self.latent_errors),
            "scrub_every_seconds": None if every is None else float(every),
            "bytes_per_error": int(self.error_size),
        }

    def content(self) -> dict[str, Any]:
        """All that affects the answer, in SI units, JSON-able; a list of lives by its hash."""
        return {
            "mission": float(self.mission),
            "failures": [one.content() for one in self.failures],
            "detection": self.detection.content(),
            "replacement": self.replacement.content(),
            "repair": self.repair.content(),
            "repairs": self.repairs,
            "crews": self.crews,
            "onto_replacement": self.is_onto_replacement,
            "returns": self.returns,
            "most_lost_first": self.most_lost_first,
            "latent": self.latent_content(),
        }
