"""A cluster fuller than its dumps say: all of it, or some of its pools."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from resilver.errors import ConfigError, show
from resilver.importers.ceph import ClusterReport, GroupInfo, PoolInfo
from resilver.simulate import group_sets
from resilver.whatif.cluster import Cluster

_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")
_GROWTH = re.compile(r"\s*(.+?)\s*=\s*([+-]\d+(?:\.\d+)?)\s*%\s*")
_PERCENT_MAX = 1e6


def make_fuller(cluster: Cluster, fill: str, grow: Iterable[str]) -> None:
    """Give groups more objects of the sizes that they have, before the first step.

    Args:
        cluster: The cluster, which is changed.
        fill: How full all its OSDs are to be together: ``80%``. Groups and what each OSD takes for
            itself grow by one factor. Empty for no such change.
        grow: ``POOL=+30%``, the data of a pool; an OSD's own part stays as it is. This comes first.

    Raises:
        ConfigError: A text is not written so, or an OSD would hold more than it can.
    """
    factors = dict(_growth(text, cluster) for text in grow)
    if factors:
        _grow(cluster, factors)
    if fill:
        _fill(cluster, fill)
    if factors or fill:
        _check(cluster, fill)


def _growth(text: str, cluster: Cluster) -> tuple[str, float]:
    """The name of a pool, and by which factor its data grows."""
    match = _GROWTH.fullmatch(text)
    percent = float(match[2]) if match else 0.0
    if match is None or not -100 < percent <= _PERCENT_MAX:
        rule = "a pool grows by a share of what it holds"
        raise ConfigError(rule, 'such as "rbd=+30%"', key="--grow", value=show(text))
    try:
        name = cluster.pool(match[1]).info.name
    except ConfigError as error:
        raise ConfigError(problem.under("--grow") for problem in error.problems) from None
    cluster.ledger.note(f"data of pool {name}", f"{percent:+g} %", "stated", "--grow", "")
    return name, 1 + percent / 100


def _grow(cluster: Cluster, factors: Mapping[str, float]) -> None:
    report = cluster.report
    added: dict[int, float] = defaultdict(float)
    for pool in report.pools:
        if (factor := factors.get(pool.name, 1.0)) != 1.0:
            for osd, held in _held(cluster, pool).items():
                added[osd] += (factor - 1) * held
    by_pool = {pool.id: factors.get(pool.name, 1.0) for pool in report.pools}
    usage = {one.osd: max(one.used_bytes + round(added[one.osd]), 0) for one in report.usage}
    _put(cluster, by_pool, usage)


def _fill(cluster: Cluster, text: str) -> None:
    report = cluster.report
    match = _SHARE.fullmatch(text)
    wanted = float(match[1]) / 100 if match else 0.0
    rule = ""
    if not 0 < wanted <= 1:
        rule = "how full a cluster is to be is a percentage above 0 and up to 100"
    before, _ = fill_of(cluster)
    if not before:
        rule = rule or "the cluster holds nothing that could be more"
    if rule:
        raise ConfigError(rule, 'such as "80%"', key="--fill", value=show(text))
    factor = wanted / before
    value = f"{100 * wanted:.4g} % of its bytes, {100 * before:.4g} % by its dumps"
    cluster.ledger.note("fill", value, "stated", "--fill", "")
    usage = {one.osd: round(one.used_bytes * factor) for one in report.usage}
    _put(cluster, {pool.id: factor for pool in report.pools}, usage)


def _put(cluster: Cluster, factors: Mapping[int, float], usage: Mapping[int, int]) -> None:
    """Have the groups of each pool hold so much more, and the OSDs what is stated of them."""
    report = cluster.report
    groups = tuple(_scaled(one, factors[one.pool]) for one in report.groups)
    # A group that no dump states gets an even share of its pool's sum, less what is stated.
    totals: dict[int, list[int]] = {pool.id: [0, 0] for pool in report.pools}
    for load in report.loads:
        factor = factors[load.pool]
        totals[load.pool][0] += _times(load.bytes, factor)
        totals[load.pool][1] += _times(load.objects, factor)
    cluster.report = replace(
        report,
        groups=groups,
        pool_totals=tuple((pool, size, count) for pool, (size, count) in totals.items()),
        usage=tuple(replace(one, used_bytes=usage[one.osd]) for one in report.usage),
    )
    for state in cluster.pools.values():
        state.stored_bytes = totals[state.info.id][0]
    for osd, used in usage.items():
        if osd in cluster.osds:
            cluster.osds[osd]["used_bytes"] = used


def _scaled(group: GroupInfo, factor: float) -> GroupInfo:
    grown: dict[str, Any] = {
        name: _times(value, factor)
        for name in ("bytes", "objects", "omap_bytes", "degraded", "misplaced")
        if (value := getattr(group, name)) is not None
    }
    return replace(group, **grown)


def _times(amount: int, factor: float) -> int:
    return round(amount * factor)


def _used(cluster: Cluster) -> dict[int, int]:
    """The bytes on each OSD: as a dump states, else those of its groups."""
    if cluster.report.usage:
        return {one.osd: one.used_bytes for one in cluster.report.usage}
    used: dict[int, int] = defaultdict(int)
    for pool in cluster.report.pools:
        for osd, held in _held(cluster, pool).items():
            used[osd] += held
    return used


def _held(cluster: Cluster, pool: PoolInfo) -> dict[int, int]:
    """What the groups of a pool take on each OSD; all objects of a group have its mean size."""
    report = cluster.report
    loads = [load for load in report.loads if load.pool == pool.id]
    pieces = cluster.pools[pool.name].data_pieces
    sizes = np.array([-(-load.bytes // max(load.objects, 1)) for load in loads], dtype=np.int64)
    objects = np.array([load.objects for load in loads], dtype=np.int64)
    members = _members(report, pool)
    held: dict[int, int] = defaultdict(int)
    for osd, one in cluster.osds.items():
        here = (members == osd).any(axis=1)
        unit = max(one["min_alloc_bytes"], 1)
        piece = -(-sizes[here] // pieces)
        held[osd] += int((objects[here] * (-(-piece // unit) * unit)).sum())
    return held


def _members(report: ClusterReport, pool: PoolInfo) -> np.ndarray:
    """The OSDs that hold each group of a pool: as the dumps state, else as the map places them."""
    stated = [group.acting for group in report.groups if group.pool == pool.id]
    if len(stated) != pool.pg_num or not all(stated):
        return np.asarray(group_sets(report, pool_id=pool.id).up)
    width = max(map(len, stated))
    return np.array([[*one, *[-1] * (width - len(one))] for one in stated])


def fill_of(cluster: Cluster) -> tuple[float, float]:
    """How full all OSDs are together, and how full they are when the first holds all it can."""
    used, capacities = _used(cluster), cluster.capacities
    share = sum(used.values()) / sum(capacities.values())
    worst = max(used.get(osd, 0) / size for osd, size in capacities.items() if size)
    return share, share / worst if worst else 1.0


def _check(cluster: Cluster, fill: str) -> None:
    """Refuse a cluster of which an OSD holds more than it can."""
    used, capacities = _used(cluster), cluster.capacities
    shares = {osd: used.get(osd, 0) / size for osd, size in capacities.items() if size}
    worst = max(shares, key=lambda osd: shares[osd])
    if shares[worst] <= 1:
        return
    rule = f"{cluster.name_of(worst)} would hold {100 * shares[worst]:.1f} % of what it can"
    if not fill:
        raise ConfigError(rule, "let pools grow by less", key="--grow")
    remedy = f"fill it to {int(1000 * fill_of(cluster)[1]) / 10:g}% at the most"
    raise ConfigError(rule, remedy, key="--fill", value=show(fill))
