"""A cluster from its files: which of them is what, and what they say together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from resilver.importers.buckets import read_buckets
from resilver.importers.ceph.binary import dump_binary, is_binary_osdmap
from resilver.importers.ceph.facts import parse_release
from resilver.importers.ceph.model import ClusterReport
from resilver.importers.ceph.osd_df import is_osd_df, read_usage
from resilver.importers.ceph.osdmap import read_flags, read_osds, read_pools, read_ratios
from resilver.importers.ceph.pg_dump import (
    is_pg_dump,
    pgmap_of,
    read_groups,
    read_osd_bytes,
    read_pool_totals,
    read_total,
)
from resilver.importers.jsonpath import Node
from resilver.importers.text import decode, name_of, parse_json, read_bytes, refuse


def read_report(path: Path) -> ClusterReport:
    """Read a cluster from one file: `ceph report`, or a binary OSD map.

    Args:
        path: The file.

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
        path: A `ceph report`, a `ceph osd dump`, or a binary OSD map (`ceph osd getmap`).
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
    files = _Files()
    source = _source(files, path, crush)
    buckets = read_buckets(source.crushmap)
    pools = read_pools(source.osdmap, source.crushmap)
    osds = read_osds(source.osdmap, buckets)
    pgmap = source.pgmap
    if pg_dump is not None:
        document = files.json(pg_dump)
        if not is_pg_dump(document.value):
            document.fail("what `ceph pg dump --format json` prints, with its pg_stats")
        pgmap = pgmap_of(document)
    usage = None
    if osd_df is not None:
        usage = files.json(osd_df)
        if not is_osd_df(usage.value):
            usage.fail("what `ceph osd df --format json` prints, with its nodes and summary")
    return ClusterReport(
        label=name_of(path),
        sha256=files.digest(),
        version=source.version,
        crushmap=json.dumps(source.crushmap.value, separators=(",", ":")),
        buckets=buckets,
        pools=pools,
        osds=osds,
        groups=read_groups(pgmap, pools) if pgmap else (),
        pool_totals=read_pool_totals(pgmap) if pgmap else (),
        total=read_total(pgmap.get("pg_stats_sum")) if pgmap else None,
        usage=read_usage(usage, osds) if usage else (),
        osd_bytes=read_osd_bytes(pgmap) if pgmap else (),
        release=parse_release(source.version),
        require_osd_release=_text(source.osdmap, "require_osd_release"),
        epoch=epoch.integer(0) if (epoch := source.osdmap.get("epoch")) else None,
        ratios=read_ratios(source.osdmap, pgmap),
        flags=read_flags(source.osdmap),
    )


def _text(node: Node, name: str) -> str:
    found = node.get(name)
    return found.text() if found is not None else ""


@dataclass
class _Files:
    """The files that were read, each hashed."""

    hashes: list[str] = field(default_factory=list)

    def read(self, path: Path) -> bytes:
        data = read_bytes(path)
        self.hashes.append(hashlib.sha256(data).hexdigest())
        return data

    def json(self, path: Path) -> Node:
        return _document(self.read(path), path)

    def digest(self) -> str:
        """The hash of the one file, or of the hashes of several in the order they were read."""
        if len(self.hashes) == 1:
            return self.hashes[0]
        return hashlib.sha256(" ".join(self.hashes).encode()).hexdigest()


@dataclass(frozen=True)
class _Source:
    osdmap: Node
    crushmap: Node
    pgmap: Node | None
    version: str


def _document(data: bytes, path: Path) -> Node:
    return Node(parse_json(decode(data, path), path), "", str(path))


def _source(files: _Files, path: Path, crush: Path | None) -> _Source:
    """The OSD map, the CRUSH map and, in a report, the groups."""
    data = files.read(path)
    if is_binary_osdmap(data):
        text, compiled = dump_binary(path, crush)
        osdmap = Node(parse_json(text, path), "", str(path))
        crushmap = _crush_file(files, crush) if crush else _crush_compiled(compiled, path)
        return _Source(osdmap, crushmap, None, "")
    document = _document(data, path)
    value = document.value
    if not isinstance(value, dict):
        if is_pg_dump(value):
            _refuse_kind(path, value)
        document.fail("the object that `ceph report` prints")
    if "osdmap" not in value and "pools" in value and "osds" in value:
        if crush is None:
            refuse(
                path,
                "this is a `ceph osd dump`, which has no CRUSH map",
                "give one beside it: `ceph osd crush dump`, `ceph osd getcrushmap` or a `ceph "
                "report`",
            )
        return _Source(document, _crush_file(files, crush), None, "")
    if "osdmap" not in value:
        _refuse_kind(path, value)
    if "crushmap" not in value and crush is None:
        refuse(path, 'there is no "crushmap"', "expected the JSON that `ceph report` prints")
    version = document.get("version")
    return _Source(
        osdmap=document.at("osdmap"),
        crushmap=_crush_file(files, crush) if crush else document.at("crushmap"),
        pgmap=document.get("pgmap", "pg_map"),
        version=version.text() if version else "",
    )


def _refuse_kind(path: Path, value: Any) -> NoReturn:
    """Refuse a file that has no OSD map, and say what it is where that is known."""
    what, argument = "", ""
    if is_pg_dump(value) and "crushmap" not in value:
        what, argument = "`ceph pg dump`", "pg_dump"
    elif is_osd_df(value):
        what, argument = "`ceph osd df`", "osd_df"
    elif "buckets" in value and "rules" in value:
        what, argument = "`ceph osd crush dump`", "crush"
    if what:
        refuse(
            path,
            f"this is a {what}, which has no OSD map",
            f"give a `ceph report` or a `ceph osd dump` here, and this file as {argument}",
        )
    refuse(path, 'there is no "osdmap"', "expected the JSON that `ceph report` prints")


def _crush_file(files: _Files, path: Path) -> Node:
    """The CRUSH map of a file, as the object that `ceph osd crush dump` prints."""
    data = files.read(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        document = _document(data, path)
        if document.has("crushmap"):
            return document.at("crushmap")
        if document.has("buckets") and document.has("rules"):
            return document
        if not document.has("trees"):
            document.fail("a CRUSH map: what `ceph osd crush dump` or `ceph report` prints")
    from resilver.simulate.crush import CrushMap

    return Node(json.loads(CrushMap.read(path).to_json()), "", str(path))


def _crush_compiled(data: bytes, path: Path) -> Node:
    """The compiled CRUSH map that a binary OSD map holds, as the same object."""
    from resilver.simulate.crush import CrushMap

    return Node(json.loads(CrushMap.from_bytes(data).to_json()), "crushmap", str(path))
