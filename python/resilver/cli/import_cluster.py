"""`resilver import ceph`: a Ceph cluster's dumps, live or in files, as one bundle."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resilver.answer import Answer, Form
from resilver.cli.console import say
from resilver.cli.options import file_output, stated
from resilver.cli.saving import save_whole
from resilver.errors import ConfigError
from resilver.request import argument, option
from resilver.units import format_bytes
from resilver.words import plural

if TYPE_CHECKING:
    from resilver.importers import ClusterReport
    from resilver.importers.ceph.dumps import Dumps

LIVE = "LIVE"
TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Asked:
    """Which cluster is read, and what is made of it."""

    source: str = argument(
        "SOURCE",
        text="LIVE, for the cluster that `ceph` reaches from here; or a folder, an archive or a "
        "file of dumps.",
    )
    output: Path = file_output("FILE", "The bundle to write, such as bundle.tar.zst.", ())
    anonymise: bool = option(
        text="Leave out or replace names, addresses and serial numbers; numbers stay.",
        default=False,
    )
    timeout: float = stated(
        metavar="SECONDS",
        min=1,
        text="How long each `ceph` command may take.",
        default=TIMEOUT_SECONDS,
    )


def ceph(asked: Asked, quiet: bool = False) -> Answer:
    """Collect the output of a Ceph cluster's commands in one bundle for other commands.

    Of a live cluster it runs `ceph osd dump`, `ceph osd crush dump`, `ceph pg dump`, `ceph osd df`,
    `ceph config dump` and a few more, which only read.

    Examples:

    resilver import ceph LIVE -o bundle.tar.zst

    resilver import ceph sos-report/ -o bundle.tar.zst --anonymise
    """
    from resilver.importers.ceph.anonymous import anonymous_files
    from resilver.importers.ceph.cluster import cluster_of
    from resilver.importers.ceph.dumps import pack, packer_of

    packer = packer_of(asked.output)
    start = time.monotonic()
    dumps = dumps_of(asked.source, asked.timeout, quiet=quiet)
    cluster = cluster_of(dumps)
    files = anonymous_files(dumps) if asked.anonymise else dumps.files
    data = pack(files, packer)
    save_whole(asked.output, data)
    told = _told(cluster, files, asked, len(data))
    release = f"Ceph {told['release']}, " if told["release"] else ""
    names = "without names" if asked.anonymise else "with its names and addresses"
    wrote = f"wrote {{}} ({format_bytes(len(data))}), {names}"
    return Answer(
        "A bundle of a Ceph cluster",
        [
            f"{release}{told['osds']:,} OSDs, {plural(told['pools'], 'pool')}, "
            f"{told['groups']:,} PGs."
        ],
        record={**told, "seconds": time.monotonic() - start},
        notes=[f"Not in it: {missing}" for missing in told["missing"]],
        forms={asked.output.suffix.lower(): Form(None, wrote)},
    )


def dumps_of(source: str, seconds_max: float = TIMEOUT_SECONDS, *, quiet: bool) -> Dumps:
    """The dumps of a bundle, or of the running cluster where the source is LIVE.

    Args:
        seconds_max: How long each command of the running cluster may take.
    """
    from resilver.importers.ceph.dumps import Dumps
    from resilver.importers.ceph.live import collect

    if source.upper() == LIVE:
        if Path(source).exists():
            raise ConfigError(
                f"'{source}' is a file here, and the word for the running cluster",
                f"name the file as ./{source}, or run this in another folder",
            )
        return collect(seconds_max=seconds_max, say=(lambda _: None) if quiet else say)
    return Dumps.read(Path(source).expanduser(), keep=True)


def _told(
    cluster: ClusterReport, files: dict[str, bytes], asked: Asked, size: int
) -> dict[str, Any]:
    return {
        "output": str(asked.output),
        "bytes": size,
        "files": {name: len(files[name]) for name in sorted(files)},
        "anonymous": asked.anonymise,
        "release": None if cluster.release is None else ".".join(map(str, cluster.release)),
        "epoch": cluster.epoch,
        "osds": len(cluster.osds),
        "pools": len(cluster.pools),
        "groups": sum(pool.pg_num for pool in cluster.pools),
        "groups_stated": len(cluster.groups),
        "missing": _missing(cluster),
    }


def _missing(cluster: ClusterReport) -> list[str]:
    """What is not known of the cluster, and what would say it."""
    return [
        f"{what}: {words}"
        for there, what, words in (
            (cluster.groups, "the bytes of each PG", "`ceph pg dump`"),
            (cluster.usage, "how full each OSD is", "`ceph osd df`"),
            (cluster.config is not None, "settings", "`ceph config dump`"),
            (cluster.metadata, "hardware", "`ceph osd metadata`"),
            (cluster.release, "the release", "`ceph versions`"),
        )
        if not there
    ]
