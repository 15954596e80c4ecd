"""Settings, hardware, delays, releases and the balancer, from the dumps that state them."""

from __future__ import annotations

from collections.abc import Iterable

from resilver.importers.buckets import DEVICE_ID_MAX
from resilver.importers.ceph.facts import (
    BalancerState,
    ConfigEntry,
    OsdMetadata,
    OsdPerf,
    parse_release,
)
from resilver.importers.jsonpath import Node

_MILLI, _NANO = 1e3, 1e9
"""How many of each a second has."""

_DELAY_MAX = 1e15
"""Nobody's delay, in whichever unit; a counter that ran over would be beyond it."""


def read_config(document: Node) -> tuple[ConfigEntry, ...]:
    """The entries of `ceph config dump`, in its order.

    Raises:
        ConfigError: An entry is not what Ceph writes.
    """
    return tuple(
        ConfigEntry(
            node.at("section").text(),
            node.text_of("mask"),
            node.at("name").text(),
            # A value is any text, such as a list of lines; it is parsed by who asks for it.
            str(node.at("value").value),
        )
        for node in document.items()
    )


def read_metadata(document: Node | None) -> tuple[OsdMetadata, ...]:
    """What `ceph osd metadata` says of each OSD, by number.

    Ceph prints all of an OSD's values as text, and nothing but the number of one that never booted.

    Raises:
        ConfigError: An OSD stands twice, or a size is no number.
    """
    rows: dict[int, OsdMetadata] = {}
    for node in document.items() if document is not None else ():
        number = node.at("id")
        osd = number.integer(0, DEVICE_ID_MAX)
        if osd in rows:
            number.fail("an OSD number that stands once")
        rows[osd] = OsdMetadata(
            osd,
            hostname=node.text_of("hostname"),
            rotational=_flag(node.get("rotational")),
            journal_rotational=_flag(node.get("journal_rotational")),
            size_bytes=_size(node.get("bluestore_bdev_size")),
            min_alloc_bytes=_size(node.get("bluestore_min_alloc_size")),
            release=parse_release(node.text_of("ceph_version")),
            objectstore=node.text_of("osd_objectstore"),
        )
    return tuple(rows[osd] for osd in sorted(rows))


def _flag(node: Node | None) -> bool | None:
    return None if node is None else bool(node.whole(0, 1))


def _size(node: Node | None) -> int | None:
    return None if node is None else node.whole(1, 2**62)


def read_perf(document: Node | None, pgmap: Node | None) -> tuple[OsdPerf, ...]:
    """The delays that `ceph osd perf` states, else those beside the groups, by OSD.

    Args:
        document: What the command prints, bare as before Nautilus or within ``osdstats``; or None.
        pgmap: The object with ``osd_stats``, or None.

    Raises:
        ConfigError: A delay is no number.
    """
    listed: list[tuple[Node, Node]] = []
    if document is not None:
        inner = document.get("osdstats") or document
        rows = inner.at("osd_perf_infos").items()
        listed = [(node.at("id"), node.at("perf_stats")) for node in rows]
    elif pgmap is not None and (stats := pgmap.get("osd_stats")) is not None:
        listed = [
            (node.at("osd"), found)
            for node in stats.items()
            if (found := node.get("perf_stat")) is not None
        ]
    rows_by_osd = {
        number.integer(0, DEVICE_ID_MAX): (_delay(stats, "commit"), _delay(stats, "apply"))
        for number, stats in listed
    }
    return tuple(OsdPerf(osd, *rows_by_osd[osd]) for osd in sorted(rows_by_osd))


def _delay(stats: Node, what: str) -> float:
    exact = stats.get(f"{what}_latency_ns")
    if exact is not None:
        return exact.number(0, _DELAY_MAX) / _NANO
    return stats.at(f"{what}_latency_ms").number(0, _DELAY_MAX) / _MILLI


def read_balancer(status: Node | None, config: Node | None) -> BalancerState | None:
    """The balancer, by `ceph balancer status`, else by what is configured of it; None by neither.

    Raises:
        ConfigError: It is not what Ceph writes.
    """
    if status is not None:
        active = status.at("active")
        if not isinstance(active.value, bool):
            active.fail("true or false")
        return BalancerState(active.value, status.at("mode").text())
    entries = read_config(config) if config is not None else ()
    stated = {entry.name: entry.value.lower() for entry in entries if "mgr/balancer/" in entry.name}
    if not stated:
        return None
    # On and by upmap is the default since Octopus (mgr/balancer).
    on = stated.get("mgr/balancer/active", "true") in ("true", "1", "yes", "on")
    return BalancerState(on, stated.get("mgr/balancer/mode", "upmap"))


def read_versions(
    document: Node | None, metadata: Iterable[OsdMetadata]
) -> tuple[int, int, int] | None:
    """The lowest release that an OSD runs, by `ceph versions`, else by the OSDs' metadata.

    Raises:
        ConfigError: The versions are not what Ceph writes.
    """
    releases = {one.release for one in metadata}
    if document is not None:
        osds = document.get("osd") or document.at("overall")
        if not isinstance(osds.value, dict):
            osds.fail("an object whose members are versions")
        releases = {parse_release(version) for version in osds.value}
    return min((release for release in releases if release is not None), default=None)
