"""A real Ceph cluster, from what its own commands print.

One `ceph report` has everything; the same is read from `ceph osd dump` with a CRUSH map beside it,
`ceph pg dump` and `ceph osd df`, or from a binary OSD map. Field names that Ceph changed over time
are read in every spelling: ``crush_rule`` was ``crush_ruleset`` before Luminous, and ``pg_map``
stands for ``pgmap`` in `ceph pg dump`.
"""

from __future__ import annotations

from resilver.importers.ceph.cluster import read_cluster, read_report
from resilver.importers.ceph.facts import (
    BalancerState,
    ConfigEntry,
    OsdMetadata,
    OsdPerf,
    Ratios,
)
from resilver.importers.ceph.model import (
    HOLE,
    MDS_PLUGINS,
    ClusterReport,
    ErasureProfile,
    GroupInfo,
    GroupLoad,
    OsdInfo,
    OsdUsage,
    PoolExceptions,
    PoolInfo,
)

__all__ = [
    "HOLE",
    "MDS_PLUGINS",
    "BalancerState",
    "ClusterReport",
    "ConfigEntry",
    "ErasureProfile",
    "GroupInfo",
    "GroupLoad",
    "OsdInfo",
    "OsdMetadata",
    "OsdPerf",
    "OsdUsage",
    "PoolExceptions",
    "PoolInfo",
    "Ratios",
    "read_cluster",
    "read_report",
]
