"""Where the PGs of a real cluster are, in plain Python, before and after OSDs are out."""

from collections.abc import Mapping, Set

import numpy as np

from resilver.crush import CrushMap
from resilver.importers.ceph import PoolInfo
from resilver.spec import System
from tests.reference.draws import HALF_WORD, jenkins_of_two


def crush_input(pool: PoolInfo, group: int) -> int:
    """The CRUSH input of a group: its number reduced by `pgp_num`, mixed with the pool's.

    The reduction is such that a pool that grows keeps its first groups: the number's low bits, one
    bit fewer where they name a group that does not exist yet.
    """
    bins = 1
    while bins < pool.pgp_num:
        bins *= 2
    reduced = group % bins
    if reduced >= pool.pgp_num:
        reduced = group % (bins // 2)
    if pool.hashpspool:
        return jenkins_of_two(reduced, pool.id)
    return (reduced + pool.id) % HALF_WORD


def excepted(pool: PoolInfo, group: int, out: Set[int], chosen: list[int]) -> list[int]:
    """A set of copies after the upmap tables, given which OSDs are out."""
    tables = pool.exceptions
    chosen = list(chosen)
    whole = dict(tables.upmap).get(group)
    if whole is not None:
        if out.intersection(whole):
            return chosen
        chosen = list(whole)
    for old, new in dict(tables.upmap_items).get(group, ()):
        if old in chosen and new not in chosen and new not in out:
            chosen[chosen.index(old)] = new
    first = dict(tables.upmap_primaries).get(group)
    if first in chosen and first not in out:
        place = chosen.index(first)
        chosen[0], chosen[place] = chosen[place], chosen[0]
    return chosen


def primary_first(seed: int, affinity: Mapping[int, int], chosen: list[int]) -> list[int]:
    """The copies with the primary in front: the first that takes the part, else the first of all.

    An OSD of affinity a takes it with probability a / 2^16, drawn by a hash of group and OSD.
    """
    for osd in chosen:
        if jenkins_of_two(seed, osd) // 2**16 < affinity[osd]:
            return [osd, *(other for other in chosen if other != osd)]
    return chosen


class UpSets:
    """The up set of every group: what the OSD map says, without OSDs that are down.

    An OSD whose failure is studied held its data until then, also where the report has it down.
    """

    def __init__(self, system: System, failed: Set[int]) -> None:
        self.report = system.report
        self.up = {osd.id for osd in self.report.osds if osd.up or osd.id in failed}
        self.map = CrushMap.from_json(self.report.crushmap)

    def place(self, pool: PoolInfo, group: int, out: Set[int]) -> list[int]:
        """The OSDs of a group's copies; those that are out have reweight zero."""
        osds = {osd.id: osd for osd in self.report.osds}
        reweight = np.zeros(max(osds) + 1, np.uint32)
        for osd in osds.values():
            reweight[osd.id] = 0 if osd.id in out else osd.reweight
        seed = crush_input(pool, group)
        inputs = np.array([seed], np.uint32)
        (row,) = self.map.map_rule(pool.rule_id, inputs, pool.size, reweight)
        zero = {osd for osd in range(len(reweight)) if not reweight[osd]}
        chosen = excepted(pool, group, zero, [int(osd) for osd in row if 0 <= osd < 2**31 - 1])
        running = [osd for osd in chosen if osd in self.up]
        return primary_first(seed, {osd.id: osd.affinity for osd in osds.values()}, running)
