"""A system whose durability is asked, as the core reads it and with what it rests on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver.data_loss.answer import Durability, Premise
from resilver.data_loss.figures import annual_of
from resilver.errors import Interrupted
from resilver.figure import Figure
from resilver.simulate import code_tree

INDEPENDENT = (
    "Assumes independent failures. Most real data loss is from correlated ones (power, rack, "
    "firmware), so this is optimistic."
)
"""What a reader must know where devices alone fail, each by itself."""

NO_DEVICE = 2**32 - 1
"""What the core reads where a set has no device."""


@dataclass(frozen=True)
class Level:
    """A level of parts.

    Attributes:
        name: Its name, such as ``rack``.
        parents: Of each part the number of the part of the level above that it is in, shape
            (parts,); zeros at the top.
    """

    name: str
    parents: npt.NDArray[np.int64]


@dataclass(frozen=True)
class StoredPool:
    """Groups of one code.

    Attributes:
        name: Its name.
        code: The code, as a study writes it.
        sets: Devices of each group by place, shape (groups, pieces); -1 where there is none.
        piece_bytes: Bytes of one piece of each group, shape (groups,).
    """

    name: str
    code: str
    sets: npt.NDArray[np.int64]
    piece_bytes: npt.NDArray[np.int64]

    @property
    def data_pieces(self) -> int:
        """Pieces of a group that hold data."""
        return code_tree(self.code).data

    @property
    def user_bytes(self) -> float:
        """What is stored, without redundancy."""
        return float(self.piece_bytes.sum()) * self.data_pieces


@dataclass(frozen=True)
class Described:
    """A system whose durability is asked.

    Attributes:
        name: What it is called.
        mission_seconds: How long data has to last.
        levels: The levels of parts from the top; the last is the devices.
        pools: What is stored where.
        failures: What fails, in the core's words.
        repair: How it heals, in the core's words.
        latent: Sectors that cannot be read, in the core's words; None for none.
        premises: What this rests on.
        notes: Sentences that a reader must know.
        unit: What a set is called: ``PG`` of a Ceph cluster, else ``group``.
        has_volume: Whether it is known how much is stored.
    """

    name: str
    mission_seconds: float
    levels: tuple[Level, ...]
    pools: tuple[StoredPool, ...]
    failures: tuple[dict[str, Any], ...]
    repair: dict[str, Any]
    latent: dict[str, Any] | None = None
    premises: tuple[Premise, ...] = ()
    notes: tuple[str, ...] = ()
    unit: str = "group"
    has_volume: bool = True

    @property
    def code(self) -> str:
        """Its codes, as a study writes them."""
        return ", ".join(dict.fromkeys(pool.code for pool in self.pools))

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return sum(len(pool.sets) for pool in self.pools)

    @property
    def devices(self) -> int:
        """How many devices hold something."""
        return len(self.used)

    @property
    def used(self) -> npt.NDArray[np.int64]:
        """The numbers of the devices that hold something, rising."""
        return np.unique(np.concatenate([pool.sets[pool.sets >= 0] for pool in self.pools]))

    @property
    def sets_of_a_device(self) -> float:
        """In how many sets a device is, in the mean."""
        return sum(int((pool.sets >= 0).sum()) for pool in self.pools) / self.devices

    @property
    def user_bytes(self) -> float:
        """What is stored, without redundancy."""
        return sum(pool.user_bytes for pool in self.pools)

    @property
    def overhead(self) -> float:
        """Bytes kept for a byte of data."""
        kept = sum(
            float((pool.piece_bytes * (pool.sets >= 0).sum(axis=1)).sum()) for pool in self.pools
        )
        stored = self.user_bytes
        return kept / stored if stored else float("nan")

    def answer(self, loss: Figure, survival: pa.Table, **more: Any) -> Durability:
        """An answer with what all answers about the system have.

        Args:
            loss: The probability that any data is lost within the mission.
            survival: As of `Durability.survival`.
            more: What else the answer has, by its names.
        """
        return Durability(
            name=self.name,
            code=self.code,
            overhead=self.overhead,
            devices=self.devices,
            groups=self.groups,
            user_bytes=self.user_bytes if self.has_volume else None,
            mission_seconds=self.mission_seconds,
            loss_probability=loss,
            annual=annual_of(loss, self.mission_seconds),
            survival=survival,
            **{"premises": self.premises, "notes": self.notes, **more},
        )

    def to_json(self) -> str:
        """The system as the core reads it."""
        return json.dumps(
            {
                "mission_seconds": self.mission_seconds,
                "levels": [
                    {"name": level.name, "parents": level.parents.tolist()} for level in self.levels
                ],
                "pools": [
                    {
                        "name": pool.name,
                        "code": pool.code,
                        "sets": np.where(pool.sets < 0, NO_DEVICE, pool.sets).ravel().tolist(),
                        "piece_bytes": pool.piece_bytes.tolist(),
                    }
                    for pool in self.pools
                ],
                "failures": list(self.failures),
                "repair": self.repair,
                "latent": self.latent,
            },
            separators=(",", ":"),
        )


@dataclass(frozen=True)
class Estimating:
    """How far an answer is.

    Attributes:
        phase: ``repairs`` while rebuilds are simulated, ``estimating`` while missions are.
        name: What is being answered.
        done: Rebuilds or missions done.
        total: Of at most how many.
        relative_error: The relative standard error so far; None where nothing is known yet.
    """

    phase: Literal["repairs", "estimating"]
    name: str
    done: int
    total: int
    relative_error: float | None = None


Told = Callable[[Estimating], bool]
"""Told how far it is; answers whether to go on."""


def telling(
    told: Told | None, phase: Literal["repairs", "estimating"], name: str
) -> Callable[..., None] | None:
    """What is told how much is done, of how much, and the relative standard error if it is known.

    It stops by `Interrupted` where the answer is not to go on.
    """
    if told is None:
        return None

    def tell(done: int, total: int, relative_error: float | None = None) -> None:
        if not told(Estimating(phase, name, done, total, relative_error)):
            raise Interrupted("the answer was stopped before its end; what is finished is kept")

    return tell
