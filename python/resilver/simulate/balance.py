"""What upmap entries that even a cluster out do to it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from resilver.core_errors import core_errors
from resilver.crush import (
    CrushMap,
    Pool,
    UpmapEntry,
    compare,
    group_sets,
    upmaps_by_bytes,
    upmaps_by_groups,
    with_entries,
)
from resilver.errors import ConfigError, PlacementError
from resilver.importers.ceph import ClusterReport, PoolInfo


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
        report: The cluster.
        pool_ids: The pools to balance, here by number; None for all.
        limits: ``entries`` and ``deviation`` of `resilver.crush.upmaps_by_groups`.

    Returns:
        The entries and what they do; bytes where the report states them.

    Raises:
        PlacementError: There is no such pool, or the map cannot be used.
    """
    cluster = _Cluster(report, pool_ids)
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
    cluster = _Cluster(report, pool_ids)
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


@dataclass
class _Cluster:
    """A cluster and the pools of it that are balanced."""

    report: ClusterReport
    pool_ids: Iterable[int] | None
    crush: CrushMap = field(init=False)
    pools: list[PoolInfo] = field(init=False)

    def __post_init__(self) -> None:
        self.crush = CrushMap.from_json(self.report.crushmap)
        known = {pool.id: pool for pool in sorted(self.report.pools, key=lambda pool: pool.id)}
        wanted = list(known) if self.pool_ids is None else sorted(set(self.pool_ids))
        for pool_id in wanted:
            if pool_id not in known:
                names = ", ".join(f"{pool.id} ({pool.name})" for pool in known.values())
                raise PlacementError(
                    f"{self.report.label}: there is no pool {pool_id}; the pools are {names}"
                )
        self.pools = [known[pool_id] for pool_id in wanted]

    @property
    def device_count(self) -> int:
        return len(self.report.osd_states.reweights)

    @property
    def capacities(self) -> npt.NDArray[np.int64]:
        """Bytes that fit on each OSD, by number; 0 of those unknown."""
        sizes = np.zeros(self.device_count, dtype=np.int64)
        for osd, size in self.report.capacities.items():
            sizes[osd] = size
        return sizes

    @cached_property
    def piece_bytes(self) -> dict[int, npt.NDArray[np.float64]]:
        """By pool: bytes of a piece of each group, all that it holds or a data piece's share of it.

        Raises:
            ConfigError: The report does not state bytes, or not how a pool is coded.
        """
        held = np.array([load.bytes for load in self.report.loads], dtype=np.float64)
        owners = np.array([load.pool for load in self.report.loads], dtype=np.int64)
        sizes = {}
        for pool in self.report.pools:
            pieces = 1
            if pool.kind != "replicated":
                if pool.profile is None:
                    raise ConfigError(
                        f"{self.report.label}: pool {pool.name} is erasure coded, and the osdmap "
                        "does not hold its profile; add erasure_code_profiles with its k and m"
                    )
                pieces = pool.profile.data
            sizes[pool.id] = np.ceil(held[owners == pool.id] / pieces)
        return sizes

    @cached_property
    def used_bytes(self) -> npt.NDArray[np.float64]:
        """Bytes on each OSD, by number: as `osd df` states, else what its groups hold."""
        used = np.zeros(self.device_count)
        for pool in self.report.pools:
            sizes = self.piece_bytes[pool.id]
            for column in self._sets(pool).T:
                there = self._is_device(column)
                np.add.at(used, column[there], sizes[there])
        for one in self.report.usage:
            used[one.osd] = one.used_bytes
        return used

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
            sets = self._sets(pool), self._sets(changed)
            for number, one in enumerate(sets):
                found = one[self._is_device(one)]
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

    def _sets(self, pool: Pool) -> npt.NDArray[np.int32]:
        return group_sets(self.crush, pool, self.report.osd_states, label=self.report.label).up

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

    def _is_device(self, osds: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        return (osds >= 0) & (osds < self.device_count)
