"""`resilver watch`: what a cluster would survive as it stands now, as gauges."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from resilver.answer import Answer
from resilver.cli.import_cluster import dumps_of
from resilver.cli.options import page_output
from resilver.cli.progress import HealDisplay
from resilver.request import argument, option
from resilver.whatif.options import HardwareRequest, Request


@dataclass(frozen=True)
class Asked:
    """What is watched."""

    source: str = argument(
        "BUNDLE|LIVE",
        text="What the cluster's commands print, as a folder, an archive or a `ceph report`; LIVE, "
        "for the cluster that `ceph` reaches from here.",
    )
    level: tuple[str, ...] = option(
        metavar="LEVEL",
        text="Fail each part of this level: osd, host, rack. Repeatable; by default every level of "
        "at most 100 parts.",
        default=(),
    )
    grow: tuple[str, ...] = option(
        metavar="[POOL=]GROWTH",
        text="Growth of a pool, or of all, such as 'rbd=2%/week': says when the first OSD is "
        "nearfull and full. Repeatable.",
        default=(),
    )
    grow_from: Path | None = option(
        metavar="OLDER",
        text="Dumps of the same cluster of an earlier day: pools grow as since then.",
    )
    metrics: Path | None = option(
        metavar="FILE.prom",
        text="Write gauges in Prometheus' text format.",
        is_output=True,
        endings=(".prom",),
    )
    page: Path | None = page_output()


def watch(
    asked: Asked, hardware: HardwareRequest, as_json: bool = False, quiet: bool = False
) -> Answer:
    """Say what a Ceph cluster would survive now, and write it as gauges for alerts.

    Every OSD, host and rack fails in turn, in a simulation: is data lost or unavailable, how long
    does healing take, how full do OSDs get? With what fits into each pool and the safe fill it is
    written as gauges that Prometheus' node_exporter reads. The file is replaced as a whole, so
    that a run that fails leaves the last one.

    Examples:

    resilver watch bundle.tar.zst

    resilver watch LIVE --level host --metrics /var/lib/node_exporter/resilver.prom

    resilver watch bundle.tar.zst --grow "rbd=2%/week" --metrics resilver.prom
    """
    from resilver.importers.ceph.cluster import cluster_of
    from resilver.report.whatif.watching import watched_answer
    from resilver.whatif.watching import watch as perform

    report = cluster_of(dumps_of(asked.source, quiet=quiet or as_json))
    older = None
    if asked.grow_from is not None:
        older = cluster_of(dumps_of(str(asked.grow_from), quiet=True))
    with HealDisplay(quiet=quiet or as_json) as told:
        request = Request(**asdict(hardware), counterfactuals=False)
        found = perform(report, asked.level, request, asked.grow, older, told)
    return watched_answer(found)
