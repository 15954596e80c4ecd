"""Failures at one moment: how likely so many devices, or parts with all theirs, lose data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resilver.data_loss.correlated import crowd_loss, crowd_within_loss
from resilver.data_loss.scenario import Described
from resilver.placement_quality.bursts import burst_losses
from resilver.placement_quality.loss import checked_sets
from resilver.simulate import CodeTree, code_tree

_SCHEMA = pa.schema(
    [
        ("failures", pa.int64()),
        ("level", pa.string()),
        ("within", pa.int64()),
        ("across", pa.string()),
        ("loss_probability", pa.float64()),
        ("standard_error", pa.float64()),
    ]
)

Survives = Callable[[list[int]], bool]


def code_bursts(code: CodeTree, groups: int, failures: int) -> pa.Table:
    """What failures at one moment lose of groups of a code on devices of their own; exact.

    Args:
        groups: How many groups there are.
        failures: The most failures.

    Returns:
        As of `Durability.bursts`.

    Raises:
        ConfigError: There are too many groups, or sets of so many lost pieces.
    """
    most = min(failures, code.pieces * groups)
    rows = [
        _row(one.failures, "device", None, None, one.data, 0.0)
        for one in burst_losses(code.levels, most, groups=groups)
    ]
    return pa.Table.from_pylist(rows, _SCHEMA)


def system_bursts(described: Described, failures: int, seed: int) -> pa.Table:
    """What failures at one moment lose of a system, over the sets that its placement made.

    Args:
        failures: The most failures.
        seed: Draws the failures where their combinations are too many to look at each.

    Returns:
        As of `Durability.bursts`: of devices anywhere, of parts of each level above with all their
        devices, and of devices in so many parts of the level that keeps the pieces of a set apart.
    """
    rows = list(_rows(described, failures, seed))
    return pa.Table.from_pylist(rows, _SCHEMA)


def _rows(described: Described, failures: int, seed: int) -> Iterator[dict[str, Any]]:
    # Devices that hold nothing fail unnoticed: of those that hold something any fail alike.
    used = described.used
    sets, survives = joined_sets(described)
    sets = np.where(sets >= 0, np.searchsorted(used, sets), -1)
    levels = list(_levels(described))
    device = described.levels[-1].name
    every: list[tuple[str, Sequence[int] | None]] = [(device, None), *levels]
    for name, parts in every:
        count = len(used) if parts is None else max(parts) + 1
        for number in range(1, min(failures, count) + 1):
            found = crowd_loss(sets, number, survives, devices=len(used), parts=parts, seed=seed)
            yield _row(number, name, None, None, found.probability, found.standard_error)
    if not levels:
        return
    across, parts = _domain(levels, sets)
    asked = checked_sets(sets, len(used), survives)
    sizes = np.sort(np.bincount(parts))[::-1]
    for number in range(1, min(failures, len(used)) + 1):
        for within in range(1, min(number, len(sizes)) + 1):
            if sizes[:within].sum() < number:
                continue
            found = crowd_within_loss(
                asked, number, survives, parts=parts, within=within, seed=seed
            )
            yield _row(number, device, within, across, found.probability, found.standard_error)


def _domain(
    levels: Sequence[tuple[str, Sequence[int]]], sets: npt.NDArray[np.int64]
) -> tuple[str, Sequence[int]]:
    """The failure domain: the highest level of which no part has two pieces of a set.

    Where pieces share parts of every level it is the lowest.
    """
    for name, parts in levels:
        # What has no device is in a part of its own each.
        places = np.where(sets >= 0, np.asarray(parts)[sets], -1 - np.arange(sets.shape[1]))
        places.sort(axis=1)
        if (places[:, 1:] != places[:, :-1]).all():
            return name, parts
    return levels[-1]


def _row(
    failures: int,
    level: str,
    within: int | None,
    across: str | None,
    probability: float,
    error: float,
) -> dict[str, Any]:
    values = (failures, level, within, across, probability, error)
    return dict(zip(_SCHEMA.names, values, strict=True))


def _levels(described: Described) -> Iterator[tuple[str, list[int]]]:
    """The levels of several parts above the devices, from the top, with each used device's part."""
    places = described.used
    found: list[tuple[str, list[int]]] = []
    for level, below in zip(
        reversed(described.levels[:-1]), reversed(described.levels[1:]), strict=True
    ):
        places = below.parents[places]
        numbers, parts = np.unique(places, return_inverse=True)
        if 1 < len(numbers) < len(places):
            found.append((level.name, parts.reshape(-1).tolist()))
    yield from reversed(found)


def joined_sets(described: Described) -> tuple[npt.NDArray[np.int64], Survives]:
    """The sets of all pools as one table, and whether a set survives some losses.

    Args:
        described: The system.

    Pools of several codes have columns of their own. A set has no device in the others', which so
    count as lost; whose set it is tells the column in which something is left.
    """
    codes = [code_tree(pool.code) for pool in described.pools]
    if len({code.name for code in codes}) == 1:
        return np.concatenate([pool.sets for pool in described.pools]), codes[0].is_survivable
    widths = [pool.sets.shape[1] for pool in described.pools]
    ends = np.cumsum(widths).tolist()
    begins = [end - width for end, width in zip(ends, widths, strict=True)]
    table = np.full((described.groups, ends[-1]), -1, dtype=np.int64)
    row = 0
    for pool, begin, end in zip(described.pools, begins, ends, strict=True):
        table[row : row + len(pool.sets), begin:end] = pool.sets
        row += len(pool.sets)

    def survives(lost: list[int]) -> bool:
        left = set(lost)
        for code, begin, end in zip(codes, begins, ends, strict=True):
            own = [one - begin for one in range(begin, end) if one in left]
            if len(own) < end - begin:
                return code.is_survivable(own)
        return False

    return table, survives
