"""What dumps of a Ceph cluster say beside its map and its groups: settings, hardware, delays."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RELEASE = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")


def parse_release(version: str) -> tuple[int, int, int] | None:
    """The release in a version that Ceph prints; None where there is none.

    >>> parse_release("ceph version 18.2.4-1.el9 (e7ad534) reef (stable)")
    (18, 2, 4)
    """
    found = _RELEASE.search(version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@dataclass(frozen=True)
class Ratios:
    """The shares of an OSD's bytes at which Ceph acts, as the map has them.

    Attributes:
        nearfull: It warns.
        backfillfull: No new backfill comes; None where the map has none, as before Luminous.
        full: Clients' writes to its pools stop.
    """

    nearfull: float
    backfillfull: float | None
    full: float


NEW_CLUSTER = Ratios(nearfull=0.85, backfillfull=0.90, full=0.95)
"""The ratios that a new cluster has."""


@dataclass(frozen=True)
class ConfigEntry:
    """A setting that `ceph config dump` lists.

    Attributes:
        section: Whom it is for: ``global``, ``osd``, ``osd.12``, ``mon``, ``mgr``.
        mask: Which of them: ``class:hdd``, ``host:node3``, both with a slash between; else empty.
        name: Its name, such as ``osd_max_backfills``.
        value: Its value as text, as Ceph prints it.
    """

    section: str
    mask: str
    name: str
    value: str


@dataclass(frozen=True)
class OsdMetadata:
    """What `ceph osd metadata` says of an OSD; None or empty where it does not.

    Attributes:
        osd: Its number.
        hostname: The machine that it runs on.
        rotational: Whether its data is on a disk that turns.
        journal_rotational: Whether its journal or its database is.
        size_bytes: How much fits on its data's device.
        min_alloc_bytes: The smallest unit that BlueStore allocates; printed since Pacific.
        release: The release that it runs, as `ClusterReport.release`.
        objectstore: ``bluestore`` or ``filestore``.
    """

    osd: int
    hostname: str = ""
    rotational: bool | None = None
    journal_rotational: bool | None = None
    size_bytes: int | None = None
    min_alloc_bytes: int | None = None
    release: tuple[int, int, int] | None = None
    objectstore: str = ""


@dataclass(frozen=True)
class OsdPerf:
    """The delays that `ceph osd perf` states of an OSD.

    Attributes:
        osd: Its number.
        commit_seconds: From a write's arrival until it is on disk, of the last seconds.
        apply_seconds: Until it can be read.
    """

    osd: int
    commit_seconds: float
    apply_seconds: float


@dataclass(frozen=True)
class BalancerState:
    """The balancer of the manager, as `ceph balancer status` has it.

    Attributes:
        active: Whether it is on.
        mode: ``upmap``, ``crush-compat``, ``read``, ``upmap-read`` or ``none``.
    """

    active: bool
    mode: str
