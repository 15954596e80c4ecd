"""What a run of a real Ceph cluster will cost, before it is run."""

from __future__ import annotations

from typing import Any

from resilver.estimate.failed import failed_count
from resilver.importers.ceph import ClusterReport
from resilver.spec import System

# Measured over failures of an OSD, a host and two hosts of a cluster of 4,096 PGs on two cores of
# an AMD EPYC: what a PG takes, and what a copy or shard of one takes that heals. The answer's own
# run and the six with one thing relaxed take about the same.
_RUNS = 7
_SECONDS_PER_PG = 2.0e-5
_SECONDS_PER_SHARD = 3.2e-4
_SECONDS_TO_START = 0.1
_BYTES_TO_START = 135e6
_BYTES_PER_PG = 1e4


def cluster_cost(system: System, report: ClusterReport) -> dict[str, Any]:
    """What a run of a real cluster is expected to cost, as `resilver.estimate.estimate` says it."""
    share = min(1.0, failed_count(system) / max(system.server_count, 1))
    of_pool = {pool.id: pool for pool in report.pools}
    objects = replicas = moved = 0.0
    for load in report.loads:
        pool = of_pool[load.pool]
        data = pool.data_pieces or 1
        objects += load.objects
        replicas += load.objects * pool.size * share
        moved += load.bytes * pool.size / data * share
    groups = sum(pool.pg_num for pool in report.pools)
    shards = sum(pool.pg_num * pool.size for pool in report.pools) * share
    healing = _RUNS * (groups * _SECONDS_PER_PG + shards * _SECONDS_PER_SHARD)
    return {
        "objects": round(objects),
        "replicas_to_move": round(replicas),
        "bytes_to_move": round(moved),
        "buffers": 0,
        "requests": None,
        "packet_hops": None,
        "events": 0,
        "seconds": _SECONDS_TO_START + healing,
        "rebuilding_seconds": healing,
        "serving_seconds": None,
        "memory_bytes": round(_BYTES_TO_START + groups * _BYTES_PER_PG),
    }
