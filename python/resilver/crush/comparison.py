"""What moves between two placements of the same data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.crush.replica_sets import NO_DEVICE, replica_sets, summed, weights_of
from resilver.errors import ConfigError


@dataclass(frozen=True)
class LevelMoves:
    """What enters and leaves the parts of one level: devices, hosts, racks.

    Attributes:
        level: The level's name.
        moved: What enters a part of this level from outside it; what moves within does not count.
        gained: What enters each part, shape (parts,).
        lost: What leaves each, shape (parts,).
    """

    level: str
    moved: float
    gained: npt.NDArray[np.float64]
    lost: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """What moves between two placements.

    Attributes:
        sets: How many sets were compared.
        changed_sets: Sets with other members (or, by position, other members in some position).
        reordered_sets: Sets with the same members in another order.
        primary_changes: Sets whose first member is another.
        total: All copies of all sets: their bytes, or their number.
        moved: What must be copied to a device that did not have it.
        least_by_weight: The least that any placement must move from one set of weights to the
            other, both kept exactly; None where weights are unknown.
        least_by_load: The least that brings the loads of the first to those of the second.
        levels: Devices first, then each level above.
    """

    sets: int
    changed_sets: int
    reordered_sets: int
    primary_changes: int
    total: float
    moved: float
    least_by_weight: float | None
    least_by_load: float
    levels: tuple[LevelMoves, ...] = field(default=())

    @property
    def moved_share(self) -> float:
        """The part of everything that moves."""
        return self.moved / self.total if self.total else 0.0

    @property
    def over_least(self) -> float | None:
        """How many times the least by weight moves; None where that is zero or unknown."""
        return self.moved / self.least_by_weight if self.least_by_weight else None


def compare(
    before: Any,
    after: Any,
    *,
    set_bytes: Any = None,
    weights: tuple[Any, Any] | None = None,
    levels: Mapping[str, tuple[Any, Any]] | None = None,
    by_position: bool = False,
) -> Comparison:
    """Compare two placements of the same sets.

    Args:
        before: A row a set, of device numbers; -1 and 2147483647 stand for no device.
        after: The same sets as another map places them.
        set_bytes: The bytes of one copy (or piece) of each set; one each when None.
        weights: The weights of all devices before and after, by device number.
        levels: Above the devices, for each level the part that each device is in before and after,
            by device number, -1 for none.
        by_position: Whether a place in the set has a meaning of its own, as in an erasure code: a
            member that changes its place then moves too.

    Returns:
        What moves.

    Raises:
        ConfigError: The two differ in the number of sets, or something is of the wrong length.

    >>> compare([[0, 1]], [[0, 2]]).moved
    1.0
    """
    old, new = replica_sets(before), replica_sets(after)
    if len(old) != len(new):
        raise ConfigError(
            f"before has {len(old)} sets and after {len(new)}: both place the same sets; "
            "compare pools with as many PGs, or the same inputs"
        )
    loads = np.ones(len(old)) if set_bytes is None else np.asarray(set_bytes, dtype=np.float64)
    if loads.shape != (len(old),):
        raise ConfigError(
            f"set_bytes has the shape {loads.shape}: there is one number for each of {len(old)} "
            "sets; pass as many, or none"
        )
    old, new = _same_width(old, new)
    count = 1 + max(int(old.max(initial=-1)), int(new.max(initial=-1)))
    for pair in [weights, *(levels or {}).values()]:
        count = max([count, *(len(part) for part in pair or ())])
    moves = [_moves("device", old, new, loads, count, by_position)]
    for level, (part_before, part_after) in (levels or {}).items():
        above = _part(old, part_before), _part(new, part_after)
        parts = 1 + max(int(side.max(initial=-1)) for side in above)
        moves.append(_moves(level, *above, loads, parts, by_position))
    ordered = np.any(old != new, axis=1)
    other = np.any(np.sort(old, axis=1) != np.sort(new, axis=1), axis=1)
    changed = ordered if by_position else other
    gained = _held(new, loads, count) - _held(old, loads, count)
    return Comparison(
        sets=len(old),
        changed_sets=int(np.count_nonzero(changed)),
        reordered_sets=int(np.count_nonzero(ordered & ~other)),
        primary_changes=int(np.count_nonzero(_first(old) != _first(new))),
        total=float(np.sum(loads * np.count_nonzero(old >= 0, axis=1))),
        moved=moves[0].moved,
        least_by_weight=_least_by_weight(new, loads, weights, count),
        least_by_load=float(np.maximum(gained, 0.0).sum()),
        levels=tuple(moves),
    )


def _same_width(
    old: npt.NDArray[np.int64], new: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    width = max(old.shape[1], new.shape[1])
    padded = [
        np.pad(side, ((0, 0), (0, width - side.shape[1])), constant_values=NO_DEVICE)
        for side in (old, new)
    ]
    return padded[0], padded[1]


def _part(sets: npt.NDArray[np.int64], part_of: Any) -> npt.NDArray[np.int64]:
    """The sets with each device replaced by the part of a level that it is in."""
    parts = np.append(np.asarray(part_of, dtype=np.int64), NO_DEVICE)
    highest = int(sets.max(initial=-1))
    if highest >= len(parts) - 1:
        raise ConfigError(
            f"levels: a set names device {highest}, and the level says the part of {len(parts) - 1}"
            " devices; give one for every device"
        )
    return parts[sets]


def _moves(
    level: str,
    old: npt.NDArray[np.int64],
    new: npt.NDArray[np.int64],
    loads: npt.NDArray[np.float64],
    parts: int,
    by_position: bool,
) -> LevelMoves:
    """Sum up what each part gains and loses.

    Without positions, a set that has a part twice before and once after loses it once: the members
    are counted, not only looked for.
    """
    each = np.repeat(loads, old.shape[1])
    if by_position:
        # A position that moves within the part neither enters nor leaves it.
        gained, lost = np.zeros(parts), np.zeros(parts)
        differs = (old != new).ravel()
        for side, sums in ((old.ravel(), lost), (new.ravel(), gained)):
            there = differs & (side >= 0)
            sums += summed(side[there], each[there], parts)
        return LevelMoves(level, float(gained.sum()), gained, lost)
    row = np.repeat(np.arange(len(old)), old.shape[1])
    keys = np.concatenate([(row * parts + side.ravel())[side.ravel() >= 0] for side in (old, new)])
    signs = np.ones(len(keys), dtype=np.int64)
    signs[: np.count_nonzero(old >= 0)] = -1
    every, position = np.unique(keys, return_inverse=True)
    more = np.bincount(position, weights=signs, minlength=len(every))
    amount = more * loads[every // max(parts, 1)]
    part = every % max(parts, 1)
    gained = summed(part, np.maximum(amount, 0.0), parts)
    lost = summed(part, np.maximum(-amount, 0.0), parts)
    return LevelMoves(level, float(gained.sum()), gained, lost)


def _first(sets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    if not sets.size:
        return np.empty(len(sets), dtype=np.int64)
    first: npt.NDArray[np.int64] = sets[np.arange(len(sets)), np.argmax(sets >= 0, axis=1)]
    return first


def _held(
    sets: npt.NDArray[np.int64], loads: npt.NDArray[np.float64], count: int
) -> npt.NDArray[np.float64]:
    there = sets.ravel() >= 0
    each = np.repeat(loads, sets.shape[1])[there]
    return summed(sets.ravel()[there], each, count)


def _least_by_weight(
    new: npt.NDArray[np.int64],
    loads: npt.NDArray[np.float64],
    weights: tuple[Any, Any] | None,
    count: int,
) -> float | None:
    """What the change of the devices' fair shares alone asks for: their sum of increases."""
    if weights is None:
        return None
    shares = []
    for side in weights:
        weight = np.zeros(count)
        weight[: len(side)] = weights_of(side, len(side))
        if not weight.sum():
            return None
        shares.append(weight / weight.sum())
    total = float(np.sum(loads * np.count_nonzero(new >= 0, axis=1)))
    return total * float(np.maximum(shares[1] - shares[0], 0.0).sum())
