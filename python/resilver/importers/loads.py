"""What every placement group of a real cluster holds, completed where the report leaves groups out.

A report states the bytes of each group in ``pg_stats[].stat_sum``. Published reports are often cut
down and keep only some of them, with the sum of the pool (``pool_stats``) or of the cluster
(``pg_stats_sum``). The groups of a pool hold nearly equal shares, since objects go to groups by
hash, so a group left out gets an even share of what the stated groups leave of that sum, to the
byte: the totals are the report's own, and `GroupLoad.measured` says which groups are stated.
"""

from __future__ import annotations

from typing import NoReturn

from resilver.importers.ceph import ClusterReport, GroupInfo, GroupLoad
from resilver.text import refuse
from resilver.units import VOLUME_MAX, format_bytes

OBJECT_BYTES = 4 * 2**20
"""An object's size where a report counts none: block devices and CephFS use 4 MiB objects."""


def group_loads(report: ClusterReport) -> tuple[GroupLoad, ...]:
    """The bytes and objects of every group of every pool.

    Returns:
        One load a group, by pool and number.

    Raises:
        ConfigError: Groups are left out and no sum says what they hold, or all hold too much.
    """
    stated = {
        (group.pool, group.number): group for group in report.groups if group.bytes is not None
    }
    totals = {pool: (size, objects) for pool, size, objects in report.pool_totals}
    loads: list[GroupLoad] = []
    for pool in report.pools:
        absent = [number for number in range(pool.pg_num) if (pool.id, number) not in stated]
        shares: dict[int, tuple[int, int | None]] = {}
        if absent:
            total = totals.get(pool.id) or _sum_without_others(report, pool.id, stated, totals)
            shares = _even_shares(report, pool.id, absent, total, stated)
        for number in range(pool.pg_num):
            group = stated.get((pool.id, number))
            size, objects = (group.bytes or 0, group.objects) if group else shares[number]
            loads.append(
                GroupLoad(pool.id, number, size, _object_count(size, objects), group is not None)
            )
    held = sum(load.bytes for load in loads)
    if held > VOLUME_MAX:
        refuse(
            report.label,
            f"its PGs hold {held} B, and at most {format_bytes(VOLUME_MAX)} can be simulated",
            "check pgmap.pg_stats[].stat_sum.num_bytes and the sums of pools",
        )
    return tuple(loads)


def _sum_without_others(
    report: ClusterReport,
    pool_id: int,
    stated: dict[tuple[int, int], GroupInfo],
    totals: dict[int, tuple[int, int | None]],
) -> tuple[int, int | None]:
    """The cluster's sum less the other pools, each known by its own sum or in all its groups."""
    if report.total is None:
        _refuse_unknown(report, pool_id, stated)
    size: int = report.total[0]
    objects: int | None = report.total[1]
    for other in report.pools:
        if other.id == pool_id:
            continue
        if other.id in totals:
            other_size, other_objects = totals[other.id]
        else:
            groups = [stated.get((other.id, number)) for number in range(other.pg_num)]
            if None in groups:
                _refuse_unknown(report, pool_id, stated)
            known = [group for group in groups if group is not None]
            other_size, other_objects = _stated_sum(known)
        size -= other_size
        objects = None if objects is None or other_objects is None else objects - other_objects
    return size, objects


def _even_shares(
    report: ClusterReport,
    pool_id: int,
    absent: list[int],
    total: tuple[int, int | None],
    stated: dict[tuple[int, int], GroupInfo],
) -> dict[int, tuple[int, int | None]]:
    known_size, known_objects = _stated_sum(
        [group for key, group in stated.items() if key[0] == pool_id]
    )
    size = total[0] - known_size
    objects = None if total[1] is None or known_objects is None else total[1] - known_objects
    if size < 0 or (objects is not None and objects < 0):
        refuse(
            report.label,
            f"the PGs of pool {pool_id} hold more than the report's sum for it",
            "the report contradicts itself; fetch it again while the cluster is quiet",
        )
    sizes = _split(size, len(absent))
    counts: list[int | None] = (
        [None] * len(absent) if objects is None else [*_split(objects, len(absent))]
    )
    return dict(zip(absent, zip(sizes, counts, strict=True), strict=True))


def _stated_sum(groups: list[GroupInfo]) -> tuple[int, int | None]:
    counts = [group.objects for group in groups]
    objects = None if None in counts else sum(count or 0 for count in counts)
    return sum(group.bytes or 0 for group in groups), objects


def _split(amount: int, parts: int) -> list[int]:
    """`amount` in `parts` that differ by at most one, the larger ones first."""
    share, rest = divmod(amount, parts)
    return [share + 1] * rest + [share] * (parts - rest)


def _object_count(size: int, objects: int | None) -> int:
    if objects is None:
        return -(-size // OBJECT_BYTES)
    # Bytes without an object cannot be moved: a group of a few bytes and a rounded share of no
    # object has one.
    return max(objects, 1) if size else objects


def _refuse_unknown(
    report: ClusterReport, pool_id: int, stated: dict[tuple[int, int], GroupInfo]
) -> NoReturn:
    some = sum(1 for key in stated if key[0] == pool_id)
    refuse(
        report.label,
        f"it states the bytes of {some} PGs of pool {pool_id}, and no sum for the others",
        "add a `ceph pg dump -f json`, which has those of each PG; a `ceph report` has had none "
        "since Luminous",
    )
