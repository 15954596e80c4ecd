"""How likely data is lost: the answer, which the command and the pages read.

Nothing here computes more than a sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from resilver.figure import Figure
from resilver.record import record

Origin = Literal["stated", "study", "catalog", "simulated", "dump", "default", "assumed"]
"""Who says so: the option or argument; the study file; what ships, with its source; a rebuild that
was simulated for this; a real cluster's dump; our default; or we, by what is known."""


@dataclass(frozen=True)
class Premise:
    """One figure that the answer rests on.

    Attributes:
        name: What it is: ``AFR of disks``, ``repair of one disk``, ``scrub``.
        value: Its value with its unit, for people.
        origin: Who says so.
        source: Why it has this value, or who published it; empty where the origin says all.
    """

    name: str
    value: str
    origin: Origin
    source: str = ""


@dataclass(frozen=True)
class Durability:
    """How likely a system loses data.

    Attributes:
        name: What was asked: a code, a study's point, a pool of a cluster.
        code: Its code, as a study writes it.
        overhead: Storage overhead: bytes stored a byte of data (3 for copies 3, 1.375 for rs 8+3).
        devices: How many devices there are.
        groups: How many groups (sets of pieces).
        user_bytes: What is stored, without redundancy; None where no volume was said.
        mission_seconds: How long data has to last.
        loss_probability: The probability that any data is lost within the mission.
        mttdl_seconds: Mean time to the first data loss, from all whole; None where not asked for.
        expected_lost_bytes: Expected bytes lost within the mission; None without a volume.
        object_loss_probability: That a given object is lost in the mission: expected lost bytes
            over what is stored; None without a volume. Its nines are the "nines" of cloud stores.
        annual: The loss probability of a year at the same rate, 1 - (1 - p)^(year / mission).
        causes: Of the losses, what share each cause has; empty where there is one.
        survival: ``time_seconds``, ``survival``, ``low``, ``high``: the probability that nothing
            was lost until then. Where 1 less it would lose digits also ``loss_probability``,
            ``loss_low``, ``loss_high``.
        bursts: ``failures``, ``level`` (of the parts that fail), ``within`` (in how many parts of
            the level ``across`` they lie; null: anywhere), ``loss_probability``,
            ``standard_error``: failures at one moment.
        sensitivity: ``factor`` (what), ``elasticity`` (d log p / d log factor), ``low``, ``high``.
        premises: What it rests on.
        notes: Sentences that a reader must know.
        digest: 16 hexadecimal digits of what was drawn; empty where nothing was.
        is_decimal: Whether sizes were given in decimal units, and are said so: PB, not PiB.
    """

    name: str
    code: str
    overhead: float
    devices: int
    groups: int
    user_bytes: float | None
    mission_seconds: float
    loss_probability: Figure
    annual: Figure
    mttdl_seconds: Figure | None = None
    expected_lost_bytes: Figure | None = None
    object_loss_probability: Figure | None = None
    causes: Mapping[str, float] = field(default_factory=dict)
    survival: pa.Table | None = None
    bursts: pa.Table | None = None
    sensitivity: pa.Table | None = None
    premises: tuple[Premise, ...] = ()
    notes: tuple[str, ...] = ()
    digest: str = ""
    is_decimal: bool = False

    @property
    def nines(self) -> float | None:
        """-log10 of the annual loss probability; infinite where nothing can be lost."""
        return nines(self.annual.value)

    def to_dict(self) -> dict[str, Any]:
        """The answer as a JSON-able dictionary; tables are lists of rows."""
        found = record(self, *vars(self))
        del found["is_decimal"]
        # JSON knows no infinity; the annual probability of 0 says the same.
        has_nines = self.nines is not None and math.isfinite(self.nines)
        return found | {"nines": self.nines if has_nines else None}


def nines(probability: float | None) -> float | None:
    """How many nines: -log10 of a probability of loss.

    >>> round(nines(1e-11), 6)
    11.0
    """
    if probability is None:
        return None
    return math.inf if probability == 0 else -math.log10(probability)


@dataclass(frozen=True)
class Durabilities:
    """Several systems beside each other.

    Attributes:
        systems: Each, in the order asked.
        compared: What differs between them, as a clause: ``codes``, ``layouts at overhead 1.5``.
    """

    systems: tuple[Durability, ...]
    compared: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All answers as a JSON-able dictionary."""
        return record(self, "compared", "systems")
