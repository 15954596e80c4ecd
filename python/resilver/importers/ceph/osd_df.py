"""How full each OSD is, from `ceph osd df`."""

from __future__ import annotations

from resilver.importers.buckets import DEVICE_ID_MAX
from resilver.importers.ceph.model import OsdInfo, OsdUsage
from resilver.importers.jsonpath import Node

_KIB = 1024

_KB_MAX = 2**53
"""Beyond any OSD, and in bytes still a whole number of 64 bits."""

_SIZE_SLACK = 0.05
"""By how much two statements of an OSD's size may differ: with or without the database's device."""

_REWEIGHT_SLACK = 1e-4
"""How far two prints of one reweight may lie apart: both round to four digits or more."""


def is_osd_df(value: object) -> bool:
    """Whether a JSON document is what `ceph osd df` prints."""
    return isinstance(value, dict) and "nodes" in value and ("summary" in value or "stray" in value)


def read_usage(document: Node, osds: tuple[OsdInfo, ...]) -> tuple[OsdUsage, ...]:
    """What each OSD holds and can hold, by number.

    Args:
        document: What `ceph osd df` prints; `ceph osd df tree` lists buckets too, which are passed
            over.
        osds: The cluster's OSDs.

    Raises:
        ConfigError: An OSD is none of the cluster's, or has another reweight there: the two were
            not taken of the same state.
    """
    known = {osd.id: osd for osd in osds}
    usage: dict[int, OsdUsage] = {}
    for node in (*document.items_of("nodes"), *document.items_of("stray")):
        number = node.at("id")
        osd_id = number.integer(-(2**31), DEVICE_ID_MAX)
        if osd_id < 0:
            continue
        if osd_id not in known:
            number.fail("an OSD that the osdmap lists; fetch both dumps again, one after the other")
        if osd_id in usage:
            number.fail("an OSD number that stands once")
        reweight = node.get("reweight")
        stated = known[osd_id].reweight / 0x10000
        if reweight and abs(reweight.number(0.0, 1.0) - stated) > _REWEIGHT_SLACK:
            reweight.fail(
                f"the osdmap's reweight of osd.{osd_id}, {stated:.6g}; fetch both dumps again, "
                "one after the other"
            )
        usage[osd_id] = _usage_of(node, osd_id)
    return tuple(usage[key] for key in sorted(usage))


def _usage_of(node: Node, osd_id: int) -> OsdUsage:
    """One OSD's row. What is used, and each part of it, fits on the OSD."""
    capacity = node.at("kb").integer(0, _KB_MAX)

    def bytes_of(name: str) -> int | None:
        found = node.get(name)
        if found is None:
            return None
        amount = found.integer(0, _KB_MAX)
        if amount > capacity:
            found.fail(f"at most kb, which is {capacity}: no more fits on osd.{osd_id}")
        return amount * _KIB

    node.at("kb_used")
    return OsdUsage(
        osd=osd_id,
        capacity_bytes=capacity * _KIB,
        used_bytes=bytes_of("kb_used") or 0,
        groups=node.integer_of("pgs", default=None),
        data_bytes=bytes_of("kb_used_data"),
        omap_bytes=bytes_of("kb_used_omap"),
        meta_bytes=bytes_of("kb_used_meta"),
        available_bytes=bytes_of("kb_avail"),
    )


def check_capacities(
    document: Node | None, usage: tuple[OsdUsage, ...], stated: tuple[tuple[int, int], ...]
) -> None:
    """Refuse an ``osd df`` whose OSDs are of other sizes than those beside the groups.

    Args:
        document: It, or None.
        usage: What it says.
        stated: (OSD, bytes), as the dump of the groups has them.

    Raises:
        ConfigError: An OSD's sizes differ by more than what a release may count otherwise.
    """
    others = dict(stated)
    for one in usage:
        other = others.get(one.osd, 0)
        # An OSD that is down is of no size in some dumps.
        if not (other and one.capacity_bytes) or document is None:
            continue
        if abs(one.capacity_bytes - other) > _SIZE_SLACK * other:
            Node(one.capacity_bytes // _KIB, f"osd.{one.osd}, kb", document.file).fail(
                f"{other // _KIB}, its kb in the dump of the PGs; give dumps of one cluster"
            )
