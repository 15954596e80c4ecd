"""A cluster from its dumps: which of them says what, and what they say together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from resilver.crush.model import HOLE
from resilver.importers.buckets import BucketTree
from resilver.importers.ceph.dumps import Dump, Dumps, completed, crush_node
from resilver.importers.ceph.facts import parse_release
from resilver.importers.ceph.hardware import (
    read_balancer,
    read_config,
    read_metadata,
    read_perf,
    read_versions,
)
from resilver.importers.ceph.kinds import (
    BINARY_OSDMAP,
    CRUSH_FILE,
    is_crush_text,
    parse_dump,
    words_of,
)
from resilver.importers.ceph.model import ClusterReport, GroupInfo, OsdInfo
from resilver.importers.ceph.osd_df import check_capacities, read_usage
from resilver.importers.ceph.osdmap import (
    read_flags,
    read_osds,
    read_pools,
    read_ratios,
    read_stretch_mode,
)
from resilver.importers.ceph.pg_dump import (
    is_pg_dump,
    pgmap_of,
    read_df_totals,
    read_groups,
    read_osd_bytes,
    read_pool_totals,
    read_total,
)
from resilver.importers.jsonpath import Node
from resilver.text import CRUSH_MAGIC, name_of, read_bytes, refuse

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


_NAMED = ("crush", "pg_dump", "osd_df")
"""The kinds that may be named beside a cluster."""


def read_report(path: Path) -> ClusterReport:
    """Read a cluster from one path: a `ceph report`, a binary OSD map, a folder or an archive.

    Returns:
        The cluster it describes.

    Raises:
        ConfigError: The file cannot be read, is not JSON, or lacks what a report must have; the
            message names the place and what was expected there.
    """
    return read_cluster(path)


def read_cluster(
    path: Path,
    *,
    crush: Path | None = None,
    pg_dump: Path | None = None,
    osd_df: Path | None = None,
) -> ClusterReport:
    """Read a cluster from what its commands print.

    Args:
        path: A `ceph report`, a `ceph osd dump`, or a binary OSD map (`ceph osd getmap`); or a
            folder or an archive (tar, zip; gzip, xz, bzip2, zstd) of dumps under any names, each
            told by its content; or the state that ceph-balancer gathers.
        crush: Its CRUSH map in any form: a `ceph osd crush dump`, a report, the text of `crushtool
            -d`, or compiled. An osd dump needs it; otherwise it stands in for the file's own.
        pg_dump: A `ceph pg dump`, in place of the groups of a report.
        osd_df: A `ceph osd df`.

    Returns:
        The cluster they describe.

    Raises:
        ConfigError: A file cannot be read, is none of these, contradicts another, or one is
            missing; the message names the file, the place in it and what was expected there.
        PlacementError: A CRUSH map in text or compiled form cannot be used.
    """
    dumps = Dumps.read(path, with_crush=crush is None)
    if crush is not None:
        dumps.found.pop(CRUSH_FILE, None)
        dumps.put(_named_crush(crush))
    if pg_dump is not None:
        words = "what `ceph pg dump -f json` prints, with pg_stats"
        dumps.put(_named(pg_dump, "pg_dump", "pg_brief", words))
    if osd_df is not None:
        dumps.found.pop("osd_df_tree", None)
        words = "what `ceph osd df -f json` prints, with its nodes"
        dumps.put(_named(osd_df, "osd_df", "osd_df_tree", words))
    return cluster_of(dumps)


def _named(path: Path, kind: str, other: str, words: str) -> Dump:
    """A dump that was named as one of a kind, or of another that says less or more of the same."""
    found = Dumps.read(path).found
    dump = next((found[one] for one in (kind, other, "report") if one in found), None)
    if dump is None or (dump.kind == "report" and not is_pg_dump(dump.node.value)):
        next(iter(found.values())).node.fail(words)
    return replace(dump, kind=kind)


def _named_crush(path: Path) -> Dump:
    """The CRUSH map of a file, as the object that `ceph osd crush dump` prints."""
    data = read_bytes(path)
    sha256, label = hashlib.sha256(data).hexdigest(), name_of(path)
    if not data.startswith(CRUSH_MAGIC) and not is_crush_text(data):
        node = Node(parse_dump(data, path), "", str(path))
        if node.has("crushmap"):
            return Dump("crush", node.at("crushmap"), sha256, label)
        if node.has("buckets") and node.has("rules"):
            return Dump("crush", node, sha256, label)
        if not node.has("trees"):
            node.fail("a CRUSH map: what `ceph osd crush dump` or `ceph report` prints")
    return Dump("crush", crush_node(data, str(path)), sha256, label)


@dataclass(frozen=True)
class Parts:
    """Where each part of a cluster stands in its dumps.

    Attributes:
        osdmap: The OSD map.
        crushmap: The CRUSH map.
        pgmap: The object with the groups, or None.
        report: The `ceph report`, or an empty object.
    """

    osdmap: Node
    crushmap: Node
    pgmap: Node | None
    report: Node


def parts_of(dumps: Dumps) -> Parts:
    """Where each part of a cluster stands in its dumps.

    Raises:
        ConfigError: There is no OSD map or no CRUSH map, or two contradict each other.
    """
    report = dumps.get("report")
    inner = report.at("osdmap") if report is not None else None
    maps = [node for node in (dumps.get("osd_dump", BINARY_OSDMAP), inner) if node is not None]
    if not maps:
        _refuse_without_map(dumps)
    # Of several maps the newest is the one whose epoch the others may be of.
    osdmap = max(maps, key=lambda node: node.integer_of("epoch", default=0))
    crushmap = dumps.get("crush", CRUSH_FILE)
    own = report.get("crushmap") if report is not None else None
    if inner is not None and osdmap is not inner:
        check_same_map(inner, osdmap, with_crush=crushmap is None)
    if "crush" in dumps.found and "crush" not in dumps.named and own is not None:
        check_same_crush(own, dumps.found["crush"].node)
    crushmap = crushmap or own
    if crushmap is None:
        _refuse_without_crush(dumps)
    crushmap = completed(crushmap)
    inside = report.get("pgmap", "pg_map") if report is not None else None
    pgmap = dumps.get("pg_dump") or inside or dumps.get("pg_brief")
    return Parts(
        osdmap,
        crushmap,
        pgmap_of(pgmap) if pgmap is not None else None,
        report or Node({}, "", osdmap.file),
    )


def _refuse_without_map(dumps: Dumps) -> NoReturn:
    """Refuse dumps without an OSD map, and say what they are where that is known."""
    path, (kind, dump) = dumps.path, next(iter(dumps.found.items()))
    if not dumps.alone:
        found = ", ".join(words_of(one) for one in sorted(dumps.found))
        refuse(path, f"it holds no OSD map, only {found}", "put in a `ceph osd dump -f json` too")
    if not isinstance(dump.node.value, dict) and not kind:
        refuse(path, "it is no JSON object", "expected the one that `ceph report` prints")
    if kind and not dump.node.has("crushmap"):
        named = {"pg_brief": "pg_dump", "osd_df_tree": "osd_df"}.get(kind, kind)
        argument = f" here, and this file as {named}" if named in _NAMED else ""
        refuse(
            path,
            f"this is a {words_of(kind)}, which has no OSD map",
            f"give a `ceph report` or a `ceph osd dump`{argument}, or a folder with both",
        )
    refuse(path, 'there is no "osdmap"', "expected the JSON that `ceph report` prints")


def _refuse_without_crush(dumps: Dumps) -> NoReturn:
    if "report" in dumps.found and dumps.alone:
        rule, remedy = 'there is no "crushmap"', "expected the JSON that `ceph report` prints"
    elif dumps.alone:
        rule = "this is a `ceph osd dump`, which has no CRUSH map"
        remedy = (
            "give one beside it: `ceph osd crush dump`, `ceph osd getcrushmap` or a `ceph report`"
        )
    else:
        rule, remedy = "it holds no CRUSH map", "put in a `ceph osd crush dump` too"
    refuse(dumps.path, rule, remedy)


def cluster_of(dumps: Dumps) -> ClusterReport:
    """The cluster that dumps describe.

    Raises:
        ConfigError: One is not what Ceph writes, or contradicts another.
    """
    parts = parts_of(dumps)
    osdmap, pgmap, report = parts.osdmap, parts.pgmap, parts.report
    pools = read_pools(osdmap, parts.crushmap)
    osds = read_osds(osdmap, BucketTree(parts.crushmap.value))
    groups = read_groups(pgmap, pools) if pgmap else ()
    if pgmap is not None:
        check_epochs(osdmap, pgmap)
        check_members(osdmap, pgmap, groups, osds)
    osd_bytes = read_osd_bytes(pgmap) if pgmap else ()
    osd_df = dumps.get("osd_df", "osd_df_tree")
    usage = read_usage(osd_df, osds) if osd_df is not None else ()
    check_capacities(osd_df, usage, osd_bytes)
    metadata = read_metadata(dumps.get("osd_metadata") or report.get("osd_metadata"))
    version = report.text_of("version")
    config = dumps.get("config_dump")
    sums = pgmap.get("pg_stats_sum") if pgmap else None
    return ClusterReport(
        label=name_of(dumps.path),
        sha256=dumps.digest(),
        version=version,
        crushmap=json.dumps(parts.crushmap.value, separators=(",", ":")),
        pools=pools,
        osds=osds,
        groups=groups,
        pool_totals=_pool_totals(dumps, parts),
        total=read_total(sums or report.get("pool_sum")),
        usage=usage,
        osd_bytes=osd_bytes,
        release=parse_release(version) or read_versions(dumps.get("versions"), metadata),
        require_osd_release=osdmap.text_of("require_osd_release"),
        require_min_compat_client=osdmap.text_of("require_min_compat_client"),
        epoch=osdmap.integer_of("epoch", default=None),
        ratios=read_ratios(osdmap, pgmap),
        flags=read_flags(osdmap),
        stretch_mode=read_stretch_mode(osdmap),
        config=read_config(config) if config else None,
        metadata=metadata,
        perf=read_perf(dumps.get("osd_perf"), pgmap),
        balancer=read_balancer(dumps.get("balancer_status"), config),
        dumps=dumps.listing,
        fsid=osdmap.text_of("fsid"),
        stamp_seconds=_stamp(pgmap, report),
    )


def _pool_totals(dumps: Dumps, parts: Parts) -> tuple[tuple[int, int, int | None], ...]:
    """The sums of pools: with the groups, in the report since Luminous, or of `ceph df`."""
    df = dumps.get("df")
    totals = {total[0]: total for total in (read_df_totals(df) if df is not None else ())}
    for source in (parts.report, parts.pgmap):
        if source is not None:
            totals |= {total[0]: total for total in read_pool_totals(source)}
    return tuple(totals[pool] for pool in sorted(totals))


def _stamp(pgmap: Node | None, report: Node) -> float | None:
    found = (pgmap.get("stamp") if pgmap is not None else None) or report.get("timestamp")
    try:
        time = datetime.fromisoformat(found.text() if found is not None else "")
    except ValueError:
        # A PG map without statistics has "0.000000".
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
