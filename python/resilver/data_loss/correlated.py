"""What failures at one moment lose: random devices, hosts or racks, and devices of a few racks.

The sets are those that a placement really made; `resilver.placement_quality` counts and draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.checked import whole
from resilver.crush.replica_sets import replica_sets
from resilver.errors import ConfigError, show
from resilver.placement_quality.loss import LossProbability, checked_sets, loss_probability
from resilver.placement_quality.lost_sets import Devices, LostSets

_LOOKED_AT_MAX = 200_000
"""Combinations of failures in some racks that are looked at each; of more, a sample is drawn."""

_TRIES_MAX = 1_000
"""Choices of parts that are drawn for each that has devices enough."""

_KEYS_MAX = 4_000_000
"""Random numbers that are drawn at once."""

Survives = Callable[[list[int]], bool]


def part_sets(sets: Any, parts: Sequence[int]) -> Devices:
    """Sets by the parts that their devices are in: what a host's failure takes.

    Args:
        sets: Devices by position, shape (sets, pieces), with -1 where there is none.
        parts: The part of each device, by number from 0, shape (devices,).

    Raises:
        ConfigError: A set has a device that no part is said of, or a part has no number.

    >>> part_sets([[0, 3], [2, -1]], [0, 0, 1, 1]).tolist()
    [[0, 1], [1, -1]]
    """
    array = replica_sets(sets)
    of = _parts(parts)
    if array.size and int(array.max()) >= len(of):
        rule = f"a part is said of devices 0 to {len(of) - 1}"
        raise ConfigError(rule, key="sets", value=show(int(array.max())))
    return np.where(array >= 0, of[array], array)


def _parts(parts: Sequence[int]) -> Devices:
    of = np.asarray(parts, dtype=np.int64)
    if of.ndim != 1 or not of.size or of.min() < 0:
        rule = "each device is in one part, numbered from 0"
        raise ConfigError(rule, key="parts", value=show(of.tolist()))
    return of


def crowd_loss(
    sets: Any,
    failures: int,
    survives: Survives,
    *,
    devices: int,
    parts: Sequence[int] | None = None,
    draws: int = 20_000,
    seed: int = 1,
) -> LossProbability:
    """The probability that so many devices, or parts with all their devices, lose data at once.

    Args:
        sets: Devices by position, shape (sets, pieces), with -1 where there is none.
        failures: How many fail, any of them alike.
        survives: Whether a set survives the loss of some positions, such as
            ``resilver.redundancy("rs 8+3").is_survivable``.
        devices: How many devices there are.
        parts: The part of each device, such as its host, where parts fail; shape (devices,).
        draws: How many combinations are drawn where they are too many to count.
        seed: The seed of those draws.

    Returns:
        The probability and its standard error, as `resilver.placement_quality.loss_probability`
        finds it.

    Raises:
        ConfigError: Sets are not of such devices, or there are not so many to fail.

    >>> import resilver
    >>> mirrors, survives = [[0, 1], [2, 3]], resilver.redundancy("copies 2").is_survivable
    >>> crowd_loss(mirrors, 2, survives, devices=4).probability  # 2 of C(4, 2)
    0.3333333333333333
    >>> crowd_loss(mirrors, 1, survives, devices=4, parts=[0, 0, 1, 2]).probability
    0.3333333333333333
    """
    if parts is not None:
        devices = int(_parts(parts).max()) + 1
        sets = checked_sets(part_sets(sets, parts), devices, survives)
    return loss_probability(sets, devices, failures, survives, draws=draws, seed=seed)


def crowd_within_loss(
    sets: Any,
    failures: int,
    survives: Survives,
    *,
    parts: Sequence[int],
    within: int,
    draws: int = 20_000,
    seed: int = 1,
) -> LossProbability:
    """The probability that so many devices that fail at once in so many racks lose data.

    The racks are drawn first, any of those alike that have as many devices; then the devices, any
    of theirs alike so that one or more fail in each.

    Args:
        sets: As of `crowd_loss`, as all that is not said here.
        failures: How many devices fail.
        survives: Whether a set survives the loss of some positions.
        parts: The rack (or another part) of each device, shape (devices,).
        within: How many racks they are in.
        draws: How many combinations are drawn where there are more than 200,000.
        seed: The seed of those draws.

    Raises:
        ConfigError: No so many racks have so many devices, or sets are not of such devices.

    >>> import resilver
    >>> survives = resilver.redundancy("copies 2").is_survivable
    >>> racks = [0, 0, 0, 1, 1, 1]
    >>> apart, near = [[0, 3], [1, 4], [2, 5]], [[0, 1], [3, 4]]
    >>> [crowd_within_loss(apart, 2, survives, parts=racks, within=n).probability for n in (1, 2)]
    [0.0, 0.3333333333333333]
    >>> crowd_within_loss(near, 2, survives, parts=racks, within=1).probability
    0.3333333333333333
    """
    of = _parts(parts)
    members = [np.flatnonzero(of == part) for part in range(int(of.max()) + 1)]
    members = [one for one in members if len(one)]
    whole("failures", failures, least=1, most=len(of))
    whole("within", within, least=1, most=min(failures, len(members)))
    whole("draws", draws, least=1)
    asked = checked_sets(sets, len(of), survives)
    looked_at = _all_within(members, failures, within)
    if looked_at is not None:
        return _exact_within(asked, looked_at, failures)
    generator = np.random.default_rng(seed)
    hits = sum(
        int(asked.lost(failed).sum())
        for failed in _drawn_within(generator, members, failures, within, draws)
    )
    share = hits / draws
    spread = share * (1 - share) if 0 < hits < draws else 1 / draws
    return LossProbability(share, False, draws, math.sqrt(spread / draws))


def _too_few(failures: int, within: int) -> ConfigError:
    rule = f"no {within} parts together have {failures} devices"
    return ConfigError(rule, "ask for fewer failures", key="failures", value=show(failures))


def _ways(sizes: Sequence[int], failures: int) -> list[list[int]]:
    """In how many ways so many devices of these and all later parts fail, one or more of each.

    Row i has it of the parts from i on, by number of failures; the last row, of none, is 1, 0, ...
    """
    rows = [[1] + [0] * failures]
    for size in reversed(sizes):
        later = rows[0]
        most = range(1, min(size, failures) + 1)
        row = [
            sum(math.comb(size, here) * later[all_of - here] for here in most if here <= all_of)
            for all_of in range(failures + 1)
        ]
        rows.insert(0, row)
    return rows


def _all_within(
    members: Sequence[Devices], failures: int, within: int
) -> list[tuple[Devices, ...]] | None:
    """Every choice of so many parts that have as many devices; None where all are too many."""
    if math.comb(len(members), within) > _LOOKED_AT_MAX:
        return None
    found, looked_at = [], 0
    for chosen in combinations(members, within):
        ways = _ways([len(one) for one in chosen], failures)[0][failures]
        looked_at += ways
        if looked_at > _LOOKED_AT_MAX:
            return None
        if ways:
            found.append(chosen)
    if not found:
        raise _too_few(failures, within)
    return found


def _exact_within(
    asked: LostSets, looked_at: Sequence[tuple[Devices, ...]], failures: int
) -> LossProbability:
    shares, total = [], 0
    for chosen in looked_at:
        part_of = np.repeat(np.arange(len(chosen)), [len(one) for one in chosen])
        devices = np.concatenate(chosen)
        places = np.array(list(combinations(range(len(devices)), failures)), dtype=np.int64)
        hit = np.zeros((len(places), len(chosen)), dtype=bool)
        np.put_along_axis(hit, part_of[places], True, axis=1)
        failed = devices[places[hit.all(axis=1)]]
        shares.append(float(asked.lost(failed).mean()))
        total += len(failed)
    return LossProbability(math.fsum(shares) / len(shares), True, total, 0.0)


def _drawn_within(
    generator: np.random.Generator,
    members: Sequence[Devices],
    failures: int,
    within: int,
    draws: int,
) -> Iterable[Devices]:
    """Failures of so many devices in so many parts, some draws at a time."""
    sizes = np.array([len(one) for one in members])
    if int(np.sort(sizes)[-within:].sum()) < failures:
        raise _too_few(failures, within)
    left, tried = draws, 0
    while left:
        if tried > _TRIES_MAX * draws:
            rule = f"hardly any {within} parts together have {failures} devices"
            remedy = "ask for fewer failures, or more parts"
            raise ConfigError(rule, remedy, key="failures", value=show(failures))
        keys = generator.random((min(left, max(1, _KEYS_MAX // len(members))), len(members)))
        tried += len(keys)
        chosen = np.sort(np.argsort(keys, axis=1)[:, :within], axis=1)
        chosen = chosen[sizes[chosen].sum(axis=1) >= failures]
        left -= len(chosen)
        # Draws whose parts have as many devices share out the failures alike.
        alike, place = np.unique(sizes[chosen], axis=0, return_inverse=True)
        for kind, of_parts in enumerate(alike):
            rows = chosen[place.reshape(-1) == kind]
            step = max(1, _KEYS_MAX // int(of_parts.sum()))
            for begin in range(0, len(rows), step):
                yield _of_parts(generator, members, rows[begin : begin + step], of_parts, failures)


def _of_parts(
    generator: np.random.Generator,
    members: Sequence[Devices],
    chosen: Devices,
    sizes: npt.NDArray[np.int64],
    failures: int,
) -> Devices:
    """For each row of parts, of these sizes, failures in all of them, shape (rows, failures)."""
    ways = _ways(sizes.tolist(), failures)
    left = np.full(len(chosen), failures)
    columns = []
    for part, size in enumerate(sizes.tolist()):
        here = np.zeros(len(chosen), dtype=np.int64)
        for remaining in np.unique(left).tolist():
            rows = left == remaining
            counts = range(1, min(size, remaining) + 1)
            each = [math.comb(size, one) * ways[part + 1][remaining - one] for one in counts]
            chances = np.array([one / ways[part][remaining] for one in each])
            here[rows] = 1 + np.searchsorted(
                np.cumsum(chances)[:-1], generator.random(int(rows.sum())), side="right"
            )
        left -= here
        rank = np.argsort(np.argsort(generator.random((len(chosen), size)), axis=1), axis=1)
        devices = np.stack([members[one] for one in chosen[:, part].tolist()])
        columns.append(np.where(rank < here[:, np.newaxis], devices, -1))
    every = np.concatenate(columns, axis=1)
    return every[every >= 0].reshape(len(chosen), failures)
