"""A real Ceph cluster as a system whose durability is asked: its tree and its actual sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resilver.data_loss.scenario import Level, StoredPool
from resilver.errors import ConfigError
from resilver.importers.ceph import ClusterReport, PoolInfo
from resilver.simulate import code_tree
from resilver.simulate.pools import group_sets


class Osds:
    """The OSDs that may hold data, numbered without gaps.

    Attributes:
        ids: Their numbers in the cluster, rising.
        levels: The levels of the CRUSH hierarchy that every one of them is in, from the top, and
            they themselves.
        part_names: The names of the parts of each level, in order.
        classes: The device class of each; empty where it has none.
    """

    def __init__(self, report: ClusterReport) -> None:
        """Read the hierarchy of a report."""
        tree = report.buckets
        self.ids = np.array(sorted(osd.id for osd in report.osds), dtype=np.int64)
        if not len(self.ids):
            rule = "the cluster has no OSD"
            raise ConfigError(rule, "collect its dumps again", place=report.label)
        self._index = {osd: place for place, osd in enumerate(self.ids.tolist())}
        places = [tree.places_of(osd) for osd in self.ids.tolist()]
        kinds = [
            kind for kind in reversed(tree.types[1:]) if all(kind in found for found in places)
        ]
        self.levels: tuple[Level, ...] = ()
        self.part_names: list[list[str]] = []
        above: list[int] = [0] * len(places)
        for kind in kinds:
            names = [found[kind] for found in places]
            numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
            parents = np.zeros(len(numbers), dtype=np.int64)
            for name, parent in zip(names, above, strict=True):
                parents[numbers[name]] = parent
            self.levels += (Level(kind, parents),)
            self.part_names.append(list(numbers))
            above = [numbers[name] for name in names]
        self.levels += (Level(tree.types[0], np.array(above, dtype=np.int64)),)
        self.part_names.append([f"osd.{osd}" for osd in self.ids.tolist()])
        self.classes = [tree.classes.get(osd, "") for osd in self.ids.tolist()]

    def numbered(self, sets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Sets of OSDs with their places for their numbers, and -1 for none."""
        made = np.full(sets.shape, -1, dtype=np.int64)
        places = np.searchsorted(self.ids, sets)
        places[places == len(self.ids)] = 0
        known = self.ids[places] == sets
        made[known] = places[known]
        return made


def cluster_pools(report: ClusterReport, osds: Osds) -> tuple[tuple[StoredPool, ...], list[str]]:
    """What the pools of a cluster store where: the acting sets that its dumps state.

    Returns:
        The pools that hold something, and sentences about what the dumps leave out.

    Raises:
        ConfigError: A pool is coded in a way that is not modelled, or none holds anything.
        PlacementError: The map cannot be used.
    """
    loads: dict[int, list[int]] = {}
    for load in report.loads:
        loads.setdefault(load.pool, []).append(load.bytes)
    pools: list[StoredPool] = []
    notes: list[str] = []
    for pool in report.pools:
        stored = np.array(loads.get(pool.id, [0] * pool.pg_num), dtype=np.float64)
        if not stored.sum():
            notes.append(f"Pool '{pool.name}' holds nothing that the dumps state, and is left out.")
            continue
        code = _code(report, pool)
        sets, is_stated = _acting_sets(report, pool)
        if not is_stated:
            notes.append(
                f"The sets of pool '{pool.name}' are those of its CRUSH map, as no dump states "
                "its PGs'."
            )
        sets = osds.numbered(sets[:, : pool.size])
        if pool.kind == "erasure":
            # Of an lrc the data is not first in a set.
            sets = sets[:, code_tree(code).levels[0].places]
        holds = stored > 0
        piece_bytes = np.ceil(stored[holds] / code_tree(code).data).astype(np.int64)
        pools.append(StoredPool(pool.name, code, sets[holds], piece_bytes))
        lacking = int(((sets[holds] < 0).any(axis=1)).sum())
        if lacking:
            notes.append(f"{lacking:,} PGs of pool '{pool.name}' lack a piece from the start.")
    if not pools:
        rule = "all pools are empty by its dumps, so no data can be lost"
        raise ConfigError(rule, "use dumps of a cluster with data", place=report.label)
    return tuple(pools), notes


def _code(report: ClusterReport, pool: PoolInfo) -> str:
    if pool.kind != "erasure":
        return f"copies {pool.size}"
    if pool.code is None:
        rule = f"pool '{pool.name}' is coded in a way that is not modelled"
        remedy = "use a cluster whose pools are replicated or coded by Ceph's own plugins"
        raise ConfigError(rule, remedy, place=report.label)
    return pool.code


def _acting_sets(report: ClusterReport, pool: PoolInfo) -> tuple[npt.NDArray[np.int64], bool]:
    """The acting sets of a pool's groups, and whether the dumps state them."""
    stated = [group for group in report.groups if group.pool == pool.id and group.acting]
    if len(stated) == pool.pg_num:
        sets = np.full((pool.pg_num, max(pool.size, 1)), -1, dtype=np.int64)
        for group in stated:
            members = group.acting[: pool.size]
            sets[group.number, : len(members)] = members
        return sets, True
    return group_sets(report, pool.id).acting.astype(np.int64), False
