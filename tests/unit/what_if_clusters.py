"""A small made-up cluster for what-ifs: 6 hosts of disks and 3 of flash in 3 racks, 4 OSDs each."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from resilver.importers.ceph import ClusterReport, read_cluster
from resilver.whatif.options import Request
from resilver.whatif.plan import plan_of_options
from resilver.whatif.request import Prepared, prepare
from tests.reference.ceph_cluster import write_cluster
from tests.reference.ceph_rows import Shape

SMALL = Shape(osds=36, osds_per_host=4, racks=3, groups=320, fill=0.5)


@cache
def small_report() -> ClusterReport:
    """The cluster, without settings of its own and without metadata."""
    with TemporaryDirectory(prefix="resilver-") as folder:
        report = read_cluster(write_cluster(Path(folder) / "small", SMALL))
    assert report.loads
    return replace(report, config=(), metadata=(), balancer=None)


def prepared(
    report: ClusterReport | None = None, asked: Request | None = None, **changes: str | list[str]
) -> Prepared:
    """The core's input for changes, by the keys of their kinds."""
    given = {
        key.rstrip("_"): [value] if isinstance(value, str) else value
        for key, value in changes.items()
    }
    return prepare(report or small_report(), plan_of_options(given), asked or Request())


def of_release(*release: int, **more: Any) -> ClusterReport:
    """The cluster as if it ran a release."""
    return replace(small_report(), release=release, **more)


def osd_settings(ready: Prepared, osd: int) -> dict[str, Any]:
    """The settings that an OSD begins with."""
    return ready.input["osd_settings"][ready.input["osds"][osd]["settings"]]
