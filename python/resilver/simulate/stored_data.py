"""What the groups of a cluster hold, and on which OSDs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resilver.crush import CrushMap, Pool, group_sets
from resilver.errors import ConfigError, PlacementError
from resilver.importers.ceph import ClusterReport, PoolInfo


@dataclass
class StoredData:
    """What the groups of a cluster hold, and where; of some of its pools, or all."""

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
        """How many numbers of OSDs there are."""
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
        return {
            pool.id: np.ceil(held[owners == pool.id] / self.data_pieces(pool))
            for pool in self.report.pools
        }

    def data_pieces(self, pool: PoolInfo) -> int:
        """How many pieces of a pool's groups hold the data: one where each is a copy.

        Raises:
            ConfigError: The report does not state how the pool is coded.
        """
        if pool.data_pieces is None:
            raise ConfigError(
                f"{self.report.label}: pool {pool.name} is erasure coded, and the osdmap does not "
                "hold its profile; add erasure_code_profiles with its k and m"
            )
        return pool.data_pieces

    @cached_property
    def used_bytes(self) -> npt.NDArray[np.float64]:
        """Bytes on each OSD, by number: as `osd df` states, else what its groups hold."""
        used = np.zeros(self.device_count)
        for pool in self.report.pools:
            sizes = self.piece_bytes[pool.id]
            for column in self.sets(pool).T:
                there = self.is_device(column)
                np.add.at(used, column[there], sizes[there])
        for one in self.report.usage:
            used[one.osd] = one.used_bytes
        return used

    def sets(self, pool: Pool) -> npt.NDArray[np.int32]:
        """Where each group of a pool should be, as its up sets say."""
        return group_sets(self.crush, pool, self.report.osd_states, label=self.report.label).up

    def is_device(self, osds: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Which of these are OSDs, and no holes."""
        return (osds >= 0) & (osds < self.device_count)
