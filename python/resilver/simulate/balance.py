"""What upmap entries that even a cluster out do to it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.core_errors import core_errors
from resilver.crush import (
    UpmapEntry,
    compare,
    upmaps_by_bytes,
    upmaps_by_groups,
    with_entries,
)
from resilver.errors import ConfigError
from resilver.importers.ceph import ClusterReport
from resilver.simulate.stored_data import StoredData


@dataclass(frozen=True)
class OsdShares:
    """What the OSDs that the balanced pools may use have, before or after.

    Attributes:
        osds: Their numbers, shape (osds,).
        groups: Pieces of groups of the balanced pools on each, likewise.
        used_bytes: Bytes of all pools on each, likewise; None where no dump states bytes.
        capacity_bytes: What fits on each, likewise; 0 where that is unknown.
    """

    osds: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]
    used_bytes: npt.NDArray[np.float64] | None
    capacity_bytes: npt.NDArray[np.float64]

    @property
    def fill(self) -> npt.NDArray[np.float64] | None:
        """Used bytes over capacity of those whose capacity is known."""
        known = self.capacity_bytes > 0
        if self.used_bytes is None or not known.any():
            return None
        return self.used_bytes[known] / self.capacity_bytes[known]


@dataclass(frozen=True)
class BalancePlan:
    """Entries, and what they do.

    Attributes:
        entries: The groups whose entry changes, by pool and group.
        before: The OSDs as they are.
        after: The OSDs once all data is where the entries lead it.
        moved_pieces: How many pieces (copies or strips) go elsewhere.
        moved_bytes: Their bytes; None where no dump states bytes.
    """

    entries: tuple[UpmapEntry, ...]
    before: OsdShares
    after: OsdShares
    moved_pieces: int
    moved_bytes: int | None


def balance_by_groups(
    report: ClusterReport, pool_ids: Iterable[int] | None = None, **limits: int
) -> BalancePlan:
    """What the entries of Ceph's balancer do to a cluster.

    Args:
        pool_ids: The pools to balance, here by number; None for all.
        limits: ``entries`` and ``deviation`` of `resilver.crush.upmaps_by_groups`.

    Returns:
        The entries and what they do; bytes where the report states them.

    Raises:
        PlacementError: There is no such pool, or the map cannot be used.
    """
    cluster = _Balanced(report, pool_ids)
    states, label = report.osd_states, report.label
    return cluster.plan(
        upmaps_by_groups(cluster.crush, cluster.pools, states, label=label, **limits)
    )


def balance_by_bytes(
    report: ClusterReport, pool_ids: Iterable[int] | None = None, **limits: Any
) -> BalancePlan:
    """What entries that even out how full OSDs are do to a cluster.

    Args:
        report: The cluster, with its groups' bytes.
        pool_ids: The pools whose groups may move; None for all.
        limits: ``entries``, ``moved_bytes`` and ``within`` of `resilver.crush.upmaps_by_bytes`.

    Returns:
        The entries and what they do.

    Raises:
        ConfigError: The report does not state what the groups hold.
        PlacementError: There is no such pool, or the map cannot be used.
    """
    cluster = _Balanced(report, pool_ids)
    found = upmaps_by_bytes(
        cluster.crush,
        cluster.pools,
        report.osd_states,
        piece_bytes=[cluster.piece_bytes[pool.id].astype(np.int64) for pool in cluster.pools],
        capacities=cluster.capacities,
        used_bytes=cluster.used_bytes.astype(np.int64),
        label=report.label,
        **limits,
    )
    return cluster.plan(found)


class _Balanced(StoredData):
    """A cluster whose pools are balanced."""

    def plan(self, entries: list[UpmapEntry]) -> BalancePlan:
        sizes: dict[int, npt.NDArray[np.float64]] = {}
        # Groups can be counted where a dump of their bytes is missing.
        with suppress(ConfigError):
            sizes = self.piece_bytes
        used = self.used_bytes if sizes else np.zeros(self.device_count)
        change = np.zeros(self.device_count)
        counts = np.zeros((2, self.device_count), dtype=np.int64)
        moved, moved_bytes = 0.0, 0.0
        for pool, changed in zip(self.pools, with_entries(self.pools, entries), strict=True):
            sets = self.sets(pool), self.sets(changed)
            for number, one in enumerate(sets):
                found = one[self.is_device(one)]
                counts[number] += np.bincount(found, minlength=self.device_count)
            moved += compare(*sets).moved
            moves = compare(*sets, set_bytes=sizes.get(pool.id, np.zeros(pool.pg_num)))
            moved_bytes += moves.moved
            on_devices = moves.levels[0].gained - moves.levels[0].lost
            change[: len(on_devices)] += on_devices[: self.device_count]
        return BalancePlan(
            tuple(entries),
            self._shares(counts[0], used if sizes else None),
            self._shares(counts[1], used + change if sizes else None),
            int(moved),
            int(moved_bytes) if sizes else None,
        )

    def _shares(
        self, counts: npt.NDArray[np.int64], used: npt.NDArray[np.float64] | None
    ) -> OsdShares:
        osds = self._takers()
        return OsdShares(
            osds,
            counts[osds],
            None if used is None else used[osds],
            self.capacities[osds].astype(np.float64),
        )

    def _takers(self) -> npt.NDArray[np.int64]:
        """The OSDs that are up and in and that a balanced pool's rule reaches."""
        reached: set[int] = set()
        for rule in {pool.rule_id for pool in self.pools}:
            with core_errors(self.report.label):
                reached.update(self.crush.core.devices_of_rule(rule))
        weights, up = self.report.osd_states.reweights, self.report.osd_states.up
        present = (osd for osd in sorted(reached) if osd < self.device_count)
        return np.array([osd for osd in present if weights[osd] > 0 and up[osd]], dtype=np.int64)
