"""Whether dumps are of one cluster and one time: maps, groups and OSDs are held to each other."""

from __future__ import annotations

from typing import Any

from resilver.crush.model import HOLE
from resilver.importers.ceph.model import GroupInfo, OsdInfo
from resilver.importers.jsonpath import Node

REPORT_EPOCHS_MAX = 500
"""A group that serves reports at least every so many epochs (osd_pg_stat_report_interval_max)."""

_EPOCH_MAX = 2**32 - 1

_AGAIN = "fetch both again, `ceph pg dump` first"


def check_same_map(older: Node, newer: Node, *, with_crush: bool) -> None:
    """Refuse two OSD maps that are of two clusters, or of two CRUSH maps where one is used.

    Args:
        older: The map that a report holds.
        newer: The one that is used.
        with_crush: Whether the CRUSH map is that of the report.

    Raises:
        ConfigError: They contradict each other.
    """
    for key, matters in (("fsid", True), ("crush_version", with_crush)):
        one, other = older.get(key), newer.get(key)
        if matters and one is not None and other is not None and one.value != other.value:
            what = "the same cluster" if key == "fsid" else "the same CRUSH map"
            other.fail(f"{one.value}, as in {one.file}: both must be of {what}; fetch both again")


def check_same_crush(one: Node, other: Node) -> None:
    """Refuse two CRUSH maps that place differently.

    Raises:
        ConfigError: They have other buckets, rules or tunables.
    """
    for key in ("buckets", "rules", "tunables"):
        first, second = one.get(key), other.get(key)
        if first is not None and second is not None and first.value != second.value:
            second.fail(f"the {key} that {one.file} states too; fetch both again, or leave one out")


def check_epochs(osdmap: Node, pgmap: Node) -> None:
    """Refuse groups that are of another time than the map.

    A group states since which epoch it has had its OSDs (``mapping_epoch``), and the epoch of its
    last report. Where the first is later than the map, the map does not know why it moved; where
    all reports are far older than the map, as Ceph's own OSDs never leave them, the groups are.

    Args:
        osdmap: The map.
        pgmap: The object with ``pg_stats``.

    Raises:
        ConfigError: They are of other times, or an epoch is no number.
    """
    stats, stated = pgmap.get("pg_stats"), osdmap.get("epoch")
    if stats is None or stated is None:
        return
    epoch = stated.integer(0, _EPOCH_MAX)
    if _all_within(stats.value, epoch):
        return
    newest: Node | None = None
    for node in stats.items():
        since, reported = node.get("mapping_epoch"), node.get("reported_epoch")
        if since is not None and since.whole(0, _EPOCH_MAX) > epoch:
            since.fail(f"an epoch up to {epoch}, that of the OSD map: the map is older; {_AGAIN}")
        if reported is not None and (
            newest is None or reported.whole(0, _EPOCH_MAX) > newest.whole(0, _EPOCH_MAX)
        ):
            newest = reported
    if newest is not None and newest.whole(0, _EPOCH_MAX) + REPORT_EPOCHS_MAX < epoch:
        newest.fail(
            f"an epoch near {epoch}, that of the OSD map: all PGs are older; fetch both again"
        )


def _all_within(stats: Any, epoch: int) -> bool:
    """Whether all groups are plainly of the map's time, which spares a look at each member."""
    try:
        since = max(group["mapping_epoch"] for group in stats)
        reported = [group["reported_epoch"] for group in stats]
        plain = all(type(one) is int for one in reported) and min(reported) >= 0
        return type(since) is int and plain and since <= epoch <= max(reported) + REPORT_EPOCHS_MAX
    except (KeyError, TypeError, ValueError):
        return False


def check_members(
    osdmap: Node, pgmap: Node, groups: tuple[GroupInfo, ...], osds: tuple[OsdInfo, ...]
) -> None:
    """Refuse groups on OSDs that the map does not have.

    Raises:
        ConfigError: There is one; the message names it.
    """
    if not osdmap.has("max_osd"):
        return  # A map cut down by hand.
    known = {osd.id for osd in osds} | {HOLE}
    for group in groups:
        # What nobody has reported for long may name an OSD that has been purged since.
        if "stale" in group.state:
            continue
        for number in (*group.up, *group.acting):
            if number not in known:
                where = f"pg_stats, PG {group.pgid}"
                Node(number, where, pgmap.file).fail(
                    f"an OSD that the OSD map lists; {_AGAIN}, or give those of one cluster"
                )
