"""The public names of `resilver.importers` and where each is from."""

from .benchmarks import (
    Benchmark as Benchmark,
    Benchmarks as Benchmarks,
    read_benchmarks as read_benchmarks,
)
from .ceph import (
    ClusterReport as ClusterReport,
    GroupInfo as GroupInfo,
    GroupLoad as GroupLoad,
    OsdInfo as OsdInfo,
    OsdUsage as OsdUsage,
    PoolInfo as PoolInfo,
    read_cluster as read_cluster,
    read_report as read_report,
)
from .walk import LeftOut as LeftOut
from .netgauge import LogGpRow as LogGpRow, LogGpTable as LogGpTable, read_netgauge as read_netgauge
from .sizes import (
    MeasuredSizes as MeasuredSizes,
    import_sizes as import_sizes,
    read_sizes as read_sizes,
)
