"""How full each OSD is, from `ceph osd df`."""

from __future__ import annotations

from resilver.importers.buckets import DEVICE_ID_MAX
from resilver.importers.ceph.model import OsdInfo, OsdUsage
from resilver.importers.jsonpath import Node

_KIB = 1024

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
    listed = [
        node for key in ("nodes", "stray") if (found := document.get(key)) for node in found.items()
    ]
    for node in listed:
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
        groups = node.get("pgs")
        usage[osd_id] = OsdUsage(
            osd=osd_id,
            capacity_bytes=node.at("kb").integer(0) * _KIB,
            used_bytes=node.at("kb_used").integer(0) * _KIB,
            groups=groups.integer(0) if groups else None,
        )
    return tuple(usage[key] for key in sorted(usage))
