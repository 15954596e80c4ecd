"""Entries of ``pg_upmap_primaries`` that even out which OSDs are primaries, and so serve reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from resilver.crush.balance import GroupEntry
from resilver.crush.maps import CrushMap
from resilver.crush.model import WEIGHT_ONE, Osds, Pool
from resilver.crush.pools import group_sets, rule_shares
from resilver.errors import ConfigError


@dataclass(frozen=True)
class PrimaryEntry(GroupEntry):
    """What becomes of the ``pg_upmap_primaries`` of a group.

    Attributes:
        osd: Its primary from now on; None takes its entry away.

    >>> PrimaryEntry(3, 26, 17).command
    'ceph osd pg-upmap-primary 3.1a 17'
    """

    osd: int | None

    @property
    def command(self) -> str:
        """The line that makes it so."""
        if self.osd is None:
            return f"ceph osd rm-pg-upmap-primary {self.pgid}"
        return f"ceph osd pg-upmap-primary {self.pgid} {self.osd}"


def with_primaries(pool: Pool, entries: Sequence[PrimaryEntry]) -> Pool:
    """A pool with other entries of ``pg_upmap_primaries``; other groups keep theirs."""
    primaries: dict[int, int | None] = dict(pool.exceptions.upmap_primaries)
    primaries |= {entry.group: entry.osd for entry in entries if entry.pool == pool.id}
    kept = tuple(sorted((group, osd) for group, osd in primaries.items() if osd is not None))
    return replace(pool, exceptions=replace(pool.exceptions, upmap_primaries=kept))


def primary_counts(crush: CrushMap, pool: Pool, osds: Osds) -> list[int]:
    """Of how many groups of a pool each OSD is the primary, by its number."""
    primaries = group_sets(crush, pool, osds).up_primary
    counts: list[int] = np.bincount(primaries[primaries >= 0], minlength=len(osds.up)).tolist()
    return counts


def read_score(crush: CrushMap, pool: Pool, osds: Osds) -> float | None:
    """How far the busiest OSD is from an even share of a pool's primaries; 1 is the best.

    Source: ``OSDMap::calc_read_balance_score`` of Ceph 19, ``adjusted_score``.

    Returns:
        None where Ceph gives none: primary affinities are below 1 / size on average, or zero for
        all OSDs of a group.
    """
    up = group_sets(crush, pool, osds).up
    affinities = dict(enumerate(osds.affinities))
    shares = rule_shares(crush, pool.rule_id)
    willing = [osd for osd in shares if affinities.get(osd, WEIGHT_ONE)]
    weighted = sum(share * affinities.get(osd, WEIGHT_ONE) for osd, share in shares.items())
    if weighted * pool.size < WEIGHT_ONE * sum(shares.values()) or not willing:
        return None
    if not np.isin(up, willing).any(axis=1).all():
        return None
    used = len(np.unique(up[(up >= 0) & (up < len(osds.up))]))
    counts = dict(enumerate(primary_counts(crush, pool, osds)))
    raw = _rounded(max(counts.get(osd, 0) for osd in shares) * used / pool.pg_num)
    return _rounded(raw / _rounded(used / len(willing)))


def _rounded(score: float) -> float:
    return float(np.floor(score * 100 + 0.5) / 100)


def upmap_primaries(
    crush: CrushMap, pool: Pool, osds: Osds, *, entries: int | None = None, label: str = ""
) -> list[PrimaryEntry]:
    """The entries that even out the primaries of a replicated pool by primary affinity.

    With them the sum over OSDs of primaries squared over affinity is the least that the sets allow:
    as long as a chain of groups leads from an OSD to another where it falls, each group of the
    shortest such chain gets the next OSD (Harvey et al. 2003, optimal semi-matchings). No data
    moves. What an entry does is asked of the map itself, since an affinity below 1 may undo it.

    Args:
        crush: The cluster's map.
        pool: The pool, with the entries that it has.
        osds: The state of each OSD.
        entries: The most entries that change; None for any number.
        label: Whose map it is, for messages.

    Raises:
        ConfigError: The pool is coded.
        PlacementError: The map cannot be used.

    >>> pool = Pool(1, "rbd", pg_num=64, pgp_num=64, size=3, rule_id=0)
    >>> crush, osds = CrushMap.flat(8), Osds.all_in(8)
    >>> found = upmap_primaries(crush, pool, osds)
    >>> read_score(crush, pool, osds), read_score(crush, with_primaries(pool, found), osds)
    (1.5, 1.0)
    """
    if pool.kind != "replicated":
        rule = f"pool '{pool.name}' is coded, and the shards of a code have their places"
        raise ConfigError(rule, "name a replicated pool")
    bare = replace(pool, exceptions=replace(pool.exceptions, upmap_primaries=()))
    sets = group_sets(crush, bare, osds, label=label)
    natural = sets.up_primary.tolist()
    now = group_sets(crush, pool, osds, label=label).up_primary.tolist()
    affinity = {osd: own / WEIGHT_ONE for osd, own in enumerate(osds.affinities)}
    choices: list[set[int]] = [{osd} - {-1} for osd in natural]
    for column in sets.up.T.tolist():
        wanted = [PrimaryEntry(pool.id, group, osd) for group, osd in enumerate(column) if osd >= 0]
        tried = group_sets(crush, with_primaries(bare, wanted), osds, label=label).up_primary
        for entry in wanted:
            if entry.osd is not None and tried[entry.group] == entry.osd:
                choices[entry.group].add(entry.osd)
    evened = _Primaries([*now], choices, affinity)
    for chain in evened.chains():
        changed = {group: osd for group, osd in enumerate(evened.of) if osd != now[group]}
        changed |= dict(chain)
        if entries is not None and len(changed) > entries:
            break
        evened.take(chain)
    return [
        PrimaryEntry(pool.id, group, None if osd == natural[group] else osd)
        for group, osd in enumerate(evened.of)
        if osd != now[group]
    ]


@dataclass
class _Primaries:
    """The primary of each group, while they are evened out.

    Attributes:
        of: The primary of each group; -1 for none.
        choices: The OSDs that each may have.
        affinity: The primary affinity of each OSD; 1 where none is given.
        groups: The groups of each primary.
    """

    of: list[int]
    choices: list[set[int]]
    affinity: Mapping[int, float]
    groups: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        for group, osd in enumerate(self.of):
            if osd >= 0:
                self.groups[osd].add(group)

    def cost(self, osd: int, more: int) -> float:
        """What one group more (1) costs an OSD, or what one less (-1) spares it."""
        own = self.affinity.get(osd, 1.0)
        return (2 * len(self.groups[osd]) + more) / own if own else float("inf")

    def chains(self) -> Iterator[list[tuple[int, int]]]:
        """Groups and their next primaries, each chain the best after what has been taken."""
        active = {osd for osd in {*self.of, *(o for own in self.choices for o in own)} if osd >= 0}
        while active:
            first = max(active, key=lambda osd: (self.cost(osd, -1), -osd))
            # How each OSD is reached: by which group, from which OSD.
            reached: dict[int, tuple[int, int]] = {first: (-1, -1)}
            level, best = [first], None
            while level and best is None:
                following = []
                for osd in level:
                    for group in sorted(self.groups[osd]):
                        for other in sorted(self.choices[group] & active - {*reached}):
                            reached[other] = (group, osd)
                            following.append(other)
                better = [osd for osd in following if self.cost(osd, 1) < self.cost(first, -1)]
                best = min(better, key=lambda osd: (self.cost(osd, 1), osd), default=None)
                level = following
            if best is None:
                # Nothing that is reached can take more, now or after any other chain.
                active -= {*reached}
                continue
            chain = []
            while best != first:
                group, osd = reached[best]
                chain.append((group, best))
                best = osd
            yield chain

    def take(self, chain: list[tuple[int, int]]) -> None:
        """Give each group of a chain its next primary."""
        for group, osd in chain:
            self.groups[self.of[group]].discard(group)
            self.groups[osd].add(group)
            self.of[group] = osd
