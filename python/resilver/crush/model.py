"""Pools and OSDs as far as they decide where a PG is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from resilver.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WEIGHT_ONE = 0x10000
"""One in 16.16 fixed point: the reweight of an OSD that is fully in, a full primary affinity."""

COPIES_MAX = 1024
"""More devices for an input than any rule of use, and few enough for a result of bounded size."""

HOLE = 2**31 - 1
"""What stands in the set of an erasure-coded pool where no OSD does (CRUSH_ITEM_NONE)."""


@dataclass(frozen=True)
class PoolExceptions:
    """The groups of a pool that are not where CRUSH puts them, by number in the pool.

    Attributes:
        upmap: ``pg_upmap``: (group, the OSDs of its whole set).
        upmap_items: ``pg_upmap_items``: (group, pairs of an OSD and the one in its place).
        upmap_primaries: ``pg_upmap_primaries``: (group, the OSD that is to come first).
        pg_temp: ``pg_temp``: (group, the OSDs that serve it while it moves).
        primary_temp: ``primary_temp``: (group, the OSD that is primary meanwhile).
    """

    upmap: tuple[tuple[int, tuple[int, ...]], ...] = ()
    upmap_items: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()
    upmap_primaries: tuple[tuple[int, int], ...] = ()
    pg_temp: tuple[tuple[int, tuple[int, ...]], ...] = ()
    primary_temp: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Pool:
    """A pool and the rule that places its groups.

    Attributes:
        id: Its number.
        name: Its name.
        pg_num: How many placement groups it has.
        pgp_num: How many of them are placed apart.
        size: How many copies (or pieces) a group has.
        rule_id: The CRUSH rule that places it.
        hashpspool: Whether the pool's number is mixed into the placement seed.
        kind: ``replicated`` or ``erasure``.
        object_hash: How object names are hashed: 1 (linux) or 2 (rjenkins).
        exceptions: Its groups that are not where CRUSH puts them.
    """

    id: int
    name: str
    pg_num: int
    pgp_num: int
    size: int
    rule_id: int
    hashpspool: bool = True
    kind: str = "replicated"
    object_hash: int = 2
    exceptions: PoolExceptions = field(default_factory=PoolExceptions)

    def __post_init__(self) -> None:
        """Refuse numbers that no pool has."""
        for name, low, high in (
            ("id", 0, 2**63),
            ("pg_num", 1, 2**31),
            ("pgp_num", 1, 2**31),
            ("size", 1, COPIES_MAX + 1),
            ("rule_id", 0, 2**32),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or not low <= value < high:
                rule = f"use a whole number from {low} to below {high}"
                raise ConfigError(f"pool {self.name}: {name} = {value}: {rule}")

    def to_core(self) -> dict[str, Any]:
        """The pool as the native module reads it."""
        return {
            "id": self.id,
            "pg_num": self.pg_num,
            "pgp_num": self.pgp_num,
            "size": self.size,
            "rule": self.rule_id,
            "hashpspool": self.hashpspool,
            "kind": self.kind,
            "exceptions": {name: dict(of) for name, of in asdict(self.exceptions).items()},
        }


@dataclass(frozen=True)
class Osds:
    """The state of each OSD, by its number.

    Attributes:
        reweights: 16.16 fixed point: 0 is out, 65536 is in.
        up: Whether it runs.
        affinities: Primary affinities, 16.16 fixed point; those missing are 65536.
    """

    reweights: Sequence[int]
    up: Sequence[bool]
    affinities: Sequence[int] = ()

    def to_core(self) -> tuple[list[int], list[bool], list[int]]:
        """The three columns as the native module reads them.

        Raises:
            ConfigError: Something is no number that fits.
        """
        reweights, affinities = (
            words_of(name, getattr(self, name)).tolist() for name in ("reweights", "affinities")
        )
        return reweights, [bool(one) for one in self.up], affinities

    @classmethod
    def all_in(cls, count: int) -> Osds:
        """So many OSDs, all up and in."""
        return cls([WEIGHT_ONE] * count, [True] * count)


def words_of(what: str, numbers: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """Numbers as the core takes them."""
    import numpy as np

    given = np.asarray(numbers)
    if given.dtype == np.uint32 and given.ndim == 1:
        return given
    whole = given.ndim == 1 and (np.issubdtype(given.dtype, np.integer) or given.size == 0)
    if not whole or (given.size and not 0 <= int(given.min()) <= int(given.max()) < 2**32):
        raise ConfigError(
            f"{what}: they are a row of whole numbers from 0 to below 2^32 (reweights in 16.16 "
            "fixed point, so 65536 is all in); convert them"
        )
    return given.astype(np.uint32)
