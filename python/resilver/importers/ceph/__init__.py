"""A real Ceph cluster, from what its own commands print.

A folder or an archive of dumps is read as it is, each told by its content; so is one file, such as
a `ceph report`, a `ceph osd dump` with a CRUSH map beside it, or a binary OSD map. Field names that
Ceph changed over time are read in every spelling: ``crush_rule`` was ``crush_ruleset`` before
Luminous, and ``pg_map`` stands for ``pgmap`` in `ceph pg dump`.
"""

from __future__ import annotations

from resilver.importers.ceph.cluster import read_cluster, read_report
from resilver.importers.ceph.facts import (
    NEW_CLUSTER,
    BalancerState,
    ConfigEntry,
    OsdMetadata,
    OsdPerf,
    Ratios,
)
from resilver.importers.ceph.kinds import is_crush_text, kind_of, looks_like_dump, parse_dump
from resilver.importers.ceph.model import (
    MDS_PLUGINS,
    PG_NUM_MAX,
    ClusterReport,
    ErasureProfile,
    GroupInfo,
    GroupLoad,
    OsdInfo,
    OsdUsage,
    PoolInfo,
    PoolLimits,
)
