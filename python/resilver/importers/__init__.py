"""Readers of what other tools write: Ceph reports, benchmarks, netgauge tables, file sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resilver.on_demand import on_demand

if TYPE_CHECKING:
    from resilver.importers.benchmarks import Benchmark, Benchmarks, read_benchmarks
    from resilver.importers.ceph import (
        ClusterReport,
        GroupInfo,
        GroupLoad,
        OsdInfo,
        OsdUsage,
        PoolExceptions,
        PoolInfo,
        read_cluster,
        read_report,
    )
    from resilver.importers.netgauge import LogGpRow, LogGpTable, read_netgauge
    from resilver.importers.sizes import LeftOut, MeasuredSizes, import_sizes, read_sizes
    from resilver.importers.text import read_toml

__all__ = [
    "Benchmark",
    "Benchmarks",
    "ClusterReport",
    "GroupInfo",
    "GroupLoad",
    "LeftOut",
    "LogGpRow",
    "LogGpTable",
    "MeasuredSizes",
    "OsdInfo",
    "OsdUsage",
    "PoolExceptions",
    "PoolInfo",
    "import_sizes",
    "read_benchmarks",
    "read_cluster",
    "read_netgauge",
    "read_report",
    "read_sizes",
    "read_toml",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "benchmarks": "Benchmark Benchmarks read_benchmarks",
        "ceph": (
            "ClusterReport GroupInfo GroupLoad OsdInfo OsdUsage PoolExceptions PoolInfo "
            "read_cluster read_report"
        ),
        "netgauge": "LogGpRow LogGpTable read_netgauge",
        "sizes": "LeftOut MeasuredSizes import_sizes read_sizes",
        "text": "read_toml",
    },
)
