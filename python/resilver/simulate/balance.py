"""Upmap entries that even a cluster out: as Ceph's balancer writes them, and our own, by bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resilver import _core, core_input
from resilver.core_errors import core_errors
from resilver.crush import CrushMap
from resilver.errors import ConfigError, PlacementError
from resilver.importers.ceph import ClusterReport, PoolInfo
from resilver.simulate.pools import group_up_sets

NO_LIMIT = 2**63
"""More bytes than any cluster moves."""


@dataclass(frozen=True)
class UpmapEntry:
    """What becomes of the ``pg_upmap_items`` of a group.

    Attributes:
        pool: The pool's number.
        group: The group's number in the pool.
        pairs: (from, to) in place of what the group had; none takes its entry away.

    >>> UpmapEntry(3, 26, ((5, 17),)).command
    'ceph osd pg-upmap-items 3.1a 5 17'
    """

    pool: int
    group: int
    pairs: tuple[tuple[int, int], ...]

    @property
    def pgid(self) -> str:
        """The group's name as Ceph writes it."""
        return f"{self.pool}.{self.group:x}"

    @property
    def command(self) -> str:
        """The line that makes it so."""
        if not self.pairs:
            return f"ceph osd rm-pg-upmap-items {self.pgid}"
        osds = " ".join(f"{one} {other}" for one, other in self.pairs)
        return f"ceph osd pg-upmap-items {self.pgid} {osds}"


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
    report: ClusterReport,
    pool_ids: Iterable[int] | None = None,
    *,
    entries: int = 10,
    deviation: int = 5,
) -> BalancePlan:
    """The entries that Ceph's balancer would write, without its draws.

    Each pool by itself, as Ceph does it, here by number. Source: ``OSDMap::calc_pg_upmaps`` of
    Ceph 16.2 with ``osd_calc_pg_upmaps_aggressively`` false.

    Args:
        report: The cluster.
        pool_ids: The pools to balance; None for all.
        entries: Changes at most, in all pools (``upmap_max_optimizations``).
        deviation: Groups by which an OSD may miss its target (``upmap_max_deviation``).

    Returns:
        The entries and what they do; bytes where the report states them.

    Raises:
        PlacementError: There is no such pool, or the map cannot be used.
    """
    cluster = _Cluster(report, pool_ids)
    found: list[UpmapEntry] = []
    for pool in cluster.pools:
        with core_errors(report.label):
            rows = _core.upmaps_by_groups(
                cluster.crush.core,
                json.dumps([core_input.pool_json(pool)]),
                report.reweights,
                report.up_flags,
                entries - len(found),
                deviation,
            )
        found += _entries(rows)
    return cluster.plan(found)


def balance_by_bytes(
    report: ClusterReport,
    pool_ids: Iterable[int] | None = None,
    *,
    entries: int = 100,
    moved_bytes: int = NO_LIMIT,
    within: float = 0.01,
) -> BalancePlan:
    """The entries that even out how full the OSDs are, the most with the fewest.

    An OSD of a reweight below 1 takes up to that share of what the giver has.

    Args:
        report: The cluster, with its groups' bytes.
        pool_ids: The pools whose groups may move; None for all.
        entries: Pieces that go elsewhere, at most: pairs written or taken away.
        moved_bytes: Bytes that go elsewhere, at most.
        within: No piece moves between OSDs whose fill differs by less, as a share of capacity.

    Returns:
        The entries and what they do.

    Raises:
        ConfigError: The report does not state what the groups hold.
        PlacementError: There is no such pool, or the map cannot be used.
    """
    cluster = _Cluster(report, pool_ids)
    with core_errors(report.label):
        rows = _core.upmaps_by_bytes(
            cluster.crush.core,
            json.dumps([core_input.pool_json(pool) for pool in cluster.pools]),
            [cluster.piece_bytes[pool.id].astype(np.int64).tolist() for pool in cluster.pools],
            report.reweights,
            report.up_flags,
            cluster.capacities.tolist(),
            cluster.used_bytes.astype(np.int64).tolist(),
            (entries, moved_bytes, within),
        )
    return cluster.plan(_entries(rows))


def with_entries(report: ClusterReport, entries: Sequence[UpmapEntry]) -> ClusterReport:
    """The cluster with other entries of ``pg_upmap_items``.

    Args:
        report: The cluster.
        entries: What becomes of groups' entries; other groups keep theirs.

    Returns:
        The cluster afterwards.
    """
    pools = []
    for pool in report.pools:
        items = dict(pool.exceptions.upmap_items)
        items |= {one.group: one.pairs for one in entries if one.pool == pool.id}
        kept = tuple(sorted((group, pairs) for group, pairs in items.items() if pairs))
        pools.append(replace(pool, exceptions=replace(pool.exceptions, upmap_items=kept)))
    return replace(report, pools=tuple(pools))


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
        return len(self.report.reweights)

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
            for column in group_up_sets(self.report, pool.id).T:
                there = self._is_device(column)
                np.add.at(used, column[there], sizes[there])
        for one in self.report.usage:
            used[one.osd] = one.used_bytes
        return used

    def plan(self, entries: list[UpmapEntry]) -> BalancePlan:
        after = with_entries(self.report, entries)
        sizes: dict[int, npt.NDArray[np.float64]] = {}
        # Groups can be counted where a dump of their bytes is missing.
        with suppress(ConfigError):
            sizes = self.piece_bytes
        used = self.used_bytes if sizes else np.zeros(self.device_count)
        change = np.zeros(self.device_count)
        counts = np.zeros((2, self.device_count), dtype=np.int64)
        moved, moved_bytes = 0, 0.0
        for pool in self.pools:
            sets = [group_up_sets(one, pool.id) for one in (self.report, after)]
            for number, one in enumerate(sets):
                found = one[self._is_device(one)]
                counts[number] += np.bincount(found, minlength=self.device_count)
            own = sizes.get(pool.id, np.zeros(pool.pg_num))
            for old, new, sign in ((sets[0], sets[1], 1), (sets[1], sets[0], -1)):
                for column in new.T:
                    came = self._is_device(column) & ~(old == column[:, None]).any(axis=1)
                    np.add.at(change, column[came], sign * own[came])
                    if sign > 0:
                        moved += int(came.sum())
                        moved_bytes += float(own[came].sum())
        return BalancePlan(
            tuple(entries),
            self._shares(counts[0], used if sizes else None),
            self._shares(counts[1], used + change if sizes else None),
            moved,
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
        weights, up = self.report.reweights, self.report.up_flags
        present = (osd for osd in sorted(reached) if osd < self.device_count)
        return np.array([osd for osd in present if weights[osd] > 0 and up[osd]], dtype=np.int64)

    def _is_device(self, osds: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        return (osds >= 0) & (osds < self.device_count)


def _entries(rows: list[tuple[int, int, list[tuple[int, int]]]]) -> list[UpmapEntry]:
    return [
        UpmapEntry(pool, group, tuple((one, other) for one, other in pairs))
        for pool, group, pairs in rows
    ]
